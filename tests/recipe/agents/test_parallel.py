"""Several agents at once, each in a git worktree of its own; whatever happens, nothing of it is left."""

import shutil
import subprocess
import threading

import pytest

from overclock.errors import MissingError
from overclock.recipe.agents import Task, Work
from overclock.recipe.agents.parallel import side_by_side
from overclock.recipe.agents.worktrees import worktrees

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="worktrees need git")


def git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def tasks(*folders):
    return [Task(f"t.{number}", "translate", "prompt", folder, 60.0) for number, folder in enumerate(folders)]


class Does:
    """An agent that does what a function says."""

    def __init__(self, what, name="does"):
        self.what, self.name, self.stopped = what, name, threading.Event()

    def work(self, task, endpoint):
        self.what(self, task)
        return Work("finished", f"{self.name} worked on {task.id}")

    def stop(self):
        self.stopped.set()


def test_every_task_is_worked_on_at_the_same_time_and_told_as_it_ends(tmp_path):
    together, ended, caller = threading.Barrier(3, timeout=30), [], threading.current_thread()

    def told(task, work):
        assert threading.current_thread() is caller
        ended.append((task.id, work.ended))

    agents = [Does(lambda agent, task: together.wait()) for _ in range(3)]  # breaks unless all three are inside
    side_by_side(agents, tasks(*[tmp_path] * 3), None, told)
    assert sorted(ended) == [("t.0", "finished"), ("t.1", "finished"), ("t.2", "finished")]


def test_an_agent_works_on_one_task_at_a_time_where_there_are_more_tasks_than_agents(tmp_path):
    busy, ended = threading.Lock(), []

    def works(agent, task):
        assert busy.acquire(blocking=False)
        busy.release()

    side_by_side([Does(works)], tasks(*[tmp_path] * 4), None, lambda task, work: ended.append(task.id))
    assert ended == ["t.0", "t.1", "t.2", "t.3"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_agent_or_a_listener_that_raises_stops_the_others(tmp_path, error):
    def fails(agent, task):
        raise error("out of luck")

    waits = Does(lambda agent, task: agent.stopped.wait())
    with pytest.raises(error, match="out of luck"):
        side_by_side([waits, Does(fails)], tasks(tmp_path, tmp_path), None, lambda task, work: None)
    assert waits.stopped.is_set()
    other = Does(lambda agent, task: agent.stopped.wait())
    with pytest.raises(error, match="not that"):
        side_by_side([other, Does(lambda agent, task: None)], tasks(tmp_path, tmp_path), None, listener(error))
    assert other.stopped.is_set()


def listener(error):
    def told(task, work):
        raise error("not that")

    return told


@pytest.fixture
def start(tmp_path):
    folder = tmp_path / "candidate"
    folder.mkdir()
    (folder / "env.py").write_bytes(b"score = 0\r\n")
    (folder / "note.secret").write_text("kept although it is ignored")
    (folder / ".gitignore").write_text("*.secret\n")
    (folder / ".gitattributes").write_text("*.py text eol=lf filter=x\n")
    (folder / "link").symlink_to("/etc/passwd")
    return folder


@needs_git
def test_every_worktree_begins_with_the_same_files_byte_for_byte(start, tmp_path):
    with worktrees(start, tmp_path / "place", 3) as folders:
        for folder in folders:
            assert (folder / "env.py").read_bytes() == b"score = 0\r\n"
            assert {path.name for path in folder.iterdir()} == {".git", ".gitignore", "env.py", "note.secret"}
            assert git(folder, "status", "--porcelain", "--ignored") == ""
        (folders[0] / "env.py").write_text("score = 1")
        git(folders[0], "commit", "--all", "--quiet", "-m", "mine")
        assert (folders[1] / "env.py").read_bytes() == b"score = 0\r\n"
        assert git(folders[1], "log", "--oneline").count("\n") == 1
    assert not (tmp_path / "place").exists()
    assert (start / "env.py").read_bytes() == b"score = 0\r\n"


@needs_git
def test_an_empty_folder_is_a_beginning_too_and_what_a_kill_left_is_removed(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "place" / "1").mkdir(parents=True)
    (tmp_path / "place" / "1" / "half.py").write_text("x")
    with worktrees(tmp_path / "empty", tmp_path / "place", 1) as (folder,):
        assert [path.name for path in folder.iterdir()] == [".git"]


@needs_git
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_whatever_is_raised_the_worktrees_are_gone(start, tmp_path, error):
    with pytest.raises(error), worktrees(start, tmp_path / "place", 2):
        raise error
    assert not (tmp_path / "place").exists()


@needs_git
def test_an_agent_that_plays_with_git_runs_no_program_of_its_own(start, tmp_path):
    trap = tmp_path / "trapped"
    with worktrees(start, tmp_path / "place", 1) as (folder,):
        (folder / ".git").unlink()
        git(folder, "init", "--quiet")
        for name in ("core.fsmonitor", "core.sshCommand", "filter.x.clean"):
            git(folder, "config", name, f"touch {trap}; false")
        (folder / ".gitattributes").write_text("*.py filter=x\n")
        (folder / ".git" / "hooks").mkdir(exist_ok=True)
    assert not trap.exists()
    assert not (tmp_path / "place").exists()


@needs_git
def test_nothing_of_the_user_s_git_settings_matters(start, tmp_path, monkeypatch):
    (tmp_path / "config").write_text(
        "[core]\n\tautocrlf = true\n[commit]\n\tgpgSign = true\n[init]\n\ttemplateDir = /x\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    with worktrees(start, tmp_path / "place", 1) as (folder,):
        assert (folder / "env.py").read_bytes() == b"score = 0\r\n"


def test_without_git_the_sentence_says_what_is_missing(start, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="need git"), worktrees(start, tmp_path / "place", 1):
        pass
    assert not (tmp_path / "place").exists()
