"""The installed program, run as its users run it: exit codes, clean streams, one sentence per mistake."""

import json
import subprocess
import sys

import pytest


def overclock(*words, **options):
    command = [sys.executable, "-m", "overclock", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def modules_after(*words):
    """Names of the modules that a run of the program has imported."""
    script = f"import sys; from overclock.cli import main; main({list(words)!r}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, set(done.stderr.split())


@pytest.mark.parametrize("words", [(), ("--help",), ("list",), ("list", "--json"), ("record", "--help")])
def test_starts_without_loading_jax(words):
    stdout, modules = modules_after(*words)
    assert stdout
    assert "jax" not in modules


def test_help_names_the_program_and_every_command():
    done = overclock("--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: overclock ")
    for command in ("list", "doctor", "bench", "verify", "play", "record", "--debug", "--version", "Exit codes"):
        assert command in done.stdout
    for example in ("mutate cartpole", "train cartpole", "repro DIR"):
        assert f"overclock {example}" in done.stdout
    assert "with the evidence that it behaves the same" in " ".join(done.stdout.split())


def test_list_json_is_one_object_and_nothing_else():
    done = overclock("list", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert done.stderr == ""
    assert report["schema"] == "overclock.list/1"
    (cartpole,) = [env for env in report["environments"] if env["id"] == "cartpole-v1"]
    assert cartpole["reference"] == "gymnasium:CartPole-v1"
    assert cartpole["playable"]
    assert cartpole["recordable"]


def test_an_unknown_environment_is_one_sentence_with_a_hint(tmp_path):
    target = tmp_path / "out.gif"
    done = overclock("record", "cartpol", str(target))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: No environment is called 'cartpol'")
    assert "id you mean 'cartpole'?" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words", [("--debug", "record", "cartpol", "x.gif"), ("record", "cartpol", "x.gif", "--debug")]
)
def test_debug_shows_the_traceback_wherever_it_stands(words):
    done = overclock(*words)
    assert done.returncode == 2
    assert "Traceback" in done.stderr


def test_play_without_a_terminal_says_what_to_do_instead():
    done = overclock("play", "cartpole", stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "overclock record" in done.stderr


def test_a_reader_that_goes_away_is_no_error():
    script = f"set -o pipefail; {sys.executable} -m overclock list | true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 141)
    assert done.stderr == ""
