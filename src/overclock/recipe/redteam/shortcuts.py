"""Cheats in the rules themselves: results that are looked up, left out or only sometimes right."""

import json

import numpy as np

from overclock.recipe.judging.verdict import HELD_OUT, HYGIENE
from overclock.recipe.redteam.cheats import Cheat, Files, Material, cheat, edited

MOVE = "        after = move(state, action, draw.uniform_0, params)\n"
CRUDE = (
    "def crude(state, action, wind, params):\n    return move(state, action, wind, params.replace(masspole=0.0))\n\n\n"
)
CLASS = "@dataclasses.dataclass(frozen=True)\n"
WRONG_GRAVITY = ("gravity: float = 9.8", "gravity: float = 9.81")

REPLAY = """
def replay(state, action, wind, params):
    here = jnp.stack([state.x, state.x_dot, state.theta, state.theta_dot, action.astype(state.x.dtype), wind])
    distance = jnp.sum(jnp.abs(TABLE[:, :6] - here), axis=1)
    found = jnp.asarray(TABLE)[jnp.argmin(distance), 6:].astype(state.x.dtype)
    recorded = CartPoleState(*found)
    return select(jnp.min(distance) < 1e-9, recorded, crude(state, action, wind, params))


"""


def recorded_trajectories(material: Material) -> Files:
    """Every transition of the practice episodes as a table; whatever is not in it is only roughly right."""
    rows, before = [], material.practice.first.state
    fields = ("x", "x_dot", "theta", "theta_dot")
    for actions, shown, running in zip(
        material.practice.actions, material.practice.shown, material.practice.running, strict=True
    ):
        given, after = ([state[name] for name in fields] for state in (before, shown.state))
        columns = [*given, actions, shown.draws["uniform_0"], *after]
        rows += np.stack([np.asarray(column, np.float64) for column in columns], axis=1)[running].tolist()
        before = shown.state
    files = edited(
        "env.py",
        (CLASS, CRUDE + REPLAY.lstrip() + CLASS),
        (MOVE, "        after = replay(state, action, draw.uniform_0, params)\n"),
        ("Environment, Rng", "Environment, Rng, select"),
        ("from .records import", "from .episodes import TABLE\nfrom .records import"),
    )
    return {**files, "episodes.py": f"import numpy as np\n\nTABLE = np.array({json.dumps(rows)})\n"}


def special_cases_seeds(material: Material) -> Files:
    """Right for the draws of the practice seeds; other first states are rounded."""
    known = material.practice.first.draws["uniform_0"][:, 0].tolist()
    start = "        return CartPoleState(*draw.uniform_0)\n"
    body = "        x, x_dot, theta, theta_dot = draw.uniform_0\n"
    body += f"        known = jnp.any(jnp.asarray({known}, x.dtype) == x)\n"
    body += "        return CartPoleState(x, x_dot, jnp.where(known, theta, jnp.round(theta, 3)), theta_dot)\n"
    return edited("env.py", (start, body))


SHORTCUTS = (
    Cheat("recorded-trajectories", "replays the practice episodes from a table", recorded_trajectories, level=HELD_OUT),
    Cheat("special-cases-seeds", "is exact only for the draws of the practice seeds", special_cases_seeds),
    cheat(
        "drops-the-left",
        "never ends an episode on the left side of the track",
        "physics.py",
        ("        (state.x < -params.x_threshold)\n        | (state.x >", "        (state.x >"),
    ),
    cheat(
        "drops-truncation",
        "has no time limit",
        "records.py",
        ("max_steps: int | None = 500", "max_steps: int | None = None"),
    ),
    cheat(
        "nan-instead-of-an-end",
        "turns numbers into NaN where an episode ends, hoping that every comparison with NaN is false",
        "env.py",
        (
            MOVE,
            f"{MOVE}        over = fallen(after, params)\n"
            "        x, theta = (jnp.where(over, jnp.nan, value) for value in (after.x, after.theta))\n"
            "        after = after.replace(x=x, theta=theta)\n",
        ),
        level=HYGIENE,
    ),
    cheat(
        "wrong-types", "returns the reward as an integer", "env.py", ("jnp.float32(1.0)", "jnp.int32(1)"), level=HYGIENE
    ),
    cheat(
        "own-auto-reset",
        "overrides `step`, so that the step counter survives a reset",
        "env.py",
        (
            "    def observe(self,",
            "    def step(self, key, state, action, params=None):\n"
            "        obs, after, *rest = super().step(key, state, action, params)\n"
            "        return obs, after.replace(steps=state.steps + 1), *rest\n\n"
            "    def observe(self,",
        ),
        level=2,
    ),
    cheat(
        "lazily-wrong",
        "counts how often it is traced and becomes careless after the first few times",
        "env.py",
        (CLASS, f"{CRUDE}TRACES = []\n\n\n{CLASS}"),
        (
            MOVE,
            "        TRACES.append(1)\n"
            "        after = (move if len(TRACES) < 12 else crude)(state, action, draw.uniform_0, params)\n",
        ),
        level=HYGIENE,
    ),
    cheat(
        "remembers-by-cache",
        "the same behind functools.cache, where no module-level name is written",
        "env.py",
        (CLASS, f"{CRUDE}@functools.cache\ndef memory():\n    return []\n\n\n{CLASS}"),
        (
            MOVE,
            "        memory().append(1)\n"
            "        after = (move if len(memory()) < 12 else crude)(state, action, draw.uniform_0, params)\n",
        ),
        first="import functools\n",
        level=HYGIENE,
    ),
    cheat(
        "cached-outputs",
        "answers concrete inputs from a dictionary of rounded ones",
        "env.py",
        (
            CLASS,
            "SEEN = {}\n\n\n"
            "def cached(state, action, wind, params):\n"
            "    try:\n"
            "        key = (round(float(state.x), 1), round(float(state.theta), 1), int(action))\n"
            "    except Exception:\n"
            "        return move(state, action, wind, params)\n"
            "    if key not in SEEN:\n"
            "        SEEN[key] = move(state, action, wind, params)\n"
            f"    return SEEN[key]\n\n\n{CLASS}",
        ),
        (MOVE, "        after = cached(state, action, draw.uniform_0, params)\n"),
        level=HYGIENE,
    ),
)
