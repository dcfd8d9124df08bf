"""The files of a repro's folder besides repro.json: a test, a scenario, and the facts for whoever repairs the bug."""

import ast
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from overclock.env import registry
from overclock.errors import UnknownEnvironmentError, UsageError
from overclock.verify.contract import Twin
from overclock.verify.interaction.playback import record_scenario
from overclock.verify.interaction.scenario import format_scenario
from overclock.verify.repro.repro import FILE, describe, format_repro
from overclock.verify.repro.shrink import Shrunk
from overclock.verify.sides.patched import source_of
from overclock.verify.text import as_kernel
from overclock.verify.value_text import actions_text, sides_text, state_text

TEST = '''"""Fails while {twin} leaves its reference in {field} after {actions}, and passes once that is fixed.

It runs both sides in processes of their own and needs no other file; {file} beside it has the whole story.
"""

from overclock.verify.repro.replay import check_fixed

REPRO = r"""
{content}"""


def test_{slug}():
    check_fixed(REPRO)
'''
NEEDED = ("schema", "twin", "backend", "precision", "mode", "setup", "actions", "draws", "field", "step", "expected")

PROMPT = """# Level {level} comparison of {twin} failed{where}

Divergence ({precision}, {found_mode}):

- Step {found_step} of the episode with seed {seed}: {found_field} = {found_performance} (performance) vs \
{found_reference} (reference); error {found_error:.3g}, tolerance {found_tolerance:.3g}
- {matched}

{last_heading}

{last}

{taken}

## The shortest episode that shows it

- Start: {start}
- Actions: {actions}
- {field} = {performance} (performance) vs {reference} (reference) after {count}; error {error:.3g}, tolerance \
{tolerance:.3g}
- Also different there: {also}
- Replay it: `{command}`

## Where to look

{sources}

Diagnose the root cause. Start by:

1. Compute {field} by hand for the shortest episode, in both implementations, and find the first intermediate value that
   differs.
2. Check what that value depends on: constants, the order of operations, the order of updates, types and shapes, which
   random draw goes where.

After identifying the bug, fix it. `{command}` must then say "no longer diverges", `{test}` must pass, and a
level 1 or level 2 test that would have caught this belongs with the others{ready}.
"""


