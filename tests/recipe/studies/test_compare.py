"""The scripted story of CartPole, told in every way of working: which level catches what, and what is missed."""

import json
from pathlib import Path

import pytest
from recipe import cartpole_candidates
from recipe.projects import small_project

from overclock.errors import UsageError
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.gateway.usage import Usage
from overclock.recipe.judging.verdict import Verdict, failure
from overclock.recipe.loop import translate as runs
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.runs.run import Run
from overclock.recipe.studies.compare import compare, who
from overclock.results import encode

WRONG = {  # which levels see what is wrong with a version; whole episodes do not show the counter
    cartpole_candidates.SIGN_ERROR: (1, 2, 3, "held-out"),
    cartpole_candidates.COUNTER_SURVIVES_RESET: (2,),
    cartpole_candidates.CORRECT: (),
}


class FakeJudge:
    """Knows the three versions of the story."""

    def __init__(self, project, scenarios, repros, sandbox, progress):
        pass

    def judge(self, frozen, level, seed, module=None, attempt=1):
        if level in WRONG[frozen.files["env.py"].decode()]:
            return Verdict(level, "fail", 1, 2, failure(level, [f"Level {level} sees it."]))
        return Verdict(level, "pass", 2, 2)

    def speed(self, frozen):
        raise AssertionError("a comparison does not optimise")


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    monkeypatch.setattr(runs, "Judge", FakeJudge)


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "cart")


def told(*asked, **more):
    return encode(compared(*asked, **more))


def compared(project, ways, agent=None, agents=()):
    usage = Usage(calls=1, input_tokens=900, output_tokens=100, dollars=0.5)
    agent = agent or ScriptedAgent(cartpole_candidates.SCRIPT, usage)
    return compare(project, agents, ways, RunOptions(sandbox="none", agent=agent), judge=FakeJudge)


def test_every_way_is_a_run_that_says_what_it_cost_and_what_was_caught(project):
    report = told(project, ["full", "l3-only", "no-l2", "no-repair"])
    assert (report["schema"], report["models"]) == ("overclock.compare/1", 0)
    full, l3_only, no_l2, no_repair = report["rows"]
    assert [row["outcome"] for row in report["rows"]] == ["done", "done", "done", "stuck"]
    assert {(row["agent"], row["by"]) for row in report["rows"]} == {("scripted", "no model: a script")}

    assert (full["tasks"], full["repairs"], full["caught_by_level"]) == (3, 2, {"1": 1, "2": 1})
    assert [(one["level"], one["repaired"]) for one in full["caught"]] == [(1, True), (2, True)]
    assert (full["cost"]["tokens"], full["cost"]["dollars"]) == (3000, 1.5)
    assert full["all_levels"]["verdict"] == "pass"

    # Whole episodes alone are content with the counter that survives a reset; all levels are not.
    assert (l3_only["levels"], l3_only["repairs"], l3_only["caught_by_level"]) == ([3], 1, {"3": 1})
    assert (l3_only["all_levels"]["verdict"], l3_only["all_levels"]["level"]) == ("fail", 2)
    assert (no_l2["levels"], no_l2["caught_by_level"], no_l2["all_levels"]["level"]) == ([1, 3], {"1": 1}, 2)
    assert (no_repair["tasks"], no_repair["repairs"], no_repair["all_levels"]) == (1, 0, None)
    assert (no_repair["tests_passed"], no_repair["tests_total"]) == (3, 4)

    for row in report["rows"]:
        with Run.open(project.folder / "runs" / row["run"].rpartition("/")[2]) as run:
            assert run.journal.events("run ended")[-1].facts["outcome"] == row["outcome"]
    kept = json.loads(Path(report["file"]).read_text())
    assert kept["rows"] == report["rows"]


def test_several_agents_and_one_that_cannot_start(project, tmp_path):
    (earlier,) = told(project, ["full"])["rows"]
    assert earlier["outcome"] == "done"
    agents = [f"replay:{project.folder / 'runs' / earlier['run'].rpartition('/')[2]}", "clod"]
    options = RunOptions(sandbox="none", agent_sandbox="none")
    report = encode(compare(project, agents, ["full"], options, judge=FakeJudge))
    replay, unknown = report["rows"]
    assert (replay["outcome"], replay["by"], replay["repairs"]) == ("done", "no model: a recording", 2)
    assert replay["cost"]["basis"] == "not reported"
    assert (unknown["outcome"], unknown["run"], unknown["tasks"]) == ("not run", None, None)
    assert (unknown["model"], unknown["by"]) == (False, "nobody: it did not run")
    assert "No agent is called 'clod'" in unknown["sentence"]


def test_only_a_models_own_work_counts_as_a_models():
    assert who("claude", 3) == (True, "a model")
    assert who("replay:tape", 3) == (False, "no model: a recording")
    assert who("builtin", 0) == (False, "no model: the built-in translator")
    there = RunOptions(upstream="http://127.0.0.1:1")
    assert who("claude", 3, there) == (False, "whatever answers at http://127.0.0.1:1")
    assert who("claude", 3, RunOptions(recorded=Path("run"))) == (False, "no model: recorded answers")
    # A profile of one's own may name any program; what it costs is only what the gateway has seen.
    assert who("mine.toml", 0) == (False, "a program that called no model through the gateway")


def test_ways_are_checked_before_anything_runs(project, tmp_path):
    with pytest.raises(UsageError, match="full, l3-only, no-l2, no-repair; got 'l4-only'"):
        told(project, ["l4-only"])
    with pytest.raises(UsageError, match="not judged at level 3"):
        told(small_project(tmp_path / "low", levels=(1,)), ["l3-only"])
    assert not (project.folder / "runs").exists()


def test_the_command_prints_a_table_or_one_object(project, tmp_path, monkeypatch, capsys):
    from overclock.cli.loop.compare import Compare, show

    report = compared(project, ["full", "l3-only"])
    show(report)
    shown = capsys.readouterr().out
    assert "scripted (no model: a script)" in shown
    assert "l3-only, judged by all levels: Level 2 sees it." in shown
    assert "No model did any of this work" in shown

    command = Compare(project=project.folder, agents="clod", json=True, sandbox="none")
    assert command.run() == 1
    printed = json.loads(capsys.readouterr().out)
    assert (printed["schema"], printed["rows"][0]["outcome"]) == ("overclock.compare/1", "not run")
