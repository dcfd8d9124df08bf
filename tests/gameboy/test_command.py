"""`python -m overclock.gameboy check`, and the script that measures ROMs: what they print, and how they refuse."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyboy", reason="PyBoy is the reference: pip install 'overclock[gameboy]'")
pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")

from overclock.errors import MissingError, UsageError
from overclock.gameboy import __main__ as command
from overclock.gameboy import assemble
from overclock.gameboy.comparing import Mismatch
from overclock.gameboy.console import Difference
from overclock.gameboy.microroms.micro import code
from overclock.gameboy.suite import PATIENCE, PYBOY, Apart

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
    [
        (["check", "nothing-like-it"], "no ROM of ours has nothing-like-it"),
        (["check", "--episodes", "0"], "must be at least 1"),
        (["check", "joypad", "--fuzz", "-1"], "--fuzz must be a seed of 0 or more, got -1"),
        (["trace", "nope", "--frame", "3"], "no ROM of ours is called nope"),
        (["trace", "maze", "--frame", "0"], "--frame and --last must be at least 1"),
        (["trace", "maze", "--frame", "20", "--last", "-5"], "--frame and --last must be at least 1"),
    ],
)
def test_what_cannot_be_done_is_refused(words, sentence, capsys):
    with pytest.raises(SystemExit):
        command.main(words)
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


SAYS = """
    org 0x150
start:
    ld bc, {bc}
    ld de, 0x080D
    ld hl, 0x1522
end:
    jr end
