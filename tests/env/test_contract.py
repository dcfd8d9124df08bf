"""One universal test: every registered environment, and the games of the tests, meets the contract, x64 off and on."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from games import GAMES

import overclock
from overclock.env import Box, Discrete, Environment, Params, Struct, registry
from overclock.env.check import CHECKS, ContractError, NotReachedError, check_environment
from overclock.env.struct import static
from overclock.env.trials import never_ends
from overclock.envs.cartpole.env import CartPole, CartPoleParams, CartPoleState

pytestmark = pytest.mark.usefixtures("few_optimisations")

ENVIRONMENTS = {
    **{spec.id: registry.make(spec.id)[0] for spec in overclock.list_envs()},
    **{type(game).__name__: game for game in GAMES},
}


ENDLESS = {"pong-v1", "halfcheetah-v5"}  # in which random play meets no step that ends an episode

# Their states have 73,000 bytes: a search through thousands of them is not for memory. tests/gameboy has these facts.
CONSOLES = {spec.id for spec in overclock.list_envs() if spec.rules_in_rust}
SEARCHING = {
    "a_time_limit_truncates_and_never_terminates", "the_rules_terminate_and_never_truncate",
    "both_flags_may_come_together",
}  # fmt: skip

LONG = {"halfcheetah-v5", "walker2d-v5", "hopper-v5"}  # XLA compiles a step of a planar robot for ten seconds
SLOW = set(ENVIRONMENTS) - {"cartpole-v1", "Pig"}  # compiled once more in 64 bits, which two of them stand for
CASES = [
    pytest.param(
        name,
        x64,
        marks=[pytest.mark.long] * (name in LONG or (x64 and name in SLOW)),
        id=f"{'x64' if x64 else 'x32'}-{name}",
    )
    for x64 in (False, True)
    for name in ENVIRONMENTS
]


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    with jax.enable_x64(request.param):
        yield request.param


@functools.cache
def parameters(name, x64):
    """The same ones for every check, so that what several checks need is compiled once."""
    return ENVIRONMENTS[name].default_params()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("name", "wide"), CASES)
def test_every_environment_meets_the_contract(name, wide, check):
    if name in CONSOLES:
        pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")
        if check.__name__ in SEARCHING:
            pytest.skip("tests/gameboy/test_env.py has these facts")
    try:
        with jax.enable_x64(wide):
            check(ENVIRONMENTS[name], parameters(name, wide))
    except NotReachedError as reason:
        if name not in ENDLESS:
            raise
        pytest.skip(str(reason))


# CartPole with one clause of the contract broken at a time; each must be named by the check meant for it.


@dataclasses.dataclass(frozen=True)
class ObservesFloat64AsInt(CartPole):
    def observe(self, state, params):
        return super().observe(state, params).astype(jnp.int32)


@dataclasses.dataclass(frozen=True)
class ObservesOutside(CartPole):
    def observe(self, state, params):
        return super().observe(state, params) + 100.0


@dataclasses.dataclass(frozen=True)
class RewardsWithIntegers(CartPole):
    def reward(self, before, terminated, params):
        return jnp.int32(1)


@dataclasses.dataclass(frozen=True)
class StateChangesDtype(CartPole):
    def init(self, draw, params):
        return draw.replace(x=draw.x.astype(jnp.float16))


@dataclasses.dataclass(frozen=True)
class DrawsOneSiteTwice(CartPole):
    def draw_reset(self, rng, params):
        return CartPoleState(*(rng.uniform(0, params.reset_low, params.reset_high) for _ in range(4)))


@dataclasses.dataclass(frozen=True)
class TerminatesAtTheTimeLimit(CartPole):
    def advance(self, state, action, draw, params):
        state, reward, terminated, truncated = super().advance(state, action, draw, params)
        return state, reward, terminated | truncated, truncated


@dataclasses.dataclass(frozen=True)
class LosesTheFinalObservation(CartPole):
    def step(self, key, state, action, params=None):
        obs, state, reward, terminated, truncated, info = super().step(key, state, action, params)
        return obs, state, reward, terminated, truncated, {**info, "final_observation": obs}


@dataclasses.dataclass(frozen=True)
class SamplesOtherIntegers(CartPole):
    def action_space(self, params):
        return Wide(2)


class Wide(Discrete):
    def sample(self, rng, site=0, mask=None):
        return super().sample(rng, site, mask).astype(jnp.int16)


@dataclasses.dataclass(frozen=True)
class BranchesOnAParameter(CartPole):
    def transition(self, state, action, draw, params):
        if params.gravity > 9:
            return super().transition(state, action, draw, params)
        return state, jnp.float32(0), jnp.bool_(False)


class FixedGravity(CartPoleParams):
    gravity: float = static(default=9.8)


@dataclasses.dataclass(frozen=True)
class CompilesForEveryGravity(CartPole):
    def default_params(self):
        return FixedGravity()


@dataclasses.dataclass(frozen=True)
class TellsMoreWhenStepped(CartPole):
    def step_env(self, key, state, action, params=None):
        obs, state, reward, terminated, truncated, info = super().step_env(key, state, action, params)
        return obs, state, reward, terminated, truncated, {**info, "angle": obs[2]}


@dataclasses.dataclass(frozen=True)
class TellsInAnotherDtypeAfterAutoReset(CartPole):
    def info(self, state, params):
        return {"x": state.x}

    def step(self, key, state, action, params=None):
        obs, state, reward, terminated, truncated, info = super().step(key, state, action, params)
        return obs, state, reward, terminated, truncated, {**info, "x": info["x"].astype(jnp.float16)}


@dataclasses.dataclass(frozen=True)
class TellsMoreAtTheEnd(CartPole):
    def step(self, key, state, action, params=None):
        obs, state, reward, terminated, truncated, info = super().step(key, state, action, params)
        ended = not isinstance(terminated, jax.core.Tracer) and bool(terminated | truncated)
        return obs, state, reward, terminated, truncated, {**info, "won": truncated} if ended else info


class IdentityHash(CartPole):
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other):
        return self is other


class Weak(Struct):
    level: Any


@dataclasses.dataclass(frozen=True)
class WeaklyTyped(Environment[Weak, Params]):
    def default_params(self):
        return Params()

    def init(self, draw, params):
        return Weak(level=1.0 * jnp.asarray(2.0))

    def transition(self, state, action, draw, params):
        return state, jnp.float32(0), jnp.bool_(False)

    def observe(self, state, params):
        return jnp.int32(0)

    def observation_space(self, params):
        return Discrete(1)

    def action_space(self, params):
        return Discrete(1)


BREACHES = [
    (ObservesFloat64AsInt, "observation at step 0 has a leaf int32"),
    (ObservesOutside, "lies outside its space"),
    (RewardsWithIntegers, "reward is int32"),
    (StateChangesDtype, "the state after step_env has a leaf"),
    (DrawsOneSiteTwice, "reads site"),
    (TerminatesAtTheTimeLimit, "Expected terminated=False, truncated=True"),
    (LosesTheFinalObservation, "final observation was lost"),
    (SamplesOtherIntegers, "a sampled action has a leaf int16"),
    (BranchesOnAParameter, "ask for the value of a traced array"),
    (CompilesForEveryGravity, "reset was traced 2 times"),
    (TellsMoreWhenStepped, "info after step_env has the structure .*angle"),
    (TellsInAnotherDtypeAfterAutoReset, "info after step has a leaf float16"),
    (TellsMoreAtTheEnd, "info after an episode's last step has the structure .*won"),
    (IdentityHash, "are not equal"),
    (WeaklyTyped, "weakly typed"),
]


@pytest.mark.parametrize(("broken", "sentence"), BREACHES, ids=[broken.__name__ for broken, _ in BREACHES])
def test_each_breach_is_found_and_named(broken, sentence):
    with pytest.raises(ContractError, match=sentence):
        check_environment(broken())


@dataclasses.dataclass(frozen=True)
class Wide64(CartPole):
    """Its spaces are of 64 bits, as those of many originals; an observation may lie on a bound that rounds up."""

    observed: Any = np.float64

    def observe(self, state, params):
        return jnp.full(2, 0.1, self.observed)

    def observation_space(self, params):
        return Box(-0.1, 0.1, (2,), np.float64)

    def action_space(self, params):
        return Discrete(2, np.int64)


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")  # without x64 JAX says that it has no float64
def test_a_space_of_64_bits_means_what_jax_makes_of_it(x64):
    check_environment(Wide64())
    with pytest.raises(ContractError, match=f"has a leaf float16.*expected float{64 if x64 else 32}"):
        check_environment(Wide64(observed=np.float16))


def test_with_x64_an_observation_of_32_bits_is_no_float64():
    with jax.enable_x64(True), pytest.raises(ContractError, match=r"has a leaf float32.*expected float64"):
        check_environment(Wide64(observed=np.float32))


def test_what_random_play_never_reaches_is_reported_not_hidden():
    forever = CartPoleParams(x_threshold=1e9, theta_threshold_radians=1e9)
    not_shown = check_environment(CartPole(), forever)
    assert [line.split(":")[0] for line in not_shown] == [
        "the_rules_terminate_and_never_truncate",
        "both_flags_may_come_together",
    ]


@dataclasses.dataclass(frozen=True)
class Endless(CartPole):
    def transition(self, state, action, draw, params):
        after, reward, _ = super().transition(state, action, draw, params)
        return after, reward, jnp.bool_(False)


def test_a_step_that_can_never_terminate_is_known_without_a_search():
    params = CartPoleParams()
    assert never_ends(Endless(), params)
    assert not never_ends(CartPole(), params)
    not_shown = check_environment(Endless(), params)
    assert not_shown == [
        f"{name}: no step terminates: in the program of a step the flag is a constant."
        for name in ("the_rules_terminate_and_never_truncate", "both_flags_may_come_together")
    ]
