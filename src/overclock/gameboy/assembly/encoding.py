"""From an instruction as written to its bytes: which row of the table it is, and where its number goes."""

import dataclasses
import re

from overclock.gameboy.assembly.errors import AssemblyError
from overclock.gameboy.assembly.instructions import INSTRUCTIONS, SPELLINGS, WORDS, Instruction, Number

STACK_OFFSET = re.compile(r"sp\s*([+-].*)", re.IGNORECASE)
LAST_PAGE = 0xFF00


@dataclasses.dataclass(frozen=True)
class Found:
    """A row of the table and the text of the number that belongs to it, if any."""

    instruction: Instruction
    number: str


def find_instruction(mnemonic: str, operands: list[str]) -> Found:
    """The row for a mnemonic with these operands."""
    number, shapes = "", []
    for operand in operands:
        shape, text = _shape(operand)
        number = text or number
        shapes.append(shape)
    key = f"{mnemonic} {','.join(shapes)}".strip()
    instruction = INSTRUCTIONS.get(key)
    if instruction is None:
        raise AssemblyError(f"there is no instruction '{mnemonic} {', '.join(operands)}'.")
    return Found(instruction, number)


def _shape(operand: str) -> tuple[str, str]:
    plain = operand.lower().replace(" ", "")
    plain = SPELLINGS.get(plain, plain)
    if plain in WORDS:
        return plain, ""
    if operand.startswith("[") and operand.endswith("]"):
        return "[#]", operand[1:-1].strip()
    if match := STACK_OFFSET.fullmatch(operand):
        return "sp+#", match[1]
    return "#", operand


def encode(instruction: Instruction, value: int, address: int) -> bytes:
    """The bytes of an instruction at an address, with its number."""
    opcode, last = instruction.opcode, instruction.opcode[-1]
    match instruction.number:
        case Number.NONE:
            return opcode
        case Number.BYTE:
            return opcode + as_byte(value)
        case Number.SIGNED:
            return opcode + as_byte(value, 0x7F)
        case Number.WORD:
            return opcode + as_word(value)
        case Number.RELATIVE:
            distance = value - (address + instruction.size)
            if not -0x80 <= distance <= 0x7F:
                raise AssemblyError(f"the jump to {value:04X} goes {distance} bytes; jr reaches -128 to 127, jp any.")
            return opcode + bytes([distance & 0xFF])
        case Number.HIGH:
            if value >= LAST_PAGE:
                value -= LAST_PAGE
            _check(value, 0, 0xFF)
            return opcode + bytes([value])
        case Number.BIT:
            _check(value, 0, 7)
            return opcode[:-1] + bytes([last + 8 * value])
        case Number.RESTART:
            if value not in range(0, 0x40, 8):
                raise AssemblyError(f"rst goes to 0, 8, ... or 0x38, not to {value:#x}.")
            return bytes([last + value])


def as_byte(value: int, highest: int = 0xFF) -> bytes:
    """A byte, plain or negative."""
    _check(value, -0x80, highest)
    return bytes([value & 0xFF])


def as_word(value: int) -> bytes:
    """Two bytes, the lower one first."""
    _check(value, -0x8000, 0xFFFF)
    return (value & 0xFFFF).to_bytes(2, "little")


def _check(value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise AssemblyError(f"{value} does not fit: it must be between {low} and {high}.")
