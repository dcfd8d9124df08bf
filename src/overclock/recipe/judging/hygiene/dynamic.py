"""Inspects a candidate in its own worker process: imports it, traces its functions, runs it, and reports what it saw.

Nothing here decides anything. The candidate's code runs in this process and could change every line of it, so the
grader judges the answer on its own side (judge.py), and what the candidate computes is compared by the levels.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.check import check_environment
from overclock.env.environment import Environment, EnvState
from overclock.env.rng import Rng, Section
from overclock.env.trials import sample_action
from overclock.errors import OverclockError
from overclock.recipe.judging.as_used.program import known
from overclock.recipe.judging.candidate import made_by, package_of
from overclock.recipe.judging.hygiene import programs
from overclock.recipe.judging.hygiene.batching import batched_otherwise
from overclock.recipe.judging.hygiene.finding import DERIVED
from overclock.recipe.judging.hygiene.judge import RULES, Inspection, Trace, Untraceable, leaves_the_program
from overclock.recipe.judging.hygiene.memory import lasting, remembered
from overclock.recipe.judging.hygiene.tampering import foreign, snapshot, tampered
from overclock.recipe.judging.plain_process import forget_who_asks
from overclock.recipe.judging.speed import Stepper
from overclock.verify.interaction.checking import distances, scales
from overclock.verify.randomness.origins import origins_of_draws

FRESH_TRACES = 3  # of everything, each without what JAX remembers of earlier ones
ROUNDS = 40  # further traces of the rules, with real steps between them
STEPS_PER_ROUND = 4
EAGER_STATES = 6
BATCH, BATCH_STEPS = 2, 8  # as most people run it: many at once, many steps in one program
SHOWN = 20  # entries of a list that are reported


class Inspector:
    """A worker that inspects one candidate. It is imported by `inspect`, so that a failing import is an answer."""

    def __init__(
        self,
        num_envs: int,
        folder: str,
        contract: bool = True,
        strays: dict[str, Any] | None = None,
        batches: Sequence[int] = (),
    ) -> None:
        """`contract`: check the environment contract as well; `strays` as in `metamorphic.py`.

        `batches`: of how many lanes the program is compared with JAX's own batch of one lane's.
        """
        self.num_envs, self._folder, self._contract = num_envs, Path(folder), contract
        self._strays, self._batches = strays or {}, batches
        self._before = snapshot()

    def describe(self) -> dict[str, Any]:
        return {"calls": ["clock", "inspect"]}

    def clock(self) -> list[float]:
        """The time in this process, by every clock that code is timed with."""
        return [time.time(), time.monotonic(), time.perf_counter()]

    def inspect(self) -> dict[str, Any]:
        """The fields of an `Inspection`; judge.py decides what they mean."""
        report = Inspection()
        try:
            forget_who_asks()
            made = made_by(self._folder)
            before = lasting(package_of(self._folder), *made)
            report = _look(*made, self._strays, self._batches)
            report.contract = _contract(*made) if report.steps and self._contract else None
            report.foreign = foreign(package_of(self._folder))[:SHOWN]
            report.remembered = remembered(before, lasting(package_of(self._folder), *made))[:SHOWN]
        except Exception as error:
            report.error = _words(error)
        report.tampered = tampered(self._before)[:SHOWN]
        return dataclasses.asdict(report)


def _look(env: Environment[Any, Any], params: Any, strays: dict[str, Any], batches: Sequence[int]) -> Inspection:
    run, replaced = _Run(env, params), _replaced(env)
    functions = {name: _traced(program) for name, program in run.programs().items()}
    if any(map(leaves_the_program, functions.values())):  # callbacks take long, and the verdict is clear
        return Inspection(functions=functions, replaced=replaced)
    changed: list[str] = []
    rules = {name: first for name in RULES if isinstance(first := functions[name], Trace)}
    for _ in range(ROUNDS):
        run.steps(STEPS_PER_ROUND)
        fresh = run.programs()
        for name, first in rules.items():
            function, arguments = fresh[name]
            again = programs.digest(jax.make_jaxpr(function)(*arguments))
            if again != first.digests[0] and name not in changed:
                changed.append(name)
    Stepper(env, params).run(BATCH, BATCH_STEPS)
    batched = batched_otherwise(env, params, batches)
    by_make, by_default = known(env, params).values()
    return Inspection(
        functions=functions,
        replaced=replaced,
        rounds=changed,
        not_finite=sorted(run.not_finite)[:SHOWN],
        steps=run.taken,
        eager_ulps=run.eager_ulps(strays),
        batched=batched,
        defaults=by_make == by_default,
        own_randomness=[f"`{part}` {sentence}" for part, sentence in origins_of_draws(env, params)],
    )


class _Run:
    """One instance of the environment that is stepped with random actions."""

    def __init__(self, env: Environment[Any, Any], params: Any) -> None:
        self._env, self._params = env, params
        self._jit_given, self._jit_step = jax.jit(self._given), jax.jit(self._step)
        _, self.state = env.reset(Rng.of(0), params)
        self.taken, self.not_finite = 0, set[str]()
        self._visited: list[tuple[EnvState, Any, Any]] = []

    def steps(self, count: int) -> None:
        """Take more steps, and note every field that becomes NaN."""
        for _ in range(count):
            rng = Rng.of(self.taken)
            action, _, draw = self._jit_given(rng, self.state)
            if len(self._visited) < EAGER_STATES:
                self._visited.append((self.state, action, draw))
            obs, self.state, reward, *_ = self._jit_step(rng, self.state, action)
            self.taken += 1
            for path, leaf in jax.tree_util.tree_leaves_with_path({"obs": obs, "state": self.state, "reward": reward}):
                values = np.asarray(leaf)
                if jnp.issubdtype(values.dtype, np.floating) and np.isnan(values.astype(np.float64)).any():
                    self.not_finite.add(jax.tree_util.keystr(path, simple=True, separator="."))

    def eager_ulps(self, strays: dict[str, Any]) -> float:
        """How far steps of compiled code are from the same steps taken operation by operation."""
        env, params = self._env, self._params

        def step(state: EnvState, action: Any, draw: Any) -> Any:
            after, reward, *flags = env.advance(state, action, draw, params)
            shown = {"obs": env.observe(after.rules, params), "reward": reward, "flags": flags}
            return {"state": after.rules, "steps": after.steps, **shown}

        compiled = jax.jit(step)
        fast = [compiled(*visited) for visited in self._visited]
        with jax.disable_jit():
            slow = [step(*visited) for visited in self._visited]
        first, second = (jax.tree.map(lambda *leaves: jnp.stack(leaves), *side) for side in (fast, slow))
        return max((error for _, error in distances(first, second, scales(first, strays))), default=0.0)

    def programs(self) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Every function with arguments to trace it with; always new functions, which JAX has not seen before."""
        env, params, state, rng = self._env, self._params, self.state, Rng.of(self.taken)
        begin, go = rng.of_section(Section.RESET), rng.of_section(Section.STEP)
        action, first, draw = self._jit_given(rng, state)
        return {
            "draw_reset": (lambda r, p: env.draw_reset(r, p), (begin, params)),
            "init": (lambda d, p: env.init(d, p), (first, params)),
            "draw_step": (lambda r, s, p: env.draw_step(r, s, p), (go, state.rules, params)),
            "transition": (lambda s, a, d, p: env.transition(s, a, d, p), (state.rules, action, draw, params)),
            "observe": (lambda s, p: env.observe(s, p), (state.rules, params)),
            "action_mask": (lambda s, p: env.action_mask(s, p), (state.rules, params)),
            "info": (lambda s, p: env.info(s, p), (state.rules, params)),
            "reset": (lambda r, p: env.reset(r, p), (rng, params)),
            "step": (lambda r, s, a, p: env.step(r, s, a, p), (rng, state, action, params)),
        }

    def _given(self, rng: Rng, state: EnvState) -> tuple[Any, Any, Any]:
        """A random action and the randomness of a reset and of a step."""
        env, params = self._env, self._params
        first = env.draw_reset(rng.of_section(Section.RESET), params)
        return (
            sample_action(env, rng, state, params), first,
            env.draw_step(rng.of_section(Section.STEP), state.rules, params),
        )  # fmt: skip

    def _step(self, rng: Rng, state: EnvState, action: Any) -> Any:
        return self._env.step(rng, state, action, self._params)


