"""Cheats in the random draws: numbers that are not the Rng's words, or that depend on what draws must not depend on.

Every level replays the reference's draws, so none of these is seen in an episode: the inspection reads what a draw is
made of, and level 1 compares its distribution.
"""

from overclock.recipe.judging.verdict import HYGIENE
from overclock.recipe.redteam.cheats import cheat
from overclock.recipe.redteam.shortcuts import CLASS

DRAW_STEP = "        return Gust(uniform_0=rng.uniform(0, -params.wind, params.wind))\n"
DRAW_RESET = "shape=(4,)))\n"
IMPORTED = "from overclock.env import Box, Discrete, Environment, Rng\n"
BITS = "        bits = jax.lax.bitcast_convert_type(state.x.astype(jnp.float32), jnp.uint32)\n"
OWN_HASH = "        bits = (bits ^ (bits >> 15)) * jnp.uint32(0x2C1B3C6D)\n"
AS_WIND = "(bits >> 8).astype(state.x.dtype) * 2.0**-23 - 1.0"
MIXED = "        bits = rng.words(0) ^ bits\n"


def other_stream(change: str) -> tuple[str, str]:
    """The edit that draws the wind from a changed generator."""
    return DRAW_STEP, f"        rng = rng.replace({change})\n{DRAW_STEP}"


OWN_RANDOMNESS = (
    cheat(
        "wind-of-the-state",
        "makes the wind of the bits of the cart's place, with a hash of its own",
        "env.py",
        (DRAW_STEP, f"{BITS}{OWN_HASH}        return Gust(uniform_0={AS_WIND})\n"),
        first="import jax\n",
        level=HYGIENE,
    ),
    cheat(
        "mixes-in-the-state",
        "mixes the bits of the cart's place into the random bits of the wind",
        "env.py",
        (DRAW_STEP, f"{BITS}{MIXED}        return Gust(uniform_0={AS_WIND})\n"),
        first="import jax\n",
        level=HYGIENE,
    ),
    cheat(
        "repeats-after-65536",
        "has the same wind again after 65,536 events",
        "env.py",
        other_stream("counter=rng.counter & jnp.uint32(0xFFFF)"),
        level=HYGIENE,
    ),
    cheat(
        "copies-lag-7",
        "has the wind of seven events ago in every other seven events",
        "env.py",
        other_stream("counter=rng.counter - rng.counter // 7 % 2 * 7"),
        level=HYGIENE,
    ),
    cheat(
        "few-streams",
        "has 256 streams, so that lanes share one",
        "env.py",
        other_stream("k0=rng.k0 & jnp.uint32(0xFF), k1=jnp.zeros_like(rng.k1)"),
        level=HYGIENE,
    ),
    cheat(
        "still-when-late",
        "has no wind after the 100,000th event of a lane",
        "env.py",
        (DRAW_STEP, DRAW_STEP.replace("=rng.uni", "=(rng.counter < 100_000) * rng.uni")),
        level=HYGIENE,
    ),
    cheat(
        "winds-of-the-policy",
        "takes the words of the random policy, so that the wind blows as the cart is pushed",
        "env.py",
        (DRAW_STEP, f"        rng = rng.of_section(Section.ACTION)\n{DRAW_STEP}"),
        (IMPORTED, IMPORTED.replace("Rng\n", "Rng, Section\n")),
        level=HYGIENE,
    ),
    cheat(
        "stronger-outside",
        "has a stronger wind the further the cart is from the middle",
        "env.py",
        (
            DRAW_STEP,
            "        away = jnp.abs(state.x) / (jnp.abs(state.x) + 0.02)\n"
            "        share = rng.uniform(0, -1.0, 1.0)\n"
            "        return Gust(uniform_0=params.wind * jnp.sign(share) * jnp.abs(share) ** (1.5 - away))\n",
        ),
    ),
    cheat(
        "equal-sizes",
        "begins episodes with four numbers that differ only in their signs",
        "env.py",
        (
            DRAW_RESET,
            f"{DRAW_RESET.rstrip()[:-1]} * 0.0 + _equal_sizes(rng, params.reset_bound))\n",
        ),
        (
            CLASS,
            "def _equal_sizes(rng, bound):\n"
            "    signs = jnp.where(rng.unit(1, (4,)) < 0.5, -1.0, 1.0)\n"
            "    return signs * rng.uniform(0, 0.0, bound)\n\n\n"
            f"{CLASS}",
        ),
    ),
    cheat(
        "calm-for-some-keys",
        "has no wind in the few lanes whose key begins with zeros",
        "env.py",
        (DRAW_STEP, DRAW_STEP.replace("=rng.uni", "=(rng.k0 > 65_536) * rng.uni")),
        level=HYGIENE,
    ),
    cheat(
        "keeps-off-the-ends",
        "has a wind that is never quite as strong as it can be",
        "env.py",
        (DRAW_STEP, "        return Gust(uniform_0=rng.uniform(0, -params.wind, params.wind) * 0.9995)\n"),
    ),
    cheat(
        "coarse-wind",
        "has winds of a thousand strengths",
        "env.py",
        (
            DRAW_STEP,
            "        return Gust(uniform_0=jnp.round(rng.uniform(0, -params.wind, params.wind) * 512.0) / 512.0)\n",
        ),
    ),
    cheat(
        "direction-of-the-place",
        "takes the direction of the wind from the digits of the cart's place, and its strength from the Rng",
        "env.py",
        (
            DRAW_STEP,
            "        strength = jnp.abs(rng.uniform(0, -params.wind, params.wind))\n"
            "        odd = jnp.floor(state.x * 1e4) % 2 == 1\n"
            "        return Gust(uniform_0=jnp.where(odd, -strength, strength))\n",
        ),
    ),
)
