"""The three auto-reset modes, on an episode that ends when a counter reaches its goal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.env.autoreset import expand, select, step_with_autoreset

GOAL = 2
# After each of five steps from 0: what is seen, what was earned, whether the episode ended, what the rules made of it.
EXPECTED = {
    "same_step": [(1, 1, False, 1), (0, 1, True, 2), (1, 1, False, 1), (0, 1, True, 2), (1, 1, False, 1)],
    "next_step": [(1, 1, False, 1), (2, 1, True, 2), (0, 0, False, 0), (1, 1, False, 1), (2, 1, True, 2)],
    "off": [(1, 1, False, 1), (2, 1, True, 2), (3, 1, True, 3), (4, 1, True, 4), (5, 1, True, 5)],
}


def step(mode, count, ended, branch):
    def play(count):
        after = count + 1
        return after, jnp.ones_like(count), after >= GOAL, jnp.zeros_like(after, bool)

    def restart(mask, count):
        return jnp.zeros_like(count) if branch else select(mask, jnp.zeros_like(count), count)

    obs, count, ended, reward, terminated, _, info = step_with_autoreset(
        mode,
        count,
        ended,
        play=play,
        restart=restart,
        observe=lambda count: count,
        info=lambda count: {},
        branch=branch,
    )
    return (count, ended), (obs, reward, terminated, info["final_observation"])


@pytest.mark.parametrize("mode", EXPECTED)
def test_a_batch_and_a_lane_of_its_own_restart_alike(mode):
    batch, lane = (jnp.zeros(3, int), jnp.zeros(3, bool)), (jnp.int32(0), jnp.bool_(False))
    for expected in EXPECTED[mode]:
        batch, seen = step(mode, *batch, branch=False)
        lane, of_lane = step(mode, *lane, branch=True)
        assert tuple(leaf.item() for leaf in of_lane) == expected
        assert all((leaf == one).all() for leaf, one in zip(seen, of_lane, strict=True))


def test_one_condition_selects_a_tree_and_a_batch_of_them_its_rows():
    tree = {"picture": jnp.ones((2, 3, 3)), "number": jnp.ones(2)}
    zeros = jax.tree.map(jnp.zeros_like, tree)
    rows = select(jnp.array([True, False]), tree, zeros)
    np.testing.assert_array_equal(rows["picture"].sum((1, 2)), [9, 0])
    np.testing.assert_array_equal(rows["number"], [1, 0])
    assert select(jnp.bool_(True), tree, zeros)["picture"].sum() == 18
    assert expand(jnp.ones(2, bool), tree["picture"]).shape == (2, 1, 1)
