"""An agent's home is the agent's to write: we follow none of its links there, and keep nothing of ours in it."""

import dataclasses
import json
from pathlib import Path

import pytest

from overclock.errors import UsageError
from overclock.recipe.agents import Endpoint
from overclock.recipe.agents.command import CommandAgent
from overclock.recipe.agents.private_home import make_folder, write_file
from overclock.recipe.agents.profile import BUILT_IN, load_profile

ENDPOINT = Endpoint("http://127.0.0.1:18080", "placeholder")


@pytest.fixture
def agent(cli, tmp_path):
    """Another process of ours each time, in the same home."""

    def make(name="gemini"):
        profile = load_profile(BUILT_IN / f"{name}.toml")
        return CommandAgent(profile, home=tmp_path / "home", logs=tmp_path / "logs", program=str(cli.program))

    return make


@pytest.fixture
def treasure(tmp_path):
    """A folder of the user with a file under every name that we write, and what is in it."""
    folder = tmp_path / "treasure"
    folder.mkdir()
    for name in ("settings.json", "version.stdout", "version.stderr", "version.prompt.md"):
        (folder / name).write_text("of the user")
    return folder


def untouched(folder):
    return {path.read_text() for path in folder.iterdir()} == {"of the user"} and len(list(folder.iterdir())) == 4


@pytest.mark.parametrize(
    "planted",
    [
        "ours.rename(home / 'old'); ours.symlink_to(treasure)",
        "file.unlink(); file.symlink_to(treasure / 'settings.json')",
        "file.unlink(); file.joinpath('deep').mkdir(parents=True)",
        "own.mkdir(exist_ok=True); log.unlink(missing_ok=True); log.symlink_to(treasure / log.name)",
        "tmp.rmdir(); tmp.symlink_to(treasure)",
        "tmp.rmdir(); tmp.symlink_to('/nowhere/at/all')",
    ],
)
def test_links_that_an_agent_leaves_in_its_home_lead_nowhere(agent, cli, task, tmp_path, treasure, planted):
    names = f"home, treasure = pathlib.Path.home(), pathlib.Path({str(treasure)!r})\n"
    names += "ours, own, tmp = home / '.gemini', home / '.overclock', home / 'tmp'\n"
    names += "file, log = ours / 'settings.json', own / 'version.stdout'\n"
    cli.says("gemini.json", names + planted)
    agent().work(task, ENDPOINT)
    cli.says("gemini.json")
    assert agent().work(task, ENDPOINT).ended == "finished"
    assert untouched(treasure)
    settings, place = tmp_path / "home/.gemini/settings.json", tmp_path / "home/tmp"
    assert json.loads(settings.read_text())["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert not any(path.is_symlink() for path in (settings, settings.parent, place))
    assert place.is_dir()


def test_the_program_is_asked_for_its_version_in_a_home_that_no_agent_has_seen(agent, cli, task, tmp_path):
    asked = tmp_path / "asked"
    cli.program.write_text(f"#!/bin/sh\necho $HOME $PWD $TMPDIR > {asked}\nls -A $HOME >> {asked}\necho 99.0.0\n")
    cli.program.chmod(0o755)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.rc").write_text("run me")
    assert agent().check_version() == "99.0.0"
    places, *found = asked.read_text().splitlines()
    assert found == ["tmp"]
    assert not any(Path(place).exists() for place in places.split())  # it was for this alone
    assert str(tmp_path / "home") not in places


def test_nothing_of_ours_is_kept_in_the_home(agent, cli, task, tmp_path):
    cli.says("codex.jsonl")
    agent("codex").work(task, ENDPOINT)
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == [".codex", "tmp"]


@pytest.mark.parametrize("session", ["x" * 5000, "../../away", "\ud800"])
def test_a_session_may_be_called_anything(agent, cli, task, tmp_path, session):
    answer = [{"type": "thread.started", "thread_id": session}]
    answer.append({"type": "turn.completed", "usage": dict.fromkeys(("input_tokens", "output_tokens"), 7)})
    answer[1]["usage"]["cached_input_tokens"] = 0
    lines = "\n".join(map(json.dumps, answer))
    cli.write(f"print({lines!r})")
    first = agent("codex").work(task, ENDPOINT)
    assert first.usage.input_tokens == 7
    if "\ud800" not in session:  # cannot be an argument
        again = agent("codex").work(dataclasses.replace(task, session=first.session), ENDPOINT)
        assert again.usage is None or again.usage.input_tokens == 0
    assert {path.parent for path in (tmp_path / "logs").rglob("*.json")} == {tmp_path / "logs/sessions"}


def test_a_home_that_cannot_be_written_is_said_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"home.*cannot be written"):
        make_folder(tmp_path / "file", "tmp")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(UsageError, match=r"home.*cannot be written"):
        write_file(tmp_path / "link", "a", b"")
