"""A robot's functions one by one: named inputs in, named outputs out. The performance side's half of `modules.py`.

Loaded by both sides, so JAX is imported only inside.
"""

from typing import Any

import numpy as np


def rules_state(inputs: dict[str, Any]) -> Any:
    """Named values as a state of the rules."""
    from overclock.planar.environment import PlanarState

    return PlanarState(qpos=inputs["qpos"], qvel=inputs["qvel"])


def spaces(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Bounds of observations and actions."""
    found = {"observation": env.observation_space(params), "action": env.action_space(params)}
    ends = {name: dict(zip(("low", "high"), space.bounds(), strict=True)) for name, space in found.items()}
    return {f"{name}_{end}": ends[name][end] for name in ends for end in ("low", "high")}


def parameters(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The default parameters, as far as they are numbers of the rules."""
    values = vars(env.default_params())
    return {name: np.asarray(value, np.float64) for name, value in values.items() if name != "max_steps"}


def constants(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The numbers of the compiled model, under the names that `recorded` gives MuJoCo's."""
    model = env.model
    limits = [joint.limit for joint in model.joints if joint.limit is not None]
    found = {
        "timestep": model.timestep,
        "gravity": model.gravity,
        "qpos0": model.qpos0,
        **{
            name: [getattr(joint, name) for joint in model.joints]
            for name in ("stiffness", "spring_reference", "damping", "armature")
        },
        "limits": [(limit.low, limit.high) for limit in limits],
        "limit_weights": [limit.inverse_weight for limit in limits],
        "masses": [body.mass for body in model.bodies],
        "inertias": [body.inertia for body in model.bodies],
        "radii": [capsule.radius for capsule in model.capsules],
        "lengths": [np.hypot(*np.subtract(*capsule.ends)) for capsule in model.capsules],
        "gears": [motor.gear for motor in model.motors],
        "controls": [(motor.low, motor.high) for motor in model.motors],
    }
    return {name: np.asarray(value, np.float64) for name, value in found.items()}


def draw(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The noise of a reset from a seed."""
    from overclock.env import Rng, Section

    noise = env.draw_reset(Rng.of(inputs["seed"][None]).of_section(Section.RESET), params)
    return {"qpos": noise.qpos, "qvel": noise.qvel}


def reset(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The first state from its noise."""
    state = env.init(rules_state(inputs), params)
    return {"qpos": state.qpos, "qvel": state.qvel}


def matrix(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The mass matrix, with its zeros and both halves."""
    import jax.numpy as jnp

    from overclock.planar.engine.inertia import mass_matrix
    from overclock.planar.engine.kinematics import place

    n = env.model.dofs
    found = mass_matrix(env.model, place(env.model, list(inputs["qpos"])))
    rows = [[found.get((max(i, j), min(i, j)), 0.0) for j in range(n)] for i in range(n)]
    return {"matrix": jnp.asarray(rows, inputs["qpos"].dtype)}


def bias(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The bias forces: Coriolis, centrifugal, gravity."""
    import jax.numpy as jnp

    from overclock.planar.engine.inertia import bias
    from overclock.planar.engine.kinematics import place

    return {"bias": jnp.stack(bias(env.model, place(env.model, list(inputs["qpos"])), list(inputs["qvel"])))}


def contacts(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """For both ends of every capsule the depth in the floor, and depth times x; sorted within each capsule."""
    import jax.numpy as jnp

    from overclock.planar.engine.contacts import touches
    from overclock.planar.engine.kinematics import motions, place

    model, placed = env.model, place(env.model, list(inputs["qpos"]))
    at = model.bodies[0].arm[0] + inputs["qpos"][0] - model.qpos0[0]
    depths, places = [], []
    for contact, touch in zip(
        model.floor_contacts, touches(model, placed, motions(model, placed, list(inputs["qvel"]))), strict=True
    ):
        depth = jnp.where(touch.weight > 0, 2 * (touch.point[1] + placed.height) - contact.margin, 0.0)
        depths.append(depth)
        places.append(depth * (at + touch.point[0]))
    return {"depth": jnp.sort(jnp.stack(depths).reshape(-1, 2)), "place": jnp.sort(jnp.stack(places).reshape(-1, 2))}


def accelerations(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The accelerations of all dofs under a control, by Newton's method from zero."""
    import jax.numpy as jnp

    from overclock.planar.engine.integrate import accelerate, torques

    qpos, qvel = list(inputs["qpos"]), list(inputs["qvel"])
    actuation = torques(env.model, [control.astype(qpos[0].dtype) for control in inputs["ctrl"]])
    return {"qacc": jnp.stack(accelerate(env.model, qpos, qvel, actuation, [jnp.zeros_like(q) for q in qpos])[1])}


def step(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """One control step of the rules, as an output of level 1."""
    after, reward, terminated = env.transition(rules_state(inputs), inputs["action"], (), params)
    return {"qpos": after.qpos, "qvel": after.qvel, "reward": reward, "terminated": terminated}


def cost(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The control cost of an action."""
    return {"cost": env.control_cost(inputs["action"], params)}


def standing(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The reward for standing, and whether the robot has fallen."""
    state = rules_state(inputs)
    return {"bonus": env.bonus(state, params), "fallen": env.fallen(state, params)}


def observe(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The observation of a state."""
    return {"obs": env.observe(rules_state(inputs), params)}


def info(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The entries of `info` for a state."""
    return env.info(rules_state(inputs), params)


def time_limit(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The step counter and `truncated`, which do not depend on the robot's position."""
    import jax.numpy as jnp

    from overclock.env import EnvState

    still, action = jnp.zeros(env.model.dofs), jnp.zeros(len(env.model.motors), jnp.float32)
    begun = EnvState(rules_state({"qpos": still, "qvel": still}), inputs["steps"])
    after, _, _, truncated = env.advance(begun, action, (), params)
    return {"steps": after.steps, "truncated": truncated}
