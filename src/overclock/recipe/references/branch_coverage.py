"""Which branches of a reference the states of its comparison reach, and why the others could not be.

A branch is a conditional jump, with two outcomes; those of every function count that the translator went through. It is
played as level 1 plays it: random actions, and the steps of the search for rare states; what the coverage-guided play
of level 3 reached counts as well. Some outcomes no episode can have, and they are told apart: the constructor's
arguments decide the test (the translator met it and knew its outcome, or never came there), a failing `assert`, and
what is done only after an episode's end.
"""

import ast
import re
from pathlib import Path
from typing import Any

from overclock.recipe.contract.cases import RecordedCases
from overclock.recipe.project.project import Project
from overclock.recipe.references.gymnasium_spec import close
from overclock.recipe.references.reference import make_env
from overclock.recipe.references.stored_observations import store_observations
from overclock.recipe.syntax import read_tree
from overclock.translate.program import Covered
from overclock.verify.rollout.branches import BranchTracer
from overclock.verify.rollout.result import RolloutLevel

EPISODES, STEPS, BEYOND = 60, 300, 4  # steps beyond an end are taken in every episode
PLACE = re.compile(r"(.+?):(\d+) ")
CONSTANT = re.compile(r" `self\.(\w+)` ")  # an attribute by itself, which nothing changes if it is no state


def reference_branches(project: Project, covered: Covered, rollouts: RolloutLevel) -> dict[str, Any]:
    """Reached, reachable, the share of it, and the others by reason; `rollouts` is the result of level 3."""
    files = sorted({file for file, _ in covered.lines})
    ordinary, late = _played(project, files)
    guided = {shown for one in rollouts.comparisons if one.branches is not None for shown in one.branches.reached}
    headers = {Path(file).name: _headers(file, covered) for file in files}
    changing = {path.rpartition(".")[2] for path in project.contract.shapes}
    reached, reasons = 0, {"decided": list[str](), "after the end": list[str](), "missed": list[str]()}
    for shown in ordinary["reached"] + ordinary["missed"]:
        line = _line(shown, headers)
        if line is None:
            continue  # of a function that was not translated: drawing, logging
        if shown in ordinary["reached"] or shown in guided:
            reached += 1
        elif line or ((constant := CONSTANT.search(shown)) and project.contract.shapes and constant[1] not in changing):
            reasons["decided"].append(shown)
        else:
            reasons["after the end" if shown in late else "missed"].append(shown)
    reachable = reached + len(reasons["missed"])
    percent = round(100.0 * reached / reachable, 1) if reachable else 100.0
    return {"reached": reached, "reachable": reachable, "percent": percent, **reasons}


def _played(project: Project, files: list[str]) -> tuple[dict[str, list[str]], set[str]]:
    """What episodes show, and what is reached only by steps after an end."""
    env = make_env(**project.reference.make())
    store_observations(env, project.contract.shapes)
    env.action_space.seed(0)
    ordinary, beyond, terminated = BranchTracer(files), BranchTracer(files), False
    for seed in range(EPISODES):
        with ordinary:
            env.reset(seed=seed)
        for _ in range(STEPS):
            action = env.action_space.sample()
            with ordinary:
                _, _, terminated, _, _ = env.step(action)
            if terminated:
                break
        for _ in range(BEYOND if terminated else 0):
            action = env.action_space.sample()
            with beyond:
                env.step(action)
    cases = RecordedCases(project.contract)
    env.reset(seed=0)
    if project.contract.set_state:
        if project.contract.codec is None:
            with ordinary:
                cases.step_from_boundary(env.unwrapped)
        else:
            cases.step_from_boundary(env, ordinary)
    close(env)
    shown, late = ordinary.report(), beyond.report()
    missed = [one for one in late["missed"] if one not in shown["reached"] + shown["missed"]]
    return {**shown, "missed": shown["missed"] + missed}, set(late["reached"]) - set(shown["reached"])


def _headers(file: str, covered: Covered) -> dict[int, bool]:
    """The lines of what was translated, without the bodies of compound statements; True: the outcome was known."""
    own = {line for one, line in covered.lines if one == file}
    found: dict[int, bool] = {}
    for node in ast.walk(read_tree(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt) and node.lineno in own and not isinstance(node, ast.FunctionDef | ast.ClassDef):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            known = (file, node.lineno) in covered.decided or isinstance(node, ast.Assert | ast.Raise)
            found |= dict.fromkeys(range(node.lineno, max(last, node.lineno) + 1), known)
    return found


def _line(shown: str, headers: dict[str, dict[int, bool]]) -> bool | None:
    place = PLACE.match(shown)
    return headers.get(place[1], {}).get(int(place[2])) if place else None
