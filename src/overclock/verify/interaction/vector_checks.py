"""Checks of the vector layer under an environment: auto-reset modes, reset strategies, statistics and random numbers.

Each mode and strategy is stepped as a batch, and every step is repeated from the batch's own state by a loop in plain
Python (`plain_loop.py`). Episodes are short, and lanes end alone, some at a time and all at once. The generator is
compared with its definition (`plain_rng.py`), also where its counter is large.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.autoreset import Autoreset
from overclock.env.rng import Rng, Section, mix, scale_word
from overclock.vector.resets import Fresh, Optimistic, Pool, Resets
from overclock.vector.statistics import EpisodeStatistics, StatisticsState
from overclock.vector.vectorize import VectorEnv, vectorize
from overclock.verify.interaction.checking import Check, Strays, scales
from overclock.verify.interaction.metamorphic_rules import SHORT_LIMIT, VECTOR_STEPS
from overclock.verify.interaction.plain_loop import KEYS, PlainLoop, of_batch, stack, stacked
from overclock.verify.randomness.plain_rng import SECTION_SIZE, SECTIONS, PlainRng

ENDS_IN = (1, 1, 2, 2, 2, 3, 5, 7)  # steps that are left of a lane's first episode: two and three lanes end at once
TOGETHER = 6  # before the last steps all lanes are set to end at once
RESTARTED = 4  # after so many steps of `off`, every other lane is restarted
RUNS_ON = 4  # under `off`, one of so many lanes begins as one whose episode is over
SHARED_BY = 2  # lanes to a reset of `Optimistic`
POOL, REFRESH = 5, 2  # episodes stored, and replaced in a step
COUNTERS = (0, 1, 2**8 - 1, 2**8, 2**16 - 1, 2**16, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1)
SITES = (0, 1, 7, SECTION_SIZE // 2 - 1)
SEEDS = (0, 1, 2**32, -1, 123456789)
STREAMS = 64  # lanes of a batch whose keys are looked at
BOUNDS = (1, 2, 6, 1 << 20, 2**31)

MODES: Mapping[str, tuple[Autoreset, Resets]] = {
    "same_step and a plain loop": ("same_step", Fresh()),
    "next_step and a plain loop": ("next_step", Fresh()),
    "off and a plain loop": ("off", Fresh()),
    "Optimistic and a plain loop": ("same_step", Optimistic(SHARED_BY)),
    "Pool and a plain loop": ("next_step", Pool(POOL, REFRESH)),
}
RANDOM_NUMBERS = "random numbers"


class VectorChecks:
    """The checks of one environment's batches, by name."""

    def __init__(self, batch: VectorEnv, params: Any, seed: int, strays: Strays) -> None:
        self._batch, self._seed, self._strays = batch, seed, strays
        # A number stays a number: it is another program for JAX otherwise, to be compiled once more.
        least = min if isinstance(params.max_steps, int) else np.minimum
        limit = SHORT_LIMIT if params.max_steps is None else least(params.max_steps, SHORT_LIMIT)
        self._params = params.replace(max_steps=limit)
        self._loop = PlainLoop(batch.env)

    def run(self, name: str) -> Check:
        """Run the check of this name."""
        if name == RANDOM_NUMBERS:
            return random_numbers(self._seed)
        return self._mode(name, *MODES[name])

    def _mode(self, name: str, autoreset: Autoreset, resets: Resets) -> Check:
        """A reset and some steps of a batch in one mode, each compared with the loop's."""
        backend = self._batch.backend if resets == Fresh() else "xla"  # kernels have no other strategy
        count, params = self._batch.num_envs, self._params
        batch: Any = EpisodeStatistics(vectorize(self._batch.env, count, autoreset, resets, backend))
        check = Check(name)
        obs, state = batch.reset(Rng.of(self._seed), params)
        began = self._loop.reset(self._seed, count, resets, params)
        seen = stack([self._loop.observe(lane.env, params) for lane in began.lanes])
        pairs = [({**of_batch(state), "obs": obs}, {**stacked(began), "obs": seen})]
        state = _with_steps(state, params, np.resize(ENDS_IN, count))
        if autoreset == "off":  # lanes that ended long ago, and whose steps end nothing
            state = state.replace(inner=state.inner.replace(ended=jnp.arange(count) % RUNS_ON == RUNS_ON - 1))
        for number in range(VECTOR_STEPS):
            if number == TOGETHER:
                state = _with_steps(state, params, np.ones(count, np.int32))
            if number == RESTARTED and autoreset == "off":
                mask = np.arange(count) % 2 == 0
                before = self._loop.read(state)
                _, state = batch.reset_lanes(state, jnp.asarray(mask), None, params)
                pairs.append((of_batch(state), stacked(self._loop.restart(before, mask.tolist(), params))))
            actions = _sample(batch.venv, state.inner, params)
            before = self._loop.read(state)
            obs, state, reward, terminated, truncated, info = batch.step(state, actions, params)
            after, shown = self._loop.step(before, jax.tree.map(np.asarray, actions), autoreset, resets, params)
            outcome = {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated, "info": info}
            names = [{name: getattr(one, name) for name in outcome} for one in shown]
            pairs.append(({**of_batch(state), **outcome}, {**stacked(after), **stack(names)}))
        sizes: dict[str, np.ndarray] = {}
        for found, _ in pairs:
            for field, size in scales(found, self._strays).items():
                sizes[field] = np.maximum(sizes.get(field, 0.0), size)
        for found, expected in pairs:
            check.compare(found, expected, sizes)
        return check


