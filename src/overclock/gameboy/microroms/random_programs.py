"""Programs from a seed: loads, arithmetic, stack, calls, loops and writes to I/O, straight on and in loops."""

import functools
import random

from overclock.gameboy.assembly.instructions import ARITHMETIC, BIT_GROUPS, REGISTERS, SHIFTS
from overclock.gameboy.microroms.micro import MicroRom, Topic, code, micro, note, store
from overclock.gameboy.microroms.scene import SCENE

COUNT = 12
KINDS = ("straight", "looping", "interrupted", "sounding", "sounding_in_color")
# Registers a random program may write without losing itself; LCDC stays on, and interrupts have handlers.
WRITABLE = (
    "DIV", "TIMA", "TMA", "TAC", "IF", "SCX", "SCY", "BGP", "OBP0", "OBP1", "WX", "WY", "LYC", "STAT", "SB", "P1",
)  # fmt: skip
READABLE = (*WRITABLE, "LY", "SC", "LCDC", "IE")
LCDC_VALUES = (0x91, 0x93, 0x97, 0xB3, 0xF1, 0x81, 0x99, 0xE7)
EIGHT = [register for register in REGISTERS if register != "[hl]"]
PLACE = 0xC400  # hl points here or hereabouts whenever memory is used


ROMS = Topic()


@ROMS.each({f"random_{kind}_{seed}": (kind, seed) for kind in KINDS for seed in range(COUNT)})
def random_rom(kind: str, seed: int) -> MicroRom:
    """The program of a kind that belongs to a seed; the name comes from the topic."""
    makers = {
        "straight": _straight, "looping": _looping, "interrupted": _interrupted, "sounding": _sounding,
        "sounding_in_color": functools.partial(_sounding, cgb=True),
    }  # fmt: skip
    return makers[kind](seed)


def _point(rng: random.Random) -> str:
    return f"ld hl, {PLACE + rng.randrange(0x800):#x}"


def _instruction(rng: random.Random) -> list[str]:
    register, other = rng.choice(EIGHT), rng.choice(EIGHT)
    byte, condition = rng.randrange(256), rng.choice(("nz", "z", "nc", "c"))
    pair = rng.choice(("bc", "de", "hl"))
    kinds = [
        [f"ld {register}, {byte}"], [f"ld {register}, {other}"], [f"{rng.choice(ARITHMETIC)} a, {register}"],
        [f"{rng.choice(ARITHMETIC)} a, {byte}"], [f"{rng.choice(SHIFTS)} {register}"],
        [f"{rng.choice(BIT_GROUPS)} {rng.randrange(8)}, {register}"], [f"inc {register}"], [f"dec {register}"],
        [rng.choice(("daa", "cpl", "scf", "ccf", "rlca", "rrca", "rla", "rra", "nop"))],
        [_point(rng), f"ld [hl], {byte}"], [_point(rng), f"ld {register}, [hl]"],
        [_point(rng), "ld [hl+], a", "ld a, [hl-]"],
        [_point(rng), f"{rng.choice(ARITHMETIC)} a, [hl]"], [_point(rng), f"{rng.choice(SHIFTS)} [hl]"],
        [_point(rng), f"{rng.choice(BIT_GROUPS)} {rng.randrange(8)}, [hl]"], [_point(rng), "inc [hl]"],
        [f"ld {pair}, {rng.randrange(0x10000):#x}"], [f"inc {pair}"], [f"dec {pair}"], [f"add hl, {pair}"],
        [f"push {pair}", f"pop {rng.choice(('bc', 'de', 'hl', 'af'))}"], ["push af", f"pop {pair}"],
        [f"ld hl, sp + {rng.randrange(-16, 16)}"], [f"add sp, {(n := rng.randrange(1, 8))}", f"add sp, {-n}"],
        [f"ldh a, [{rng.choice(READABLE)}]"], [f"ld a, {byte}", f"ldh [{rng.choice(WRITABLE)}], a"],
        [f"ld a, {rng.choice(LCDC_VALUES):#x}", "ldh [LCDC], a"], [f"jr {condition}, @ + 3", f"inc {register}"],
        [f"ld [{PLACE + rng.randrange(0x800):#x}], a"], [f"ld a, [{PLACE + rng.randrange(0x800):#x}]"],
        [f"ld de, {0x8000 + rng.randrange(0x2000):#x}", "ld [de], a"],
        [f"ld bc, {0xFE00 + rng.randrange(0xA0):#x}", "ld [bc], a"],
        [f"ld de, {0x8000 + rng.randrange(0x2000):#x}", "ld a, [de]"], ["call helper"], [f"call {condition}, helper"],
        [f"ld [{PLACE + rng.randrange(0x700):#x}], sp"],
    ]  # fmt: skip
    return rng.choice(kinds)


def _block(rng: random.Random, count: int) -> str:
    return code(*(line for _ in range(count) for line in _instruction(rng)))


HELPER = code("helper:", "push af", "ld a, [0xC3F0]", "inc a", "ld [0xC3F0], a", "pop af", "ret")


