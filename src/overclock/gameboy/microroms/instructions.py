"""Every instruction with operands from the edges of its range; results and flags go to RAM."""

from collections.abc import Iterable

from overclock.gameboy.assembly.instructions import ARITHMETIC, BIT_GROUPS, REGISTERS, SHIFTS
from overclock.gameboy.microroms.micro import MicroRom, Topic, code, micro

EDGES = (0x00, 0x01, 0x08, 0x0F, 0x10, 0x7F, 0x80, 0x99, 0xF0, 0xFF)
WORDS = (0x0000, 0x0001, 0x00FF, 0x0FFF, 0x7FFF, 0x8000, 0xFFFF)
# Keeps a and the flags in the log without changing them; the log pointer is in RAM so that every register is free.
POINTER, PLACE = 0xDF00, 0xD800
KEEP = code(
    "keep:", "push hl", "push af", f"ld hl, {POINTER:#x}", "push de", "ld e, [hl]", "inc hl", "ld d, [hl]", "pop hl",
    "push hl", "push bc", "ld c, e", "ld b, d", "pop de", "push de",  # bc: where to write
    "ld hl, sp + 4", "ld a, [hl+]", "and 0xF0", "ld [bc], a", "inc bc", "ld a, [hl]", "ld [bc], a", "inc bc",
    f"ld hl, {POINTER:#x}", "ld a, c", "ld [hl+], a", "ld a, b", "cp 0xD8", "jr c, .fits", "ld a, 0xC0", ".fits:",
    "ld [hl], a", "pop bc", "pop de", "pop af", "pop hl", "ret",
)  # fmt: skip
SET_POINTER = code("ld hl, 0xC000", "ld a, l", f"ld [{POINTER:#x}], a", "ld a, h", f"ld [{POINTER + 1:#x}], a")


ROMS = Topic()


def _instructions(body: str, after: str = "", frames: int = 6) -> MicroRom:
    return micro(SET_POINTER + body, after=KEEP + after, frames=frames)


def _with_flags(carry: bool) -> str:
    return code("scf") if carry else code("and a")


def _cases() -> Iterable[tuple[int, int, bool]]:
    for left in EDGES:
        for right in EDGES:
            yield left, right, (left + right) % 3 == 0
    yield from ((0xFF, 0x00, True), (0x00, 0xFF, True), (0x0F, 0x00, True), (0x10, 0x0F, True))


@ROMS.each({f"instructions_{operation}": (operation,) for operation in ARITHMETIC})
def _arithmetic(operation: str) -> MicroRom:
    """Results and flags of one of the eight operations."""
    body = ""
    for left, right, carry in _cases():
        body += code(f"ld b, {right}", f"ld a, {left}") + (code("scf") if carry else code("or a", f"ld a, {left}"))
        body += code(f"{operation} a, b", "call keep")
    return _instructions(body)


@ROMS.rom
def instructions_arithmetic_on_every_register() -> MicroRom:
    """Each operand of the eight operations."""
    body = ""
    for operation in ARITHMETIC:
        for i, register in enumerate(REGISTERS):
            body += code(
                f"ld hl, {PLACE:#x}", f"ld [hl], {0x23 + i}", f"ld bc, {0x1234 + i:#x}", f"ld de, {0x5678 + i:#x}"
            )
            body += code("ld a, 0x9C", f"{operation} a, {register}", "call keep")
        body += code("ld a, 0x9C", f"{operation} a, 0x77", "call keep")
    return _instructions(body)


@ROMS.each({f"instructions_{shift}": (shift,) for shift in SHIFTS})
def _shift(shift: str) -> MicroRom:
    """A shift of every register, and its flags."""
    body = ""
    for i, register in enumerate(REGISTERS):
        for value in EDGES:
            body += code(f"ld hl, {PLACE:#x}") + _with_flags((value + i) % 2 == 0)
            body += code(f"ld {register}, {value}", f"{shift} {register}", f"ld a, {register}", "call keep")
    return _instructions(body)


@ROMS.each({f"instructions_{group}": (group,) for group in BIT_GROUPS})
def _bits(group: str) -> MicroRom:
    """BIT, RES or SET of every bit of every register."""
    body = ""
    for number in range(8):
        for i, register in enumerate(REGISTERS):
            value = (0x5A, 0xA5, 0xFF, 0x00)[(number + i) % 4]
            body += code(f"ld hl, {PLACE:#x}") + _with_flags(i % 2 == 0)
            body += code(f"ld {register}, {value}", f"{group} {number}, {register}", f"ld a, {register}", "call keep")
    return _instructions(body)