"""


def test_a_suite_tells_who_passes(tmp_path, capsys):
    for name, bc in (("good", 0x0305), ("silent", 0x0306)):
        (tmp_path / f"{name}.gb").write_bytes(assemble(SAYS.format(bc=bc), name=name).rom)
    assert command.main(["suite", str(tmp_path), "--frames", "30"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1].split() == ["ROM", "PyBoy", "pyboy", "hardware"]
    assert said[2].split() == ["good.gb", "pass", "pass", "pass"]
    assert said[3].split() == ["silent.gb", "-", "-", "-"]
    assert said[4] == "passed of 2: PyBoy 1, pyboy 1, hardware 1"


def test_a_suite_tells_why_a_rom_said_nothing(tmp_path, capsys):
    (tmp_path / "folder.gb").mkdir()
    (tmp_path / "folder.gb" / "empty.gb").write_bytes(b"")
    (tmp_path / "short.gbc").write_bytes(b"short")
    assert command.main(["suite", str(tmp_path), "--frames", "30"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[2].split() == ["folder.gb/empty.gb", "-", "-", "-"]
    assert said[3].startswith("    PyBoy: ")
    assert said[4] == "    pyboy, hardware: This ROM has 0 bytes; a Game Boy ROM has at least 32768."
    assert said[5].split() == ["short.gbc", "-", "-", "-"]
    assert said[7] == "    pyboy, hardware: This ROM has 5 bytes; a Game Boy ROM has at least 32768."
    assert said[8] == "passed of 2: PyBoy 0, pyboy 0, hardware 0"


def test_a_link_that_leads_nowhere_is_told(tmp_path, capsys):
    (tmp_path / "around.gb").symlink_to(tmp_path / "around.gb")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.gb").symlink_to(tmp_path / "folder")
    (tmp_path / "gone.gb").symlink_to(tmp_path / "nowhere")
    assert command.main(["suite", str(tmp_path), "--frames", "30"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[2].split() == ["around.gb", "-", "-", "-"]
    assert said[3].startswith("    PyBoy, pyboy, hardware: The file cannot be read: Too many levels of symbolic links")
    assert said[4].split() == ["gone.gb", "-", "-", "-"]
    assert said[5] == "    PyBoy, pyboy, hardware: The file cannot be read: No such file or directory."
    assert said[6] == "passed of 2: PyBoy 0, pyboy 0, hardware 0"


def test_a_rom_that_cannot_be_read_is_told_and_the_others_run(tmp_path, capsys, monkeypatch):
    for name in ("good", "locked"):
        (tmp_path / f"{name}.gb").write_bytes(assemble(SAYS.format(bc=0x0305), name=name).rom)
    read = Path.read_bytes

    def refused(path):
        if path.name == "locked.gb":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    assert command.main(["suite", str(tmp_path), "--frames", "30"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[2].split() == ["good.gb", "pass", "pass", "pass"]
    assert said[4] == "    PyBoy, pyboy, hardware: The file cannot be read: Permission denied."


@pytest.mark.parametrize(("word", "verdict"), [("Passed", "pass"), ("Failed", "fail"), ("Pass", "-")])
def test_a_suite_can_print_its_verdict_to_the_serial_port(word, verdict, tmp_path, capsys):
    lines = ["org 0x150", "start:"]
    for letter in word.encode():
        lines += [f"ld a, {letter}", "ldh [0xFF01], a", "ld a, 0x81", "ldh [0xFF02], a", "ld b, 0"]
        lines += [f".wait{len(lines)}:", "push hl", "pop hl", "dec b", f"jr nz, .wait{len(lines)}"]
    text = code(*lines, "end:", "jr end")
    (tmp_path / "prints.gb").write_bytes(assemble(text, name="prints").rom)
    assert command.main(["suite", str(tmp_path), "--frames", "30"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split() == ["prints.gb", verdict, verdict, verdict]


def test_a_suite_can_leave_its_verdict_in_memory(tmp_path, capsys):
    # PyBoy's serial port is four times too fast.
    text = code("org 0x150", "start:", "ld a, 0x81", "ldh [0xFF02], a", "ld b, 200", ".wait:", "dec b", "jr nz, .wait")
    text += code("ldh a, [0xFF02]", "rlca", "and 1", "xor 1", "inc a", "ldh [0xFF82], a", "end:", "jr end")
    (tmp_path / "serial.gb").write_bytes(assemble(text, name="serial").rom)
    assert command.main(["suite", str(tmp_path), "--frames", "30", "--verdict", "FF82:01:02"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split() == ["serial.gb", "fail", "fail", "pass"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "There is no .gb or .gbc file"),
        (["--verdict", "FF82"], "--verdict must look like"),
        (["--verdict", "12345:01:FF"], "an address up to FFFF"),
        (["--verdict", "FF82:1FF:FF"], "two different bytes"),
        (["--verdict", "FF82:01:01"], "two different bytes"),
        (["--frames", "0"], "--frames must be at least 1"),
    ],
)
def test_what_is_no_suite_is_refused(words, sentence, tmp_path, capsys):
    with pytest.raises(SystemExit):
        command.main(["suite", str(tmp_path), *words])
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("place", ["nowhere", "file.gb"])
def test_a_suite_is_a_folder(place, tmp_path, capsys):
    (tmp_path / "file.gb").write_bytes(b"")
    with pytest.raises(SystemExit):
        command.main(["suite", str(tmp_path / place)])
    assert f"{place} is not a folder; give one with .gb or .gbc files in it." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["check", "joypad"], ["trace", "maze", "--frame", "3"]])
def test_without_pyboy_there_is_nothing_to_compare_with(words, monkeypatch, capsys):
    def missing(*_, **__):
        raise MissingError("There is no PyBoy.")

    monkeypatch.setattr(command, "check_rom", missing)
    monkeypatch.setattr(command, "trace", missing)
    with pytest.raises(SystemExit):
        command.main(words)
    assert "There is no PyBoy." in capsys.readouterr().err


def test_a_suite_without_an_emulator_is_refused(monkeypatch, tmp_path, capsys):
    """Nothing would be said of any ROM, which is no agreement."""

    def missing():
        raise MissingError("There is no emulator.")

    monkeypatch.setattr("overclock.gameboy.suite.import_gameboy", missing)
    with pytest.raises(SystemExit):
        command.main(["suite", str(tmp_path)])
    assert "There is no emulator." in capsys.readouterr().err


def test_a_rom_from_which_pyboy_never_comes_back_is_left():
    rom = assemble(code("org 0x150", "start:", "db 0xD3"), name="stuck").rom
    with Apart(seconds=3.0) as apart:
        left = apart.outcome(rom, PYBOY, False, None, 30)
        assert (left.said, left.why) == (None, "It did not come back within 3 seconds.")
        apart.seconds = PATIENCE
        good = assemble(SAYS.format(bc=0x0305), name="good").rom
        assert apart.outcome(good, PYBOY, False, None, 30).said is True
