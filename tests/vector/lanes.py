"""What a batch must equal: single instances, stepped one by one in plain Python, each with its lane's own stream."""

from typing import Any

import jax
import numpy as np

from overclock.env import Environment, Rng

Row = dict[str, Any]


def lane(tree: Any, i: int) -> Any:
    """Lane i of a batched tree, on the host, where indexing is quick."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[i], tree)


def play_alone(env: Environment, rng: Rng, actions: Any, params: Any, autoreset: str) -> list[Row]:
    """Episodes of one instance: reset at the first event, one event per action, restarts as the mode says."""
    obs, state = env.reset(rng, params)
    rows, over = [], False
    for action in actions:
        rng = rng.advance()
        before = obs
        if autoreset == "next_step" and over:
            obs, state = env.reset(rng, params)
            rows.append({"before": before, "obs": obs, "final": obs, "reward": np.zeros_like(reward),
                         "terminated": False, "truncated": False, "info": env.facts(state.rules, params)})  # fmt: skip
            over = False
            continue
        obs, state, reward, terminated, truncated, info = env.step_env(rng, state, action, params)
        row = {"before": before, "final": obs, "reward": reward, "terminated": terminated, "truncated": truncated}
        over = bool(terminated | truncated)
        if autoreset == "same_step" and over:
            obs, state = env.reset(rng, params)
        rows.append({**row, "obs": obs, "info": info})
    return rows


def play_batch(venv: Any, state: Any, obs: Any, actions: Any, params: Any = None) -> tuple[Any, list[Row]]:
    """The same rows from a vector environment, one per step, lanes first."""
    rows = []
    for action in actions:
        before = obs
        obs, state, reward, terminated, truncated, info = venv.step(state, action, params)
        info = dict(info)
        rows.append({"before": before, "obs": obs, "final": info.pop("final_observation"), "reward": reward,
                     "terminated": terminated, "truncated": truncated, "info": info})  # fmt: skip
    return state, jax.tree.map(np.asarray, rows)


def assert_equal(actual: Any, expected: Any, hint: str = "") -> None:
    """Same structure, shapes, dtypes and bits."""
    actual_leaves, expected_leaves = (jax.tree_util.tree_flatten_with_path(t)[0] for t in (actual, expected))
    assert [path for path, _ in actual_leaves] == [path for path, _ in expected_leaves], hint
    for (path, a), (_, b) in zip(actual_leaves, expected_leaves, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        where = f"{hint} {jax.tree_util.keystr(path)}"
        assert (a.shape, a.dtype) == (b.shape, b.dtype), where
        assert a.tobytes() == b.tobytes(), f"{where}: {a} is not {b}"
