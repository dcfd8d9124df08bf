"""Bugs that `overclock verify cartpole --plant NAME` puts into the rules; docs/adequacy.md has a list of some."""

from overclock.verify.sides.patched import Patch

RULES = "overclock.envs.cartpole.env"
BEFORE = "    def accelerations(\n"  # where a method can be added
COUNTED = f"""\
    def advance(self, state, action, draw, params):
        after, reward, terminated, _ = super().advance(state, action, draw, params)
        steps = {{}}
        return after.replace(steps=steps), reward, terminated, steps {{}} params.max_steps

{BEFORE}"""
LEANS = """\
(state.theta < -params.theta_threshold_radians)
            | (state.theta > params.theta_threshold_radians)"""

COMMON = {
    # Gymnasium's own JAX version has had this one since 2022; returns do not show it.
    "polemass-plus": Patch(
        RULES,
        "jnp.asarray(params.masspole, dtype) * params.length",
        "jnp.asarray(params.masspole, dtype) + params.length",
    ),
    "angle-6-degrees": Patch(RULES, "12 * 2 * math.pi / 360", "6 * 2 * math.pi / 360"),
    "gravity": Patch(RULES, "gravity: float = 9.8", "gravity: float = 9.81"),
    "late-truncation": Patch(RULES, "max_steps: int | None = 500", "max_steps: int | None = 501"),
    "ignores-the-draw": Patch(RULES, "        return draw\n", "        return draw.replace(x=draw.x * 0)\n"),
}
# The bugs 24 to 29 of docs/adequacy.md. The rarest of play show them, or states that can be set.
RARE = {
    "fallen-on-the-limit": Patch(RULES, "(state.x > params.x_threshold)", "(state.x >= params.x_threshold)"),
    "limit-one-ulp-wide": Patch(RULES, LEANS, "(jnp.abs(state.theta) > params.theta_threshold_radians + 2.0**-55)"),
    "steps-in-float32": Patch(
        RULES, BEFORE, COUNTED.format("(state.steps.astype(jnp.float32) + 1).astype(jnp.int32)", ">=")
    ),
    "steps-in-16-bits": Patch(
        RULES, BEFORE, COUNTED.format("(state.steps + 1).astype(jnp.int16).astype(jnp.int32)", ">=")
    ),
    "truncated-once": Patch(RULES, BEFORE, COUNTED.format("after.steps", "==")),
    "spin-is-limited": Patch(
        RULES, "state.theta_dot + params.tau * acceleration_theta",
        "(state.theta_dot + params.tau * acceleration_theta).clip(-100, 100)",
    ),
}  # fmt: skip
PLANTS = {**COMMON, **RARE}
