"""`python -m overclock.gameboy check`, and the script that measures ROMs: what they print, and how they refuse."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyboy", reason="PyBoy is the reference: pip install 'overclock[gameboy]'")
pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")

from overclock.errors import UsageError
from overclock.gameboy import __main__ as command
from overclock.gameboy.comparing import Mismatch
from overclock.gameboy.console import Difference

SPEED = Path(__file__).parents[2] / "scripts" / "gameboy_speed.py"


def test_episodes_are_compared_with_a_seed_each(capsys):
    assert command.main(["check", "paddle", "--fuzz", "5", "--episodes", "2"]) == 0
    said = capsys.readouterr().out
    assert "same    paddle, 2 episodes" in said
    assert "1 of 1 are the same" in said


def test_the_seed_of_a_difference_is_told(capsys, monkeypatch):
    wrong = Mismatch(3, 40, (Difference("register", "A", "0001", "0002"),), ((0x150, 0x150),))
    monkeypatch.setattr(command, "check_rom", lambda rom, seed: wrong if seed == 6 else None)
    assert command.main(["check", "paddle", "--fuzz", "5", "--episodes", "4"]) == 1
    said = capsys.readouterr().out
    assert "differs paddle --fuzz 6" in said
    assert "register A: PyBoy has 0001, ours 0002" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["nothing-like-it"], "no ROM of ours has nothing-like-it"), (["--episodes", "0"], "must be at least 1")],
)
def test_what_cannot_be_checked_is_refused(words, sentence, capsys):
    with pytest.raises(SystemExit):
        command.main(["check", *words])
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "The ROM .*game.gb cannot be read: No such file or directory."),
        (b"short", "game.gb: This ROM has 5 bytes; a Game Boy ROM has at least 32768."),
        (np.random.default_rng(0).bytes(0x8000), "game.gb: The ROM's header names cartridge type"),
    ],
)
def test_a_rom_that_cannot_be_measured_is_one_sentence(content, sentence, tmp_path):
    spec = importlib.util.spec_from_file_location("gameboy_speed", SPEED)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    if content is not None:
        (tmp_path / "game.gb").write_bytes(content)
    with pytest.raises(UsageError, match=sentence):
        script.own_rom(str(tmp_path / "game.gb"))
