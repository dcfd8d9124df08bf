"""Cheats in the rules themselves: results that are looked up, left out or only sometimes right."""

import json

import numpy as np

from overclock.recipe.redteam.cheats import Cheat, Files, Material, cheat, edited

MOVE = "        after = move(state, action, params)\n"
CRUDE = "def crude(state, action, params):\n    return move(state, action, params.replace(masspole=0.0))\n\n\n"
CLASS = "@dataclasses.dataclass(frozen=True)\n"
WRONG_GRAVITY = ("gravity: float = 9.8", "gravity: float = 9.81")

REPLAY = """
def replay(state, action, params):
    here = jnp.stack([state.x, state.x_dot, state.theta, state.theta_dot, action.astype(state.x.dtype)])
    distance = jnp.sum(jnp.abs(TABLE[:, :5] - here), axis=1)
    found = jnp.asarray(TABLE)[jnp.argmin(distance), 5:].astype(state.x.dtype)
    recorded = CartPoleState(*found)
    return select(jnp.min(distance) < 1e-9, recorded, crude(state, action, params))


"""


def recorded_trajectories(material: Material) -> Files:
    """Every transition of the practice episodes as a table; whatever is not in it is only roughly right."""
    rows, before = [], material.practice.first.state
    fields = ("x", "x_dot", "theta", "theta_dot")
    for actions, shown, running in zip(
        material.practice.actions, material.practice.shown, material.practice.running, strict=True
    ):
        columns = [*(before[name] for name in fields), actions, *(shown.state[name] for name in fields)]
        rows += np.stack([np.asarray(column, np.float64) for column in columns], axis=1)[running].tolist()
        before = shown.state
    files = edited(
        "env.py",
        (CLASS, CRUDE + REPLAY.lstrip() + CLASS),
        (MOVE, "        after = replay(state, action, params)\n"),
        ("Environment, Rng", "Environment, Rng, select"),
        ("from .records import", "from .episodes import TABLE\nfrom .records import"),
    )
    return {**files, "episodes.py": f"import numpy as np\n\nTABLE = np.array({json.dumps(rows)})\n"}


def special_cases_seeds(material: Material) -> Files:
    """Right for the draws of the practice seeds; other first states are rounded."""
    known = material.practice.first.draws["x"].tolist()
    body = f"        known = jnp.any(jnp.asarray({known}, draw.x.dtype) == draw.x)\n"
    body += "        return draw.replace(theta=jnp.where(known, draw.theta, jnp.round(draw.theta, 3)))\n"
    return edited("env.py", ("        return draw\n", body))


SHORTCUTS = (
    Cheat("recorded-trajectories", "replays the practice episodes from a table", recorded_trajectories),
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
            "        terminated = fallen(after, params)\n",
            "        over = fallen(after, params)\n"
            "        x, theta = (jnp.where(over, jnp.nan, value) for value in (after.x, after.theta))\n"
            "        after = after.replace(x=x, theta=theta)\n"
            "        terminated = fallen(after, params)\n",
        ),
    ),
    cheat(
        "wrong-types",
        "returns the reward as an integer",
        "env.py",
        ("reward.astype(jnp.float32)", "reward.astype(jnp.int32)"),
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
    ),
    cheat(
        "lazily-wrong",
        "counts how often it is traced and becomes careless after the first few times",
        "env.py",
        (CLASS, f"{CRUDE}TRACES = []\n\n\n{CLASS}"),
        (
            MOVE,
            "        TRACES.append(1)\n        after = (move if len(TRACES) < 12 else crude)(state, action, params)\n",
        ),
    ),
    cheat(
        "remembers-by-cache",
        "the same behind functools.cache, where no module-level name is written",
        "env.py",
        (
            CLASS,
            f"{CRUDE}@functools.cache\ndef memory():\n    return []\n\n\n{CLASS}",
        ),
        (
            MOVE,
            "        memory().append(1)\n"
            "        after = (move if len(memory()) < 12 else crude)(state, action, params)\n",
        ),
        first="import functools\n",
    ),
    cheat(
        "cached-outputs",
        "answers concrete inputs from a dictionary of rounded ones",
        "env.py",
        (
            CLASS,
            "SEEN = {}\n\n\n"
            "def cached(state, action, params):\n"
            "    try:\n"
            "        key = (round(float(state.x), 1), round(float(state.theta), 1), int(action))\n"
            "    except Exception:\n"
            "        return move(state, action, params)\n"
            "    if key not in SEEN:\n"
            "        SEEN[key] = move(state, action, params)\n"
            f"    return SEEN[key]\n\n\n{CLASS}",
        ),
        (MOVE, "        after = cached(state, action, params)\n"),
    ),
)
