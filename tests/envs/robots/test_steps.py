"""One control step of every robot beside Gymnasium's, MuJoCo's solver at its best; from play and from anywhere.

XLA takes about ten seconds to compile a robot's step, so that each is compiled once for all tests, and quickly;
`make verify` compares whole episodes as users have them compiled.
"""

from typing import NamedTuple

import jax
import numpy as np
import pytest

import overclock
from overclock.envs.halfcheetah.twin import exact as halfcheetah
from overclock.envs.hopper.twin import exact as hopper
from overclock.envs.walker2d.twin import exact as walker2d
from overclock.planar import functions, recorded
from overclock.planar.oracle import oracle
from overclock.verify.compare import judge
from overclock.verify.property.runner import run_batch
from overclock.verify.sides.jax_subject import JaxSubject

LANES = 128
EVERYONE = np.ones(LANES, np.bool_)


class Pair(NamedTuple):
    """Both sides of a robot, and where their contract lies."""

    contract: object
    xml: str
    reference: object
    performance: JaxSubject

    def differences(self, mode, ref, perf):
        """The fields that are further apart than the contract allows."""
        tolerances = {field: field.tolerance(mode) for field in self.contract.fields}
        judged = {field.name: judge(self.contract, field, t, ref, perf) for field, t in tolerances.items()}
        return {name: found.errors.max() for name, found in judged.items() if found is not None and found.wrong.any()}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((halfcheetah, "half_cheetah.xml"), marks=pytest.mark.long, id="halfcheetah"),
        pytest.param((walker2d, "walker2d_v5.xml"), marks=pytest.mark.long, id="walker2d"),
        pytest.param((hopper, "hopper.xml"), id="hopper"),
    ],
)
def pair(request, few_optimisations):
    from overclock.planar.reference import reference

    build, xml = request.param
    twin = build()
    with jax.enable_x64(True):
        sides = reference(LANES, **dict(twin.reference.options)), JaxSubject(LANES, **dict(twin.performance.options))
        yield Pair(twin.contracts["float64"], xml, *sides)


def random_actions(pair, generator):
    low, high = pair.reference.describe()["low"], pair.reference.describe()["high"]
    return generator.uniform(low, high, (LANES, len(low))).astype(np.float32)


def test_episodes_begin_alike_and_stay_together(pair):
    generator = np.random.default_rng(0)
    ref = pair.reference.reset(EVERYONE, np.arange(LANES))
    perf = pair.performance.reset(EVERYONE, np.arange(LANES), ref.draws)
    assert pair.differences("free_running", ref, perf) == {}
    for _ in range(20):
        action = random_actions(pair, generator)
        ref, perf = pair.reference.step(action), pair.performance.step(action)
        assert pair.differences("free_running", ref, perf) == {}
    assert ref.state["steps"].tolist() == perf.state["steps"].tolist() == [20] * LANES


def test_a_step_is_mujocos_wherever_it_begins(pair):
    """Upside down, in the floor, beyond the limits, 300 m away, at 100 m/s: rounding is all that differs."""
    begun = {name: values[:LANES] for name, values in recorded.boundary_states(pair.xml).items()}
    action = begun.pop("action")
    pair.reference.reset(EVERYONE, np.arange(LANES))  # Gymnasium wants one before any step
    for side in pair.reference, pair.performance:
        side.set_state(begun)
    ref, perf = pair.reference.step(action), pair.performance.step(action)
    for name in ("qpos", "qvel"):
        np.testing.assert_allclose(perf.state[name], ref.state[name], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(perf.outputs["reward"], ref.outputs["reward"], rtol=1e-6, atol=1e-6)  # float32
    for name in ("terminated", "truncated"):
        np.testing.assert_array_equal(perf.outputs[name], ref.outputs[name])
    np.testing.assert_array_equal(ref.outputs["truncated"], begun["steps"] >= 999)


@pytest.mark.long
def test_capsules_that_cross_move_nothing_in_the_plane():
    """As in MuJoCo, which pushes them sideways; here a folded hopper's torso and foot."""
    qpos = np.array([0.0, 0.5492051173012896, -0.8642000120792834, 0.0544158691203957, -2.928090172568381, -0.53103400])
    ctrl, mujoco = np.zeros(3, np.float32), oracle("hopper.xml")
    expected = mujoco.forward({"qpos": qpos, "qvel": np.zeros(6)}, ctrl)
    assert any(contact.frame[1] for contact in expected.contact[: expected.ncon])
    env, params = overclock.make("hopper")
    inputs = {"qpos": qpos[None], "qvel": np.zeros((1, 6)), "ctrl": ctrl[None]}
    for precision, tolerance in (("float64", 1e-9), ("float32", 1e-3)):
        with jax.enable_x64(precision == "float64"):
            found = run_batch(functions.accelerations, env, params, inputs, 1)["qacc"][0]
        np.testing.assert_allclose(found, expected.qacc, rtol=tolerance)
