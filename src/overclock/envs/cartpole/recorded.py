"""Cases of level 1 from recorded calls of Gymnasium's CartPole, and boundary states to record further calls from.

The reference's half of `modules.py`. Gymnasium itself is imported only where an instance is at hand.
"""

import math
from typing import Any

import numpy as np

from overclock.verify.property.calls import Call
from overclock.verify.property.distribution import EVEN_SHARES
from overclock.verify.property.module import Case
from overclock.verify.sides.subject import Arrays

FIELDS = ("x", "x_dot", "theta", "theta_dot")
CONSTANTS = ("gravity", "masscart", "masspole", "length", "force_mag", "tau", "theta_threshold_radians", "x_threshold")
LIMITS = {"x": 2.4, "theta": 12 * 2 * math.pi / 360}  # where boundary values lie; the reference decides what is right

# ---- calls as named values ----


def named_state(values: Any) -> Arrays:
    """Gymnasium's state vector by name."""
    return dict(zip(FIELDS, np.asarray(values, np.float64), strict=True))


def constants_case(call: Call) -> Case:
    """The physical constants an environment is built with."""
    return Case({}, {name: np.float64(call.after[name]) for name in CONSTANTS})


def spaces_case(call: Call) -> Case:
    """The spaces an environment is built with."""
    box, discrete = call.after["observation_space"], call.after["action_space"]
    return Case({}, {"low": box["low"], "high": box["high"], "actions": np.int64(discrete["n"])})


def draw_case(call: Call) -> Case:
    """What a seed leads to: the limits Gymnasium draws between, and the four numbers."""
    (draw,) = call.draws
    low, high = draw.keywords["low"], draw.keywords["high"]
    inputs = {"seed": np.uint32(call.arguments["seed"])}
    return Case(inputs, {**named_state(draw.value), "low": np.float64(low), "high": np.float64(high), "inside": True})


def distribution_case(call: Call) -> Case:
    """The distribution that seeds draw from, as Gymnasium's own call says: independent, uniform between two limits."""
    (draw,) = call.draws
    assert draw.method == "uniform", f"Gymnasium drew by {draw.method}"
    inputs = {name: np.float64(draw.keywords[name]) for name in ("low", "high")}
    pairs = len(FIELDS) * (len(FIELDS) - 1) // 2 + len(FIELDS)
    return Case(inputs, {**dict.fromkeys(FIELDS, EVEN_SHARES), "dependence": np.zeros(pairs)})


def reset_case(call: Call) -> Case:
    """The first state, from the four numbers drawn for it."""
    (draw,) = call.draws
    return Case(named_state(draw.value), named_state(call.after["state"]))


def dynamics_case(call: Call) -> Case | None:
    """One whole step: the state after it, its reward, and whether it ended the episode."""
    if call.before["_sutton_barto_reward"]:
        return None
    _, reward, terminated, *_ = call.result
    inputs = {**named_state(call.before["state"]), "action": np.int32(call.arguments["action"])}
    return Case(inputs, {**named_state(call.after["state"]), "reward": np.float64(reward), "terminated": terminated})


def termination_case(call: Call) -> Case:
    """Whether the state after a step ends the episode."""
    return Case(named_state(call.after["state"]), {"terminated": call.result[2]})


def reward_case(call: Call) -> Case:
    """The reward, from where the step began and whether it ended the episode."""
    _, reward, terminated, *_ = call.result
    sutton_barto = call.before["_sutton_barto_reward"]
    inputs = {**named_state(call.before["state"]), "terminated": terminated, "sutton_barto": sutton_barto}
    return Case(inputs, {"reward": np.float64(reward)})


def observe_case(call: Call) -> Case:
    """The observation, from the state it shows."""
    return Case(named_state(call.after["state"]), {"obs": call.result[0]})


def time_limit_case(call: Call) -> Case:
    """One counted step of the time limit."""
    steps, after = (np.int32(values["_elapsed_steps"]) for values in (call.before, call.after))
    return Case({"steps": steps}, {"steps": after, "truncated": call.result[3]})


# ---- instances put into a given situation ----


