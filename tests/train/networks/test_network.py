"""Networks of every width: the GRU is Flax's, gradients are JAX's own, bf16 is where it says so and nowhere else."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from train.quick import quick

import overclock
from overclock.env import Box, Discrete
from overclock.errors import UsageError
from overclock.train import PPOConfig, make_train, parameters, sized, train, tuned
from overclock.train.evaluate import evaluate_policy
from overclock.train.networks.agent import Agent
from overclock.train.networks.memory import cell, remember
from overclock.train.networks.network import Memory, NetworkConfig
from overclock.train.networks.products import NARROW, product
from overclock.vector import vectorize

BF16_UNIT = 2.0**-8  # a factor keeps eight bits


def test_the_memory_is_flaxs_gru():
    features = jax.random.normal(jax.random.key(1), (5, 3, 4))
    memory, never = jnp.full((3, 6), 0.3), jnp.zeros((5, 3), jnp.bool_)
    module = Memory(6)
    weights = quick(module.init)(jax.random.key(0), memory, features, never)["params"]
    weights["bias"] = weights["bias"] + 0.2
    parts = (weights["input"]["kernel"], weights["input"]["bias"], weights["recurrent"])
    fed, bias, own = (jnp.split(part, 3, axis=-1) for part in parts)
    flax = {f"i{gate}": {"kernel": fed[i], "bias": bias[i]} for i, gate in enumerate("rzn")}
    flax |= {f"h{gate}": {"kernel": own[i]} for i, gate in enumerate("rzn")}
    flax["hn"]["bias"] = weights["bias"]
    ours = quick(module.apply)({"params": weights}, memory, features, never)
    theirs = quick(nn.GRUCell(6).apply)
    for t in range(5):
        memory, _ = theirs({"params": flax}, memory, features[t])
        np.testing.assert_allclose(ours[t], memory, rtol=1e-5, atol=1e-6)


def test_the_gradient_along_a_sequence_is_the_one_jax_finds():
    time, lanes, width = 7, 5, 12
    keys = jax.random.split(jax.random.key(0), 6)
    memory = jax.random.normal(keys[0], (lanes, width))
    fed = jax.random.normal(keys[1], (time, lanes, 3 * width))
    start = jax.random.bernoulli(keys[2], 0.3, (time, lanes))
    kernel, bias = jax.random.normal(keys[3], (width, 3 * width)), jax.random.normal(keys[4], (width,))
    weight = jax.random.normal(keys[5], (time, lanes, width))  # a different wish for every number that comes out

    def plain(memory, fed, kernel, bias):
        total = 0.0
        for t in range(time):
            memory = jnp.where(start[t][:, None], 0.0, memory)
            memory = cell(memory, fed[t], memory @ kernel, bias)
            total += jnp.sum(weight[t] * memory)
        return total

    def ours(memory, fed, kernel, bias):
        return jnp.sum(weight * remember(memory, fed, start, kernel, bias, "float32"))

    found = quick(jax.grad(ours, (0, 1, 2, 3)))(memory, fed, kernel, bias)
    expected = quick(jax.grad(plain, (0, 1, 2, 3)))(memory, fed, kernel, bias)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(NARROW, 20), (NARROW + 1, NARROW), (40, 30)])
def test_a_product_and_its_gradient_are_jaxs(rows, columns):
    keys = jax.random.split(jax.random.key(rows), 3)
    x, kernel = jax.random.normal(keys[0], (2, 9, rows)), jax.random.normal(keys[1], (rows, columns))
    weight = jax.random.normal(keys[2], (2, 9, columns))
    ours = quick(jax.value_and_grad(lambda x, k: jnp.sum(weight * product(x, k, "float32")), (0, 1)))(x, kernel)
    plain = quick(jax.value_and_grad(lambda x, k: jnp.sum(weight * (x @ k)), (0, 1)))(x, kernel)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(plain), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_bf16_products_add_in_float32_forward_and_backward():
    """Eight bits per factor, but sums keep all theirs: 1001 is no number of bf16's."""
    rows = columns = 1001
    x, kernel = jnp.ones((rows, 16)), jnp.ones((16, columns))
    factor = 1 + 2.0**-12  # rounds to 1, as a factor of any product
    out = product(factor * kernel, kernel.T, "bf16")
    assert out.dtype == jnp.float32
    np.testing.assert_array_equal(out, float(columns))
    _, pull = jax.vjp(lambda x, k: product(x, k, "bf16"), factor * x, factor * kernel)
    by_x, by_kernel = pull(jnp.full((rows, columns), factor))
    assert by_x.dtype == by_kernel.dtype == jnp.float32
    np.testing.assert_array_equal(by_x, float(columns))
    np.testing.assert_array_equal(by_kernel, float(rows))


