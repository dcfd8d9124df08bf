"""Text becomes the bytes that the public opcode table says, and a mistake becomes a sentence with its line."""

import re
import subprocess
import sys

import pytest
from gameboy import opcodes

from overclock.errors import UsageError
from overclock.gameboy import Cartridge, assemble, assemble_flat

PLACE = 0x150
NUMBERS = {"n8": ("0x5A", b"\x5a"), "n16": ("0x1234", b"\x34\x12"), "a8": ("0xFF80", b"\x80"), "e8": ("-5", b"\xfb")}


def code(text, size=16):
    return assemble_flat(text, size).rom


def bytes_at_start(text, count, **options):
    return assemble(text, **options).rom[PLACE : PLACE + count]


@pytest.mark.parametrize(("opcode", "instruction"), opcodes.plain().items())
def test_an_instruction_has_the_opcode_of_the_table(opcode, instruction):
    operand = b""
    for placeholder, (number, encoded) in NUMBERS.items():
        if re.search(rf"\b{placeholder}\b", instruction):
            jump = instruction.startswith("jr")
            instruction = instruction.replace(placeholder, f"@ + 2 + {number}" if jump else number)
            operand = encoded
    expected = bytes([opcode]) + operand + (b"\0" if opcode == 0x10 else b"")
    assert bytes_at_start(instruction, len(expected)) == expected


@pytest.mark.parametrize(("opcode", "instruction"), opcodes.prefixed().items())
def test_an_instruction_behind_cb_has_the_opcode_of_the_table(opcode, instruction):
    assert code(instruction)[:2] == bytes([0xCB, opcode])


def test_every_opcode_can_be_written():
    assert len(opcodes.plain()) == 256 - 11 - 1  # eleven are unused, one is the prefix CB
    assert len(opcodes.prefixed()) == 256


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("add b", "add a,b"),
        ("cp 3", "cp a,3"),
        ("ld a,[hli]", "ld a,[hl+]"),
        ("LD A , [HL-]", "ld a,[hl-]"),
        ("ld [$ff00+c],a", "ldh [c],a"),
        ("ldh a,[0x44]", "ldh a,[LY]"),
        ("jp [hl]", "jp hl"),
        ("ld hl, sp - 2", "ld hl,sp+-2"),
    ],
)
def test_an_instruction_may_be_spelled_in_two_ways(written, same):
    assert code(written) == code(same)


def test_labels_and_constants_may_be_used_before_they_are_defined():
    text = """
    start: jp later
    .loop: jr .loop
    later: ld a, TWICE
    .loop: jr start.loop
    TWICE equ ONCE * 2
    ONCE equ 0x11
    """
    assert code(text)[:9] == bytes([0xC3, 5, 0, 0x18, 0xFE, 0x3E, 0x22, 0x18, 0xFA])


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-1 & 0xFF", 255),
        ("0b1010 | %101", 15),
        ("$1F ^ 1", 30),
        ("1 << 4 >> 1", 8),
        ("low(0x1234)", 0x34),
        ("high(0x1234)", 0x12),
        ("'A'", 65),
        ("10 - 3 - 2", 5),
        ("7 % 4", 3),
        ("~0 & 15", 15),
        ("2 == 2", 1),
        ("1 > 2", 0),
        ("!0", 1),
        ("1_000 / 10", 100),
    ],
)
def test_expressions_are_worked_out(expression, value):
    assert code(f"db {expression}")[0] == value


def test_data_is_laid_out_as_written():
    assert code('db 1, "AB", -1\ndw 0x1234\nds 2, 7')[:8] == bytes([1, 65, 66, 255, 0x34, 0x12, 7, 7])


def test_characters_can_be_mapped_to_tiles():
    assert code('charmap "0123", 0x10\ndb "302", \'1\'')[:4] == bytes([0x13, 0x10, 0x12, 0x11])


def test_pixels_become_two_bit_planes():
    assert code("pixels .1.2.3..")[:2] == bytes([0b01000100, 0b00010100])


def test_comments_end_a_line_except_in_quotes():
    assert code('db ";" ; a comment "with quotes"')[:2] == b";\0"


