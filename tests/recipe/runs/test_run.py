"""A run on disk: made once, found again, its candidates restored byte for byte."""

import json
import os
import shutil
import subprocess

import pytest
from recipe.written_journal import COUNTER, RIGHT, SIGN, JournalWriter, finished_run

from overclock.errors import UsageError
from overclock.recipe.runs.candidates import diff
from overclock.recipe.runs.run import Run, find, latest


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_is_a_folder_with_a_journal(tmp_path):
    folder = tmp_path / "runs" / "cartpole-1"
    with Run.create(folder, {"project": "cartpole"}) as run:
        JournalWriter(run).start()
        assert run.id == "cartpole-1"
    about = json.loads((folder / "run.json").read_text())
    assert (about["schema"], about["id"], about["project"]) == ("overclock.about/1", "cartpole-1", "cartpole")
    assert (folder / "candidate").is_dir()
    with Run.open(folder) as run:
        assert run.about == about
        assert [event.kind for event in run.journal.events()] == ["run started"]
    with Run.open(folder, write=True) as run:
        assert run.journal.append("help given", note="n").number == 2


def test_a_run_is_not_made_twice(tmp_path):
    Run.create(tmp_path / "a", {}).close()
    with pytest.raises(UsageError, match=r"There is a run in '.*' already; resume it"):
        Run.create(tmp_path / "a", {})
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        Run.create(tmp_path / "file" / "run", {})


def test_a_kill_while_a_run_is_made_leaves_a_folder_in_which_it_can_be_made(tmp_path):
    Run.create(tmp_path / "a", {}).close()
    (tmp_path / "a" / "run.json").unlink()  # it is written last
    assert latest(tmp_path) is None
    Run.create(tmp_path / "a", {}).close()
    assert latest(tmp_path) == tmp_path / "a"


def test_the_latest_run_is_the_one_in_which_something_happened_last(tmp_path):
    assert latest(tmp_path / "nowhere") is None
    for name in ("b", "a"):
        with Run.create(tmp_path / name, {}) as run:
            JournalWriter(run).start()
    (tmp_path / "train-cartpole").mkdir()
    (tmp_path / "train-cartpole" / "run.json").write_text('{"env": "cartpole-v1"}')  # another command's
    (tmp_path / "train-cartpole" / "journal.sqlite").write_text("")
    assert latest(tmp_path) == tmp_path / "a"
    with Run.open(tmp_path / "b", write=True) as run:
        JournalWriter(run).end()
    assert latest(tmp_path) == tmp_path / "b"


def test_runs_are_found_by_folder_or_id(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="start one with `overclock translate`"):
        find(None)
    for place in ("runs/cartpole-1", "elsewhere"):
        Run.create(tmp_path / place, {}).close()
    assert find(None) == find("cartpole-1") == find("runs/cartpole-1")
    assert find("elsewhere").name == "elsewhere"
    with Run.create(tmp_path / "pond" / "runs" / "pond-1", {}) as run:
        JournalWriter(run).start()
    assert find(None) == find("pond-1") == find("pond") == find(str(tmp_path / "pond")).relative_to(tmp_path)
    with pytest.raises(UsageError, match="did you mean 'pond/runs/pond-1'"):
        find("pond-11")
    with pytest.raises(UsageError, match="did you mean 'runs/cartpole-1'"):
        find("cartpole-2")
    with pytest.raises(UsageError, match="there are: runs/cartpole-1, pond/runs/pond-1"):
        find("xyz")
    with pytest.raises(UsageError, match="There is no run in"):
        Run.open(tmp_path)


