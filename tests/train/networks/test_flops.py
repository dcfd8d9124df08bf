"""Arithmetic is counted from shapes; what JAX traces and what XLA compiles agree with the count."""

import math
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.interpreters import partial_eval
from train import probes

import overclock
from overclock.env import Box, Discrete
from overclock.train import Curve, PPOConfig, make_train
from overclock.train.networks import products as products_of_jax
from overclock.train.networks.agent import Agent
from overclock.train.networks.flops import Speed, forward_flops, gradient_flops, products, speed, update_flops
from overclock.train.networks.network import NetworkConfig
from overclock.train.networks.peak import known_peak, measured_peak

NETWORKS = [
    NetworkConfig("mlp", (64, 32)),
    NetworkConfig("gru", (64, 32), memory=48),
    NetworkConfig("mlp", ()),
    NetworkConfig("gru", (), memory=48),
]


@pytest.fixture
def no_sums(monkeypatch):
    """Narrow products as products too, so that they can be counted."""
    monkeypatch.setattr(products_of_jax, "NARROW", 0)


def agent_of(network: NetworkConfig) -> Agent:
    return Agent(Box(-1.0, 1.0, (5,)), Discrete(3), network)


def flops_in(jaxpr) -> int:
    """Of all matrix products, those in a scan as often as it turns; a loop without a known end counts as nothing."""
    total = 0
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            ((contracted, _), _) = equation.params["dimension_numbers"]
            inner = math.prod(equation.invars[0].aval.shape[axis] for axis in contracted)
            total += 2 * inner * math.prod(equation.outvars[0].aval.shape)
        if equation.primitive.name == "while":
            continue
        turns = equation.params["length"] if equation.primitive.name == "scan" else 1
        for parameter in equation.params.values():
            if hasattr(parameter, "eqns") or hasattr(parameter, "jaxpr"):
                total += turns * flops_in(getattr(parameter, "jaxpr", parameter))
    return total


def traced_flops(function, *arguments) -> int:
    closed = jax.make_jaxpr(function)(*arguments)
    used, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    return flops_in(used)


@pytest.mark.parametrize("network", NETWORKS)
def test_every_matrix_of_the_network_is_counted(network):
    agent = agent_of(network)
    weights = jax.eval_shape(agent.init, jax.random.key(0)).weights
    entries = sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(weights) if leaf.ndim == 2)
    assert sum(product.rows * product.columns for product in products(agent)) == entries
    assert forward_flops(agent) == 2 * entries


@pytest.mark.parametrize("kind", ["mlp", "gru"])
def test_a_whole_update_is_what_jax_traces(kind, no_sums):
    config = PPOConfig(
        total_steps=64,
        num_envs=8,
        num_steps=8,
        num_minibatches=2,
        num_epochs=3,
        network=kind,
        hidden=(16, 12),
        memory=10,
    )
    trainer = make_train(probes.Recall(), None, config)
    state = jax.eval_shape(trainer.init, jax.random.key(0))
    # The value of what the last step led to comes on top: one pass of the critic over the lanes, left out of the count.
    critic = sum(product.flops for product in products(trainer.agent)[len(products(trainer.agent)) // 2 :])
    expected = update_flops(trainer.agent, config) + config.num_envs * critic
    assert traced_flops(trainer.update, state) == expected


@pytest.mark.parametrize("network", [NetworkConfig("mlp", (256, 256)), NetworkConfig("gru", (256,), memory=256)])
def test_xla_counts_the_same_forward_and_backward(network):
    """Of a sequence of one step, because XLA counts a loop's body once, however often it turns.

    XLA also counts what is not a product (biases, gates, sums): one part in a hundred at this width.
    """
    agent, lanes = agent_of(network), 64
    params = jax.eval_shape(agent.init, jax.random.key(0))
    features, start = jnp.zeros((1, lanes, 5)), jnp.zeros((1, lanes), jnp.bool_)
    blank = jnp.zeros((lanes, 256)) if agent.recurrent else ()

    def total(weights, blank):
        (_, outputs), (_, values) = (
            tower(params_like.replace(weights=weights), blank, features, start) for tower in (agent.actor, agent.critic)
        )
        return jnp.sum(outputs**2) + jnp.sum(values**2)

    params_like = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), params)
    for function, expected in ((total, forward_flops(agent)), (jax.grad(total), gradient_flops(agent))):
        cost = jax.jit(function).lower(params_like.weights, blank).compile().cost_analysis()
        # Nobody asks for the gradient of the memory that a sequence starts with: one product less in each tower.
        spared = 0 if function is total or not agent.recurrent else 2 * 2 * 256 * 3 * 256
        np.testing.assert_allclose(cost["flops"], lanes * (expected - spared), rtol=0.02)


def test_mfu_is_the_share_of_the_devices_peak():
    env, params = overclock.make("cartpole")
    config = PPOConfig(num_envs=4, num_steps=8, num_minibatches=1)
    trainer = make_train(env, params, config)
    curve = Curve(np.arange(1, 4) * 32, np.array([1.0, 2.0, 4.0]), {"return": np.zeros((3, 2))})
    found = speed(trainer.agent, config, curve, peak=1e9)
    assert found.steps_per_second == 3 * 2 * 32 / 4.0  # both seeds
    assert found.mfu == pytest.approx(3 * 2 * update_flops(trainer.agent, config) / 4.0 / 1e9)
    assert speed(trainer.agent, config, curve, peak=None).mfu is None
    nothing = Curve(np.zeros(0), np.zeros(0), {"return": np.zeros((0, 2))})
    assert speed(trainer.agent, config, nothing, peak=1e9) == Speed(0.0, 0.0, 1e9)


@pytest.mark.parametrize(
    ("kind", "platform", "bf16", "float32"),
    [
        ("NVIDIA H200", "gpu", 989e12, 494e12),
        ("NVIDIA H100 80GB HBM3", "gpu", 989e12, 494e12),
        ("NVIDIA H100 PCIe", "gpu", 756e12, 378e12),
        ("NVIDIA A100-SXM4-80GB", "gpu", 312e12, 156e12),
        ("NVIDIA L40S", "gpu", 362e12, 183e12),
        ("NVIDIA L40", "gpu", None, None),  # no L4
        ("TPU v4", "tpu", 275e12, 275e12),
        ("Some GPU of tomorrow", "gpu", None, None),
        ("cpu", "cpu", None, None),
    ],
)
def test_peaks_come_from_data_sheets_or_are_unknown(kind, platform, bf16, float32):
    device = types.SimpleNamespace(device_kind=kind, platform=platform)
    assert known_peak(device, "bf16") == bf16
    assert known_peak(device, "float32") == float32


def test_without_tf32_the_peak_is_float32s():
    device = types.SimpleNamespace(device_kind="NVIDIA H200", platform="gpu")
    with jax.default_matmul_precision("float32"):
        assert known_peak(device, "float32") == 67e12
        assert known_peak(device, "bf16") == 989e12


def test_a_peak_can_be_measured_anywhere():
    assert measured_peak(jax.devices()[0], "float32") > 1e8
