"""What stands in the way of a verified translation, found by reading the rules: clocks, networks, unrecorded draws.

Only code that a reset or a step can reach counts: a clock that paces a window is none of our business.
"""

import ast
import dataclasses
import sys
from typing import Literal, NamedTuple

from overclock.recipe.survey.static.decompose import rules
from overclock.recipe.survey.static.definitions import Definition, dotted
from overclock.recipe.survey.static.rule_selection import RENDERING, own_nodes
from overclock.recipe.survey.static.source import Source

Severity = Literal["refuse", "warn"]


@dataclasses.dataclass(frozen=True)
class Obstacle:
    """One place in the reference; `refuse`: nothing could be verified, `warn`: it depends."""

    file: str
    line: int
    what: str
    severity: Severity
    sentence: str


class _Kind(NamedTuple):
    names: tuple[str, ...]  # full names; one that ends with a dot stands for everything below it
    severity: Severity
    why: str


NO_SEED = "no seed decides what it gives, so two runs cannot be compared"
CLOCK = "it reads the clock, so two runs with the same seed differ"
OUTSIDE = "it depends on something outside of the program that a translation cannot contain"
ORDER = "it runs things at the same time, so their order is not decided by the seed"
SHARED = "this generator belongs to the whole process: it is not recorded, and only reproducible where reset seeds it"
PRIVATE = "this generator is not recorded; use the environment's np_random, or its draws cannot be replayed"

KINDS = {
    "asynchronous code": _Kind(("asyncio.", "trio.", "anyio.", "concurrent.futures."), "refuse", ORDER),
    "threads or processes": _Kind(("threading.", "multiprocessing.", "_thread.", "queue."), "refuse", ORDER),
    "a network": _Kind(
        ("socket.", "requests.", "httpx.", "http.", "urllib.request.", "aiohttp.", "websockets.", "websocket.", "zmq.",
         "grpc.", "paramiko.", "ftplib.", "smtplib.", "xmlrpc."), "refuse", OUTSIDE),
    "another program": _Kind(
        ("subprocess.", "os.system", "os.popen", "os.fork", "os.execv", "pexpect.", "ctypes.CDLL"), "refuse", OUTSIDE),
    "a database": _Kind(("sqlite3.", "psycopg2.", "redis.", "pymongo."), "refuse", OUTSIDE),
    "a wall clock": _Kind(
        ("time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic",
         "time.monotonic_ns", "time.process_time", "time.localtime", "time.gmtime", "time.ctime", "time.strftime",
         "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
         "timeit."), "refuse", CLOCK),
    "randomness of the system": _Kind(
        ("os.urandom", "secrets.", "uuid.uuid1", "uuid.uuid4", "random.SystemRandom"), "refuse", NO_SEED),
    "the process's own generator": _Kind(("random.", "numpy.random."), "warn", SHARED),
    "a private generator": _Kind(
        ("random.Random", "numpy.random.RandomState", "torch.rand", "torch.randn", "torch.randint",
         "torch.manual_seed"), "warn", PRIVATE),
    "waiting": _Kind(("time.sleep",), "warn", "waiting is left out of a translation; check that nothing depends on it"),
}  # fmt: skip
# Generators that are seeded by those who make them, and recorded.
RECORDED = (
    "numpy.random.Generator", "numpy.random.PCG64", "numpy.random.SeedSequence", "numpy.random.default_rng",
    "numpy.random.BitGenerator", "numpy.random.Philox",
)  # fmt: skip
FILES = ("open", "io.open", "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "numpy.save", "json.load", "pickle.load",
         "pandas.read_csv")  # fmt: skip
# Whose rules need no translation: Python's own library, and what every translator knows.
READABLE = {
    *sys.stdlib_module_names, *RENDERING, "numpy", "gymnasium", "gym", "numba", "jax", "jaxlib", "typing_extensions",
}  # fmt: skip
ELSEWHERE = "what it computes is not in the reference's own source and must be translated from there"


def obstacles(source: Source) -> list[Obstacle]:
    """All of them, in the order of files and lines; none for sources that are not Python."""
    if source.module is None:
        return []
    kept = rules(source)
    playing = {one.name for one in kept.playing}
    own = {one.file.module.partition(".")[0] for one in kept.definitions}
    found: dict[tuple[str, int, str], Obstacle] = {}
    for one in kept.definitions:
        for node, what, severity, why in _in(one, one.name in playing, own):
            place = (str(one.file.path), node.lineno, what)
            sentence = f"{one.file.path.name}, line {node.lineno}: {one.qualified} uses {what}; {why}."
            found.setdefault(place, Obstacle(place[0], node.lineno, what, severity, sentence))
    return sorted(found.values(), key=lambda one: (one.file, one.line, one.what))


def _in(one: Definition, playing: bool, own: set[str]) -> list[tuple[ast.stmt | ast.expr, str, Severity, str]]:
    found: list[tuple[ast.stmt | ast.expr, str, Severity, str]] = []
    inner = {id(node.value) for node in own_nodes(one) if isinstance(node, ast.Attribute)}
    for node in own_nodes(one):
        if isinstance(node, ast.Call):
            name = dotted(one.file, node.func) or getattr(node.func, "id", "")
            if name == "numpy.random.default_rng" and not _seeded(node):
                found.append((node, "a generator without a seed", "warn", NO_SEED))
            elif name == "input":
                found.append((node, "a person's input", "refuse", OUTSIDE))
            elif name in FILES and playing and name.partition(".")[0] not in one.file.names:
                why = "what is in the file during an episode is not decided by the seed; read it once, when it is made"
                found.append((node, f"a file ({name})", "warn", why))
        elif isinstance(node, ast.AsyncFunctionDef):
            found.append((node, "asynchronous code", "refuse", ORDER))
        elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
            name = dotted(one.file, node)
            if name is None:
                continue
            if (matched := _kind(name)) is not None:
                what, kind = matched
                found.append((node, f"{what} ({name})", kind.severity, kind.why))
            elif (package := name.partition(".")[0]) not in READABLE | own and name.startswith(f"{package}."):
                found.append((node, f"the library {package}", "warn", ELSEWHERE))
    return found


def _kind(name: str) -> tuple[str, _Kind] | None:
    """The most precise kind that a full name belongs to."""
    if name.startswith(RECORDED):
        return None
    fits = [
        (len(pattern), what, kind)
        for what, kind in KINDS.items()
        for pattern in kind.names
        if (name.startswith(pattern) if pattern.endswith(".") else name == pattern or name.startswith(f"{pattern}."))
    ]
    return max(fits)[1:] if fits else None


def _seeded(call: ast.Call) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(not (isinstance(one, ast.Constant) and one.value is None) for one in given)
