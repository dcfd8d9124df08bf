"""`overclock status`, `watch` and `report`, as their users run them."""

import json
import os
import pty
import subprocess
import sys
import threading

import pytest
from recipe.written_journal import JournalWriter, finished_run, write_until_sign_error

from overclock import cli
from overclock.cli import parse
from overclock.cli.loop import watch
from overclock.recipe.runs.run import Run

COMMANDS = {
    "status": "overclock.cli.loop.status:Status",
    "watch": "overclock.cli.loop.watch:Watch",
    "report": "overclock.cli.loop.report:Report",
}
# Prints on the terminal that it is started on, without the parser.
ON_A_TERMINAL = "import sys; from overclock.cli.loop.watch import Watch; sys.exit(Watch(sys.argv[1]).run())"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, place in COMMANDS.items():
        monkeypatch.setitem(parse.COMMANDS, name, place)


@pytest.fixture
def finished(tmp_path):
    finished_run(tmp_path / "runs" / "cartpole-1")


@pytest.mark.usefixtures("finished")
def test_status_shows_the_latest_run(capsys):
    assert cli.main(["status"]) == 0
    out = capsys.readouterr().out
    assert "runs/cartpole-1" in out
    assert "$0.7500 of $2.00 (metered)" in out
    assert "done: All levels pass." in out


@pytest.mark.usefixtures("finished")
@pytest.mark.parametrize("name", ["cartpole-1", "runs/cartpole-1"])
def test_status_in_json(capsys, name):
    assert cli.main(["status", name, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["outcome"], found["run"]) == ("overclock.status/1", "done", "runs/cartpole-1")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_that_is_not_there_is_one_sentence(capsys, command):
    assert cli.main([command]) == 2
    assert "There is no run in '" in capsys.readouterr().err
    assert cli.main([command, "nothing"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_that_the_run_may_be_left_out(capsys, command):
    assert cli.main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "[RUN]" in out
    assert "Examples:" in out


@pytest.mark.usefixtures("finished")
def test_the_report_is_written_and_shown(capsys, tmp_path):
    pytest.importorskip("jinja2", reason="the page needs the extra 'report'")
    assert cli.main(["report"]) == 0
    out = capsys.readouterr().out
    assert "page: runs/cartpole-1/report.html" in out
    assert "The step counter survives a reset." in out
    assert cli.main(["report", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "overclock.run/1"
    assert json.loads((tmp_path / "runs" / "cartpole-1" / "report.json").read_text()) == report


@pytest.mark.usefixtures("finished")
def test_watching_a_finished_run_prints_its_lines_and_ends(capsys):
    assert cli.main(["watch"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("run started: houses/cartpole to jax, agent scripted")
    assert any(line.endswith("level 2: fail, 1 of 2: The step counter survives a reset.") for line in lines)
    assert lines[-2].endswith("run ended, done: All levels pass.")
    assert lines[-1] == "cost: $0.7500 of $2.00 (metered)"


def test_watching_a_run_that_was_killed_says_how_to_go_on(capsys, tmp_path):
    with Run.create(tmp_path / "runs" / "a", {}) as run:
        write_until_sign_error(JournalWriter(run))
    assert cli.main(["watch"]) == 0
    assert "`overclock resume runs/a` goes on" in capsys.readouterr().out.splitlines()[-1]


def test_the_status_of_a_run_that_was_killed_names_the_command_that_goes_on(capsys, tmp_path):
    with Run.create(tmp_path / "runs" / "a", {}) as run:
        write_until_sign_error(JournalWriter(run))
    assert cli.main(["status", "--json"]) == 0
    assert "`overclock resume runs/a` goes on" in json.loads(capsys.readouterr().out)["waits_for"]


def test_lines_come_while_the_run_is_under_way(capsys, tmp_path, monkeypatch):
    """Every pause of the watcher is a moment in which the run does something."""
    with Run.create(tmp_path / "runs" / "a", {}) as run:
        story = JournalWriter(run)
        story.start()
        turns = iter([lambda: story.phase(1, "modules"), lambda: None, story.end])
        seen = []

        def pause(_):
            seen.append(capsys.readouterr().out)
            next(turns)()

        monkeypatch.setattr(watch.time, "sleep", pause)
        assert cli.main(["watch"]) == 0
    assert "run started" in seen[0]
    assert [text.partition("  ")[2] for text in seen[1:]] == ["phase 1, modules\n", ""]
    assert "run ended, done" in capsys.readouterr().out


def test_leaving_is_no_error_and_leaves_the_run_alone(capsys, tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    with Run.create(tmp_path / "runs" / "a", {}) as run:
        JournalWriter(run).start()
        monkeypatch.setattr(watch.time, "sleep", interrupt)
        assert cli.main(["watch"]) == 0
        assert "run started" in capsys.readouterr().out
        assert len(run.journal.events()) == 1


def test_on_a_terminal_the_status_is_redrawn_until_the_run_ends(tmp_path):
    main, side = pty.openpty()
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "COLUMNS": "100", "LINES": "40"
    }  # fmt: skip
    shown, phase_seen = [], threading.Event()

    def read():
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the terminal's other end was closed
                return
            shown.append(piece)
            if b"integration" in piece:
                phase_seen.set()

    reader = threading.Thread(target=read)
    with Run.create(tmp_path / "runs" / "a", {}) as run:
        story = JournalWriter(run)
        write_until_sign_error(story)
        process = subprocess.Popen(
            [sys.executable, "-c", ON_A_TERMINAL, str(run.folder)],
            stdout=side,
            stderr=side,
            stdin=side,
            env=environment,
        )
        os.close(side)
        reader.start()
        try:
            story.phase(2, "integration")
            assert phase_seen.wait(60)
            story.end()
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
            reader.join()
            os.close(main)
    text = b"".join(shown).decode()
    assert "hygiene pass; level 1 fail, 3 of 5" in text
    assert "done: All levels pass." in text
    assert "Traceback" not in text
