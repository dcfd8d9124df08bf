"""The contract as something to run: `check_environment(env)` finds what an environment does that others cannot rely on.

Each check is one function that returns nothing or raises `ContractError` with one sentence. The test-suite runs
them over every registered environment; users run them over their own.
"""

import copy
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.environment import Environment, EnvState, Params
from overclock.env.rng import Rng, Section
from overclock.env.spaces import Space, as_jax_holds_it, structure
from overclock.env.trials import NotReachedError, find_step, other_values, sample_action
from overclock.errors import OverclockError

# What JAX raises when code asks a traced array for its value.
TRACED = (
    jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError, jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)  # fmt: skip


class ContractError(OverclockError):
    """An environment breaks the contract."""

    exit_code = 1


def check_environment(env: Environment[Any, Any], params: Params | None = None) -> list[str]:
    """Run every check; returns one line for each that could not be shown, raises ContractError at the first breach."""
    params = env.default_params() if params is None else params
    not_shown = []
    for check in CHECKS:
        try:
            check(env, params)
        except NotReachedError as reason:
            not_shown.append(f"{check.__name__}: {reason}")
        except TRACED as error:
            raise ContractError(
                "The rules ask for the value of a traced array (branch with jnp.where or jax.lax.cond, or make it a "
                f"field of the environment): {str(error).splitlines()[0]}"
            ) from error
    return not_shown


def observations_match_their_space(env: Environment[Any, Any], params: Any) -> None:
    """Shapes, dtypes and bounds of observations, after reset and along random play."""
    leading = () if env.num_players == 1 else (env.num_players,)
    space = as_jax_holds_it(env.observation_space(params))
    expected = structure(space, leading)
    obs, state = env.reset(Rng.of(0), params)
    for step in range(20):
        _require_equal_shapes(f"the observation at step {step}", obs, expected)
        for player in range(env.num_players):
            seen = jax.tree.map(lambda leaf: np.asarray(leaf if env.num_players == 1 else leaf[player]), obs)  # noqa: B023
            _require(space.contains(seen), f"The observation at step {step} lies outside its space: {seen}.")
        obs, state, *_ = env.step(Rng.of(step), state, sample_action(env, Rng.of(step), state, params), params)


def actions_are_in_their_space(env: Environment[Any, Any], params: Any) -> None:
    """Sampled actions are contained; masks have one entry per action."""
    asked = env.action_space(params)
    space = as_jax_holds_it(asked)
    for seed in range(20):
        sample = jax.tree.map(np.asarray, asked.sample(Rng.of(seed)))
        _require_equal_shapes("a sampled action", sample, structure(space))
        _require(space.contains(sample), f"action_space.sample gave {sample}, which the space does not contain.")
    _, state = env.reset(Rng.of(0), params)
    mask = env.action_mask(state.rules, params)
    if mask is not None:
        count = mask_size(space)
        shape = (count,) if env.num_players == 1 else (env.num_players, count)
        _require(
            mask.shape == shape and mask.dtype == jnp.bool_,
            f"action_mask is {mask.dtype}{list(mask.shape)}, expected bool{list(shape)}.",
        )


def outputs_have_fixed_types(env: Environment[Any, Any], params: Any) -> None:
    """Reward float32 per player, flags boolean scalars, `acting` one flag per player, info a dict of one structure."""
    _, state = env.reset(Rng.of(0), params)
    action = sample_action(env, Rng.of(0), state, params)
    _, _, reward, terminated, truncated, info = env.step_env(Rng.of(0), state, action, params)
    shape = () if env.num_players == 1 else (env.num_players,)
    _require(
        reward.shape == shape and reward.dtype == jnp.float32,
        f"reward is {reward.dtype}{list(reward.shape)}, expected float32{list(shape)}.",
    )
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        _require(
            flag.shape == () and flag.dtype == jnp.bool_, f"{name} is {flag.dtype}{list(flag.shape)}, expected bool[]."
        )
    _require(isinstance(info, dict), f"info is {type(info).__name__}, expected dict.")
    _require_same_info("step_env", env, info, params)
    for _ in range(3):
        _, state, *_, info = env.step(Rng.of(0), state, sample_action(env, Rng.of(0), state, params), params)
        _require_same_info("step", env, info, params)
    acting = env.acting(state.rules, params)
    _require(
        acting.shape == (env.num_players,) and acting.dtype == jnp.bool_,
        f"acting is {acting.dtype}{list(acting.shape)}, expected bool[{env.num_players}].",
    )


