"""A batch as a loop over its lanes in plain Python: what every auto-reset mode and reset strategy must agree with.

One lane's rules are compiled; everything around them is written with `if` and lists, from the descriptions in
`overclock.env.autoreset` and `overclock.vector.resets`: when a lane restarts, where its new episode comes from, what a
step returns, and the sums of `EpisodeStatistics`. The streams of random numbers are `PlainRng`'s.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.autoreset import Autoreset
from overclock.env.environment import Environment
from overclock.env.rng import Rng
from overclock.vector.resets import Fresh, Optimistic, Pool, Resets
from overclock.vector.statistics import StatisticsState
from overclock.verify.randomness.plain_rng import PlainRng

KEYS = ("k0", "k1", "counter")  # of a stream


@dataclasses.dataclass
class Lane:
    """A lane between two steps: its environment, its stream, whether its episode is over, and its sums."""

    env: Any
    stream: PlainRng
    ended: bool
    returns: Any
    length: int
    episodes: int


@dataclasses.dataclass
class Loop:
    """All lanes, and what the reset strategy keeps: stored episodes, the next to be replaced, and how many shared."""

    lanes: list[Lane]
    stored: list[Any]
    cursor: int = 0
    shared: int = 0


@dataclasses.dataclass
class Shown:
    """What a step returned for one lane."""

    obs: Any
    reward: Any
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class PlainLoop:
    """Resets and steps lanes one after the other."""

    def __init__(self, env: Environment[Any, Any]) -> None:
        self._env = env
        self._begin = jax.jit(env.reset_state)
        self.observe = jax.jit(lambda lane, params: env.observe(lane.rules, params))
        self._facts = jax.jit(lambda lane, params: env.facts(lane.rules, params))
        self._play = jax.jit(self._played)

    def reset(self, seed: int, count: int, resets: Resets, params: Any) -> Loop:
        """Every lane in its first episode."""
        streams = PlainRng.of_seed(seed).lanes(count)
        players = self._env.num_players
        nothing = np.zeros((players,) if players > 1 else (), np.float32)
        lanes = [Lane(self._episode(s, params), s.advance(), False, nothing, 0, 0) for s in streams]
        stored = self._pooled(streams[0], resets.size, params) if isinstance(resets, Pool) else []
        return Loop(lanes, stored)

    def read(self, state: StatisticsState) -> Loop:
        """A batch's state as that of a loop."""
        inner = jax.tree.map(np.asarray, state.inner)
        keys = zip(inner.rng.k0.tolist(), inner.rng.k1.tolist(), inner.rng.counter.tolist(), strict=True)
        lanes = [
            Lane(
                jax.tree.map(lambda leaf, lane=lane: leaf[lane], inner.lanes), PlainRng(*key), bool(inner.ended[lane]),
                np.asarray(state.returns)[lane], int(state.lengths[lane]), int(state.episodes[lane]),
            )
            for lane, key in enumerate(keys)
        ]  # fmt: skip
        sizes = {len(leaf) for leaf in jax.tree.leaves(inner.store.episodes)}
        stored = [
            jax.tree.map(lambda leaf, place=place: leaf[place], inner.store.episodes)
            for place in range(max(sizes, default=0))
        ]
        return Loop(lanes, stored, int(inner.store.cursor), int(inner.store.shared))

    def step(
        self, loop: Loop, actions: Any, autoreset: Autoreset, resets: Resets, params: Any
    ) -> tuple[Loop, list[Shown]]:
        """The loop after one step of every lane, and what each lane shows."""
        lanes, shown = [], []
        waiting = [autoreset == "next_step" and lane.ended for lane in loop.lanes]
        for number, lane in enumerate(loop.lanes):
            action = jax.tree.map(lambda leaf, number=number: leaf[number], actions)
            after, reward, terminated, truncated, seen, facts = self._play(lane.env, action, _rng(lane.stream), params)
            over = bool(terminated) or bool(truncated)
            shown.append(Shown(seen, reward, bool(terminated), bool(truncated), dict(facts)))
            lanes.append(dataclasses.replace(lane, env=after, stream=lane.stream.advance(), ended=over))
            if waiting[number]:
                shown[number].reward = np.zeros_like(reward)
                shown[number].terminated = shown[number].truncated = lanes[number].ended = False
        over = [lane.ended for lane in lanes]
        restarting = {"same_step": over, "next_step": waiting, "off": [False] * len(lanes)}[autoreset]
        fresh, kept = self._restarts(loop, restarting, resets, params) if autoreset != "off" else ({}, loop)
        for number, lane in enumerate(lanes):
            if waiting[number]:
                # Its action is ignored: all that it shows is of the episode that begins.
                lane.env = fresh[number]
                shown[number].obs = self.observe(lane.env, params)
                shown[number].info = dict(self._facts(lane.env, params))
            shown[number].info["final_observation"] = shown[number].obs
            if autoreset == "same_step":
                lane.ended = loop.lanes[number].ended
                if over[number]:
                    lane.env = fresh[number]
                    shown[number].obs = self.observe(lane.env, params)
            elif autoreset == "off":
                lane.ended = lane.ended or loop.lanes[number].ended
            self._sum(lane, loop.lanes[number], shown[number])
        return Loop(lanes, kept.stored, kept.cursor, kept.shared), shown

    def restart(self, loop: Loop, mask: list[bool], params: Any) -> Loop:
        """The lanes in a mask begin anew from their own streams, as `reset_lanes` has it."""
        lanes = [
            Lane(self._episode(lane.stream, params), lane.stream.advance(), False, lane.returns * 0, 0, lane.episodes)
            if chosen
            else lane
            for lane, chosen in zip(loop.lanes, mask, strict=True)
        ]
        return dataclasses.replace(loop, lanes=lanes)

    def _restarts(self, loop: Loop, restarting: list[bool], resets: Resets, params: Any) -> tuple[dict[int, Any], Loop]:
        """The new episodes of some lanes, and what the strategy keeps after that."""
        chosen = [number for number, restarts in enumerate(restarting) if restarts]
        streams = [lane.stream for lane in loop.lanes]
        match resets:
            case Fresh():
                return {number: self._episode(streams[number], params) for number in chosen}, loop
            case Optimistic(ratio):
                room = len(streams) // ratio
                made = [self._episode(streams[number], params) for number in chosen[:room]]
                surplus = max(len(chosen) - room, 0)
                fresh = {number: made[rank % room] for rank, number in enumerate(chosen)}
                return fresh, dataclasses.replace(loop, shared=loop.shared + surplus)
            case Pool(size, refresh):
                fresh = {number: loop.stored[streams[number].below("POOL", 0, size)] for number in chosen}
                stored = list(loop.stored)
                for place, episode in enumerate(self._pooled(streams[0], refresh, params), loop.cursor):
                    stored[place % size] = episode
                return fresh, dataclasses.replace(loop, stored=stored, cursor=(loop.cursor + refresh) % size)

    def _pooled(self, stream: PlainRng, count: int, params: Any) -> list[Any]:
        """Episodes for the pool, from a stream that the first lane's words name."""
        own = PlainRng(stream.word("POOL", 1), stream.word("POOL", 2))
        return [self._episode(one, params) for one in own.lanes(count)]

    def _sum(self, lane: Lane, before: Lane, shown: Shown) -> None:
        """The sums of the episode, in `info` and afterwards."""
        idle = before.ended
        returns = before.returns if idle else np.asarray(before.returns + shown.reward).astype(before.returns.dtype)
        length = before.length + (not idle)
        finished = (shown.terminated or shown.truncated) and not idle
        shown.info["episode"] = {"return": returns, "length": np.int32(length), "ended": finished}
        lane.returns, lane.length = (returns * 0, 0) if finished else (returns, length)
        lane.episodes = before.episodes + finished

    def _episode(self, stream: PlainRng, params: Any) -> Any:
        return self._begin(_rng(stream), params)

    def _played(self, lane: Any, action: Any, rng: Rng, params: Any) -> Any:
        env = self._env
        after, reward, terminated, truncated = env.advance(lane, action, env.draw_step(rng, lane.rules, params), params)
        return after, reward, terminated, truncated, env.observe(after.rules, params), env.facts(after.rules, params)


