"""Scenario files: readable, exact, and refused with one sentence when they are wrong."""

import json

import pytest

from overclock.errors import UsageError
from overclock.verify.interaction.scenario import (
    Deviation,
    Scenario,
    Setup,
    Step,
    format_scenario,
    load_scenarios,
    parse_scenario,
    save_scenario,
)

CARTPOLE = load_scenarios("overclock.envs.cartpole.scenarios")

SMALL = Scenario(
    "small",
    "to have one",
    Setup(seed=3, draws={"x": 0.1}, expect={"obs": [0.1]}),
    (
        Step(1, {"obs": [1 / 3], "terminated": False}, {"noise": [0.5, -2.5]}),
        Step(0, {"reward": 0.0}, deviation=Deviation({"reward": 1.0}, "known")),
    ),
)


def test_a_file_reads_back_bit_for_bit(tmp_path):
    file = save_scenario(SMALL, tmp_path)
    assert file.name == "small.json"
    (loaded,) = load_scenarios(str(tmp_path))
    assert loaded == SMALL


def test_a_file_has_one_line_per_step():
    lines = [line for line in format_scenario(SMALL).splitlines() if '"action"' in line]
    assert len(lines) == 2
    assert json.loads(lines[0].rstrip(","))["expect"] == {"obs": [1 / 3], "terminated": False}


@pytest.mark.parametrize("scenario", CARTPOLE, ids=lambda scenario: scenario.name)
def test_cartpole_scenarios_are_in_the_form_that_recording_writes(scenario):
    assert parse_scenario(format_scenario(scenario), f"{scenario.name}.json") == scenario
    assert scenario.why
    every = {"state.x", "state.x_dot", "state.theta", "state.theta_dot", "state.steps", "obs", "reward"}
    assert {*every, "terminated", "truncated"} == set(scenario.fields)


def test_cartpole_scenarios_reach_every_kind_of_end():
    ends = {(s.steps[-1].expect["terminated"], s.steps[-1].expect["truncated"]) for s in CARTPOLE}
    assert ends == {(True, False), (False, True), (True, True), (False, False)}
    last = [s.steps[-1].expect for s in CARTPOLE if s.steps[-1].expect["terminated"]]
    assert {value["state.x"] > 2.4 for value in last} == {value["state.x"] < -2.4 for value in last} == {True, False}
    assert {value["state.theta"] > 0.21 for value in last} == {True, False}
    assert any(step.deviation for scenario in CARTPOLE for step in scenario.steps)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda data: data.update(schema="other/1"), "its schema is not overclock.scenario/1"),
        (lambda data: data.update(name="other"), "its name is 'other'"),
        (lambda data: data.update(steps=[]), "has no steps"),
        (lambda data: data.pop("why"), "why"),
        (lambda data: data["steps"][0].update(expects={}), "expects"),
        (lambda data: data["steps"][1]["deviation"].update(reason=""), "A deviation needs a reason"),
        (lambda data: data["setup"].update(seeds=1), "seeds"),
    ],
)
def test_a_wrong_file_is_refused_by_name(change, sentence):
    data = json.loads(format_scenario(SMALL))
    change(data)
    with pytest.raises(UsageError, match=f"small.json is not a scenario: .*{sentence}"):
        parse_scenario(json.dumps(data), "small.json")


def test_broken_json_is_refused():
    with pytest.raises(UsageError, match=r"small.json is not a scenario: Expecting"):
        parse_scenario("{", "small.json")


def test_a_missing_folder_is_named():
    with pytest.raises(UsageError, match=r"There is no scenario folder 'no.such.package'"):
        load_scenarios("no.such.package")
