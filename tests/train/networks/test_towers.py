"""Towers as kernels give what layers give, forward and backward; interpreted here, compiled on a GPU."""

import dataclasses
import itertools
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from train.quick import quick

import overclock
from overclock.env import Box, Discrete
from overclock.train import PPOConfig, make_train
from overclock.train.networks import towers
from overclock.train.networks.agent import Agent
from overclock.train.networks.network import NetworkConfig
from overclock.train.networks.products import layer, product

HERE = jax.devices()[0]
COMPILED = towers.available(HERE)
TF32_UNIT = 2.0**-10  # a GPU rounds the factors of float32's products, XLA's as ours
ROOM = {"float32": 4 * TF32_UNIT if COMPILED else 2e-6, "bf16": 2.0**-6}  # of the largest number
H200 = types.SimpleNamespace(compute_capability="9.0")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Without a GPU that can run them, kernels are interpreted."""
    if not COMPILED:
        whole = towers._call
        monkeypatch.setattr(
            towers, "_call", lambda kernel, name, programs, shape, _: whole(kernel, name, programs, shape, True)
        )


def mlp(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(
        (jnp.asarray(rng.normal(size=(a, b)) / a**0.5, jnp.float32), jnp.asarray(rng.normal(size=b) / 5, jnp.float32))
        for a, b in itertools.pairwise(sizes)
    )


def by_layers(layers, x, activation, precision):
    for i, (kernel, bias) in enumerate(layers[:-1]):
        x = layer(x, kernel, bias, activation, precision if i else "float32", precision)
    return product(x, layers[-1][0], "float32") + layers[-1][1]


def assert_near(ours, theirs, precision):
    for mine, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert np.abs(mine - other).max() <= ROOM[precision] * np.abs(other).max()


@pytest.mark.parametrize(
    ("sizes", "activation", "precision"),
    [((4, 64, 64, 2), "tanh", "float32"), ((8, 32, 16, 1), "relu", "bf16"), ((1, 16, 8), "tanh", "float32")],
)
def test_outputs_and_gradients_are_those_of_the_layers(sizes, activation, precision, monkeypatch):
    monkeypatch.setattr(towers, "PROGRAMS", 2)  # so that a program has several blocks
    rng = np.random.default_rng(1)
    rows = 3 * towers.ROWS + 7  # the last block is not full
    x, wish = (jnp.asarray(rng.normal(size=(rows, n)), jnp.float32) for n in (sizes[0], sizes[-1]))
    layers = mlp(sizes)

    def total(network, layers):
        out = network(layers, x, activation, precision)
        return jnp.sum(out * wish), out

    (_, ours), by_kernel = quick(jax.value_and_grad(lambda w: total(towers.tower, w), has_aux=True))(layers)
    (_, theirs), by_xla = quick(jax.value_and_grad(lambda w: total(by_layers, w), has_aux=True))(layers)
    assert_near(ours, theirs, precision)
    assert_near(by_kernel, by_xla, precision)


def test_an_agent_decides_the_same_with_kernels():
    agent = Agent(Box(-1.0, 1.0, (3,)), Box(-1.0, 1.0, (2,)), NetworkConfig(hidden=(16,)), normalise=True)
    params = quick(agent.init)(jax.random.key(0))
    features = jax.random.normal(jax.random.key(1), (2, 5, 3))
    start = jnp.zeros((2, 5), jnp.bool_)
    kernels = dataclasses.replace(agent, kernels=True)
    for tower in ("actor", "critic"):
        memory, ours = quick(getattr(kernels, tower))(params, (), features, start)
        _, theirs = quick(getattr(agent, tower))(params, (), features, start)
        assert memory == ()
        assert ours.shape == theirs.shape
        assert_near(ours, theirs, "float32")


@pytest.mark.parametrize(
    ("network", "fit"),
    [
        (NetworkConfig(), True),
        (NetworkConfig(kind="gru"), False),
        (NetworkConfig(hidden=(64, 65)), False),
        (NetworkConfig(hidden=(256,)), False),
        (NetworkConfig(hidden=()), False),
        (NetworkConfig(hidden=(16,) * 4), False),
        (NetworkConfig(activation="swish"), False),
    ],
)
def test_only_networks_that_fit_are_kernels(network, fit):
    agent = Agent(Box(-1.0, 1.0, (4,)), Discrete(2), network)
    assert agent.with_kernels(H200).kernels == fit


@pytest.mark.parametrize(("inputs", "outputs"), [(9, 2), (4, 9)])
def test_wide_observations_and_many_actions_stay_with_xla(inputs, outputs):
    agent = Agent(Box(-1.0, 1.0, (inputs,)), Discrete(outputs))
    assert not agent.with_kernels(H200).kernels


@pytest.mark.parametrize("capability", ["7.5", "gfx90a", "", None])
def test_other_devices_have_none(capability):
    assert not towers.available(types.SimpleNamespace(compute_capability=capability))


def test_a_jax_without_the_backend_has_none(monkeypatch):
    monkeypatch.setattr(towers, "triton", None)
    assert not towers.available(H200)


def test_training_uses_them_where_they_are(monkeypatch):
    env, params = overclock.make("cartpole")
    config = PPOConfig(total_steps=256, num_envs=4, num_steps=16)
    assert make_train(env, params, config).agent.kernels == COMPILED
    monkeypatch.setattr(towers, "available", lambda device: True)
    assert make_train(env, params, config).agent.kernels
    assert not make_train(env, params, config, backend="xla").agent.kernels
