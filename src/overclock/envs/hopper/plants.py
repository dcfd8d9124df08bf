"""Bugs that `overclock verify hopper --plant NAME` puts into the rules; docs/adequacy.md has a list of some."""

from overclock.planar.twin import PLANTS as SHARED
from overclock.verify.sides.patched import Patch

RULES = "overclock.envs.hopper.env"
NUMBERS = "[state.qpos[2:], state.qvel]"

PLANTS = {
    **SHARED,
    "speeds-unclipped": Patch(
        "overclock.planar.environment", "jnp.clip(state.qvel, -self.seen_speed, self.seen_speed)", "state.qvel"
    ),
    "falls-earlier": Patch(RULES, "= (0.7, math.inf)", "= (0.8, math.inf)"),
    # Never met in play: a hopper that fast has fallen already.
    "numbers-without-limit": Patch(RULES, " & ((low < numbers) & (numbers < high)).all()", ""),
    "stages-share-alike": Patch("overclock.planar.engine.integrate", "h / 6, h / 3)", "h / 4, h / 4)"),
    # The bugs 38 to 40 of docs/adequacy.md.
    "numbers-up-to-the-limit": Patch(RULES, "(low < numbers)", "(low <= numbers)"),
    "last-number-is-free": Patch(RULES, NUMBERS, "[state.qpos[2:], state.qvel[:-1]]"),
    "height-is-a-number": Patch(RULES, NUMBERS, "[state.qpos[1:], state.qvel]"),
}
