"""The robots' plans for level 4, and a small run of one."""

import pytest

pytest.importorskip("flax", reason="policies need the extra 'train'")
pytest.importorskip("scipy", reason="statistics need the extra 'report'")

from overclock.env import registry
from overclock.planar.transfer import HALFCHEETAH
from overclock.verify.transfer.level import check_transfer

ROBOTS = ("halfcheetah", "walker2d", "hopper")
robots = pytest.mark.parametrize("robot", ROBOTS)


def twin_of(robot, build="twin"):
    return registry.load(f"overclock.envs.{robot}.twin:{build}")()


@robots
def test_a_plan_trains_ten_seeds_on_gymnasiums_robot_as_it_is(robot):
    twin = twin_of(robot)
    plan = registry.load(twin.transfer)
    assert plan.seeds >= 10
    assert dict(plan.reference_env.options) == {"id": dict(twin.reference.options)["env_id"]}
    assert {plan.planted, plan.unseen} < set(twin.plants)
    assert plan.margins["random"] < plan.margins["trained"]  # untrained policies earn little to begin with
    assert twin_of(robot, "exact").transfer is None  # nobody trains on a solver that was tightened


def test_halfcheetahs_margin_is_the_one_that_was_asked_for():
    assert HALFCHEETAH.margins == {"random": 25.0, "trained": 100.0}


@pytest.mark.long
def test_a_small_run_calls_hopper_different_nowhere_and_sees_what_was_planted():
    level = check_transfer(twin_of("hopper"), quick=True, timeout=600)
    assert {group.verdict for group in level.groups} <= {"equivalent", "inconclusive"}, level.summary
    assert level.controls.a_a.passed
    assert not level.controls.unseen.seen
    for curve in level.curves.values():
        assert len(curve.seeds) == 3
        assert curve.mean[-1] > curve.mean[0]
