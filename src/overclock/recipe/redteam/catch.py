"""One suspect under every layer: its source is read, then it runs in the sandbox, is inspected and compared.

Layers are reported all, not only the first: "static" alone decides from the text; the others see the candidate as if
the text had not been read.
"""

import contextlib
import dataclasses
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overclock.recipe.hygiene.finding import Limits
from overclock.recipe.hygiene.inspection import inspect_through, no_answer
from overclock.recipe.hygiene.static import check_source
from overclock.recipe.redteam.cheats import HONEST, Cheat, Material, find_cheats, honest_files
from overclock.recipe.redteam.court import Court, open_court, practise
from overclock.recipe.redteam.episodes import Episodes
from overclock.recipe.redteam.ground import Ground, prepare, stage
from overclock.recipe.sandbox import by_name, sandboxed
from overclock.recipe.sandbox.plan import MARK
from overclock.verify.process import ProcessSubject
from overclock.verify.subject import SubjectSpec

LOAD_SECONDS = 20.0  # importing a few small files, on a busy machine
FAST_COMPILE = "--xla_backend_optimization_level=0"  # every suspect is compiled and hardly run
# What a candidate has no business with: the reference, its relatives, and our own translation of it.
HIDDEN = ("gymnasium", "gymnax", "envpool", "overclock.envs.cartpole")
SANDBOX_LIMITS: dict[str, Any] = {"cpu_seconds": 120, "wall_seconds": 300.0}
LIMITS = Limits()


@dataclasses.dataclass(frozen=True)
class Caught:
    """What became of a suspect: every layer that caught it with its sentence, the first one again as `by`."""

    name: str
    what: str
    by: str | None
    sentence: str
    seconds: float
    layers: dict[str, str]


def catch(name: str, sandbox: str = "best", seed: int | None = None, timeout: float = 120.0) -> Caught:
    """Try one suspect by name, from the practice episodes to the verdict ("honest" is the one that must pass)."""
    with staged(find_suspect(name), practise(timeout)) as ground:
        return examine(find_suspect(name), ground, open_court(seed, timeout), sandbox, timeout)


def find_suspect(name: str) -> Cheat:
    """A cheat, or the honest candidate."""
    if name != HONEST:
        return find_cheats(name)[0]
    return Cheat(HONEST, "an honest translation, which must pass", lambda material: honest_files())


@contextlib.contextmanager
def staged(suspect: Cheat, practice: Episodes) -> Iterator[Ground]:
    """The candidate as its author handed it in, frozen beside a grader's files."""
    with prepare() as folder, stage(folder, suspect.build(Material(folder, practice))) as ground:
        yield ground


def examine(suspect: Cheat, ground: Ground, court: Court, sandbox: str = "best", timeout: float = 120.0) -> Caught:
    """Every layer over a frozen candidate."""
    started = time.monotonic()
    layers: dict[str, str] = {}
    if found := check_source(ground.candidate, LIMITS):
        layers["static"] = str(found[0])
    for layer, sentence in _tried(suspect, ground, court, sandbox, timeout):
        layers.setdefault(layer, sentence)
    by, sentence = next(iter(layers.items()), (None, ""))
    return Caught(suspect.name, suspect.what, by, sentence, time.monotonic() - started, layers)


def _tried(suspect: Cheat, ground: Ground, court: Court, sandbox: str, timeout: float) -> Iterator[tuple[str, str]]:
    """Run it, and say what each layer saw."""
    spec = suspect_spec(ground.candidate, sandbox)
    try:
        with ProcessSubject(spec, len(court.scenarios), "the candidate", timeout) as worker:
            worker.timeout = LOAD_SECONDS
            worker.ask("load")
            worker.timeout = timeout
            findings = inspect_through(worker, LIMITS)
            yield from (("dynamic", str(finding)) for finding in findings)
            # Playing a program that calls back takes minutes, when it does not block for good.
            if all(finding.rule != "callback" for finding in findings):
                yield from court.check(worker)
    except Exception as error:  # a worker that dies or talks nonsense is caught, whatever our reading of it raises
        sentence = no_answer(error).sentence
        stopped = MARK in sentence or (suspect.refused and re.search(suspect.refused, sentence))
        yield ("sandbox" if stopped else "dynamic"), sentence
    if (damage := ground.damage()) is not None:
        yield "seal", damage
    elif suspect.harms and by_name(sandbox).name != "none":
        yield "sandbox", "What it tried to write was refused; nothing outside changed."


def suspect_spec(candidate: Path, sandbox: str) -> SubjectSpec:
    """The worker of a suspect, inside a sandbox; it computes in float64, as the court does."""
    spec = SubjectSpec(
        "overclock.recipe.redteam.suspect:Suspect",
        (("folder", str(candidate)),),
        (("JAX_PLATFORMS", "cpu"), ("JAX_ENABLE_X64", "1"), ("XLA_FLAGS", FAST_COMPILE)),
        files=(str(candidate),),
    )
    return sandboxed(spec, candidate, hidden_packages=HIDDEN, sandbox=sandbox, **SANDBOX_LIMITS)