@ROMS.rom
def instructions_inc_and_dec() -> MicroRom:
    """Counting leaves the carry alone; pairs leave all flags alone."""
    body = ""
    for operation in ("inc", "dec"):
        for register in REGISTERS:
            for value in (0x00, 0x0F, 0x10, 0xFF):
                body += code(f"ld hl, {PLACE:#x}") + _with_flags(value == 0x0F)
                body += code(f"ld {register}, {value}", f"{operation} {register}", f"ld a, {register}", "call keep")
        for pair in ("bc", "de", "hl", "sp"):
            for value in WORDS if pair != "sp" else (0xD7FF, 0xD8FF):
                body += code(f"ld {pair}, {value:#x}", "scf", f"{operation} {pair}", "call keep_pair_" + pair)
    pairs = code("keep_pair_bc:", "ld a, b", "call keep", "ld a, c", "jp keep", "keep_pair_de:", "ld a, d", "call keep")
    pairs += code("ld a, e", "jp keep", "keep_pair_hl:", "ld a, h", "call keep", "ld a, l", "jp keep")
    pairs += code("keep_pair_sp:", "ld hl, sp + 0", "jr keep_pair_hl")
    return _instructions(body, pairs)


@ROMS.rom
def instructions_rotate_a() -> MicroRom:
    """Rotations of a clear the zero flag."""
    body = "".join(
        _with_flags(carry) + code(f"ld a, {value}", rotation, "call keep")
        for rotation in ("rlca", "rrca", "rla", "rra", "cpl", "scf", "ccf")
        for value in EDGES
        for carry in (False, True)
    )
    return _instructions(body)


@ROMS.rom
def instructions_daa() -> MicroRom:
    """DAA for every a and all flags.

    All of a, all flags, through a loop that sets them by pop af.
    """
    body = code("ld de, 0x0000", ".again:", "push de", "pop af", "daa", "call keep", "ld a, e", "add 0x10", "ld e, a")
    body += code("jr nz, .again", "inc d", "jr nz, .again")
    return _instructions(body, frames=30)


@ROMS.rom
def instructions_pop_af() -> MicroRom:
    """The low four bits of f are always zero."""
    body = "".join(code(f"ld de, {value:#x}", "push de", "pop af", "call keep", "push af", "pop bc", "ld a, c",
                        "call keep")
                   for value in (0x0000, 0x12FF, 0xFF0F, 0x34A5, 0xFFF0))  # fmt: skip
    return _instructions(body)


@ROMS.rom
def instructions_add_hl() -> MicroRom:
    """ADD HL carries from bits 11 and 15 and leaves the zero flag alone."""
    body = ""
    for left in WORDS:
        for right in WORDS:
            body += code(
                f"ld hl, {left:#x}", f"ld bc, {right:#x}", "xor a", "add hl, bc", "ld a, h", "call keep", "ld a, l"
            )
            body += code("call keep")
        body += code(
            f"ld hl, {left:#x}", "add hl, hl", "ld a, h", "call keep", "ld de, 0x1234", "add hl, de", "ld a, l"
        )
        body += code("call keep", "add hl, sp", "ld a, h", "call keep")
    return _instructions(body)


@ROMS.rom
def instructions_stack_pointer() -> MicroRom:
    """ADD SP and LD HL, SP+e take their flags from the low byte."""
    body = ""
    for offset in (-128, -1, 0, 1, 15, 16, 127):
        for base in (0xD700, 0xD7FF, 0xD80F):
            body += code(f"ld sp, {base:#x}", f"ld hl, sp + {offset}", "ld sp, 0xDFF0", "call keep", "ld a, h")
            body += code("call keep", "ld a, l", "call keep", f"ld sp, {base:#x}", f"add sp, {offset}")
            body += code(f"ld [{PLACE:#x}], sp", "ld sp, 0xDFF0", "call keep", f"ld a, [{PLACE:#x}]", "call keep")
    body += code(
        "ld hl, 0xD900", "ld sp, hl", f"ld [{PLACE:#x}], sp", "ld sp, 0xDFF0", f"ld a, [{PLACE + 1:#x}]", "call keep"
    )
    return _instructions(body)


@ROMS.rom
def instructions_loads() -> MicroRom:
    """Loads between every two registers."""
    body = ""
    for target in REGISTERS:
        for source in REGISTERS:
            if target == source == "[hl]":
                continue
            body += code("ld bc, 0x1122", "ld de, 0x3344", f"ld hl, {PLACE + 0x10:#x}", "ld [hl], 0x66", "ld a, 0x77")
            body += code(f"ld {target}, {source}")
            body += code(f"ld hl, {PLACE + 0x10:#x}") if target in "hl" else ""
            body += code(f"ld a, {target}" if target not in "hl" else "nop", "call keep")
    return _instructions(body)


