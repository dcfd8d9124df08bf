"""Agents without a model: people, scripts, recordings, and how a user names an agent."""

import dataclasses

import pytest
from recipe.written_journal import JournalWriter

from overclock.errors import UsageError
from overclock.recipe.agents import Work, by_name
from overclock.recipe.agents.api import ApiAgent
from overclock.recipe.agents.command import CommandAgent
from overclock.recipe.agents.manual import ManualAgent
from overclock.recipe.agents.replay import ReplayAgent
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.gateway.usage import Usage
from overclock.recipe.runs.run import Run


def test_a_person_is_told_exactly_what_to_do(task, tmp_path):
    (task.folder / "env.py").write_text("x = 1")
    work = ManualAgent(run="runs/7", logs=tmp_path / "logs").work(task, None)
    prompt = tmp_path / "logs/physics%2F1.prompt.md"
    assert prompt.read_text() == task.prompt
    assert (work.ended, work.usage) == ("waiting", None)
    for part in (str(prompt), str(task.folder), "env.py", "`overclock submit runs/7`"):
        assert part in work.reason


def test_a_script_has_files_for_each_purpose_and_iteration(task):
    agent = ScriptedAgent(
        {"translate": [{"env.py": "wrong", "old.py": "x"}], "repair": {2: {"env.py": "right", "old.py": None}}}
    )
    assert agent.work(task, None).ended == "finished"
    assert (task.folder / "env.py").read_text() == "wrong"
    repair = dataclasses.replace(task, purpose="repair", iteration=2)
    assert ScriptedAgent(agent.script).work(repair, None).ended == "finished"  # it remembers nothing
    assert (task.folder / "env.py").read_text() == "right"
    assert not (task.folder / "old.py").exists()
    for unknown in (dataclasses.replace(task, iteration=1), dataclasses.replace(repair, iteration=3)):
        work = agent.work(unknown, None)
        assert work.ended == "crashed"
        assert f"iteration {unknown.iteration}" in work.reason


def test_a_script_may_be_a_function_and_cannot_leave_the_folder(task):
    agent = ScriptedAgent(lambda task: {f"{task.iteration}.py": task.id}, usage=Usage(calls=1, input_tokens=5))
    work = agent.work(task, None)
    assert (task.folder / "0.py").read_text() == task.id
    assert work.usage.input_tokens == 5
    assert ScriptedAgent(lambda task: {"../x.py": ""}).work(task, None).ended == "crashed"
    assert not (task.folder.parent / "x.py").exists()


@pytest.fixture
def earlier(tmp_path):
    """The folder of a run with two tasks that ended, one that was refused, and one that was cut off."""
    with Run.create(tmp_path / "earlier", {}) as run:
        story = JournalWriter(run)
        story.start()
        story.task("a/1", 1, reason="It had nothing more to do.")
        story.freeze("a/1", env=b"one", extra__b=b"b")
        story.task("a/2", 1, ended="timeout")
        story.freeze("a/2", env=b"two")
        story.task("a/3", 1, ended="refused")
        story.freeze("a/3", env=b"three")
        story.task("a/4", 1)
    return tmp_path / "earlier"


def test_the_work_of_a_run_is_repeated_exactly(task, tmp_path, earlier):
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").mkdir()
    (other / "left-over.py").write_text("x")
    (tmp_path / "precious").write_text("precious")
    (other / "env.py").symlink_to(tmp_path / "precious")
    replay = ReplayAgent(earlier)
    first = replay.work(dataclasses.replace(task, id="a/1", folder=other), None)
    assert first == Work("finished", "It had nothing more to do.", "Done.")  # and no usage: nobody was asked
    assert sorted(p.name for p in other.iterdir()) == [".git", "env.py", "extra"]
    assert (other / "extra/b.py").read_text() == "b"
    assert replay.work(dataclasses.replace(task, id="a/2", folder=other), None).ended == "timeout"
    assert (other / "env.py").read_text() == "two"
    assert not (other / "extra/b.py").exists()
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("unfinished", ["a/3", "a/4", "a/5"])
def test_what_a_run_did_not_finish_cannot_be_repeated(task, earlier, unfinished):
    (task.folder / "env.py").write_text("as it was")
    work = ReplayAgent(earlier).work(dataclasses.replace(task, id=unfinished), None)
    assert (work.ended, unfinished in work.reason) == ("crashed", True)
    assert (task.folder / "env.py").read_text() == "as it was"


def test_only_a_run_can_be_repeated(task, tmp_path):
    with pytest.raises(UsageError, match="There is no run"):
        ReplayAgent(tmp_path).work(task, None)


def test_agents_are_named_as_users_write_them(tmp_path):
    options = {"run": "r", "logs": tmp_path, "home": tmp_path / "home"}
    assert isinstance(by_name("manual", **options), ManualAgent)
    assert isinstance(by_name(f"replay:{tmp_path}", **options), ReplayAgent)
    for name in ("gemini", "claude", "codex", "qwen", "opencode"):
        agent = by_name(name, model="m-2", **options)
        assert isinstance(agent, CommandAgent)
        assert (agent.name, agent.model) == (name, "m-2")
    agent = by_name("api:openai:org/model:free", **options)
    assert isinstance(agent, ApiAgent)
    assert agent.model == "org/model:free"
    assert by_name("api:anthropic:claude-x", **options).name == "api:anthropic:claude-x"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("claud", "did you mean 'claude'"),
        ("zzz", "there are claude, codex"),
        ("api:openai", "api:openai:MODEL"),
        ("api:", "api:openai:MODEL"),
        ("no/such/profile.toml", "cannot be read"),
        ("replay:", "No agent is called"),
    ],
)
def test_a_name_that_is_none_is_one_clear_sentence(name, said, tmp_path):
    with pytest.raises(UsageError, match=said):
        by_name(name, run="r", logs=tmp_path, home=tmp_path)


def test_different_tasks_never_share_a_file(task):
    ids = ["a/b", "a-b", "a b", "a%2Fb", "ä", "..", "a.b"]
    stems = [dataclasses.replace(task, id=one).file_stem for one in ids]
    assert len(set(stems)) == len(ids)
    assert not any("/" in stem for stem in stems)


def test_work_says_nothing_about_whether_the_files_are_right():
    assert {field.name for field in dataclasses.fields(Work)} == {
        "ended", "reason", "text", "usage", "seconds", "session", "exit_code", "status",
    }  # fmt: skip
