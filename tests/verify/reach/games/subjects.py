"""The three games as references of a twin: their states as named arrays, and back."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import TimeLimit
from verify.reach.games.snake import SIZE, Snake
from verify.reach.games.sokoban import Sokoban
from verify.reach.games.tetris import Tetris

from overclock.recording.wrappers import wrapped
from overclock.verify.sides.gymnasium_reference import GymnasiumSubject
from overclock.verify.sides.subject import Arrays

NUMBERS = {
    "tetris": ("piece", "turned", "row", "column", "lines", "score", "game_over"),
    "snake": ("heading", "hungry"),
    "sokoban": ("map", "row", "column", "moves"),
}
GRIDS = {"tetris": ("board",), "snake": (), "sokoban": ("boxes",)}
LISTS = {"snake": {"body_length": ("body_row", "body_column")}}
NAMES = {
    game: (*NUMBERS[game], *GRIDS[game], *(("food_row", "food_column") if game == "snake" else ()),
           *(name for length, items in LISTS.get(game, {}).items() for name in (length, *items)))
    for game in NUMBERS
}  # fmt: skip
CLASSES = {"tetris": Tetris, "snake": Snake, "sokoban": Sokoban}


def subject(num_envs: int, game: str) -> GymnasiumSubject:
    """The reference of a game, as verify starts it."""
    spec = EnvSpec(f"tests/{game}-v0", CLASSES[game], max_episode_steps=500, disable_env_checker=True)
    return GymnasiumSubject(
        spec,
        num_envs,
        read_state=lambda env: _read_all(game, env),
        write_state=lambda env, state: _write_all(game, env, state),
        name_reset_draws=_drawn,
        name_step_draws=_drawn,
    )


def read(game: str, env: Any) -> Arrays:
    """The state of a game; the body of a snake has room for the whole board."""
    state = {name: np.asarray(getattr(env, name)) for name in (*NUMBERS[game], *GRIDS[game])}
    if game == "snake":
        body = np.zeros((SIZE * SIZE, 2), np.int64)
        body[: len(env.body)] = env.body
        state |= {"body_length": np.asarray(len(env.body)), "body_row": body[:, 0].copy()}
        state |= {"body_column": body[:, 1].copy(), "food_row": np.asarray(env.food[0])}
        state |= {"food_column": np.asarray(env.food[1])}
    return state


def write(game: str, env: Any, state: Arrays) -> None:
    """Put a game into a state."""
    for name in NUMBERS[game]:
        setattr(env, name, bool(state[name]) if name == "game_over" else int(state[name]))
    for name in GRIDS[game]:
        setattr(env, name, np.array(state[name]))
    if game == "snake":
        rows = zip(state["body_row"].tolist(), state["body_column"].tolist(), strict=True)
        env.body = list(rows)[: int(state["body_length"])]
        env.food = (int(state["food_row"]), int(state["food_column"]))


def _read_all(game: str, env: gymnasium.Env[Any, Any]) -> Arrays:
    steps = np.asarray(_limit(env)._elapsed_steps or 0, np.int32)
    return {**read(game, env.unwrapped), "steps": steps}


def _write_all(game: str, env: gymnasium.Env[Any, Any], state: Arrays) -> None:
    write(game, env.unwrapped, state)
    _limit(env)._elapsed_steps = int(state["steps"])


def _limit(env: gymnasium.Env[Any, Any]) -> TimeLimit:
    return next(one for one in wrapped(env) if isinstance(one, TimeLimit))


def _drawn(calls: list[tuple[str, Any]]) -> Arrays:
    """The one number that a reset or a step may draw."""
    return {"number": np.asarray(calls[0][1] if calls else 0, np.int64)}