def stacked(loop: Loop) -> dict[str, Any]:
    """A loop as the named arrays of a batch."""
    lanes = loop.lanes
    keys = {
        name: np.array([getattr(lane.stream, name) for lane in lanes], np.uint32) for name in ("k0", "k1", "counter")
    }
    return {
        "lanes": stack([lane.env for lane in lanes]),
        "rng": keys,
        "ended": np.array([lane.ended for lane in lanes]),
        "store": {
            "episodes": stack(loop.stored) if loop.stored else (),
            "cursor": np.int32(loop.cursor),
            "shared": np.int32(loop.shared),
        },
        "statistics": {
            "returns": stack([lane.returns for lane in lanes]),
            "lengths": np.array([lane.length for lane in lanes], np.int32),
            "episodes": np.array([lane.episodes for lane in lanes], np.int32),
        },
    }


def of_batch(state: StatisticsState) -> dict[str, Any]:
    """A batch's state under the same names."""
    inner = state.inner
    return {
        "lanes": inner.lanes,
        "rng": {name: getattr(inner.rng, name) for name in KEYS},
        "ended": inner.ended,
        "store": {name: getattr(inner.store, name) for name in ("episodes", "cursor", "shared")},
        "statistics": {name: getattr(state, name) for name in ("returns", "lengths", "episodes")},
    }


def stack(trees: list[Any]) -> Any:
    """Trees of one structure as one, lanes first."""
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *trees)


def _rng(stream: PlainRng) -> Rng:
    return Rng(*(jnp.uint32(number) for number in (stream.k0, stream.k1, stream.counter)))
