"""Several devices share the lanes of a run and learn what one device learns."""

import os
import subprocess
import sys

import jax
import pytest
from train import probes

from overclock import cli
from overclock.errors import UsageError
from overclock.train import PPOConfig, make_train
from overclock.train.distributed.devices import Layout

EIGHT = """
import jax, numpy as np, overclock
from overclock.train import make_train, tuned

env, params = overclock.make("cartpole")
for network in ("mlp", "gru"):
    config = tuned("cartpole", total_steps=4 * 16 * 16, num_envs=16, num_steps=16, num_minibatches=2, num_epochs=2,
                   network=network, hidden=(12,), memory=12, normalise_observations=True, normalise_rewards=True)
    alone, together = (make_train(env, params, config, devices=devices) for devices in (None, 8))
    one = alone.init(jax.random.key(1))
    many = jax.jit(together.place)(one)
    for _ in range(3):
        (one, expected), (many, found) = alone.update(one), together.update(many)
        assert found["episodes"] == expected["episodes"]
        for name in expected:
            # Sums over lanes are added in another order, and Adam's first steps amplify the last bits.
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-3, atol=1e-4, err_msg=f"{network} {name}")

    lanes = (many.env.inner.lanes, many.env.returns, many.obs, many.start, many.memory, many.learner.discounted)
    for leaf in jax.tree.leaves(lanes):
        assert leaf.sharding.spec[0] == "lanes", leaf.sharding
        assert {shard.data.shape[0] for shard in leaf.addressable_shards} == {2}  # 16 lanes on 8 devices
    for leaf in jax.tree.leaves((many.learner.params, many.learner.optimizer)):
        assert leaf.sharding.is_fully_replicated and len(leaf.sharding.device_set) == 8
    assert one.obs.sharding.device_set == {jax.devices()[0]}
"""


@pytest.mark.long
def test_eight_devices_share_the_lanes_and_learn_what_one_does(tmp_path):
    # Few optimisations: compiling is most of what this costs.
    flags = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "OVERCLOCK_COMPILE_CACHE": "off"}
    done = subprocess.run(
        [sys.executable, "-c", EIGHT], capture_output=True, text=True, timeout=300, check=False, env=environment,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


def test_one_device_by_number_is_the_device_that_is_used_anyway():
    config = PPOConfig(total_steps=64, num_envs=8, num_steps=8, num_minibatches=1)
    assert Layout.of(None, config).count == Layout.of(1, config).count == 1
    assert Layout.of(1, config).device == Layout.of(None, config).device == jax.devices()[0]


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"num_envs": 12, "num_minibatches": 1}, "num_envs = 12 cannot be shared evenly by 8 devices"),
        ({"num_minibatches": 32}, "a minibatch's size = 4 cannot be shared evenly by 8 devices"),
        ({"network": "gru", "num_minibatches": 4}, "a minibatch's size = 4 cannot be shared evenly by 8 devices"),
    ],
)
def test_uneven_shares_are_refused(changes, part):
    config = PPOConfig(**{"num_envs": 16, "num_steps": 8, **changes})
    with pytest.raises(UsageError, match=part):
        Layout.of([None] * 8, config)


@pytest.mark.parametrize(("devices", "part"), [(0, "at least one device, got 0"), (1000, "device.* here .*, not 1000")])
def test_devices_that_are_not_there_are_one_sentence(devices, part, tmp_path, monkeypatch, capsys):
    with pytest.raises(UsageError, match=part):
        make_train(probes.Recall(), None, PPOConfig(), devices=devices)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", "cartpole", "--devices", str(devices)]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not list(tmp_path.rglob("*.json"))
