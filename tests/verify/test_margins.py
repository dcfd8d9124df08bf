"""How many times as much a tolerance allows as was seen, over levels, and when that is said aloud."""

import dataclasses

import pytest
from level_results import episodes, module, properties, rollouts
from verify.ticker import contract

from overclock.verify.compare import ComparedField
from overclock.verify.contract import Field
from overclock.verify.interaction.result import InteractionLevel, ScenarioResult, ScenarioRun, SelfCheck
from overclock.verify.margins import margin_rows, margins_in, warning_lines
from overclock.verify.property.result import ComparedOutput, ModuleComparison


def output(name, margin, tolerance=1.0, relative=0.0):
    return ComparedOutput(
        name=name, compared=1, largest_error=0.1, tolerance=tolerance, reason="why", passed=True,
        relative_tolerance=relative, margin=margin,
    )  # fmt: skip


def level_1(*outputs, precision="float32"):
    compared = ModuleComparison(precision=precision, passed=True, fields=list(outputs), first_failure=None)
    return properties(module("step", compared))


def level_2(margins, *checks):
    run = ScenarioRun(precision="float32", mode="per_step", margins=margins)
    scenario = ScenarioResult(
        name="s", why="", verdict="pass", stale=None, steps=1, fields=[], deviations=[], first_mismatch=None, runs=[run]
    )
    return InteractionLevel(verdict="pass", scenarios=[scenario], metamorphic=list(checks))


def level_3(margin, mode="per_step", name="state.x"):
    compared = episodes(mode=mode, precision="float32")
    field = ComparedField(
        name=name, compared=1, largest_error=0.1, tolerance=1.0, reason="why", passed=True, margin=margin
    )
    compared.fields.append(field)
    return rollouts(compared)


def test_a_tolerance_of_the_contract_is_judged_by_what_both_levels_saw():
    (found,) = margins_in([level_2({"state.x": 40.0}), level_3(7.0)])
    assert (found.name, found.levels, found.margin) == ("state.x", [2, 3], 7.0)
    assert margins_in([level_2({"state.x": 4.0}), level_3(7.0)])[0].margin == 4.0
    assert margins_in([level_2({"state.x": None}), level_3(7.0)])[0].margin == 7.0


def test_ways_to_synchronise_and_precisions_have_margins_of_their_own():
    found = margins_in([level_3(7.0), level_3(9.0, mode="free_running")])
    assert [(one.mode, one.margin) for one in found] == [("per_step", 7.0), ("free_running", 9.0)]
    found = margins_in([level_1(output("x", 3.0)), level_1(output("x", 5.0), precision="float64")])
    assert [(one.precision, one.margin) for one in found] == [("float32", 3.0), ("float64", 5.0)]


def test_what_must_be_equal_and_distributions_have_no_margin():
    sample = ComparedOutput(name="d", compared=9, largest_error=0.1, tolerance=0.2, reason="chance", passed=True)
    assert margins_in([level_1(output("x", None, tolerance=0.0), sample)]) == []
    assert [one.name for one in margins_in([level_1(output("x", 2.0, tolerance=0.0, relative=1e-7))])] == ["step.x"]


def test_checks_of_a_side_against_itself_have_one():
    check = SelfCheck(
        name="batched", tolerance=8.0, reason="", compared=3, largest_error=0.5, worst_field="obs", unit="ulp",
        passed=True, precision="float32",
    )  # fmt: skip
    (found,) = margins_in([level_2({}, check)])
    assert (found.name, found.margin) == ("batched", 16.0)


def test_no_difference_is_no_margin_and_no_warning():
    found = margins_in([level_1(output("x", None))])
    assert [one.margin for one in found] == [None]
    assert warning_lines(found) == []
    assert margin_rows(found)[1] == [["step.x", "1", "unused"]]


@pytest.mark.parametrize(("margin", "warned"), [(100.0, False), (101.0, True), (123_456.0, True)])
def test_above_a_hundred_it_is_said_aloud(margin, warned):
    found = margins_in([level_3(margin)])
    said = [f"warning: state.x in float32, per step (level 3): the tolerance is {margin:,.0f} times what was seen"]
    assert warning_lines(found) == (said if warned else [])


def test_the_widest_come_first_and_the_rest_is_counted():
    found = margins_in([level_1(*(output(f"x{i}", 200.0 + i) for i in range(8)))])
    lines = warning_lines(found)
    assert lines[0].startswith("warning: step.x7 in float32 (level 1)")
    assert lines[-1] == "... and 3 more tolerances as wide; the page lists them"


def test_a_row_has_all_that_is_known_of_a_name():
    columns, rows = margin_rows(margins_in([level_1(output("x", 3.0)), level_3(700.0), level_3(9.5, "free_running")]))
    assert columns == ["value", "level", "float32", "float32, per step", "float32, free running"]
    assert rows == [["step.x", "1", "3", "", ""], ["state.x", "3", "", "700 !", "9.5"]]


def test_a_scenario_keeps_the_smallest_margin_of_a_field():
    run = ScenarioRun(precision="float32", mode="per_step")
    for share in (0.0, 0.1, 0.5, 0.2):
        run.keep_share("obs", share)
    assert run.margins == {"obs": 2.0}


def test_a_wide_tolerance_with_a_reason_is_not_warned_of():
    wide = dataclasses.replace(output("x", 500.0), wide="other robots need it")
    found = margins_in([level_1(wide)])
    assert [(one.margin, one.reason, one.wide) for one in found] == [(500.0, "other robots need it", False)]
    check = SelfCheck(
        name="batched", tolerance=8.0, reason="", compared=3, largest_error=1e-3, worst_field="obs", unit="ulp",
        passed=True, precision="float32",
    )  # fmt: skip
    assert warning_lines(margins_in([level_2({}, check)])) == []
    contracts = {"float32": contract((Field("state.x", 1.0, 1.0, "why", wide="errors grow"),))}
    assert warning_lines(margins_in([level_3(500.0)], contracts)) == []
    assert len(warning_lines(margins_in([level_3(500.0)]))) == 1