@ROMS.rom
def instructions_memory() -> MicroRom:
    """Loads through pairs, with and without counting, and from the echo."""
    body = code(
        f"ld hl, {PLACE:#x}", "ld a, 5", "ld [hl+], a", "inc a", "ld [hl+], a", "inc a", "ld [hl-], a", "ld [hl], 9"
    )
    body += code(
        "ld a, [hl-]", "call keep", "ld a, [hl+]", "call keep", "ld a, [hl+]", "call keep", "ld a, l", "call keep"
    )
    body += code(f"ld bc, {PLACE + 8:#x}", "ld a, 0x42", "ld [bc], a", f"ld de, {PLACE + 8:#x}", "xor a", "ld a, [de]")
    body += code("call keep", "inc de", "ld [de], a", "inc bc", "ld a, [bc]", "call keep", f"ld a, [{PLACE + 9:#x}]")
    body += code(
        "call keep", f"ld [{PLACE + 0x20:#x}], a", f"ld hl, {PLACE + 0x20:#x}", "inc [hl]", "ld a, [hl]", "call keep"
    )
    body += code("ld a, [0xF820]", "call keep", "ld a, [0xFEB0]", "call keep", "ld a, [0xFF03]", "call keep")
    return _instructions(body)


@ROMS.rom
def instructions_stack() -> MicroRom:
    """Push, pop, call, rst and ret."""
    body = code("ld bc, 0x1234", "ld de, 0x5678", "ld hl, 0x9ABC", "push bc", "push de", "push hl", "push af", "pop bc")
    body += code("ld a, b", "call keep", "pop de", "ld a, d", "call keep", "pop hl", "ld a, l", "call keep", "pop af")
    body += code("call keep", "call away", "rst 0x08", "call keep", "rst 0x38", "call keep")
    after = code(
        "away:", "ld a, 0x31", "call keep", "ret", "org 0x08", "inc a", "ret", "org 0x38", "dec a", "dec a", "ret"
    )
    return _instructions(body, after)


@ROMS.rom
def instructions_jumps() -> MicroRom:
    """Conditional jumps, calls and returns."""
    body = ""
    for number, (condition, setup) in enumerate(
        (c, s) for c in ("nz", "z", "nc", "c") for s in ("scf", "xor a", "or 1")
    ):
        body += code(f"ld a, {number}", setup, f"jp {condition}, .j{number}", "ld a, 0xE0", f".j{number}:", "call keep")
        body += code("ld a, 4", setup, f"call {condition}, away_{condition}", "call keep")
        body += code("ld a, 7", setup, f"call back_{condition}", "call keep")
    after = "".join(code(f"away_{c}:", "ld a, 0x55", "ret", f"back_{c}:", f"ret {c}", "ld a, 0x66", "ret")
                    for c in ("nz", "z", "nc", "c"))  # fmt: skip
    body += code("ld hl, .far", "jp hl", "ld a, 0xEE", ".far:", "call keep")
    return _instructions(body, after)


@ROMS.rom
def instructions_relative_jumps() -> MicroRom:
    """JR jumps forwards and backwards."""
    body = ""
    for number, (condition, setup) in enumerate(
        (c, s) for c in ("nz", "z", "nc", "c") for s in ("scf", "xor a", "or 1")
    ):
        body += code(f"ld a, {number}", setup, f"jr {condition}, .r{number}", "ld a, 0xE0", f".r{number}:", "call keep")
    body += code("ld b, 20", ".loop:", "ld a, b", "dec b", "jr nz, .loop", "call keep")
    return _instructions(body)


@ROMS.rom
def instructions_stop() -> MicroRom:
    """STOP stops until a key is pressed.

    On a Game Boy without speeds to switch; what follows the instruction's second byte shows how it goes on.
    """
    body = code(
        "ldh a, [DIV]", "call keep", "ld a, 0x30", "ldh [P1], a", "stop", "ld a, 0x12", "call keep", "ldh a, [DIV]"
    )
    return _instructions(body + code("call keep"))


@ROMS.rom
def instructions_high_page() -> MicroRom:
    """LDH reaches the last page of memory."""
    body = code("ld a, 0x3C", "ldh [0xFF90], a", "xor a", "ldh a, [0xFF90]", "call keep", "ld c, 0x91", "ld a, 0x4D")
    body += code("ldh [c], a", "xor a", "ldh a, [c]", "call keep", "ld a, [0xFF91]", "call keep")
    return _instructions(body)
