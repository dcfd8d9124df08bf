"""How errors leave the program: a sentence on stderr, the documented exit code, a JSON object when asked for."""

import json
import time

import pytest

import overclock
from overclock import cli
from overclock.cli import parse
from overclock.errors import MissingError


class Fails:
    error: BaseException

    def run(self):
        raise self.error


@pytest.fixture
def failing(monkeypatch):
    """A program whose command fails with the error given to this fixture."""

    def install(error):
        command = Fails()
        command.error = error
        monkeypatch.setattr(parse, "parse", lambda words, quiet: command)

    return install


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"overclock {overclock.__version__}\n"


def test_a_users_error_has_its_own_exit_code(failing, capsys):
    error = MissingError("No GPU here.")
    error.exit_code = 4
    failing(error)
    assert cli.main(["bench"]) == 4
    assert capsys.readouterr() == ("", "error: No GPU here.\n")


def test_in_json_mode_the_error_is_also_an_object(failing, capsys):
    failing(MissingError("No GPU here."))
    assert cli.main(["bench", "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out) == {"schema": "overclock.error/1", "error": "No GPU here.", "exit_code": 2}
    assert err == "error: No GPU here.\n"


def test_a_bug_is_one_line_and_names_debug(failing, capsys):
    failing(ZeroDivisionError("division by zero\nsecond line"))
    assert cli.main(["bench"]) == 70
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ZeroDivisionError: division by zero")
    assert "--debug" in err
    assert err.count("\n") == 1


def test_debug_shows_where_the_bug_is(failing, capsys):
    failing(ZeroDivisionError("division by zero"))
    assert cli.main(["bench", "--debug"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_one_line(failing, capsys):
    failing(KeyboardInterrupt())
    assert cli.main(["bench"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


def test_an_interrupt_in_json_mode_is_also_an_object(failing, capsys):
    failing(KeyboardInterrupt("interrupted; 3 of them are kept"))
    assert cli.main(["bench", "--json"]) == 130
    out, err = capsys.readouterr()
    sentence = "interrupted; 3 of them are kept"
    assert json.loads(out) == {"schema": "overclock.error/1", "error": sentence, "exit_code": 130}
    assert err == f"{sentence}\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["lst"], "Did you mean 'list'?"),
        (["xyzzy"], "The commands are demo, list,"),
        (["--json", "list"], "after a command"),
    ],
)
def test_a_wrong_command_is_one_sentence(words, hint, capsys):
    assert cli.main(words) == 2
    err = capsys.readouterr().err
    assert hint in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["list", "--jsn"], "--jsn"),
        (["record", "cartpole"], "FILE"),
        (["record", "cartpole", "x.gif", "--steps", "many"], "--steps"),
        (["record", "cartpole", "x.gif", "--policy", "best"], "best"),
    ],
)
def test_a_wrong_option_is_explained(words, part, capsys):
    assert cli.main(words) == 2
    assert part in capsys.readouterr().err
    assert cli.main([*words, "--json"]) == 2
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "overclock.error/1"
    assert part in report["error"]


@pytest.mark.parametrize("name", parse.COMMANDS)
def test_every_command_explains_itself(name, capsys):
    assert cli.main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: overclock {name} ")
    assert "Examples:" in out


def test_list_long_shows_the_spaces(capsys):
    assert cli.main(["list", "--long", "--json"]) == 0
    cartpole = json.loads(capsys.readouterr().out)["environments"][0]
    assert cartpole["action_space"] == {"kind": "Discrete", "n": 2, "shape": [], "dtype": "int32"}
    assert cartpole["observation_space"]["shape"] == [4]
    assert cartpole["observation_space"]["high"][1] is None
    assert (cartpole["num_players"], cartpole["max_steps"]) == (1, 500)
    assert cli.main(["list", "--long"]) == 0
    assert "Discrete(2)" in capsys.readouterr().out


def test_an_interrupt_that_a_finalizer_dropped_is_not_lost(monkeypatch, capsys):
    class Finalized:
        def __del__(self):
            raise KeyboardInterrupt

    class Command:
        def run(self):
            Finalized()
            for _ in range(1000):
                time.sleep(0.01)
            return 0

    monkeypatch.setattr(parse, "parse", lambda words, quiet: Command())
    assert cli.main(["bench"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