def test_any_frozen_candidate_can_be_restored_exactly(tmp_path):
    binary = bytes(range(256))
    with Run.create(tmp_path / "run", {}) as run:
        story = JournalWriter(run)
        first = story.freeze(None, env=SIGN, inner__table=binary)
        second = story.freeze(None, env=b"no newline\r\n\xff at the end")
        run.restore(second)
        assert contents(run.candidate) == {"env.py": b"no newline\r\n\xff at the end"}
        run.restore(first)
        assert contents(run.candidate) == {"env.py": SIGN, "inner/table.py": binary}
        run.restore(second, tmp_path / "new" / "place")
        assert list(contents(tmp_path / "new" / "place")) == ["env.py"]
        with pytest.raises(UsageError, match="no candidate 'abc'"):
            run.restore("abc")
        assert list(contents(run.candidate)) == ["env.py", "inner/table.py"]


def test_restoring_removes_everything_else_and_follows_no_link(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    with Run.create(tmp_path / "run", {}) as run:
        candidate = JournalWriter(run).freeze(None, inner__env=SIGN)
        folder = run.candidate
        (folder / "inner").symlink_to(outside)  # where a file of the candidate belongs
        (folder / "link").symlink_to(outside / "precious")
        (folder / "closed").mkdir()
        (folder / "closed" / "file").write_text("x")
        (folder / "closed").chmod(0)
        os.mkfifo(folder / "pipe")
        (folder / ".git").mkdir()
        (folder / ".git" / "HEAD").write_text("ref")
        run.restore(candidate)
        assert contents(folder) == {"inner/env.py": SIGN, ".git/HEAD": b"ref"}
        assert not (folder / "inner").is_symlink()
    assert contents(outside) == {"precious": b"x"}


@pytest.mark.parametrize("path", ["../out.py", "/tmp/out.py", "a/../../out.py", ""])
def test_a_candidate_reaches_nothing_outside_of_its_folder(tmp_path, path):
    with Run.create(tmp_path / "run", {}) as run:
        name = run.journal.store(b"x")
        run.journal.append("candidate frozen", candidate="c", files={path: name}, task=None, lines=1)
        (run.candidate / "kept").write_text("x")
        with pytest.raises(UsageError, match="outside of its folder"):
            run.restore("c")
        assert (run.candidate / "kept").exists()


def test_the_diff_of_two_candidates_is_unified(tmp_path):
    first, second, third = finished_run(tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        assert run.diff(first, second) == (
            "--- a/env.py\n+++ b/env.py\n@@ -1,2 +1,2 @@\n def step(x):\n-    return x - 1\n+    return x + 1\n"
        )
        assert run.diff(None, first).startswith("--- /dev/null\n+++ b/env.py\n@@ -0,0 +1,2 @@\n+def step(x):\n")
        assert run.diff(third, third) == ""
        assert "+def reset():" in run.diff(second, third)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"a": b"x\n"}, {"a": b"x"}, "-x\n+x\n\\ No newline at end of file\n"),
        ({"a": b"x"}, {}, "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n"),
        ({"a": b"\0"}, {"a": b"\1"}, "Binary files a/a and b/a differ\n"),
        ({"a": b"\xff"}, {"a": b"\xfe"}, "Binary files a/a and b/a differ\n"),
        ({"a": b"x\r\n"}, {"a": b"x\n"}, "-x\r\n+x\n"),
        ({}, {"a": b""}, "--- /dev/null\n+++ b/a\n"),
        ({"a": b""}, {}, "--- a/a\n+++ /dev/null\n"),
    ],
)
def test_no_change_is_left_out_of_a_diff(before, after, said):
    assert diff(before, after).endswith(said)


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no `patch` here")
def test_a_diff_is_what_patch_understands(tmp_path):
    (tmp_path / "env.py").write_bytes(COUNTER)
    text = diff({"env.py": COUNTER}, {"env.py": RIGHT.rstrip(b"\n"), "new.py": SIGN})
    subprocess.run(["patch", "-p1"], cwd=tmp_path, input=text.encode(), check=True, capture_output=True)
    assert contents(tmp_path) == {"env.py": RIGHT.rstrip(b"\n"), "new.py": SIGN}