def apply_seed(instance: Any, inputs: Arrays) -> None:
    """A reset from a given seed."""
    instance.reset(seed=int(inputs["seed"]))


def apply_step(instance: Any, inputs: Arrays) -> None:
    """One step from a given state, with the given reward scheme and step count where they matter."""
    from overclock.envs.cartpole.reference import write_state

    rules = instance.unwrapped
    write_state(instance, {**{name: inputs[name] for name in FIELDS}, "steps": inputs.get("steps", np.array(0))})
    # A state beyond the limits is only ever reached by a step that said so, and Gymnasium remembers having said it.
    fallen = abs(inputs["x"]) > rules.x_threshold or abs(inputs["theta"]) > rules.theta_threshold_radians
    rules.steps_beyond_terminated = int(inputs.get("steps_beyond", 0)) if fallen else None
    rules._sutton_barto_reward = bool(inputs.get("sutton_barto", False))
    try:
        instance.step(int(inputs["action"]))
    finally:
        rules._sutton_barto_reward = False


# ---- boundary values ----


def distance_to_limit(state: Arrays) -> np.ndarray:
    """How far each state is from the nearest threshold of `terminated`."""
    return np.minimum(*(np.abs(np.abs(state[name]) - limit) for name, limit in LIMITS.items()))


def boundary_seeds() -> Arrays:
    """Neighbouring seeds, enough of them to compare distributions."""
    return {"seed": np.arange(2048, dtype=np.uint32)}


def boundary_steps() -> Arrays:
    """Step counts around the time limit; level 1 varies them further."""
    steps = np.array([0, 1, 498, 499, 500, 501], np.int32)
    zeros = {name: np.zeros(len(steps)) for name in FIELDS}
    return {**zeros, "steps": steps, "action": np.zeros(len(steps), np.int32)}


def boundary_states() -> Arrays:
    """Every special value of every field from two ordinary states, and random mixtures; each with both actions.

    The first state is at rest: level 1 puts its numbers on, and beside, what the reference compares with.
    """
    special = {
        "x": _around(LIMITS["x"]) + _spread(1000.0, 1e6),
        "x_dot": _spread(0.5, 3.0, 1000.0),
        "theta": _around(LIMITS["theta"]) + _spread(0.5, 1.5, 3.0, 6.0),
        "theta_dot": _spread(0.5, 4.0, 64.0),
    }
    unusual = [1000.0, -1000.0, math.inf, -math.inf, math.nan]  # mixed with others, rounding alone would be large
    rows = [(0.0, 0.0, 0.0, 0.0)]
    for ordinary in ((0.0, 0.0, 0.0, 0.0), (0.125, -0.5, 0.0625, 0.375)):
        for position, name in enumerate(FIELDS):
            rows += [(*ordinary[:position], value, *ordinary[position + 1 :]) for value in special[name] + unusual]
    generator = np.random.default_rng(0)
    rows += zip(*(generator.choice(special[name], 256) for name in FIELDS), strict=True)
    columns = {name: np.repeat(column, 2) for name, column in zip(FIELDS, np.array(rows).T, strict=True)}
    return {**columns, "action": np.tile(np.array([0, 1], np.int32), len(rows))}


def boundary_rewards() -> Arrays:
    """The same under both reward schemes, and further past the end of an episode."""
    states = boundary_states()
    count = len(states["action"])
    twice = {name: np.concatenate([values, values]) for name, values in states.items()}
    return {**twice, "sutton_barto": np.repeat([False, True], count), "steps_beyond": np.arange(2 * count) % 3}


def _around(limit: float) -> list[float]:
    """A limit with its neighbours in float64 and in float32, on both sides."""
    single = np.float32(limit)
    near = [math.nextafter(limit, 0.0), limit, math.nextafter(limit, math.inf)]
    near += [float(np.nextafter(single, np.float32(end))) for end in (0.0, math.inf)]
    return near + [-value for value in near]


def _spread(*values: float) -> list[float]:
    """Values of both signs, both zeros, and the smallest normal numbers of float32."""
    tiny = float(np.finfo(np.float32).tiny)
    return [0.0, -0.0, tiny, -tiny, *values, *(-value for value in values)]