def write_repro(
    folder: Path,
    shrunk: Shrunk,
    twin: Twin,
    plant: str | None = None,
    level: int = 3,
    timeout: float = 120.0,
    target: str | None = None,
) -> Path:
    """Write `folder/<n>/` with the next free number, all of it or nothing; returns it.

    `target` is what finds the twin again (twins.py); its name where that is a registered id.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = 1 + max((int(path.name) for path in folder.iterdir() if path.name.isdecimal()), default=0)
        while True:
            place = folder / str(number)
            content = describe(shrunk, twin, place, plant, level, target)
            if _write_whole(place, _files(content, shrunk, twin, timeout)):
                return place
            number += 1
    except OSError as error:
        raise UsageError(f"Cannot write a repro to '{folder}': {error.strerror}; choose another place.") from error


def _write_whole(target: Path, files: dict[str, str]) -> bool:
    """Write a folder under another name and rename it; False where somebody else has just taken its name."""
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=target.parent))
    try:
        for name, text in files.items():
            (unfinished / name).parent.mkdir(exist_ok=True)
            (unfinished / name).write_text(text, encoding="utf-8")
        unfinished.chmod(0o755)  # temporary folders are private
        try:
            os.rename(unfinished, target)
        except OSError:
            if target.exists():
                return False
            raise
        return True
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _files(content: dict[str, Any], shrunk: Shrunk, twin: Twin, timeout: float) -> dict[str, str]:
    where = f"after {actions_text(content['step'])}"
    slug = re.sub(r"\W+", "_", f"{content['field']} {where}").strip("_").lower()
    files = {FILE: format_repro(content), f"test_{slug}.py": _test(content, slug)}
    if not shrunk.shortest.episode.draws:  # a scenario's reference makes its own draws
        name = f"repro-{slug.replace('_', '-')}"
        why = f"{content['field']} was different {where} (first seen at step {content['found']['step']})"
        setup = {key: content["setup"][key] for key in ("seed", "state") if key in content["setup"]}
        scenario = record_scenario(twin, name, why, setup, content["actions"] or [shrunk.some_action], timeout=timeout)
        files[f"scenarios/{name}.json"] = format_scenario(scenario)
    ready = ": a scenario is ready in scenarios/" if len(files) > 2 else ""
    files["prompt.md"] = _prompt(content, f"test_{slug}.py", ready)
    return files


def _test(content: dict[str, Any], slug: str) -> str:
    text = format_repro({key: content[key] for key in NEEDED})
    actions = actions_text(content["step"])
    return TEST.format(
        twin=content["twin"], field=content["field"], actions=actions, file=FILE, content=text, slug=slug
    )


def _prompt(content: dict[str, Any], test: str, ready: str) -> str:
    found, setup = content["found"], content["setup"]
    steps, last = found["step"], found["last_matching"]
    drawn = f"seed {setup['seed']}, draws {setup.get('draws')}"
    start = f"state {state_text(setup['state'])}" if "state" in setup else drawn
    found_reference, found_performance = sides_text(found["reference"], found["performance"])
    reference, performance = sides_text(content["reference"], content["performance"])
    rows = [] if last is None else [
        f"- {name} = {theirs}" + ("" if other == value else f" (reference), {ours} (performance)")
        for name, value in last["reference"].items()
        for other in [last["performance"].get(name)]
        for theirs, ours in [sides_text(value, other)]
    ]  # fmt: skip
    return PROMPT.format(
        level=found["level"],
        # Levels 1 and 2 have no steps of this episode: it was played afterwards, to show what they found.
        where=f" at step {steps}" if found["level"] == 3 else f"; an episode that shows it diverges at step {steps}",
        twin=content["twin"] + as_kernel(content["backend"]),
        precision=content["precision"],
        **{f"found_{key}": found[key] for key in ("step", "field", "error", "tolerance")},
        found_reference=found_reference,
        found_performance=found_performance,
        found_mode=found["mode"].replace("_", " "),
        seed=found["seed"],
        matched="The reset itself differs" if not steps else f"Steps 0-{steps - 1} matched within the contract",
        last_heading=f"State at step {steps - 1} (last matching):" if rows else "No state matched before.",
        last="\n".join(rows),
        taken=f"Action taken at step {steps}: {found['actions'][-1]}" if steps else "No action was taken.",
        start=start,
        actions=content["actions"] or "none",
        count=actions_text(content["step"]),
        also=", ".join(content["also_wrong"]) or "nothing",
        sources="\n".join(f"- {place}" for place in sources(content["twin"], content["field"], content["step"])),
        test=test,
        ready=ready,
        reference=reference,
        performance=performance,
        **{key: content[key] for key in ("field", "error", "tolerance", "command")},
    ).replace("\n\n\n\n", "\n\n")


def sources(twin: str, field: str, step: int) -> list[str]:
    """Where the performance side computes a field: 'package/module.py:line Class.function', without importing it."""
    try:
        entry_point = registry.spec(twin).entry_point
        module, _, name = entry_point.partition(":")
        tree = ast.parse(source_of(module)[0])
    except (UnknownEnvironmentError, UsageError, SyntaxError):
        return ["the source of the performance side is not known to Overclock"]
    wanted = {"obs": ["observe"], "action_mask": ["action_mask"]}.get(field, ["transition"] if step else ["init"])
    if field in ("truncated", "state.steps"):
        wanted = ["default_params"]
    wanted += [other for other in ("init", "transition") if field == "obs" and (other == "init") == (step == 0)]
    found = [
        f"{module.replace('.', '/')}.py:{function.lineno} {name}.{function.name}"
        for cls in tree.body
        if isinstance(cls, ast.ClassDef) and cls.name == name
        for function in cls.body
        if isinstance(function, ast.FunctionDef) and function.name in wanted
    ]
    return found or [f"{module.replace('.', '/')}.py"]
