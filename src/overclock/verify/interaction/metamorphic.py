"""Checks that need no reference: an environment must agree with itself however it is run.

A batch with its members, jit with eager code, `scan` with single steps, a restored state with the one that was saved,
automatic resets with manual ones. How closely is said in `metamorphic_rules.py`; a unit (ulp) is that of the largest
value that an element has on the journey: a sum that happens to come out near zero carries the rounding of its terms,
not of itself. Other elements and fields do not count, however large. Some rules multiply what their operations round,
stiff contacts for example. Where a contract lets an element stray in one step (`strays`, see `Tolerance.as_json`), a
unit is at least a 64th of that: two programs of one source may use up an eighth of it.
"""

import dataclasses
import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.backends import Backend
from overclock.env.environment import Environment
from overclock.vector.rollout import rollout
from overclock.vector.snapshot import load_state, save_state
from overclock.vector.vectorize import VectorEnv, VectorState, vectorize
from overclock.verify.interaction.checking import NOTHING, Check, Scales, Strays, scales
from overclock.verify.interaction.metamorphic_rules import EAGER_STEPS, RULES, SCAN_STEPS, SHORT_LIMIT, STEPS
from overclock.verify.interaction.result import SelfCheck
from overclock.verify.interaction.vector_checks import VECTOR_CHECKS, VectorChecks
from overclock.verify.randomness.origins import origins_of_draws

LANES = 8
FEW_LANES = 3
WORDS_ALONE = "draws from words alone"
KERNEL_LANES = 19  # more than the 16 of a vector in C, and no multiple of it


@dataclasses.dataclass(frozen=True)
class Journey:
    """A batch on its way under random legal actions: states before each step (and the last), actions, outcomes."""

    states: list[VectorState]
    actions: list[Any]
    outcomes: list[Any]  # of `VectorEnv.step`, without the state
    strays: Strays = dataclasses.field(default_factory=dict)

    def scales(self) -> Scales:
        """The largest value of every float element on the way, or the one whose ulp is a unit of what it may stray."""
        found: dict[str, np.ndarray] = {}
        for _, _, outcome, after in _steps(self):
            named = _named(after, *outcome)
            found = {
                field: np.maximum(found.get(field, 0.0), scale) for field, scale in scales(named, self.strays).items()
            }
        return found


class SelfChecks:
    """The checks of one environment, by name; works for any number of players."""

    def __init__(
        self,
        env: Environment[Any, Any],
        params: Any = None,
        seed: int = 0,
        strays: Strays = NOTHING,
        backend: Backend = "xla",
    ) -> None:
        self._params = env.default_params() if params is None else params
        lanes = LANES if backend == "xla" else KERNEL_LANES
        self._batch, self._seed, self._strays = vectorize(env, lanes, backend=backend), seed, strays

    @functools.cached_property
    def _journey(self) -> Journey:
        return travel(self._batch, self._params, self._seed, strays=self._strays)

    @functools.cached_property
    def _of_vectors(self) -> VectorChecks:
        return VectorChecks(self._batch, self._params, self._seed, self._strays)

    def run(self, name: str) -> SelfCheck:
        """Run the check of this name."""
        if name == WORDS_ALONE:
            return draws_from_words(self._batch.env, self._params).result()
        if name in VECTOR_CHECKS:
            return self._of_vectors.run(name).result()
        return CHECKS[name](self._batch, self._params, self._seed, self._journey).result()


def check_itself(env: Environment[Any, Any], params: Any = None, seed: int = 0) -> list[SelfCheck]:
    """Run every check on an environment."""
    checks = SelfChecks(env, params, seed)
    return [checks.run(name) for name in RULES]


def travel(
    batch: VectorEnv,
    params: Any,
    seed: int,
    start: VectorState | None = None,
    steps: int = STEPS,
    strays: Strays = NOTHING,
) -> Journey:
    """Step a batch under random legal actions, from a reset or from a given state."""
    state = batch.reset(jax.random.key(seed), params)[1] if start is None else start
    journey = Journey([state], [], [], strays)
    for _ in range(steps):
        actions = _sample(batch, state, params)
        obs, state, *outcome = batch.step(state, actions, params)
        journey.actions.append(actions)
        journey.outcomes.append((obs, *outcome))
        journey.states.append(state)
    return journey