_sample = jax.jit(VectorEnv.sample_actions, static_argnums=0)


def _with_steps(state: StatisticsState, params: Any, left: np.ndarray) -> StatisticsState:
    """The state whose lanes reach the time limit in so many steps."""
    lanes = state.inner.lanes
    steps = jnp.broadcast_to(jnp.asarray(params.max_steps, jnp.int32), left.shape) - left.astype(np.int32)
    return state.replace(inner=state.inner.replace(lanes=lanes.replace(steps=jnp.maximum(steps, 0))))


def random_numbers(seed: int) -> Check:
    """Streams, words and numbers of the generator against its definition, at small counters and at the largest."""
    check = Check(RANDOM_NUMBERS)
    for one in (*SEEDS, seed):
        check.compare(_keys(Rng.of(one)), _plain_keys([PlainRng.of_seed(one)], alone=True))
    stream, plain = Rng.of(seed), PlainRng.of_seed(seed)
    check.compare(_keys(stream.lanes(STREAMS)), _plain_keys(plain.lanes(STREAMS)))
    for counter in COUNTERS:
        here, event = stream.replace(counter=jnp.uint32(counter)), PlainRng(plain.k0, plain.k1, counter)
        check.compare(_keys(here.advance()), _plain_keys([event.advance()], alone=True))
        drawn: list[Any] = [_drawn(here), jax.jit(_drawn)(here), _drawn_on_host(event)]
        for found in drawn:
            check.compare(found, _plainly_drawn(event))
    return check


def _drawn(rng: Rng) -> dict[str, Any]:
    """Words of every section, and numbers made of them."""
    made: dict[str, Any] = {}
    for section in Section:
        own = rng.of_section(section)
        made[section.name] = jnp.stack([own.words(site, (), half) for site in SITES for half in (0, 1)])
    made["array"] = rng.words(3, (5,))
    made["below"] = jnp.stack([rng.integers(site, n) for site, n in enumerate(BOUNDS)])
    made["scaled"] = jnp.stack([scale_word(rng.words(site), jnp.uint32(n)) for site, n in enumerate(BOUNDS)])
    made["unit"] = rng.unit(0, (4,), jnp.float32)
    return made


def _drawn_on_host(event: PlainRng) -> dict[str, Any]:
    """The same by the same functions in NumPy."""
    key = [np.uint32(number) for number in (event.k0, event.k1, event.counter)]

    def word(section: str, site: int, half: int = 0) -> Any:
        return mix(key[0], key[1], key[2], np.uint32(SECTIONS[section] * SECTION_SIZE + 2 * site + half))

    units = [(word("STEP", site) >> np.uint32(8)) * np.float32(2.0**-24) for site in range(4)]
    scaled = np.array([scale_word(word("STEP", site), np.uint32(n)) for site, n in enumerate(BOUNDS)], np.int32)
    return {
        **{name: np.array([word(name, site, half) for site in SITES for half in (0, 1)]) for name in SECTIONS},
        "array": np.array([word("STEP", site) for site in range(3, 8)]),
        "below": scaled,
        "scaled": scaled,
        "unit": np.array(units, np.float32),
    }


def _plainly_drawn(event: PlainRng) -> dict[str, Any]:
    below = np.array([event.below("STEP", site, n) for site, n in enumerate(BOUNDS)], np.int32)
    words = {
        name: np.array([event.word(name, site, half) for site in SITES for half in (0, 1)], np.uint32)
        for name in SECTIONS
    }
    return {
        **words,
        "array": np.array([event.word("STEP", site) for site in range(3, 8)], np.uint32),
        "below": below,
        "scaled": below,
        "unit": np.array([(event.word("STEP", site) >> 8) * 2.0**-24 for site in range(4)], np.float32),
    }


def _keys(rng: Rng) -> dict[str, Any]:
    return {"k0": rng.k0, "k1": rng.k1, "counter": rng.counter}


def _plain_keys(streams: list[PlainRng], alone: bool = False) -> dict[str, Any]:
    found = {name: np.array([getattr(one, name) for one in streams], np.uint32) for name in KEYS}
    return {name: values[0] for name, values in found.items()} if alone else found


VECTOR_CHECKS = (*MODES, RANDOM_NUMBERS)