def _straight(seed: int) -> MicroRom:
    rng = random.Random(f"straight {seed}")
    body = "".join(_block(rng, 25) + code(f"ld [{0xC000 + 2 * i:#x}], a", "push af", "pop hl", "ld a, l",
                                          f"ld [{0xC001 + 2 * i:#x}], a") for i in range(60))  # fmt: skip
    return micro(body, after=HELPER, frames=4)


def _looping(seed: int) -> MicroRom:
    rng = random.Random(f"looping {seed}")
    body = code("call scene") + store("LCDC", 0xF3) + code("outer:")
    for i in range(12):
        body += code(f"ld a, {rng.randrange(2, 30)}", f"ld [{0xC3E0 + i:#x}], a", f"round_{i}:") + _block(rng, 20)
        body += code(f"ld a, [{0xC3E0 + i:#x}]", "dec a", f"ld [{0xC3E0 + i:#x}], a", f"jp nz, round_{i}")
    return micro(body + code("jp outer"), after=HELPER + SCENE, frames=30)


def _interrupted(seed: int) -> MicroRom:
    """The same with interrupts of every kind, and HALT."""
    rng = random.Random(f"interrupted {seed}")
    body = (
        store("IE", rng.choice((1, 3, 5, 7, 0x0F)))
        + store("TMA", rng.randrange(256))
        + store("TAC", 4 | rng.randrange(4))
    )
    body += store("LYC", rng.randrange(154))
    body += store("STAT", rng.choice((0x40, 0x08, 0x20, 0x68))) + code("ei", "outer:")
    for i in range(10):
        body += code(f"ld a, {rng.randrange(2, 12)}", f"ld [{0xC3E0 + i:#x}], a", f"round_{i}:") + _block(rng, 16)
        body += rng.choice(
            ("", code("ld a, 0x81", "ldh [SC], a"), code("di", "nop", "ei"), code("ld a, 1", "ldh [IF], a"))
        )
        body += code("halt", "nop") if rng.random() < 0.4 else ""
        body += code(f"ld a, [{0xC3E0 + i:#x}]", "dec a", f"ld [{0xC3E0 + i:#x}], a", f"jp nz, round_{i}")
    count = code("push af", "push hl", "ld hl, {}", "inc [hl]", "ldh a, [DIV]", "inc hl", "ld [hl], a")
    count += code("pop hl", "pop af", "reti")
    names = ("vblank", "stat", "timer", "serial")
    handlers = {vector: count.format(hex(0xC3C0 + 2 * i)) for i, vector in enumerate(names)}
    return micro(body + code("jp outer"), handlers=handlers, after=HELPER, frames=30)


CONTROLS = ("NR14", "NR24", "NR34", "NR44")
SOUNDS = (
    "NR10", "NR11", "NR12", "NR13", "NR21", "NR22", "NR23", "NR30", "NR31", "NR32", "NR33", "NR41", "NR42", "NR43",
)  # fmt: skip
LEVELS = ("0xFF76", "0xFF77")  # what the channels play at the moment: only a Game Boy Color shows it


def _sound_value(rng: random.Random, register: str) -> int:
    """Anything, but mostly what is heard: short lengths, converters that are on, high tones."""
    usual = {
        "NR11": 0x38, "NR21": 0x38, "NR31": 0xF0, "NR41": 0x38, "NR12": 0x80, "NR22": 0x80, "NR42": 0x80, "NR30": 0x80,
        "NR13": 0xF0, "NR23": 0xF0, "NR33": 0xF0,
    }  # fmt: skip
    high = 7 if rng.random() < 0.6 else 0
    if register in CONTROLS:
        return rng.choice((0x00, 0x40, 0x80, 0x80, 0xC0, 0xC0)) | (high or rng.randrange(8))
    return rng.randrange(256) | (usual.get(register, 0) if rng.random() < 0.8 else 0)


def _sounding(seed: int, cgb: bool = False) -> MicroRom:
    """Writes to sound registers, waits of any length, and all that can be seen of the sound."""
    rng = random.Random(f"sounding {seed} {cgb}")
    seen = ("NR52", "NR52", "WAVE + 3", *(LEVELS * 3 if cgb else ()))
    body = store("NR52", 0) + store("NR52", 0x80) + code("outer:")
    for i in range(180):
        draw = rng.random()
        if draw < 0.45:
            register = rng.choice((*SOUNDS, *CONTROLS, *CONTROLS))
            body += store(register, _sound_value(rng, register))
        elif draw < 0.5:
            body += store(*rng.choice((("DIV", 0), ("NR52", 0x80), ("NR52", 0), ("WAVE + 7", rng.randrange(256)))))
        elif draw < 0.8:
            rounds = rng.choice((1, 2, rng.randrange(1, 40), rng.randrange(1, 256)))
            body += code(f"ld b, {rounds}", f".w{i}:", "dec b", f"jr nz, .w{i}", *["nop"] * rng.randrange(4))
        else:
            body += note(rng.choice(seen))
    body += code("ld a, h", "cp 0xDE", "jp c, outer")
    return micro(body, frames=60, cgb=cgb, sound=True)
