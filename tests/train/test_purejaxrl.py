"""The peer of training benchmarks is a fair one: it learns CartPole, with our hyper-parameters and as many weights."""

import dataclasses

import jax
import numpy as np
import pytest

pytest.importorskip("gymnax", reason="the peer plays on gymnax: pip install 'overclock[peers]'")

from overclock.bench.purejaxrl import ActorCritic, make
from overclock.envs.cartpole.env import CartPole
from overclock.errors import UsageError
from overclock.train import make_train, parameters, tuned

CONFIG = tuned("cartpole", total_steps=24_576)


@pytest.mark.long
def test_it_learns_cartpole_with_a_network_of_our_size():
    init, advance = make(CONFIG)
    first = init(jax.random.key(0))
    assert sum(leaf.size for leaf in jax.tree.leaves(first.params)) == parameters(
        make_train(CartPole(), None, CONFIG).agent
    )
    obs = first.obs
    _, metrics = advance(first, CONFIG.num_updates)
    assert obs.is_deleted()  # taken over, as ours is
    assert metrics["return"].shape == (24,)
    assert metrics["return"][0] < 40  # random play
    assert np.nanmean(metrics["return"][-4:]) > 100


@pytest.mark.parametrize(
    "changes",
    [{"network": "gru"}, {"normalise_rewards": True}, {"normalise_advantages": False}],
)
def test_what_it_cannot_do_is_refused(changes):
    with pytest.raises(UsageError, match="in the manner of PureJaxRL"):
        make(dataclasses.replace(CONFIG, **changes))


def test_in_bf16_its_hidden_layers_are_rounded_and_nothing_else():
    init, _ = make(dataclasses.replace(CONFIG, precision="bf16"))
    first = init(jax.random.key(0))
    assert {leaf.dtype.name for leaf in jax.tree.leaves(first.params)} == {"float32"}
    network = ActorCritic(2, dataclasses.replace(CONFIG, precision="bf16"))
    outputs, seen = network.apply(first.params, first.obs, capture_intermediates=True)
    assert {leaf.dtype.name for leaf in outputs} == {"float32"}
    kept = [layer["__call__"][0].dtype.name for name, layer in seen["intermediates"].items() if name != "__call__"]
    assert sorted(kept) == ["bfloat16"] * 4 + ["float32"] * 2