def _traced(program: tuple[Callable[..., Any], tuple[Any, ...]]) -> Trace | Untraceable:
    function, arguments = program
    try:
        traces = []
        for _ in range(FRESH_TRACES):
            jax.clear_caches()
            traces.append(jax.make_jaxpr(lambda *given: function(*given))(*arguments))
        lowered = jax.jit(lambda *given: function(*given)).lower(*arguments).as_text()
    except Exception as error:
        return Untraceable(_words(error))
    first = traces[0]
    return Trace(
        primitives=programs.primitives(first),
        effects=sorted(str(effect) for effect in first.effects),
        custom_calls=programs.custom_calls(lowered),
        constant_bytes=programs.constant_bytes(first),
        digests=[programs.digest(trace) for trace in traces],
    )


def _replaced(env: Environment[Any, Any]) -> list[str]:
    """The methods that the base class derives and this environment replaces."""
    own = type(env)
    return sorted(name for name in DERIVED if getattr(own, name) is not getattr(Environment, name) or name in vars(env))


def _contract(env: Environment[Any, Any], params: Any) -> str | None:
    """The first breach of the environment contract."""
    try:
        check_environment(env, params)
    except OverclockError as error:
        return str(error)
    except Exception as error:
        return f"The checks of the contract ended with {_words(error)}"
    return None


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]
