"""Level 2 of a new project: scenarios recorded from its reference."""

import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.recipe.project.project import Project
from overclock.recipe.project.twin import project_twin
from overclock.recipe.references.gymnasium_spec import close
from overclock.recipe.references.reference import NO_LIMIT, make_env, time_limit
from overclock.verify.interaction.playback import record_scenarios
from overclock.verify.interaction.scenario import Scenario, Setup, Step, format_scenario

STEPS = 24
LAST = 2  # steps before a time limit
ATTEMPTS = 20  # episodes that may end by themselves within as many

Script = tuple[str, str, dict[str, Any], list[Any]]  # name, why, setup and actions of a scenario


def write_scenarios(project: Project) -> list[Path]:
    """Record scenarios from the reference: steady, alternating and random play, up to the end where it comes."""
    unrecorded = [
        Scenario(name, why, Setup(**setup), tuple(Step(action, {}) for action in actions))
        for name, why, setup, actions in [*_scripts(project), *_until_the_limit(project)]
    ]
    with tempfile.TemporaryDirectory() as nothing:
        recorded = record_scenarios(project_twin(project, Path(nothing)), unrecorded)
    paths = {project.scenarios / f"{scenario.name}.json": scenario for scenario in recorded}
    for path, scenario in paths.items():
        write_whole(path, format_scenario(scenario).encode())
    return list(paths)


def _scripts(project: Project) -> list[Script]:
    """Scenarios from the beginning of an episode; no actions beyond an end."""
    env = make_env(**project.reference.make())
    space = env.action_space
    low, high = _ends(space, flat=project.contract.codec is not None)
    space.seed(0)
    plans: list[tuple[str, str, int, Any]] = [
        ("steady-first", "the first action again and again", 1, lambda step: low),
        ("steady-last", "the last action again and again", 2, lambda step: high),
        ("alternating", "the first and the last action in turn", 3, lambda step: (low, high)[step % 2]),
        *((f"random-{seed}", "random actions", 10 + seed, lambda step: space.sample()) for seed in range(4)),
    ]
    found = []
    for name, why, seed, choose in plans:
        env.reset(seed=seed)
        actions, ended = [], False
        while len(actions) < STEPS and not ended:
            action = choose(len(actions))
            _, _, terminated, truncated, _ = env.step(action)
            actions.append(np.asarray(action).tolist())
            ended = bool(terminated or truncated)
        found.append((name, f"{why}{', to the end of the episode' if ended else ''}", {"seed": seed}, actions))
    close(env)
    return found


def _until_the_limit(project: Project) -> list[Script]:
    """The last steps before the time limit, which few episodes reach, in a reference that can be put there."""
    env = make_env(**project.reference.make())
    limit, found = time_limit(env)._max_episode_steps, list[Script]()
    for seed in range(ATTEMPTS) if project.contract.set_state and LAST <= limit < NO_LIMIT else ():
        env.action_space.seed(seed)
        env.reset(seed=seed)
        actions = [env.action_space.sample() for _ in range(LAST)]
        if not any(env.step(action)[2] for action in actions):
            start = {"seed": seed, "state": {"steps": limit - LAST}}
            plain = [np.asarray(action).tolist() for action in actions]
            found.append(("time-limit", "the last steps before the time limit", start, plain))
            break
    close(env)
    return found


def _ends(space: gymnasium.Space[Any], flat: bool) -> tuple[Any, Any]:
    """The first and the last action; `flat`: several choices at once are known as whole numbers."""
    if isinstance(space, gymnasium.spaces.Discrete) and space.start == 0:
        return 0, int(space.n) - 1
    if isinstance(space, gymnasium.spaces.Box):
        return space.low, space.high
    if isinstance(space, gymnasium.spaces.MultiDiscrete) and flat and not space.start.any():
        return np.zeros_like(space.nvec), space.nvec - 1
    raise UsageError(
        f"The action space {space} is neither a Box nor a Discrete that starts at 0; let the reference take such "
        "actions, and translate that."
    )
