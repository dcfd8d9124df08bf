"""`overclock verify` as a command: where its results go, what it refuses before it works, what it prints."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="the page needs the extra 'report'")
pytest.importorskip("matplotlib", reason="the page needs the extra 'report'")

from level_results import verify_report

from overclock.cli import main
from overclock.processor import processor
from overclock.results import encode
from overclock.verify.sides.process import CouldNotVerifyError

HOUSE = "verify.subjects_shrink:twin"
QUICK = ["verify", HOUSE, "--only", "3", "--episodes", "8"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def asked(monkeypatch):
    """Work that must not begin."""
    calls = []
    monkeypatch.setattr("overclock.verify.engine.check_reference", lambda *_, **__: calls.append("work"))
    return calls


# ---- where results go ----


def test_a_planted_run_has_a_folder_of_its_own(here, capsys):
    assert main(QUICK) == 0
    genuine = (here / "runs/verify-verify.subjects_shrink.twin/report.json").read_text()
    assert main([*QUICK, "--plant", "door"]) == 1
    planted = here / "runs/verify-verify.subjects_shrink.twin-plant-door"
    assert json.loads((planted / "report.json").read_text())["verify"]["planted"] == "door"
    assert (planted / "repro" / "1" / "repro.json").exists()
    assert (here / "runs/verify-verify.subjects_shrink.twin/report.json").read_text() == genuine
    capsys.readouterr()


def test_console_object_and_page_name_the_processor_and_the_versions(here, capsys):
    assert main(QUICK) == 0
    shown = " ".join(capsys.readouterr().out.split())
    kept = json.loads((here / "runs/verify-verify.subjects_shrink.twin/report.json").read_text())["verify"]
    assert kept["processor"] == encode(processor())
    for said in (str(processor()), *(f"{name} {version}" for name, version in kept["versions"].items())):
        assert said in shown
        for page in ("report.html", "report.md"):
            assert said in (here / "runs/verify-verify.subjects_shrink.twin" / page).read_text()


def test_a_difference_is_told_before_returns_alone_are_compared(here, capsys, monkeypatch):
    seen = {}

    def slow(twin, **_):
        seen["printed"] = capsys.readouterr().out
        seen["page"] = (here / "out/report.html").read_text()

    monkeypatch.setattr("overclock.verify.engine.returns_alone", slow)
    assert main([*QUICK, "--plant", "door", "--output", "out"]) == 1
    assert "shortest episode: reward differs after" in seen["printed"]
    assert "replay it: overclock repro out/repro/1 --plant door" in seen["printed"]
    assert "reward is wrong after" in seen["page"]
    rest = capsys.readouterr().out
    assert "shortest episode" not in rest
    assert re.search(
        r"^fail: the two sides differ: reward is wrong after \d actions?\.\npage: out/report.html$", rest, re.M
    )


def stale(folder):
    old = folder / "repro" / "1"
    old.mkdir(parents=True)
    (old / "repro.json").write_text("yesterday")
    return old


def test_no_repro_of_an_earlier_run_lies_beside_a_new_page(here, capsys):
    folder = here / "runs/verify-verify.subjects_shrink.twin"
    stale(folder)
    (folder / "notes.txt").write_text("mine")
    assert main(QUICK) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["notes.txt", "report.html", "report.json", "report.md"]
    capsys.readouterr()
    planted = here / "runs/verify-verify.subjects_shrink.twin-plant-door"
    stale(planted)
    assert main([*QUICK, "--plant", "door", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [str(path.relative_to(here)) for path in (planted / "repro").iterdir()] == [report["repro"]["folder"]]


def test_a_folder_of_the_users_keeps_its_repros(here, capsys):
    old = stale(here / "mine")
    assert main([*QUICK, "--output", "mine"]) == 0
    assert (old / "repro.json").read_text() == "yesterday"
    capsys.readouterr()


def test_without_a_verdict_the_object_names_the_twin(monkeypatch, capsys):
    def gives_up(*_, **__):
        raise CouldNotVerifyError("could not verify: it fell over")

    monkeypatch.setattr("overclock.verify.engine.check_reference", gives_up)
    old = stale(Path("runs/verify-cartpole-v1"))
    assert main(["verify", "cartpole", "--json"]) == 4
    said = json.loads(capsys.readouterr().out)
    assert (said["env"], said["reason"]) == ("cartpole-v1", "could not verify: it fell over")
    assert not old.exists()


# ---- what is refused, before anything is done ----


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "2", "--level", "3"], "choose one of them"),
        (["--level", "0"], "There are levels 1 to 4, got 0."),
        (["--only", "5"], "There are levels 1 to 4, got 5."),
        (["--seed", "-3"], "seed must be a number from 0 to 2147483647, got -3."),
        (["--seed", "2147483648"], "seed must be a number from 0 to 2147483647"),
        (["--only", "3", "--write-tests", "here"], "--write-tests needs level 1"),
        (["--output", "/proc/results"], "Cannot write to '/proc/results'"),
        (["--only", "1", "--write-tests", "/proc/results"], "Cannot write to '/proc/results'"),
    ],
)
def test_senseless_requests_are_one_sentence(words, sentence, asked, here, capsys):
    assert main(["verify", "cartpole", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1
    assert asked == []
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("made", [True, False])
def test_what_is_neither_an_id_nor_a_twin_is_one_sentence(made, here, capsys):
    if made:
        (here / "cartpol").mkdir()
    assert main(["verify", "cartpol"]) == 2
    err = capsys.readouterr().err
    assert "did you mean 'cartpole'" in err
    assert "Nor is it a folder with a twin.py." in err
    assert err.count("\n") == 1


def test_the_help_calls_its_argument_by_what_it_is(capsys):
    assert main(["verify", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: overclock verify ")
    assert main(["verify"]) == 2
    assert "ENV" in capsys.readouterr().err


# ---- what it prints ----


def test_in_a_pipe_progress_is_plain_lines(capsys):
    assert main([*QUICK, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["verdict"] == "pass"
    lines = err.splitlines()
    assert "" not in lines
    assert lines[0].endswith(" s  the reference against itself")
    assert any("uniform actions" in line for line in lines)


def test_written_tests_are_counted(capsys):
    from overclock.cli.verification.verify import show

    show(verify_report(tests=["here/test_a.py", "here/test_b.py"]))
    assert "tests: 2 pytest files and their 2 data files in here" in capsys.readouterr().out