def state_keeps_its_structure(env: Environment[Any, Any], params: Any) -> None:
    """The state's tree, shapes, dtypes and weak types are the same after reset, step_env and step."""
    reset = jax.eval_shape(lambda: env.reset(Rng.of(0), params)[1])
    action = sample_action(env, Rng.of(0), env.reset(Rng.of(0), params)[1], params)
    for name in ("step_env", "step"):
        after = jax.eval_shape(lambda state, name=name: getattr(env, name)(Rng.of(0), state, action, params)[1], reset)
        _require_equal_shapes(f"the state after {name}", after, reset)
    for leaf in jax.tree.leaves(reset):
        _require(not leaf.weak_type, f"A state leaf {leaf} is weakly typed: give it a dtype, or loops recompile.")


def reset_and_step_compile_once(env: Environment[Any, Any], params: Any) -> None:
    """Other keys, states, actions and values of the parameters never compile again."""
    traces = {"reset": 0, "step": 0}

    def reset(rng: Rng, params: Any) -> Any:
        traces["reset"] += 1
        return env.reset(rng, params)

    def step(rng: Rng, state: EnvState, action: Any, params: Any) -> Any:
        traces["step"] += 1
        return env.step(rng, state, action, params)

    jit_reset, jit_step = jax.jit(reset), jax.jit(step)
    for seed, values in enumerate((params, params, other_values(params))):
        _, state = jit_reset(Rng.of(seed), values)
        for _ in range(3):
            _, state, *_ = jit_step(Rng.of(seed), state, sample_action(env, Rng.of(seed), state, values), values)
    for name, count in traces.items():
        _require(count == 1, f"{name} was traced {count} times for inputs of one structure.")


def same_randomness_gives_the_same_episode(env: Environment[Any, Any], params: Any) -> None:
    """Two runs from one key are equal bit for bit."""

    def run() -> Any:
        obs, state = env.reset(jax.random.key(7), params)
        trail = [obs]
        for i in range(10):
            rng = Rng.of(i)
            obs, state, reward, terminated, truncated, info = env.step(
                rng, state, sample_action(env, rng, state, params), params
            )
            trail.append((obs, reward, terminated, truncated, info))
        return trail, state

    first, second = (jax.tree.map(np.asarray, run()) for _ in range(2))
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        _require(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), "Two runs from one key differ.")


def equal_environments_share_compiled_code(env: Environment[Any, Any], params: Any) -> None:
    """Environments hash and compare by value, so a second equal one compiles nothing."""
    twin = copy.copy(env)
    _require(hash(env) == hash(twin) and env == twin, "Two environments with equal fields are not equal.")
    jitted = type(env).reset
    env.reset(Rng.of(0), params)
    before = jitted._cache_size()  # pyright: ignore[reportAttributeAccessIssue]
    twin.reset(Rng.of(1), params)
    after = jitted._cache_size()  # pyright: ignore[reportAttributeAccessIssue]
    _require(after == before, "An equal environment compiled `reset` again.")


def draws_never_share_a_site(env: Environment[Any, Any], params: Any) -> None:
    """No two draws of one event read the same random word."""
    _, state = env.reset(Rng.of(0), params)
    for name, draw in (
        ("draw_reset", lambda rng: env.draw_reset(rng.of_section(Section.RESET), params)),
        ("draw_step", lambda rng: env.draw_step(rng.of_section(Section.STEP), state.rules, params)),
    ):
        seen: dict[tuple[int, int, int], int] = {}
        plain = Rng.words

        def logging(self: Rng, site: int, shape: tuple[int, ...] = (), half: int = 0, plain: Any = plain) -> Any:
            for offset in range(int(np.prod(shape))):
                word = (self.section, site + offset, half)
                seen[word] = seen.get(word, 0) + 1  # noqa: B023
            return plain(self, site, shape, half)

        Rng.words = logging
        try:
            jax.eval_shape(draw, Rng.of(0))
        finally:
            Rng.words = plain
        shared = sorted(site for (_, site, _), times in seen.items() if times > 1)
        _require(not shared, f"{name} reads site {shared[:1]} twice: its draws are not independent.")


