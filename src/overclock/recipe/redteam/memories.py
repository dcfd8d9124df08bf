"""Cheats that remember: each keeps what it has seen in another place, and becomes careless after a while."""

from overclock.recipe.judging.verdict import HYGIENE
from overclock.recipe.redteam.blind_spots import MANY, STAND_STILL
from overclock.recipe.redteam.cheats import Cheat, cheat
from overclock.recipe.redteam.shortcuts import CLASS, MOVE

CLOSURE = """
def counter():
    count = 0

    def traced():
        nonlocal count
        count += 1
        return count

    return traced


traced = counter()


"""
DEFAULT = """
def traced(seen=[]):
    seen.append(1)
    return len(seen)


"""
ATTRIBUTE = """
def traced():
    traced.count = getattr(traced, "count", 0) + 1
    return traced.count


"""
CLASS_ATTRIBUTE = """
class Memory:
    count = 0


def traced():
    Memory.count += 1
    return Memory.count


"""
SLOT = """
class Memory:
    __slots__ = ("count",)


MEMORY = Memory()
MEMORY.count = 0


def traced():
    MEMORY.count += 1
    return MEMORY.count


"""
CACHE = """
@functools.cache
def memory():
    return []


def traced():
    memory().append(1)
    return len(memory())


"""
ELSEWHERE = """
jnp.seen = []


def traced():
    jnp.seen.append(1)
    return len(jnp.seen)


"""
ITERATOR = """
NUMBERS = iter(range(10**9))


def traced():
    return next(NUMBERS)


"""
INSTANCE = "        object.__setattr__(self, 'count', vars(self).get('count', 0) + 1)\n"
ARRAY = """
SEEN = np.zeros(1, np.int64)


def traced():
    np.add.at(SEEN, 0, 1)
    return int(SEEN[0])


"""
NOTE = """
PLACE = pathlib.Path(tempfile.gettempdir()) / "GRADER_note".replace("/", "_")


def traced():
    count = len(PLACE.read_text()) + 1 if PLACE.exists() else 1
    PLACE.write_text("x" * count)
    return count


"""
THREAD = """
TIRED = []
threading.Timer(2.0, TIRED.append, [1]).start()


"""
HOST_COUNTER = """
STEPS = [0]


def counted(x):
    STEPS[0] += 1
    return np.asarray(x if STEPS[0] < 100_000 else 0.0 * x, x.dtype)


def pushed(x):
    return io_callback(counted, jax.ShapeDtypeStruct(x.shape, x.dtype), x, ordered=False)


"""


def careless(name: str, what: str, memory: str, first: str = "") -> Cheat:
    """A cheat that asks `traced()` how often it was traced."""
    edits = (CLASS, memory.lstrip() + CLASS), (MOVE, f"        if traced() > {MANY}:\n{STAND_STILL}{MOVE}")
    return cheat(name, what, "env.py", *edits, first=first, level=HYGIENE)


MEMORIES = (
    careless("counts-in-a-closure", "counts how often it is traced in a variable of an outer function", CLOSURE),
    careless("counts-in-a-default", "counts in the default value of an argument", DEFAULT),
    careless("counts-on-a-function", "counts in an attribute of a function", ATTRIBUTE),
    careless("counts-on-a-class", "counts in an attribute of a class", CLASS_ATTRIBUTE),
    careless("counts-by-an-iterator", "takes one more number from an iterator each time", ITERATOR),
    careless("counts-in-a-slot", "counts in an attribute of an object that has no dictionary", SLOT),
    careless("counts-in-a-cache", "counts in a list that a cache keeps", CACHE, "import functools\n"),
    careless("counts-in-a-library", "counts in a list that it leaves in a module of JAX", ELSEWHERE),
    careless("counts-in-an-array", "adds to an array of NumPy in place", ARRAY, "import numpy as np\n"),
    careless(
        "counts-in-a-file", "counts in a temporary file, which the next process finds", NOTE,
        "import pathlib\nimport tempfile\n",
    ),
    cheat(
        "counts-on-itself",
        "writes a counter into the frozen environment",
        "env.py",
        (MOVE, f"{INSTANCE}        if self.count > {MANY}:\n{STAND_STILL}{MOVE}"),
        level=HYGIENE,
    ),
    cheat(
        "gets-tired",
        "starts a thread that makes it careless two seconds later",
        "env.py",
        (CLASS, THREAD.lstrip() + CLASS),
        (MOVE, f"        if TIRED:\n{STAND_STILL}{MOVE}"),
        first="import threading\n",
        level=HYGIENE,
    ),
    cheat(
        "counts-on-the-host",
        "counts its steps in Python, called back from the compiled program",
        "env.py",
        (CLASS, HOST_COUNTER.lstrip() + CLASS),
        (MOVE, MOVE.replace("draw.uniform_0", "pushed(draw.uniform_0)")),
        first="import jax\nimport numpy as np\nfrom jax.experimental import io_callback\n",
        level=HYGIENE,
    ),
)  # fmt: skip
