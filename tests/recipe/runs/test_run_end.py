"""How a run ends: what is said about where the result lies, and about going on."""

import dataclasses
import json

import pytest
from recipe.scripted_run import FakeJudge, env, small_project

from overclock.cli.loop.options import show_end
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.contract.file import format_contract
from overclock.recipe.judging.candidate import load_candidate
from overclock.recipe.loop import translate as runs
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.project.project import load_project
from overclock.recipe.runs.run import Run
from overclock.recording.room import Room

GOOD = {"translate": [env("speed=100")]}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "Judge", lambda project, scenarios, repros, sandbox, progress: FakeJudge(repros))
    return small_project(tmp_path / "pond", levels=(1, 2, 3))


def ways(script, **options):
    return RunOptions(sandbox="none", agent=ScriptedAgent(script), steps=OptionalSteps(**options))


def test_a_run_that_is_done_says_where_its_result_lies_and_how_to_use_it(project, capsys):
    ended = runs.translate(project, "1", ways(GOOD, optimise=False))
    assert ended.result == ended.run / "candidate" / "env.py"
    assert ended.result.is_file()
    show_end(ended)
    out = capsys.readouterr().out
    assert f"result: {ended.result}" in out
    assert f"{load_candidate.__module__}.{load_candidate.__name__}(pathlib.Path('{ended.run / 'candidate'}'))" in out
    assert ended.run.is_absolute()


def test_one_that_is_not_has_none(project, capsys):
    ended = runs.translate(project, "1", ways({"translate": [env("1=fail")]}, repair=False))
    assert (ended.outcome, ended.result) == ("stuck", None)
    show_end(ended)
    assert "result" not in capsys.readouterr().out


def test_who_interrupts_it_is_told_how_to_go_on(project):
    class Impatient:
        name = "scripted"

        def work(self, task, endpoint):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stop:
        runs.translate(project, "1", RunOptions(sandbox="none", agent=Impatient()))
    folder = project.folder / "runs" / "1"
    assert str(stop.value) == f"interrupted; `overclock resume {folder}` goes on"
    assert runs.resume(project, folder, ways(GOOD)).outcome == "done"


def test_what_a_run_may_leave_out_can_be_changed_when_it_goes_on(project):
    def files(task):
        if task.purpose == "repair":
            raise KeyboardInterrupt
        return env("1=fail")

    with pytest.raises(KeyboardInterrupt):
        runs.translate(project, "1", ways(files))
    ended = runs.resume(project, project.folder / "runs" / "1", ways({}), steps=OptionalSteps(repair=False))
    assert (ended.outcome, "repairs nothing" in ended.sentence) == ("stuck", True)


def test_a_report_names_the_room_of_lists_and_why(project):
    rooms = (Room("body", 31, "there are 6 x 5 cells"), Room("box.items", 40, "as given", True))
    project.contract_path.write_text(format_contract(dataclasses.replace(project.contract, rooms=rooms)))
    ended = runs.translate(load_project(project.folder), "1", ways(GOOD, optimise=False))
    assert json.loads((ended.run / "report.json").read_text())["judged_by"]["rooms"][0]["items"] == 31
    markdown = (ended.run / "report.md").read_text()
    assert "| body | 31 | assumed | there are 6 x 5 cells |" in markdown
    assert "| box.items | 40 | follows | as given |" in markdown
    assert "Room of lists" in ended.page.read_text()


def test_a_report_names_every_tolerance_it_was_judged_by(project):
    ended = runs.translate(project, "1", ways(GOOD, optimise=False))
    report = json.loads((ended.run / "report.json").read_text())
    with Run.open(ended.run) as run:
        assert json.loads(run.journal.blob(report["judged_by"]["sha256"]))["judging"]["episodes"] == 100
    assert (report["judged_by"]["tolerances"], report["judged_by"]["scenarios"]) == ([], 1)
    assert "Everything else must be equal, bit for bit." in ended.page.read_text()
