"""The SM83's instructions as a table from how they are written to how they are encoded, all 500 of them.

A key is the mnemonic and its operands without blanks, where `#` stands for a number: "ld a,[#]", "bit #,[hl]".
"""

import dataclasses
import enum

REGISTERS = ("b", "c", "d", "e", "h", "l", "[hl]", "a")  # in the order of their three bits
PAIRS = ("bc", "de", "hl", "sp")
STACK_PAIRS = ("bc", "de", "hl", "af")
CONDITIONS = ("nz", "z", "nc", "c")
ARITHMETIC = ("add", "adc", "sub", "sbc", "and", "xor", "or", "cp")
SHIFTS = ("rlc", "rrc", "rl", "rr", "sla", "sra", "swap", "srl")
BIT_GROUPS = ("bit", "res", "set")

# What an operand may be besides a number and a number in brackets.
WORDS = frozenset({*REGISTERS, *PAIRS, "af", "nz", "z", "nc", "[bc]", "[de]", "[hl+]", "[hl-]", "[c]"})
SPELLINGS = {"[hli]": "[hl+]", "[hld]": "[hl-]", "[0xff00+c]": "[c]", "[$ff00+c]": "[c]"}


class Number(enum.Enum):
    """How the number in an instruction is encoded."""

    NONE = 0
    BYTE = 1  # one byte, -128 to 255
    WORD = 2  # two bytes
    SIGNED = 3  # one byte, -128 to 127
    RELATIVE = 4  # the distance from the next instruction
    HIGH = 5  # the low byte of an address in the last page
    BIT = 6  # three bits inside the opcode
    RESTART = 7  # one of eight addresses, inside the opcode


OPERAND_BYTES = {Number.BYTE: 1, Number.WORD: 2, Number.SIGNED: 1, Number.RELATIVE: 1, Number.HIGH: 1}


@dataclasses.dataclass(frozen=True)
class Instruction:
    """How one instruction is encoded: opcode, operand bytes and prefix."""

    opcode: bytes
    number: Number = Number.NONE

    @property
    def size(self) -> int:
        return len(self.opcode) + OPERAND_BYTES.get(self.number, 0)


def _plain() -> dict[str, Instruction]:
    single = {
        0x00: "nop", 0x07: "rlca", 0x0F: "rrca", 0x17: "rla", 0x1F: "rra", 0x27: "daa", 0x2F: "cpl", 0x37: "scf",
        0x3F: "ccf", 0x76: "halt", 0xC9: "ret", 0xD9: "reti", 0xE9: "jp hl", 0xF3: "di", 0xF9: "ld sp,hl", 0xFB: "ei",
        0x02: "ld [bc],a", 0x12: "ld [de],a", 0x22: "ld [hl+],a", 0x32: "ld [hl-],a",
        0x0A: "ld a,[bc]", 0x1A: "ld a,[de]", 0x2A: "ld a,[hl+]", 0x3A: "ld a,[hl-]",
        0xE2: "ldh [c],a", 0xF2: "ldh a,[c]",
    }  # fmt: skip
    with_number = {
        0x08: ("ld [#],sp", Number.WORD), 0x18: ("jr #", Number.RELATIVE), 0xC3: ("jp #", Number.WORD),
        0xCD: ("call #", Number.WORD), 0xE0: ("ldh [#],a", Number.HIGH), 0xE8: ("add sp,#", Number.SIGNED),
        0xEA: ("ld [#],a", Number.WORD), 0xF0: ("ldh a,[#]", Number.HIGH), 0xF8: ("ld hl,sp+#", Number.SIGNED),
        0xFA: ("ld a,[#]", Number.WORD), 0xC7: ("rst #", Number.RESTART),
    }  # fmt: skip
    table = {key: Instruction(bytes([opcode])) for opcode, key in single.items()}
    table |= {key: Instruction(bytes([opcode]), number) for opcode, (key, number) in with_number.items()}
    table["stop"] = Instruction(b"\x10\x00")
    table["jp [hl]"] = table["jp hl"]
    table["ld [c],a"], table["ld a,[c]"] = table["ldh [c],a"], table["ldh a,[c]"]
    return table


def _regular() -> dict[str, Instruction]:
    table: dict[str, Instruction] = {}

    def put(key: str, opcode: int, number: Number = Number.NONE) -> None:
        table[key] = Instruction(bytes([opcode]), number)

    for i, register in enumerate(REGISTERS):
        put(f"inc {register}", 0x04 + 8 * i)
        put(f"dec {register}", 0x05 + 8 * i)
        put(f"ld {register},#", 0x06 + 8 * i, Number.BYTE)
        for j, source in enumerate(REGISTERS):
            if register != source or register != "[hl]":  # that place in the table is halt
                put(f"ld {register},{source}", 0x40 + 8 * i + j)
    for i, operation in enumerate(ARITHMETIC):
        for accumulator in ("", "a,"):
            for j, source in enumerate(REGISTERS):
                put(f"{operation} {accumulator}{source}", 0x80 + 8 * i + j)
            put(f"{operation} {accumulator}#", 0xC6 + 8 * i, Number.BYTE)
    for i, pair in enumerate(PAIRS):
        put(f"ld {pair},#", 0x01 + 16 * i, Number.WORD)
        put(f"inc {pair}", 0x03 + 16 * i)
        put(f"add hl,{pair}", 0x09 + 16 * i)
        put(f"dec {pair}", 0x0B + 16 * i)
        put(f"pop {STACK_PAIRS[i]}", 0xC1 + 16 * i)
        put(f"push {STACK_PAIRS[i]}", 0xC5 + 16 * i)
    for i, condition in enumerate(CONDITIONS):
        put(f"jr {condition},#", 0x20 + 8 * i, Number.RELATIVE)
        put(f"ret {condition}", 0xC0 + 8 * i)
        put(f"jp {condition},#", 0xC2 + 8 * i, Number.WORD)
        put(f"call {condition},#", 0xC4 + 8 * i, Number.WORD)
    return table


def _prefixed() -> dict[str, Instruction]:
    table: dict[str, Instruction] = {}
    for j, register in enumerate(REGISTERS):
        for i, shift in enumerate(SHIFTS):
            table[f"{shift} {register}"] = Instruction(bytes([0xCB, 8 * i + j]))
        for i, group in enumerate(BIT_GROUPS):
            table[f"{group} #,{register}"] = Instruction(bytes([0xCB, 0x40 + 0x40 * i + j]), Number.BIT)
    return table


INSTRUCTIONS: dict[str, Instruction] = {**_plain(), **_regular(), **_prefixed()}
MNEMONICS = frozenset(key.split()[0] for key in INSTRUCTIONS)