def a_time_limit_truncates_and_never_terminates(env: Environment[Any, Any], params: Any) -> None:
    """Truncated only: the limit is reached while the rules go on."""
    state, action, rng = find_step(env, params, terminated=False)
    limited = params.replace(max_steps=int(state.steps) + 1)
    _require_flags(env, rng, state, action, limited, terminated=False, truncated=True)
    unlimited = params.replace(max_steps=None)
    _require_flags(env, rng, state, action, unlimited, terminated=False, truncated=False)


def the_rules_terminate_and_never_truncate(env: Environment[Any, Any], params: Any) -> None:
    """Terminated only: the rules end an episode that has time left."""
    state, action, rng = find_step(env, params, terminated=True)
    _require_flags(env, rng, state, action, params.replace(max_steps=None), terminated=True, truncated=False)


def both_flags_may_come_together(env: Environment[Any, Any], params: Any) -> None:
    """Terminated and truncated: the rules end an episode on the last step that it has."""
    state, action, rng = find_step(env, params, terminated=True)
    limited = params.replace(max_steps=int(state.steps) + 1)
    _require_flags(env, rng, state, action, limited, terminated=True, truncated=True)


CHECKS: tuple[Callable[[Environment[Any, Any], Any], None], ...] = (
    observations_match_their_space,
    actions_are_in_their_space,
    outputs_have_fixed_types,
    state_keeps_its_structure,
    reset_and_step_compile_once,
    same_randomness_gives_the_same_episode,
    equal_environments_share_compiled_code,
    draws_never_share_a_site,
    a_time_limit_truncates_and_never_terminates,
    the_rules_terminate_and_never_truncate,
    both_flags_may_come_together,
)


def mask_size(space: Space) -> int:
    """How many entries an action mask of this space has."""
    if hasattr(space, "n"):
        return space.n  # pyright: ignore[reportAttributeAccessIssue]
    if hasattr(space, "nvec"):
        return sum(space.nvec)  # pyright: ignore[reportAttributeAccessIssue]
    raise ContractError(f"An action mask needs a Discrete or MultiDiscrete action space, not {space}.")


def _require_flags(
    env: Environment[Any, Any], rng: Rng, state: EnvState, action: Any, params: Any, terminated: bool, truncated: bool
) -> None:
    """Flags of one step, and what auto-reset does with them: a fresh episode, the last observation kept."""
    last_obs, _, _, *flags, _ = env.step_env(rng, state, action, params)
    _require(
        [bool(flag) for flag in flags] == [terminated, truncated],
        f"Expected terminated={terminated}, truncated={truncated}, got {bool(flags[0])}, {bool(flags[1])}.",
    )
    _, after, _, *flags, info = env.step(rng, state, action, params)
    _require_same_info("an episode's last step", env, info, params)
    _require([bool(flag) for flag in flags] == [terminated, truncated], "Auto-reset changed the flags of its step.")
    _require(
        (int(after.steps) == 0) == (terminated or truncated),
        f"After terminated={terminated}, truncated={truncated} the step count is {int(after.steps)}.",
    )
    for kept, last in zip(jax.tree.leaves(info["final_observation"]), jax.tree.leaves(last_obs), strict=True):
        _require(bool(jnp.array_equal(kept, last)), "The final observation was lost in auto-reset.")


def _require_same_info(where: str, env: Environment[Any, Any], info: dict[str, Any], params: Any) -> None:
    """The tree, shapes and dtypes that `env.facts` gives for a first state, auto-reset's own entry left out."""
    facts = {name: value for name, value in info.items() if name != "final_observation"}
    first = jax.eval_shape(lambda: env.facts(env.reset(Rng.of(0), params)[1].rules, params))
    _require_equal_shapes(f"info after {where}", facts, first)


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise ContractError(sentence)


def _require_equal_shapes(what: str, given: Any, expected: Any) -> None:
    """Same tree, same shapes, same dtypes."""
    given_tree, expected_tree = jax.tree.structure(given), jax.tree.structure(expected)
    _require(given_tree == expected_tree, f"{what} has the structure {given_tree}, expected {expected_tree}.")
    for a, b in zip(jax.tree.leaves(given), jax.tree.leaves(expected), strict=True):
        _require(
            a.shape == b.shape and a.dtype == b.dtype,
            f"{what} has a leaf {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}.",
        )