@pytest.mark.parametrize("kind", ["mlp", "gru"])
def test_bf16_rounds_what_lies_between_layers_and_never_an_observation(kind):
    """Observations, weights of the first layer and of the heads, parameters and outputs keep float32."""
    agents = [
        Agent(Box(-1.0, 1.0, (20,)), Discrete(2), NetworkConfig(kind, (32, 32), 32, precision=precision))
        for precision in ("float32", "bf16")
    ]
    params = quick(agents[0].init)(jax.random.key(0))
    features, start = jax.random.normal(jax.random.key(1), (4, 5, 20)), jnp.zeros((4, 5), jnp.bool_)
    memory = agents[0].first_memory(5)["actor"] if kind == "gru" else ()
    values = [agent.critic(params, memory, features, start)[1] for agent in agents]
    assert values[1].dtype == jnp.float32
    assert 0 < float(jnp.max(jnp.abs(values[0] - values[1]))) < 8 * BF16_UNIT

    def rounded(agent, params, memory):
        return set(re.findall(r"bf16\[[0-9,]*\]", str(jax.make_jaxpr(agent.critic)(params, memory, features, start))))

    assert "bf16[32,32]" in rounded(agents[1], params, memory)
    assert not rounded(agents[0], params, memory)
    shallow = Agent(Box(-1.0, 1.0, (20,)), Discrete(2), NetworkConfig("mlp", (32,), precision="bf16"))
    assert rounded(shallow, quick(shallow.init)(jax.random.key(0)), ()) == {"bf16[4,5,32]"}  # what the head is fed with


@pytest.mark.long
def test_a_run_in_bf16_learns_cartpole_as_in_float32():
    env, params = overclock.make("cartpole")
    means = {}
    for precision in ("float32", "bf16"):
        run = train(make_train(env, params, tuned("cartpole", precision=precision)), [0])
        assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(run.state.learner.params))
        moments = [leaf for leaf in jax.tree.leaves(run.state.learner.optimizer) if leaf.dtype != jnp.int32]
        assert all(leaf.dtype == jnp.float32 for leaf in moments)
        means[precision] = evaluate_policy(run.policy(), vectorize(env, 100), range(1000, 1100)).returns.mean()
    assert means["float32"] == means["bf16"] == 500  # the most there is, in all 100 episodes


@pytest.mark.parametrize("kind", ["mlp", "gru"])
@pytest.mark.parametrize("millions", [2, 20, 200])
def test_a_sized_network_has_about_so_many_parameters(kind, millions):
    env, params = overclock.make("cartpole")
    agent = make_train(env, params, PPOConfig(**sized(kind, millions))).agent
    assert millions * 1e6 <= parameters(agent) <= 1.1 * millions * 1e6


def test_parameters_are_what_is_saved():
    agent = Agent(Box(-1.0, 1.0, (3,)), Discrete(2), NetworkConfig("mlp", (8, 8)))
    leaves = jax.tree.leaves(quick(agent.init)(jax.random.key(0)).weights)
    assert parameters(agent) == sum(leaf.size for leaf in leaves) == 2 * (3 * 8 + 8 + 8 * 8 + 8) + 8 * 3 + 3


@pytest.mark.parametrize(("kind", "millions", "part"), [("lstm", 2, "'mlp' or 'gru'"), ("mlp", 0, "positive number")])
def test_impossible_sizes_are_one_sentence(kind, millions, part):
    with pytest.raises(UsageError, match=part):
        sized(kind, millions)
