"""Games of several players as PettingZoo parallel environments.

Players are called `player_0`, `player_1`, ... Turn-based games fit too: `infos[agent]["acting"]` says whose move
counts; the others may send anything, or be left out of the actions. For a single player's view see `against`.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from overclock.adapters.host_border import batch_actions, copied, rows
from overclock.env import registry
from overclock.env.environment import Environment, EnvState, Obs, Params
from overclock.env.overflow import OVERFLOW, OnOverflow, checked_on_overflow, refuse_overflow, room_of
from overclock.env.rng import Rng
from overclock.env.spaces import structure
from overclock.errors import MissingError, UsageError

try:
    from gymnasium import spaces
    from pettingzoo import ParallelEnv

    from overclock.adapters.gymnasium_spaces import in_space, to_gymnasium_space
except ImportError as error:
    raise MissingError("This adapter needs PettingZoo; run: pip install 'overclock[pettingzoo]'.") from error

Renderer = Callable[[Environment[Any, Any], EnvState, Params], np.ndarray]


class PettingZooParallel(ParallelEnv[str, Any, Any]):
    """A game, given as an `Environment` or by id, behind PettingZoo's parallel interface.

    Where the game has action masks they are in `infos[agent]["action_mask"]` (int8) and, as in PettingZoo's own board
    games, in the observation, which becomes `{"observation": ..., "action_mask": ...}`; `mask_in_observation=False`
    leaves the observation as it is. All players leave `agents` together, when the game terminates or is cut off.
    """

    def __init__(
        self,
        env: str | Environment[Any, Any],
        params: Params | None = None,
        *,
        mask_in_observation: bool = True,
        render_mode: str | None = None,
        renderer: Renderer | None = None,
        overflow: OnOverflow = "error",
        **static: Any,
    ) -> None:
        """`renderer(env, state, params)` draws an RGB picture; an id brings its registered one along.

        A game that runs out of room (`infos[agent]["overflow"]`) is an OverflowedError unless `overflow` is "info".
        """
        self._overflow: OnOverflow = checked_on_overflow(overflow)
        if isinstance(env, str):
            entry = registry.spec(env)
            env, default = registry.make(env, **static)
            params = default if params is None else params
            if renderer is None and entry.renderer is not None:
                renderer = registry.load(entry.renderer)
        elif static:
            raise UsageError(f"Options ({', '.join(static)}) go with an id; this environment is an object already.")
        if env.num_players < 2:
            raise UsageError(f"{type(env).__name__} has one player; use overclock.adapters.gymnasium.")
        if render_mode not in (None, "rgb_array"):
            raise UsageError(f"render_mode must be None or 'rgb_array', got {render_mode!r}.")
        if render_mode is not None and renderer is None:
            raise UsageError(f"{type(env).__name__} has no renderer; pass renderer=, or leave render_mode out.")
        self.env = env
        self.params = env.default_params() if params is None else params
        self._own_action_space = env.action_space(self.params)
        self._own_observation_space = to_gymnasium_space(env.observation_space(self.params))
        self.render_mode = render_mode
        self.metadata = {
            "name": type(env).__name__,
            "render_modes": [] if renderer is None else ["rgb_array"],
            "is_parallelizable": True,
        }
        self.possible_agents = [f"player_{player}" for player in range(env.num_players)]
        self.agents: list[str] = []
        self._renderer = renderer
        self._rng = Rng.of(int(np.random.SeedSequence().generate_state(1)[0]))
        self._state: EnvState | None = None
        self._acting = np.zeros(env.num_players, np.bool_)
        _, _, mask, _ = jax.eval_shape(functools.partial(_reset, env), self._rng, self.params)
        self._mask_in_observation = mask_in_observation and mask is not None
        self.observation_spaces = {agent: self._observation_space(mask) for agent in self.possible_agents}
        self.action_spaces = {agent: to_gymnasium_space(self._own_action_space) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What `agent` sees; the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What `agent` may do; the same object at every call."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a game: a seed repeats the same one, without a seed the stream goes on."""
        if seed is not None:
            self._rng = Rng.of(seed)
        obs, state, mask, acting = _reset(self.env, self._rng, self.params)
        self._state, self._rng = state, self._rng.advance()
        self.agents = list(self.possible_agents)
        info = self.env.facts(state.rules, self.params)
        return self._seen(obs, mask), self._told(info, mask, acting)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """One step of all players: (observations, rewards, terminations, truncations, infos)."""
        if not self.agents or self._state is None:
            if actions:
                raise UsageError("No game is running; call reset() before step().")
            return {}, {}, {}, {}, {}
        joint = self._joint_action(actions)
        obs, self._state, reward, terminated, truncated, info, mask, acting = _step(
            self.env, self._rng, self._state, joint, self.params
        )
        self._rng = self._rng.advance()
        if self._overflow == "error":
            refuse_overflow(info.get(OVERFLOW), "this game", room_of(self.env))
        rewards = dict(zip(self.agents, np.asarray(reward).tolist(), strict=True))
        terminations = dict.fromkeys(self.agents, bool(terminated))
        truncations = dict.fromkeys(self.agents, bool(truncated))
        seen, told = self._seen(obs, mask), self._told(info, mask, acting)
        if bool(terminated) or bool(truncated):
            self.agents = []
        return seen, rewards, terminations, truncations, told

    def render(self) -> np.ndarray | None:
        """An RGB picture of the game; None without a render mode."""
        if self.render_mode is None or self._renderer is None:
            return None
        if self._state is None:
            raise UsageError("There is nothing to draw yet; call reset() before render().")
        return self._renderer(self.env, jax.device_get(self._state), self.params)

    def _joint_action(self, actions: Mapping[str, Any]) -> Any:
        strangers = set(actions) - set(self.agents)
        if strangers:
            raise UsageError(f"No such player: {', '.join(sorted(strangers))}; they are {', '.join(self.agents)}.")
        space = self._own_action_space
        ignored = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), structure(space))
        chosen = []
        for agent, acts in zip(self.agents, self._acting, strict=True):
            if acts and actions.get(agent) is None:
                raise UsageError(f"It is {agent}'s move, but the actions have none for it.")
            chosen.append(actions[agent] if acts else ignored)
        return batch_actions(space, jax.tree.map(lambda *leaves: np.stack(leaves), *chosen), self.env.num_players)

    def _seen(self, obs: Obs, mask: Any) -> dict[str, Any]:
        obs = in_space(self._own_observation_space, jax.device_get(obs))
        views = {agent: rows(obs, player) for player, agent in enumerate(self.agents)}
        if not self._mask_in_observation:
            return views
        return {
            agent: {"observation": view, "action_mask": np.asarray(mask[player], np.int8)}
            for player, (agent, view) in enumerate(views.items())
        }

    def _told(self, info: dict[str, Any], mask: Any, acting: Any) -> dict[str, dict[str, Any]]:
        self._acting = np.asarray(acting)
        told = {}
        for player, agent in enumerate(self.agents):
            told[agent] = {**copied(jax.device_get(info)), "acting": bool(self._acting[player])}
            if mask is not None:
                told[agent]["action_mask"] = np.asarray(mask[player], np.int8)
        return told

    def _observation_space(self, mask: Any) -> spaces.Space[Any]:
        # A space carries its own random stream, so every player needs one of its own.
        own = to_gymnasium_space(self.env.observation_space(self.params))
        if not self._mask_in_observation:
            return own
        return spaces.Dict({"observation": own, "action_mask": spaces.Box(0, 1, mask.shape[1:], np.int8)})


@functools.partial(jax.jit, static_argnames="env")
def _reset(env: Environment[Any, Any], rng: Rng, params: Any) -> tuple[Obs, EnvState, Any, Any]:
    obs, state = env.reset(rng, params)
    return obs, state, env.action_mask(state.rules, params), env.acting(state.rules, params)


@functools.partial(jax.jit, static_argnames="env")
def _step(env: Environment[Any, Any], rng: Rng, state: EnvState, action: Any, params: Any) -> tuple[Any, ...]:
    stepped = env.step_env(rng, state, action, params)
    rules = stepped[1].rules
    return (*stepped, env.action_mask(rules, params), env.acting(rules, params))
