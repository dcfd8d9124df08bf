"""Coding agents by their command line: private, in time, and judged by nothing that they say about themselves."""

import dataclasses
import json
import os
import re
import threading
import tomllib
from pathlib import Path

import pytest

from overclock.errors import MissingError, UsageError
from overclock.recipe.agents import Endpoint, by_name
from overclock.recipe.agents.command import CommandAgent
from overclock.recipe.agents.profile import BUILT_IN, built_in, load_profile

ENDPOINT = Endpoint("http://127.0.0.1:18080", "placeholder")
GOLDEN = {"gemini": "gemini.json", "claude": "claude.json", "codex": "codex.jsonl", "qwen": "qwen.json"}
GOLDEN["opencode"] = "opencode.jsonl"
WRITES = "pathlib.Path('env.py').write_text('written = True')\n"


@pytest.fixture
def agent(cli, tmp_path):
    def make(name, **options):
        profile = load_profile(BUILT_IN / f"{name}.toml")
        options = {"home": tmp_path / "home", "logs": tmp_path / "logs", "program": str(cli.program), **options}
        return CommandAgent(profile, **options)

    return make


def living(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("name", GOLDEN)
def test_every_profile_works_in_its_folder_and_reports_its_usage(name, agent, cli, task):
    cli.says(GOLDEN[name], WRITES)
    work = agent(name).work(task, ENDPOINT)
    assert (work.ended, work.exit_code) == ("finished", 0)
    assert work.usage.basis == "self-reported"
    assert work.usage.input_tokens > 1000
    assert work.session
    assert (task.folder / "env.py").exists()
    assert Path(cli.seen["cwd"]) == task.folder
    assert cli.seen["prompt"] == task.prompt


def test_the_five_profiles_are_the_built_in_ones():
    assert built_in() == sorted(GOLDEN)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_home_is_private_and_the_users_secrets_stay_outside(name, agent, cli, task, tmp_path, monkeypatch):
    for variable in ("SOME_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, "secret-of-the-user")
    cli.says(GOLDEN[name])
    agent(name).work(task, ENDPOINT)
    seen = cli.seen["env"]
    assert "secret-of-the-user" not in seen.values()
    home = str((tmp_path / "home").resolve())
    for variable in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        assert seen[variable].startswith(home)
    assert (tmp_path / "home").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", GOLDEN)
def test_every_profile_calls_the_gateway(name, agent, cli, task):
    cli.says(GOLDEN[name])
    agent(name, model="some-model").work(task, ENDPOINT)
    seen = cli.seen
    files = [path.read_text() for path in Path(seen["env"]["HOME"]).glob("*.json")]
    everything = " ".join([*seen["argv"], *seen["env"].values(), *files])
    assert ENDPOINT.base_url in everything
    assert "some-model" in everything
    assert "placeholder" in everything
    assert "{" not in "".join(a for a in seen["argv"] if not a.startswith("model_providers."))


def test_gemini_is_told_which_kind_of_key_it_has(agent, cli, task, tmp_path):
    cli.says("gemini.json")
    agent("gemini").work(task, ENDPOINT)
    settings = json.loads((tmp_path / "home/.gemini/settings.json").read_text())
    assert settings["security"]["auth"]["selectedType"] == "gemini-api-key"


def test_codex_has_a_provider_of_its_own_and_a_home_outside_the_temporary_folder(agent, cli, task):
    cli.says("codex.jsonl")
    agent("codex").work(task, ENDPOINT)
    argv, env = cli.seen["argv"], cli.seen["env"]
    (table,) = [argument for argument in argv if argument.startswith("model_providers.")]
    provider = tomllib.loads(table)["model_providers"]["overclock"]
    assert provider["base_url"] == "http://127.0.0.1:18080/v1"
    assert env[provider["env_key"]] == "placeholder"
    assert not Path(env["CODEX_HOME"]).is_relative_to(env["TMPDIR"])
    assert argv[-1] == "-"
    assert argv[argv.index("-C") + 1] == str(task.folder)


def test_opencode_finds_its_settings_outside_of_the_work_folder(agent, cli, task):
    cli.says("opencode.jsonl")
    agent("opencode", model="m-1").work(task, ENDPOINT)
    settings = json.loads(Path(cli.seen["env"]["OPENCODE_CONFIG"]).read_text())
    assert settings["provider"]["overclock"]["options"]["baseURL"] == "http://127.0.0.1:18080/v1"
    assert list(settings["provider"]["overclock"]["models"]) == ["m-1"]
    assert list(task.folder.iterdir()) == []


def test_without_a_gateway_the_users_own_key_and_proxy_are_used(agent, cli, task, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "own-key")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("SOME_TOKEN", "secret")
    cli.says("claude.json")
    agent("claude").work(task, None)
    env = cli.seen["env"]
    assert (env["ANTHROPIC_API_KEY"], env["HTTPS_PROXY"]) == ("own-key", "http://proxy:3128")
    assert "SOME_TOKEN" not in env
    assert "ANTHROPIC_BASE_URL" not in env


def test_a_long_prompt_arrives_whole_and_is_kept(agent, cli, task, tmp_path):
    long = dataclasses.replace(task, prompt="line ä\n" * 50_000)
    cli.says("claude.json")
    agent("claude").work(long, ENDPOINT)
    assert cli.seen["prompt"] == long.prompt
    assert (tmp_path / "logs/physics%2F1.prompt.md").read_text() == long.prompt
    assert json.loads((tmp_path / "logs/physics%2F1.stdout").read_text())["type"] == "result"


def test_an_exit_code_of_zero_proves_nothing_and_another_one_neither(agent, cli, task):
    cli.says("claude.json")
    assert agent("claude").work(task, ENDPOINT).ended == "finished"
    assert list(task.folder.iterdir()) == []  # and it is for the verifier to see that
    cli.says("claude.json", WRITES + "print('no disk left', file=sys.stderr)\nsys.exit(3)")
    work = agent("claude").work(task, ENDPOINT)
    assert (work.ended, work.exit_code) == ("crashed", 3)
    assert "no disk left" in work.reason
    assert (task.folder / "env.py").exists()  # and so is this


def test_a_spent_budget_is_a_refusal_and_a_turn_limit_is_an_end(agent, cli, task):
    cli.write("print((golden / 'gemini_refused.stderr').read_text(), file=sys.stderr)\nsys.exit(146)")
    refused = agent("gemini").work(task, ENDPOINT)
    assert (refused.ended, refused.status, refused.usage) == ("refused", 402, None)
    assert "budget of this run is spent" in refused.reason
    cli.says("claude_refused.json", "sys.exit(1)")
    assert agent("claude").work(task, ENDPOINT).ended == "refused"
    cli.says("codex_refused.jsonl", "sys.exit(0)")  # whatever the exit code says
    assert agent("codex").work(task, ENDPOINT).ended == "refused"
    cli.says("claude_capped.json", "sys.exit(1)")
    assert agent("claude").work(task, ENDPOINT).ended == "finished"
    cli.write("sys.exit(53)")
    assert agent("gemini").work(task, ENDPOINT).ended == "finished"


def test_unknown_output_is_quoted_and_its_usage_is_not_reported(agent, cli, task):
    cli.write("print('I speak another version of this dialect')")
    work = agent("claude").work(task, ENDPOINT)
    assert (work.ended, work.usage, work.session) == ("finished", None, None)
    assert work.text == "I speak another version of this dialect"


def test_a_hanging_agent_is_stopped_at_the_wall_clock(agent, cli, task):
    cli.says("claude.json", "sys.stdout.flush()\ntime.sleep(600)")
    work = agent("claude").work(dataclasses.replace(task, wall_seconds=0.5), ENDPOINT)
    assert (work.ended, work.exit_code, work.usage) == ("timeout", None, None)


CHILDREN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleeper = [sys.executable, '-c', 'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)']
child = subprocess.Popen(sleeper)
bare = subprocess.Popen(sleeper, env={})
escaped = subprocess.Popen(sleeper, start_new_session=True)
partial = seen.with_name('pids.part')
partial.write_text(json.dumps([os.getpid(), child.pid, bare.pid, escaped.pid]))
partial.rename(seen.with_name('pids.json'))
"""


def test_a_stopped_agent_leaves_nothing_even_if_its_children_resist(agent, cli, task, tmp_path):
    cli.write(CHILDREN + "time.sleep(600)")
    running, works = agent("claude", grace_seconds=0.1), []
    thread = threading.Thread(target=lambda: works.append(running.work(task, ENDPOINT)))
    thread.start()
    while thread.is_alive() and not (tmp_path / "pids.json").exists():
        thread.join(0.02)
    running.stop()
    thread.join()
    assert works[0].ended == "crashed"
    pids = json.loads((tmp_path / "pids.json").read_text())
    assert [pid for pid in pids if living(pid)] == []


def test_who_stops_an_agent_does_not_wait_for_its_grace(agent, cli, task, tmp_path):
    cli.write(CHILDREN + "time.sleep(600)")
    running = agent("claude", grace_seconds=600.0)
    thread = threading.Thread(target=lambda: running.work(task, ENDPOINT), daemon=True)
    thread.start()
    while thread.is_alive() and not (tmp_path / "pids.json").exists():
        thread.join(0.02)
    running.stop()
    thread.join(20)
    assert not thread.is_alive()


def test_what_an_agent_leaves_running_ends_with_it(agent, cli, task, tmp_path):
    cli.says("claude.json", CHILDREN)  # its children keep its output open, too
    work = agent("claude").work(task, ENDPOINT)
    assert work.ended == "finished"
    assert work.usage is not None
    pids = json.loads((tmp_path / "pids.json").read_text())
    assert [pid for pid in pids if living(pid)] == []


def test_two_hundred_megabytes_of_output_do_not_fill_the_disk(agent, cli, task, tmp_path):
    cli.says("claude.json", "for _ in range(200): sys.stdout.write('x' * 2**20)")
    work = agent("claude", output_limit=100_000).work(task, ENDPOINT)
    assert work.ended == "finished"
    assert work.usage is None  # the end of it is lost, so what was read may not be all
    assert "cut" in work.reason
    assert (tmp_path / "logs/physics%2F1.stdout").stat().st_size == 100_000


def resumed(task, work):
    return dataclasses.replace(task, session=work.session)


def test_a_total_of_the_session_is_reported_as_a_difference(agent, cli, task):
    cli.says("codex.jsonl")
    first = agent("codex").work(task, ENDPOINT)
    assert (first.usage.input_tokens, first.usage.output_tokens) == (2000, 64)
    later = "print((golden / 'codex.jsonl').read_text().replace('2000', '3500').replace(':64', ':70'))"
    cli.write(later)
    second = agent("codex").work(resumed(task, first), ENDPOINT)  # another process of ours: it is kept on disk
    assert cli.seen["argv"][:2] == ["exec", "resume"]
    assert first.session in cli.seen["argv"]
    assert "-C" not in cli.seen["argv"]
    usage = second.usage
    assert (usage.calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1, 1500, 0, 6)


def test_a_total_of_an_unknown_session_is_not_reported(agent, cli, task, tmp_path):
    cli.says("codex.jsonl")
    again = dataclasses.replace(task, session="019a8f3c-0000-7000-8000-00000000c0de")
    assert agent("codex").work(again, ENDPOINT).usage is None
    assert agent("codex", home=tmp_path / "other").work(task, ENDPOINT).usage is not None


def test_totals_that_shrink_are_not_reported(agent, cli, task):
    cli.says("qwen.json")
    first = agent("qwen").work(task, ENDPOINT)
    cli.write("print((golden / 'qwen.json').read_text().replace('3000', '300'))")
    assert agent("qwen").work(resumed(task, first), ENDPOINT).usage is None


def test_claudes_dollars_are_of_the_session_and_its_tokens_of_the_call(agent, cli, task):
    cli.says("claude.json")
    first = agent("claude").work(task, ENDPOINT)
    assert first.usage.dollars == pytest.approx(0.012)
    cli.write("print((golden / 'claude.json').read_text().replace('0.012', '0.018'))")
    second = agent("claude").work(resumed(task, first), ENDPOINT)
    assert second.usage.dollars == pytest.approx(0.006)
    assert second.usage.input_tokens == first.usage.input_tokens


def test_what_is_between_backticks_is_a_command():
    for name in built_in():
        said = load_profile(BUILT_IN / f"{name}.toml").remedy
        assert re.fullmatch(r"install it with `npm install -g [\w@/-]+`( \(.+\))?", said)


def test_a_missing_program_says_how_to_install_it(agent, task):
    with pytest.raises(MissingError, match="npm install -g @google/gemini-cli"):
        agent("gemini", program="no-such-program-here").work(task, ENDPOINT)


def test_too_old_a_program_is_not_used_and_one_that_does_not_tell_its_version_is(agent, cli, task):
    cli.write(WRITES, version="2.1.99")
    with pytest.raises(MissingError, match=r"2\.1\.99.*2\.1\.277"):
        agent("claude").work(task, ENDPOINT)
    assert list(task.folder.iterdir()) == []
    cli.write(WRITES, version="of today")
    assert agent("claude").check_version() == "unknown"
    assert agent("claude").work(task, ENDPOINT).ended == "finished"


def test_a_sandbox_can_be_put_around_the_command(agent, cli, task):
    cli.says("claude.json")
    calls = []

    def wrap(argv, environment, folder):
        calls.append((argv, folder))
        return ["/usr/bin/env", "WRAPPED=yes", *argv], environment

    agent("claude", wrap=wrap).work(task, ENDPOINT)
    assert cli.seen["env"]["WRAPPED"] == "yes"
    assert calls[0][0][0] == str(cli.program)
    assert calls[0][1] == task.folder


def test_a_folder_that_does_not_exist_is_said_so(agent, cli, task):
    cli.says("claude.json")
    with pytest.raises(UsageError, match="does not exist"):
        agent("claude").work(dataclasses.replace(task, folder=task.folder / "no"), ENDPOINT)


def test_any_program_is_an_agent_by_a_file_of_its_own(cli, task, tmp_path):
    cli.write("pathlib.Path('out.txt').write_text(prompt)\nprint('done', sys.argv[1:])")
    profile = tmp_path / "mine.toml"
    profile.write_text(f'program = "{cli.program}"\ninstall = "make mine"\nargv = ["--in", "{{folder}}"]\n')
    agent = by_name(str(profile), run="r1", logs=tmp_path / "logs", home=tmp_path / "home")
    work = agent.work(task, None)
    assert (agent.name, work.ended, work.usage) == ("mine", "finished", None)
    assert work.text == f"done ['--in', '{task.folder}']"
    assert (task.folder / "out.txt").read_text() == task.prompt


GOOD = 'program = "x"\ninstall = "y"\nargv = []\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("program = ", "not TOML"),
        ('install = "y"\nargv = []\n', "'program' is missing"),
        (GOOD + 'usage_scoop = "session"\n', "no entry 'usage_scoop'"),
        (GOOD + 'usage_scope = "day"\n', "one of invocation, session"),
        (GOOD + 'dialect = "klingon"\n', "one of text, gemini"),
        (GOOD + 'capped_exit_codes = ["1"]\n', "list of whole numbers"),
        (GOOD + 'version_pattern = "("\n', "regular expression"),
        (GOOD + "[endpoint]\nkeep = 3\n", "'endpoint.keep' is a list of texts"),
        (GOOD + "[environment]\nA = 3\n", "'environment' is a table of texts"),
        (GOOD.replace("[]", '"-p"'), "'argv' is a list of texts"),
    ],
)
def test_a_wrong_profile_is_one_clear_sentence(content, said, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(content)
    with pytest.raises(UsageError, match=said):
        load_profile(path)


def test_the_environment_of_the_tests_is_not_the_agents(agent, cli, task):
    cli.says("claude.json")
    agent("claude").work(task, ENDPOINT)
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert "PYTEST_CURRENT_TEST" not in cli.seen["env"]
