"""Several candidates at once: the best one that holds is merged, and of the others nothing is left."""

import shutil
import subprocess
import threading

import pytest

from overclock.errors import UsageError
from overclock.recipe.agents import Task, Work
from overclock.recipe.agents.parallel import candidates
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.usage import Usage

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="parallel candidates need git")


def git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def task(tmp_path):
    folder = tmp_path / "place/candidate"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "env.py").write_text("score = 0\n")
    (folder / ".gitignore").write_text("*.secret\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "start")
    return Task("t", "translate", "prompt", folder, 60.0)


def writes(**files):
    return ScriptedAgent(lambda _: {f"{name}.py": text for name, text in files.items()}, Usage(1, 10, dollars=0.5))


def score(folder, work):
    value = float((folder / "env.py").read_text().split("=")[1])
    return value if value >= 0 else None  # negative: does not hold


def nothing_left(task):
    folder = task.folder
    assert [path.name for path in folder.parent.iterdir()] == ["candidate"]
    assert git(folder, "worktree", "list").count("\n") == 1
    assert list((folder / ".git").glob("worktrees/*")) == []
    assert git(folder, "status", "--porcelain") == ""
    return True


def test_the_best_candidate_is_merged_and_the_others_are_gone(task):
    agents = [
        writes(env="score = 1"),
        writes(env="score = 3", new="x = 1"),
        writes(env="score = -9"),
        writes(env="score = 3"),
    ]
    chosen = candidates(agents, task, None, score)
    assert chosen.best.number == 1  # the first of two equals
    assert [candidate.score for candidate in chosen.candidates] == [1.0, 3.0, None, 3.0]
    assert (task.folder / "env.py").read_text() == "score = 3"
    assert (task.folder / "new.py").read_text() == "x = 1"
    assert git(task.folder, "rev-parse", "HEAD").strip() == chosen.best.commit
    assert git(task.folder, "rev-list", "--count", "HEAD").strip() == "2"
    assert (chosen.usage.calls, chosen.usage.dollars) == (4, 2.0)
    assert nothing_left(task)


def test_nothing_is_merged_if_no_candidate_holds(task):
    before = git(task.folder, "rev-parse", "HEAD")
    chosen = candidates([writes(env="score = -1"), writes(env="score = -2")], task, None, score)
    assert chosen.best is None
    assert git(task.folder, "rev-parse", "HEAD") == before
    assert (task.folder / "env.py").read_text() == "score = 0\n"
    assert nothing_left(task)


class Waits:
    """Works until it is stopped."""

    name = "waits"

    def __init__(self):
        self.stopped = threading.Event()

    def work(self, task, endpoint):
        self.stopped.wait()
        return Work("crashed", "stopped")

    def stop(self):
        self.stopped.set()


class Raises:
    name = "raises"

    def work(self, task, endpoint):
        (task.folder / "half.py").write_text("x")
        raise RuntimeError("out of luck")


def test_an_agent_that_raises_stops_the_others_and_leaves_nothing(task):
    waits = Waits()
    with pytest.raises(RuntimeError, match="out of luck"):
        candidates([waits, Raises()], task, None, score)
    assert waits.stopped.is_set()
    assert nothing_left(task)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_judge_that_raises_leaves_nothing(task, error):
    def judge(folder, work):
        raise error

    with pytest.raises(error):
        candidates([writes(env="score = 1"), writes(env="score = 2")], task, None, judge)
    assert (task.folder / "env.py").read_text() == "score = 0\n"
    assert nothing_left(task)


def test_candidates_work_at_the_same_time_in_folders_of_their_own(task):
    together = threading.Barrier(3, timeout=30)
    seen = []

    class Meets:
        name = "meets"

        def work(self, task, endpoint):
            together.wait()  # breaks unless all three are inside
            seen.append((task.id, task.folder))
            return Work("finished", "")

    candidates([Meets(), Meets(), Meets()], task, None, score)
    assert sorted(name for name, _ in seen) == ["t.0", "t.1", "t.2"]
    assert len({folder for _, folder in seen} | {task.folder}) == 4


def test_what_is_judged_is_what_is_merged(task):
    """A file that git ignores does not travel, so the judge must not see it either."""
    agent = ScriptedAgent(lambda _: {"env.py": "score = 5", "help.secret": "cheat"})
    judged = []

    def judge(folder, work):
        judged.append(sorted(path.name for path in folder.iterdir() if path.name != ".git"))
        return 1.0

    candidates([agent], task, None, judge)
    assert judged == [[".gitignore", "env.py"]]
    assert not (task.folder / "help.secret").exists()
    assert nothing_left(task)


class PlaysWithGit:
    """Commits by itself, plants hooks, and replaces git's own link by a repository whose settings run a program."""

    name = "plays"

    def __init__(self, trap):
        self.trap = trap

    def work(self, task, endpoint):
        folder = task.folder
        (folder / "env.py").write_text("score = 8")
        git(folder, "checkout", "--quiet", "--orphan", "elsewhere")
        git(folder, "commit", "--quiet", "--all", "-m", "mine")
        (folder / ".git").unlink()
        git(folder, "init", "--quiet")
        for name in ("core.fsmonitor", "core.sshCommand", "filter.x.clean"):
            git(folder, "config", name, f"touch {self.trap}; false")
        (folder / ".gitattributes").write_text("*.py filter=x\n")
        return Work("finished", "")


def test_an_agent_that_plays_with_git_neither_runs_a_program_nor_changes_history(task, tmp_path):
    trap = tmp_path / "trapped"
    base = git(task.folder, "rev-parse", "HEAD").strip()
    chosen = candidates([PlaysWithGit(trap)], task, None, score)
    assert chosen.best is not None
    assert git(task.folder, "rev-parse", "HEAD^").strip() == base
    assert (task.folder / "env.py").read_text() == "score = 8"
    assert not trap.exists()


def test_uncommitted_changes_are_refused_because_the_candidates_would_not_have_them(task):
    (task.folder / "env.py").write_text("score = 1")
    with pytest.raises(UsageError, match="uncommitted changes"):
        candidates([writes(env="score = 2")], task, None, score)
    with pytest.raises(UsageError, match="git status failed"):
        candidates([], Task("t", "p", "", task.folder.parent.parent, 1.0), None, score)


def test_the_usage_is_unknown_if_one_candidate_does_not_say(task):
    quiet = ScriptedAgent(lambda _: {"env.py": "score = 1"})
    assert candidates([writes(env="score = 2"), quiet], task, None, score).usage is None
