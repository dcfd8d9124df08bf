"""The robots' twins hold, and mistakes that were planted in the performance side do not pass them.

A plant is looked at by the one module of level 1 that is meant to see it; the slow ones, and whole levels, are long.
"""

import dataclasses
import functools

import pytest

from overclock.env import registry
from overclock.verify.engine import verify
from overclock.verify.property.compare import compare
from overclock.verify.property.level import LANES, modules_of
from overclock.verify.property.module import Cases
from overclock.verify.property.recorded_reference import recorded
from overclock.verify.property.runner import runner
from overclock.verify.rollout.actions import uniform
from overclock.verify.rollout.level import check_rollouts
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.patched import Patch
from overclock.verify.sides.process import ProcessSubject

ROBOTS = ("halfcheetah", "walker2d", "hopper")
QUICK = [  # functions that XLA compiles in no time
    ("halfcheetah", "uniform-velocities", "draw"),
    ("halfcheetah", "cost-of-the-clipped-action", "cost"),
    ("walker2d", "bodies-fall-up", "bias"),
    ("walker2d", "falls-later", "standing"),
    ("walker2d", "stands-at-the-lowest", "standing"),
    ("walker2d", "stands-at-the-highest", "standing"),
    ("walker2d", "leans-to-the-limit", "standing"),
    ("walker2d", "seen-speed-one-ulp-low", "observe"),
    ("hopper", "numbers-without-limit", "standing"),
    ("hopper", "numbers-up-to-the-limit", "standing"),
    ("hopper", "last-number-is-free", "standing"),
    ("hopper", "height-is-a-number", "standing"),
    ("hopper", "speeds-unclipped", "observe"),
]
SLOW = [
    *((robot, "three-edges", "accelerations") for robot in ROBOTS),
    *((robot, "limits-at-one-end", "accelerations") for robot in ROBOTS),
    *((robot, "speed-of-the-last-moment", "step") for robot in ROBOTS),
    ("halfcheetah", "bodies-fall-up", "bias"),
    ("halfcheetah", "damping-as-of-the-start", "step"),
    ("halfcheetah", "track-of-1024-metres", "step"),
    ("halfcheetah", "turns-are-forgotten", "step"),
    ("halfcheetah", "torque-one-ulp-low", "accelerations"),
    ("halfcheetah", "limit-acts-when-touched", "accelerations"),
    ("walker2d", "cost-of-the-clipped-action", "cost"),
    ("walker2d", "speeds-unclipped", "observe"),
    ("walker2d", "stages-share-alike", "step"),
    ("hopper", "bodies-fall-up", "bias"),
    ("hopper", "cost-of-the-clipped-action", "cost"),
    ("hopper", "falls-earlier", "standing"),
    ("hopper", "stages-share-alike", "step"),
]


def twin_of(robot):
    return registry.load(f"overclock.envs.{robot}.twin:twin")()


@functools.cache
def boundary(robot):
    """The cases of every module of a robot, without those of play."""
    twin = twin_of(robot)
    with ProcessSubject(recorded(twin.reference, str(twin.modules), 0), LANES, "the reference") as reference:
        return {module.name: Cases(**reference.ask("cases", name=module.name)) for module in modules_of(twin)}


def passes(twin, robot, name):
    """Whether a performance side passes one module, in the strictest precision."""
    (module,) = (module for module in modules_of(twin) if module.name == name)
    cases = boundary(robot)[name]
    spec = runner(twin.performance_in("float64"), str(twin.modules))
    with ProcessSubject(spec, 1, "the performance side") as performance:
        answer = performance.ask("run", name=name, inputs=cases.inputs, count=len(cases))
    return compare(module, cases, answer["outputs"], "float64").passed


@pytest.mark.parametrize(("robot", "plant", "module"), QUICK)
def test_what_was_planted_is_found(robot, plant, module):
    assert not passes(twin_of(robot).planted(plant), robot, module)


@pytest.mark.long
@pytest.mark.parametrize(("robot", "plant", "module"), SLOW)
def test_what_was_planted_in_the_physics_is_found(robot, plant, module):
    assert not passes(twin_of(robot).planted(plant), robot, module)


def test_every_plant_is_looked_for():
    looked_for = {(robot, plant) for robot, plant, _ in (*QUICK, *SLOW)}
    assert looked_for == {(robot, plant) for robot in ROBOTS for plant in twin_of(robot).plants}


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_side_without_a_plant_passes_the_same_modules(robot):
    assert passes(twin_of(robot), robot, "observe")


@pytest.mark.long
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("build", ["twin", "exact"])
def test_levels_1_and_3_hold(robot, build):
    report = verify(f"overclock.envs.{robot}.twin:{build}", levels=[1, 3], episodes=4, timeout=600)
    assert [level.verdict for level in report.levels] == ["pass", "pass"]
    assert report.levels[1].envelope.verdict == "pass"


@pytest.mark.long
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("build", ["twin", "exact"])
def test_scenarios_come_out_as_in_mujoco(robot, build):
    (level,) = verify(f"overclock.envs.{robot}.twin:{build}", levels=[2], timeout=600).levels
    assert level.verdict == "pass"


@pytest.mark.long
@pytest.mark.parametrize("mode", ["per_step", "free_running"])
def test_three_edges_show_in_float32_as_well(mode):
    """What users run: tolerances wide enough for rare events would hide it in all steps."""
    twin = twin_of("hopper").planted("three-edges")
    result = compare_rollouts(twin, 8, mode, "float32", "uniform", uniform, num_lanes=8, timeout=600)
    assert not result.passed
    assert result.first_divergence is not None


@pytest.mark.long
def test_steps_that_are_off_by_a_billionth_leave_the_envelope():
    """A time step of Hopper's that is a ten millionth too long: single steps see it, and so does the envelope."""
    longer = Patch("overclock.planar.engine.integrate", "h / 6, h / 3)", "h / 6 * (1 + 1e-7), h / 3 * (1 + 1e-7))")
    twin = dataclasses.replace(twin_of("hopper"), plants={"longer": longer}, transfer=None).planted("longer")
    level, _ = check_rollouts(twin, None, 20, 0, 600.0, lambda *_: None)
    single = next(one for one in level.comparisons if (one.mode, one.precision) == ("per_step", "float64"))
    (position,) = (field for field in single.fields if field.name == "state.qpos")
    assert not position.passed
    assert 1e-10 < position.largest_error < 1e-8
    assert level.envelope.first_outside.step == 1