_sample = jax.jit(VectorEnv.sample_actions, static_argnums=0)
_rollout = jax.jit(rollout, static_argnames=("venv", "num_steps"))
_observe = jax.jit(VectorEnv.observe, static_argnums=0)


def same_seed_twice(batch: VectorEnv, params: Any, seed: int, journey: Journey) -> Check:
    """A second journey from the same seed is the first one."""
    check = Check("same seed twice")
    again = travel(batch, params, seed)
    check.compare((again.states, again.actions, again.outcomes), (journey.states, journey.actions, journey.outcomes))
    return check


def save_and_restore(batch: VectorEnv, params: Any, seed: int, journey: Journey) -> Check:
    """A state written to disk in mid-episode and read back goes on as if nothing had happened."""
    check, middle = Check("save and restore"), STEPS // 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.safetensors"
        save_state(path, journey.states[middle])
        restored = load_state(path, like=journey.states[0])
    resumed = travel(batch, params, seed, restored, STEPS - middle)
    check.compare(resumed.states, journey.states[middle:])
    check.compare(resumed.outcomes, journey.outcomes[middle:])
    return check


def permuted_batch(batch: VectorEnv, params: Any, seed: int, journey: Journey) -> Check:
    """Lanes in another order give the same results in that order."""
    order = np.random.default_rng(seed).permutation(batch.num_envs)
    return _compare_lanes(Check("permuted batch"), batch, params, journey, order)


def batch_sizes(batch: VectorEnv, params: Any, seed: int, journey: Journey) -> Check:
    """A lane does not notice how many others there are."""
    few = vectorize(batch.env, FEW_LANES, backend=batch.backend)
    return _compare_lanes(Check("batch sizes"), few, params, journey, np.arange(FEW_LANES))


def batch_and_single(batch: VectorEnv, params: Any, seed: int, journey: Journey) -> Check:
    """Lane i of a batch does what a single environment does in its state, with its randomness and action."""
    return _compare_single(Check("batch and single"), batch, params, journey, every=1)


def jit_and_eager(batch: VectorEnv, params: Any, seed: int, journey: Journey) -> Check:
    """Compiled code does what the same Python code does operation by operation, on plain arrays."""
    with jax.disable_jit():
        check = Check("jit and eager")
        return _compare_single(check, batch, params, journey, every=STEPS // EAGER_STEPS)


def scan_and_steps(batch: VectorEnv, params: Any, seed: int, journey: Journey) -> Check:
    """Steps inside one `lax.scan` are the steps taken one by one."""
    check, scales = Check("scan and steps"), journey.scales()
    for start in range(0, STEPS - SCAN_STEPS + 1, SCAN_STEPS):
        end = start + SCAN_STEPS
        state, kept = _rollout(batch, journey.states[start], num_steps=SCAN_STEPS, params=params)
        seen = [_observe(batch, state, params) for state in journey.states[start:end]]
        rest = [outcome[1:] for outcome in journey.outcomes[start:end]]
        one_by_one = [(obs, *values) for obs, values in zip(seen, rest, strict=True)]
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *one_by_one)
        in_scan = (kept.obs, kept.reward, kept.terminated, kept.truncated, kept.info)
        check.compare(_named(state, *in_scan), _named(journey.states[end], *stacked), scales)
    return check


def automatic_and_manual_reset(batch: VectorEnv, params: Any, seed: int, journey: Journey) -> Check:
    """`same_step` does what stepping and then resetting the ended lanes from their own streams does.

    Under a short time limit, so that episodes do end.
    """
    check = Check("automatic and manual reset")
    manual = vectorize(batch.env, batch.num_envs, autoreset="off", backend=batch.backend)
    limited, short = _short_journey(batch, params, seed, journey.strays)
    for state, actions, outcome, after in _steps(short):
        _, got, *rest = manual.step(state, actions, limited)
        obs, got = manual.reset_lanes(got, rest[1] | rest[2], state.rng, limited)
        check.compare(_named(got, obs, *rest), _named(after, *outcome), short.scales())
    return check