def test_banks_lie_one_after_the_other():
    text = "start: ld a, bank(far)\n ld hl, far\n bank 3\n far: db 0x77\n bank 0\n db 0x55"
    program = assemble(text, cartridge=Cartridge(kind="mbc1"))
    assert len(program.rom) == 4 * 0x4000
    assert program.rom[3 * 0x4000] == 0x77
    assert program.rom[PLACE : PLACE + 6] == bytes([0x3E, 3, 0x21, 0x00, 0x40, 0x55])
    assert str(program.symbols["far"]) == "03:4000"


def test_names_of_ram_take_no_bytes():
    program = assemble("org 0xC000\nscore: ds 2\nlives: ds 1\norg 0x150\nld a, [lives]")
    assert program.symbols["lives"].address == 0xC002
    assert program.rom[PLACE : PLACE + 3] == bytes([0xFA, 0x02, 0xC0])


def test_symbols_can_be_given_from_outside():
    assert bytes_at_start("ld a, SPEED", 2, symbols={"SPEED": 9}) == bytes([0x3E, 9])


def test_files_can_be_included(tmp_path):
    (tmp_path / "part.asm").write_text("db 2\ndb 3")
    assert bytes_at_start('db 1\ninclude "part.asm"\ndb 4', 4, folder=tmp_path) == bytes([1, 2, 3, 4])
    (tmp_path / "part.asm").write_text("db 2\nfoo")
    with pytest.raises(UsageError, match=re.escape("part.asm:2: 'foo' is neither an instruction nor a directive.")):
        assemble('include "part.asm"', folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nop\nfoo a", "game.asm:2: 'foo' is neither an instruction nor a directive."),
        ("ld b, [bc]", "game.asm:1: there is no instruction 'ld b, [bc]'."),
        ("x: nop\nx: nop", "game.asm:2: x is defined twice."),
        (".x: nop", "game.asm:1: the local label .x stands before any other label."),
        ("jp nowhere", "game.asm:1: nowhere is not defined."),
        ("jr 0x1000", "game.asm:1: the jump to 1000 goes 3758 bytes; jr reaches -128 to 127, jp any."),
        ("ld a, 256", "game.asm:1: 256 does not fit: it must be between -128 and 255."),
        ("rst 5", "game.asm:1: rst goes to 0, 8, ... or 0x38, not to 0x5."),
        ("bit 8, a", "game.asm:1: 8 does not fit: it must be between 0 and 7."),
        ("ld a,", "game.asm:1: an operand is missing in 'a,'."),
        ("A equ B\nB equ A\ndb A", "game.asm:3: A is defined by itself."),
        ("db 1 / 0", "game.asm:1: a number is divided by zero."),
        ("db 1 +", "game.asm:1: '1 +' is not a number."),
        ("db (1", "game.asm:1: '(1' lacks a ')'."),
        ("db 1 2", "game.asm:1: '1 2' has something behind its end: '2'."),
        ("db size(1)", "game.asm:1: there is no function size(); there are low, high and bank."),
        ('db "abc', 'game.asm:1: the string "abc does not end.'),
        ("org 0xC000\ndb 1", "game.asm:2: bytes cannot be put at C000: only ROM has content."),
        ("org 0x3FFF\ndw 1", "game.asm:2: this ends at 4001, behind the end of its bank or memory at 4000."),
        ("org 0x200\ndb 1\norg 0x200\ndb 2", "game.asm:4: two things are at 0200 of bank 0."),
        ("pixels 1234", "game.asm:1: a row of pixels is 8 of the characters . 0 1 2 3, not '1234'."),
        ('assert 1 == 2, "one is not two"', "game.asm:1: one is not two"),
        ('include "none.asm"', "game.asm:1: there is no file none.asm to include."),
        ("bank 512", "game.asm:1: there is no bank 512; banks are 0 to 511."),
    ],
)
def test_a_mistake_is_one_sentence_with_its_line(text, sentence):
    with pytest.raises(UsageError) as caught:
        assemble(text, name="game.asm")
    assert str(caught.value) == sentence


def test_code_that_is_too_long_for_its_place_is_refused():
    with pytest.raises(UsageError, match="the code is 3 bytes long; 2 are there for it"):
        assemble_flat("ds 3, 1", 2)


def test_importing_the_room_does_not_import_jax():
    modules = "assembly.assembler boot comparing console description games microroms native_console pyboy.console"
    imports = "".join(f"import overclock.gameboy.{module}; " for module in modules.split())
    script = f"{imports}import sys; sys.exit('jax' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
