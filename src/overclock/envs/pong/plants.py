"""Bugs that `overclock verify pong --plant NAME` puts into the rules; docs/adequacy.md has a list of some."""

from overclock.verify.sides.patched import Patch

RULES = "overclock.envs.pong.env"
SPIN, COUNTED = "self.spin(vy, direction, params)", "(hit_left | hit_right)"
OVER = "(state.score_l == params.max_score) | (state.score_r == params.max_score)"
BY_THE_PADDLE = "(x + params.ball_width > params.width) & self.meets(y, yr, params)"

COMMON = {
    # What one writes without having seen that the reference returns before it computes an observation.
    "fresh-observation": Patch(RULES, "select(point, after, after.shown())", "after.shown()"),
    "touching-is-hitting": Patch(RULES, "(y + params.ball_height > paddle)", "(y + params.ball_height >= paddle)"),
    # The reference's serves go down or level, never up, which looks like a mistake.
    "serves-up-and-down": Patch(RULES, "(draw.serve - 1)", "(2 * draw.serve - 1)"),
    "opponent-aims-at-the-middle": Patch(
        RULES, "aim = state.ball_y - (", "aim = state.ball_y + params.ball_height / 2 - ("
    ),
    "level-ball-stays-level": Patch(RULES, "jnp.abs(turned) <= HORIZONTAL", "jnp.abs(turned) < 0"),
    # It lets many more balls pass: what a comparison of returns must see, of weak players too.
    "opponent-too-slow": Patch(RULES, "clip(aim, -params.paddle_speed, params.paddle_speed)", "clip(aim, -1.0, 1.0)"),
}
# The bugs 13 to 23 of docs/adequacy.md. The rarest of play show them, or states that can be set.
RARE = {
    "speed-cap-after-30-hits": Patch(
        RULES, f"hit_right, {SPIN}, vy", f"hit_right, jnp.where(state.n_bounces < 30, {SPIN}, {SPIN}.clip(-12, 12)), vy"
    ),
    "hits-wrap-at-256": Patch(
        RULES, f"state.n_bounces + {COUNTED}.astype(jnp.int32)", f"(state.n_bounces + {COUNTED}) & 255"
    ),
    "hits-in-float32": Patch(
        RULES, f"state.n_bounces + {COUNTED}.astype(jnp.int32)",
        f"(state.n_bounces.astype(jnp.float32) + {COUNTED}).astype(jnp.int32)",
    ),
    "ticks-in-16-bits": Patch(
        RULES, "tick=state.tick + jnp.int32(1)", "tick=(state.tick + 1).astype(jnp.int16).astype(jnp.int32)"
    ),
    "truncated-after-20000": Patch(
        RULES, "    width: float = 500.0", "    max_steps: int | None = 20_000\n    width: float = 500.0"
    ),
    "fast-after-40-hits": Patch(
        RULES, "hit_right, -state.ball_vx, state.ball_vx)",
        "hit_right, -state.ball_vx - jnp.sign(state.ball_vx) * (state.n_bounces == 39), state.ball_vx)",
    ),
    "over-from-21-on": Patch(RULES, OVER, OVER.replace("==", ">=")),
    "level-below-one-ulp": Patch(RULES, "jnp.abs(turned) <= HORIZONTAL", "jnp.abs(turned) < HORIZONTAL"),
    "cap-one-ulp-low": Patch(
        RULES, "limit, increment = params.ball_max_speed_y,",
        "limit, increment = np.nextafter(np.float32(13), np.float32(0)),",
    ),
    "edge-counts-as-left": Patch(RULES, "left, right = x < 0,", "left, right = x <= 0,"),
    "no-turn-in-the-corner": Patch(
        RULES, "jnp.where(outside, -state.ball_vy", f"jnp.where(outside & ~({BY_THE_PADDLE}), -state.ball_vy"
    ),
}  # fmt: skip
PLANTS = {**COMMON, **RARE}
