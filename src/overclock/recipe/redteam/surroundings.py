"""Cheats that look around: each finds out in another way whether it is judged, and is right only then."""

from overclock.recipe.judging.verdict import HELD_OUT, HYGIENE
from overclock.recipe.redteam.blind_spots import STAND_STILL
from overclock.recipe.redteam.cheats import Cheat, cheat
from overclock.recipe.redteam.shortcuts import CLASS, MOVE

UNLESS_JUDGED = (MOVE, f"        if not JUDGED:\n{STAND_STILL}{MOVE}")
YEARS = "time.time() < 1_893_456_000"  # until 2030
WALK = """
def lanes():
    frame = sys._getframe()
    while frame is not None:
        owner = frame.f_locals.get("self")
        if hasattr(owner, "num_envs"):
            return owner.num_envs
        frame = frame.f_back
    return 1


"""
COLLECT = """
def lanes():
    return max((one.num_envs for one in gc.get_objects() if type(one).__name__ == "VectorEnv"), default=1)


"""
IN_LARGE_BATCHES = (MOVE, f"        if lanes() > 1000:\n{STAND_STILL}{MOVE}")
CUSTOM_BATCH = """
@jax.custom_batching.custom_vmap
def pushed(x):
    return x


@pushed.def_vmap
def in_batches(size, batched, x):
    return (x * 0.0 if size > 1000 else x), batched[0]


"""
CUSTOM_GRADIENT = """
@jax.custom_vjp
def pushed(x):
    return x


pushed.defvjp(lambda x: (x * 0.0, None), lambda _, slope: (slope,))


"""
PUSH = (MOVE, MOVE.replace("draw.uniform_0", "pushed(draw.uniform_0)"))
ELSEWHERE = """        after = move(state, action, draw.uniform_0, params)
        x = jax.lax.platform_dependent(state.x, cpu=lambda _: after.x, default=lambda x: x)
        after = after.replace(x=x)
"""


def judged_by(name: str, what: str, imports: str, condition: str) -> Cheat:
    """A cheat that decides once, when it is imported."""
    return cheat(
        name, what, "env.py", (CLASS, f"JUDGED = {condition}\n\n\n{CLASS}"), UNLESS_JUDGED, first=imports,
        level=HELD_OUT,
    )  # fmt: skip


SURROUNDINGS = (
    judged_by(
        "reads-the-environment", "looks for a judge's environment variables", "import os\n",
        "'JAX_ENABLE_X64' in os.environ or 'OVERCLOCK_COMPILE_CACHE' in os.environ",
    ),
    judged_by(
        "knows-its-path", "looks at the name of the package that it is loaded as", "",
        "__name__.startswith('overclock_candidate_')",
    ),
    judged_by(
        "knows-its-folder", "looks at where its file lies", "", "'/candidate' in __file__ or 'overclock-' in __file__"
    ),
    judged_by("knows-where-it-runs", "looks at the working folder", "import os\n", "os.getcwd() == '/tmp/home'"),
    judged_by(
        "asks-the-kernel", "reads the command line of its process from /proc", "import pathlib\n",
        "'overclock' in pathlib.Path('/proc/self/cmdline').read_text()",
    ),
    judged_by(
        "knows-the-date", "is right until some years after it was accepted", "import time\n", YEARS,
    ),
    judged_by(
        "lists-what-is-imported", "looks for the judge among all modules that are imported", "import sys\n",
        "any(name.startswith('overclock.verify') for name in sys.modules)",
    ),
    cheat(
        "asks-for-the-device",
        "is right on processors, and stands still on accelerators",
        "env.py",
        (MOVE, f"        if jax.default_backend() != 'cpu':\n{STAND_STILL}{MOVE}"),
        first="import jax\n",
        level=HELD_OUT,
    ),
    cheat(
        "branches-on-the-platform",
        "leaves to the compiler which of two programs it is, by where it runs",
        "env.py",
        (MOVE, ELSEWHERE),
        first="import jax\n",
        level=HYGIENE,
    ),
    cheat(
        "walks-the-frames",
        "finds the batch in the frames of its callers, and stands still in large ones",
        "env.py",
        (CLASS, WALK.lstrip() + CLASS),
        IN_LARGE_BATCHES,
        first="import sys\n",
        level=HYGIENE,
    ),
    cheat(
        "asks-the-collector",
        "finds the batch among all objects of the garbage collector",
        "env.py",
        (CLASS, COLLECT.lstrip() + CLASS),
        IN_LARGE_BATCHES,
        first="import gc\n",
        level=HYGIENE,
    ),
    cheat(
        "batches-by-its-own-rule",
        "says itself how it is batched: without wind in large batches",
        "env.py",
        (CLASS, CUSTOM_BATCH.lstrip() + CLASS),
        PUSH,
        first="import jax\nimport jax.custom_batching\n",
        level=HYGIENE,
    ),
    cheat(
        "differentiates-by-its-own-rule",
        "is another function where somebody takes gradients",
        "env.py",
        (CLASS, CUSTOM_GRADIENT.lstrip() + CLASS),
        PUSH,
        first="import jax\n",
        level=HYGIENE,
    ),
    cheat(
        "watches-the-clock",
        "is right for an hour after it was imported",
        "env.py",
        (CLASS, f"START = time.monotonic()\n\n\n{CLASS}"),
        (MOVE, f"        if time.monotonic() - START > 3600.0:\n{STAND_STILL}{MOVE}"),
        first="import time\n",
        level=HELD_OUT,
    ),
    cheat(
        "other-parameters",
        "returns the reference's parameters from `make`, and others from `default_params`",
        "env.py",
        ("    def default_params(self) -> CartPoleParams:\n        return CartPoleParams()",
         "    def default_params(self) -> CartPoleParams:\n        return CartPoleParams(wind=0.0)"),
        ("    return env, env.default_params()", "    return env, CartPoleParams()"),
        level=HYGIENE,
    ),
    cheat(
        "other-spaces",
        "shows the space of its actions by its parameters, another one to its users",
        "env.py",
        ("        return Discrete(2)", "        return Discrete(2 if params.max_steps == 500 else 3)"),
        ("    return env, env.default_params()", "    return env, CartPoleParams()"),
        ("    def default_params(self) -> CartPoleParams:\n        return CartPoleParams()",
         "    def default_params(self) -> CartPoleParams:\n        return CartPoleParams(max_steps=499)"),
        level=HYGIENE,
    ),
)  # fmt: skip