def draws_from_words(env: Environment[Any, Any], params: Any) -> Check:
    """A draw is made of the words of its section, constants and the state, and of nothing else."""
    found = origins_of_draws(env, params)
    return Check(WORDS_ALONE, 1, float(len(found)), ": it ".join(found[0]) if found else "")


def batch_and_single_across_a_reset(batch: VectorEnv, params: Any, seed: int, journey: Journey) -> Check:
    """`batch_and_single` under a short time limit: a single environment's `step` restarts it as a batch does."""
    limited, short = _short_journey(batch, params, seed, journey.strays)
    return _compare_single(Check("batch and single across a reset"), batch, limited, short, every=1)


def _short_journey(batch: VectorEnv, params: Any, seed: int, strays: Strays = NOTHING) -> tuple[Any, Journey]:
    """Parameters with a short time limit, and a journey under it on which every episode ends."""
    # A number stays a number: it is another program for JAX otherwise, to be compiled once more.
    least = min if isinstance(params.max_steps, int) else np.minimum
    limit = SHORT_LIMIT if params.max_steps is None else least(params.max_steps, SHORT_LIMIT)
    limited = params.replace(max_steps=limit)
    return limited, travel(batch, limited, seed, steps=SHORT_LIMIT + 1, strays=strays)


CHECKS: Mapping[str, Callable[[VectorEnv, Any, int, Journey], Check]] = {
    "same seed twice": same_seed_twice,
    "save and restore": save_and_restore,
    "permuted batch": permuted_batch,
    "batch sizes": batch_sizes,
    "batch and single": batch_and_single,
    "jit and eager": jit_and_eager,
    "scan and steps": scan_and_steps,
    "automatic and manual reset": automatic_and_manual_reset,
    "batch and single across a reset": batch_and_single_across_a_reset,
}


def _named(state: Any, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> dict[str, Any]:
    """Everything a step leads to, under the names that results show; `state` is a batch's or a single environment's."""
    lanes, streams = (state.lanes, {"rng": state.rng}) if isinstance(state, VectorState) else (state, {})
    outcome = {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated, "info": info}
    return {"state": lanes.rules, "steps": lanes.steps, **streams, **outcome}


def _steps(journey: Journey) -> Iterator[tuple[VectorState, Any, Any, VectorState]]:
    return zip(journey.states[:-1], journey.actions, journey.outcomes, journey.states[1:], strict=True)


def _compare_lanes(check: Check, batch: VectorEnv, params: Any, journey: Journey, lanes: np.ndarray) -> Check:
    """Some lanes of a journey, in some order, stepped as a batch of their own."""
    scales = journey.scales()
    for state, actions, outcome, after in _steps(journey):
        obs, got, *rest = batch.step(_lanes(state, lanes), _take(actions, lanes), params)
        check.compare(_named(got, obs, *rest), _named(_lanes(after, lanes), *_take(outcome, lanes)), scales)
    return check


def _compare_single(check: Check, batch: VectorEnv, params: Any, journey: Journey, every: int) -> Check:
    """One lane of a batch's step against `Environment.step`, which resets in the same step as well."""
    scales = journey.scales()
    for number, (state, actions, outcome, after) in enumerate(list(_steps(journey))[::every]):
        lane = number % LANES
        obs, got, *rest = batch.env.step(_take(state.rng, lane), _take(state.lanes, lane), _take(actions, lane), params)
        check.compare(_named(got, obs, *rest), _named(_take(after.lanes, lane), *_take(outcome, lane)), scales)
    return check


def _take(tree: Any, lanes: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf[lanes], tree)


def _lanes(state: VectorState, lanes: np.ndarray) -> VectorState:
    """Some lanes of a batch, as a batch; the reset store belongs to all of them."""
    return state.replace(lanes=_take(state.lanes, lanes), rng=_take(state.rng, lanes), ended=_take(state.ended, lanes))
