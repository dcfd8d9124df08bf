"""OAM DMA, the serial port and the joypad."""

from overclock.gameboy.microroms.micro import FILL, MicroRom, Topic, code, fill_c100, micro, nops, note, store
from overclock.gameboy.microroms.scene import SCENE, sprite_table

DMA_SOURCES = {"rom": 0x01, "vram": 0x80, "wram": 0xC1, "echo": 0xE1, "oam": 0xFE, "registers": 0xFF}
# Runs from HRAM: starts the transfer from page b and waits until it is over.
DMA_ROUTINE = code(
    "dma_routine:", "ld a, b", "ldh [DMA], a", "ld a, 40", ".wait:", "dec a", "jr nz, .wait", "ret", ".end:"
)
COPY_ROUTINE = code(
    "copy_routine:", "push hl", "ld hl, dma_routine", "ld de, HRAM", "ld c, dma_routine.end - dma_routine", ".next:",
    "ld a, [hl+]", "ld [de], a", "inc de", "dec c", "jr nz, .next", "pop hl", "ret",
)  # fmt: skip
ROUTINES = DMA_ROUTINE + COPY_ROUTINE + FILL


ROMS = Topic()


@ROMS.each({f"dma_from_{name}": (page,) for name, page in DMA_SOURCES.items()})
def _dma_from(page: int) -> MicroRom:
    """OAM DMA copies 160 bytes of a page."""
    body = code("push hl", "ld de, 0xC100", "ld bc, 0x0200", "call fill", "ld de, 0x8000", "ld bc, 0x0100", "call fill")
    body += code("pop hl", "call copy_routine", f"ld b, {page:#x}", "call HRAM", "ld b, 40", "ld de, OAM", ".read:")
    body += code("ld a, [de]", "inc de", "ld [hl+], a", "dec b", "jr nz, .read")
    return micro(body, after=ROUTINES)


@ROMS.rom
def dma_hides_oam_while_it_runs() -> MicroRom:
    """OAM reads as FF during a transfer.

    What a program in HRAM sees of OAM and of the rest while a transfer goes on.
    """
    routine = code("routine:", "ld a, 0xC1", "ldh [DMA], a") + code("ld a, [0xFE00]", "ld [hl+], a") * 8
    routine += code("ld a, [0xC105]", "ld [hl+], a", "ld a, [0xFE9F]", "ld [hl+], a", "ld a, 50", ".wait:", "dec a")
    routine += code("jr nz, .wait", "ld a, [0xFE00]", "ld [hl+], a", "ld a, [0xFE9F]", "ld [hl+], a", "ret", ".end:")
    body = code("push hl", "ld de, 0xC100", "ld bc, 0x0100", "call fill", "ld hl, routine", "ld de, HRAM")
    body += code(
        "ld c, routine.end - routine", ".next:", "ld a, [hl+]", "ld [de], a", "inc de", "dec c", "jr nz, .next"
    )
    body += code("ld hl, 0xC400", "call HRAM", "pop hl")
    return micro(body, after=routine + FILL)


@ROMS.rom
def dma_hides_oam_from_its_first_byte_on() -> MicroRom:
    """OAM is there until the first byte is due.

    OAM is there until the first byte is due, and not while a transfer that went on before is started again.
    """
    body = code("push hl", "ld de, 0xC100", "ld bc, 0x0100", "call fill", "pop hl", "ld de, DMA")
    for wait in range(4):
        for read in (["ld a, [bc]"], ["ld a, [0xFE10]"], ["pop bc", "ld a, b"]):
            body += code("ld bc, 0xFE10", "ld sp, 0xFE10", "ld a, 0xC1", "ld [de], a") + nops(wait)
            body += code(*read, "ld [hl+], a", "ld sp, 0xDFF0") + nops(180)
    body += code("ld bc, 0xFE10", "ld a, 0xC1", "ld [de], a", *["nop"] * 20, "ld [de], a", "ld a, [bc]", "ld [hl+], a")
    for wait in range(4):  # started again before the first byte was due
        body += code("ld a, 0xC1", "ld [de], a", "ld [de], a") + nops(wait)
        body += code("ld a, [bc]", "ld [hl+], a") + nops(180)
    for wait in range(156, 166):  # and what LD A,[HL] sees of the end
        body += code("push hl", "ld hl, 0xFE10", "ld a, 0xC1", "ld [de], a") + nops(wait)
        body += code("ld a, [hl]", "pop hl", "ld [hl+], a") + nops(20)
        body += code("push hl", "ld hl, 0xFE10", "ld a, 0xC1", "ld [de], a") + nops(40)
        body += store("DMA", 0xC1) + nops(wait)
        body += code("ld a, [hl]", "pop hl", "ld [hl+], a") + nops(20)
    return micro(body, after=FILL)


@ROMS.rom
def dma_takes_160_cycles() -> MicroRom:
    """A transfer is over after 160 machine cycles and its start."""
    body = fill_c100(0x0100) + store("TAC", 5)
    for wait in range(156, 178):
        body += store("DMA", 0xC1) + code(f"ld b, {wait // 4 - 4}", f".w{wait}:", "dec b", f"jr nz, .w{wait}")
        body += nops(wait % 4) + code("ld a, [0xFE00]", "ld [hl+], a", "ld a, [0xFE9F]", "ld [hl+], a") + nops(40)
    return micro(body, after=FILL)


@ROMS.rom
def dma_started_again() -> MicroRom:
    """A second start begins the transfer anew."""
    body = fill_c100(0x0200)
    for wait in (1, 5, 50, 120, 158, 160, 162):
        body += store("DMA", 0xC1) + nops(wait) + store("DMA", 0xC2) + nops(170)
        body += code("ld a, [0xFE00]", "ld [hl+], a", "ld a, [0xFE50]", "ld [hl+], a", "ld a, [0xFE9F]", "ld [hl+], a")
    return micro(body, after=FILL)


@ROMS.rom
def dma_copies_byte_by_byte() -> MicroRom:
    """A byte changed before its turn is copied as changed."""
    body = fill_c100(0x0100) + store("DMA", 0xC1)
    body += code("ld de, 0xC1A0", "ld b, 160", ".change:", "dec de", "ld a, b", "ld [de], a", "dec b", "jr nz, .change")
    body += nops(60)
    return micro(body, after=FILL)


@ROMS.rom
def dma_register_reads_back() -> MicroRom:
    """FF46 reads as it was written."""
    body = "".join(store("DMA", page) + note("DMA") for page in (0xC1, 0x00, 0xD0, 0xFF)) + nops(200) + note("DMA")
    return micro(body)


# What a program in HRAM executes while a transfer from video RAM goes on.
OPERANDS = {"none": ("nop",), "one": ("ld a, 5",), "two": ("ld de, 0x1234",), "an_address": ("ldh a, [0xFF90]",)}


@ROMS.each({f"dma_from_vram_while_operands_are_fetched_{name}": (name, lines) for name, lines in OPERANDS.items()})
def _dma_blocked(name: str, lines: tuple[str, ...]) -> MicroRom:
    """A transfer reads video RAM whatever is executed."""
    routine = code("routine:", "ld a, 0x80", "ldh [DMA], a") + code(*lines) * (90 // (1 + len(name))) + code("nop") * 20
    body = code("xor a", "ldh [LCDC], a", "ld de, 0x8000", "ld bc, 0x0100", "call fill") + store("LCDC", 0x91)
    body += code("push hl", "ld hl, routine", "ld de, HRAM", "ld c, routine.end - routine", ".next:", "ld a, [hl+]")
    body += code("ld [de], a", "inc de", "dec c", "jr nz, .next", ".line:", "ldh a, [LY]", "cp 30", "jr nz, .line")
    body += code("call HRAM", "pop hl") + nops(200)
    return micro(body, after=routine + code("ret", ".end:") + FILL)


@ROMS.each({"dma_in_mid_picture": (0,)})
@ROMS.each({f"dma_in_mid_picture_after_{wait}": (wait,) for wait in (9, 36, 63, 81, 117)})
def _dma_while_drawing(wait: int) -> MicroRom:
    """A transfer in the middle of a picture changes the sprites below it."""
    body = code("call scene", "call copy_oam") + store("LCDC", 0x93) + code("push hl", "ld de, 0xC100", "ld bc, 0x0100")
    body += code("call fill", "pop hl", "call copy_routine", "ld b, 0xC1", ".again:", "ldh a, [LY]", "cp 60")
    body += code("jp nz, .again") + nops(wait)
    body += code("call HRAM", "ld de, 0xC100", ".next:", "ld a, [de]", "add 5", "ld [de], a", "inc e")
    body += code("ld a, e", "cp 160", "jr nz, .next", "jp .again")
    text = SCENE + sprite_table([(50 + i, 20 + 9 * i, i, 0) for i in range(12)]) + DMA_ROUTINE + COPY_ROUTINE
    return micro(body, after=text, frames=24)


@ROMS.each({"serial_clocked_inside": (0x81,), "serial_clocked_outside": (0x80,), "serial_clocked_stopped": (0x01,)})
def _serial(control: int) -> MicroRom:
    """Eight bits go out every 512 cycles each; without a partner ones come in."""
    body = store("TAC", 4) + store("SB", 0xA5) + store("IF", 0) + store("SC", control) + code("ld d, 200", ".read:")
    body += note("SB") + note("SC") + note("IF") + code("dec d", "jr nz, .read")
    return micro(body)


@ROMS.rom
def serial_interrupts_when_done() -> MicroRom:
    """The end of a transfer interrupts and clears SC's bit 7."""
    body = store("TAC", 5) + store("IE", 8) + store("SB", 0x3C) + store("SC", 0x81) + code("ei", ".idle:", "inc b")
    body += code("jr .idle")
    handler = code("push af") + note("DIV") + note("TIMA") + note("SB") + note("SC") + store("SB", 0x11)
    handler += store("SC", 0x81) + code("ld a, b", "ld [hl+], a", "res 4, h", "pop af", "reti")
    return micro(body, handlers={"serial": handler}, frames=10)


@ROMS.rom
def serial_started_again_and_stopped() -> MicroRom:
    """A transfer can be started anew and broken off."""
    body = store("IF", 0)
    for wait in (10, 100, 250):
        body += store("SB", 0x0F) + store("SC", 0x81) + code(f"ld b, {wait}", f".w{wait}:", "dec b", f"jr nz, .w{wait}")
        body += store("SC", 0x81) + note("SB") + store("SC", 0x01) + note("SC") + note("SB") + note("IF")
    return micro(body)


@ROMS.rom
def serial_registers_read_back() -> MicroRom:
    """SC's unused bits read as ones."""
    body = "".join(store("SC", value) + note("SC") for value in (0, 1, 2, 3, 0x7C)) + store("SB", 0x42) + note("SB")
    return micro(body)


@ROMS.rom
def joypad_rows_are_selected() -> MicroRom:
    """P1 shows the row whose bit is clear, pressed keys as zeros.

    Pressed buttons show only in fuzzed runs; the loop logs all four selections every frame.
    """
    body = store("IE", 1) + store("IF", 0) + code("ei", ".again:", "halt", "nop")
    for select in (0x10, 0x20, 0x30, 0x00):
        body += store("P1", select) + code("ldh a, [P1]", "ldh a, [P1]", "ldh a, [P1]", "ld [hl+], a")
    body += note("IF") + code("ld a, h", "and 0xCF", "ld h, a", "jr .again")
    return micro(body, handlers={"vblank": code("reti")}, frames=30)


@ROMS.rom
def joypad_interrupts_on_press() -> MicroRom:
    """A key that goes down asks for an interrupt."""
    body = store("IE", 0x11) + store("P1", 0x00) + store("IF", 0) + code("ei", ".again:", "inc c", "jr .again")
    pressed = (
        code("push af", "ld a, 0xAA", "ld [hl+], a") + note("P1") + note("LY") + code("res 4, h", "pop af", "reti")
    )
    frame = code("push af") + store("P1", 0x10) + note("P1") + store("P1", 0x20) + note("P1") + store("P1", 0x00)
    return micro(body, handlers={"joypad": pressed, "vblank": frame + code("res 4, h", "pop af", "reti")}, frames=30)


@ROMS.rom
def joypad_ends_halt() -> MicroRom:
    """A key that is pressed ends HALT."""
    body = store("IE", 0x10) + store("P1", 0x00) + store("IF", 0) + code("ei", ".again:", "halt", "nop") + note("LY")
    body += note("IF") + note("DIV") + code("res 4, h", "jr .again")
    return micro(body, handlers={"joypad": code("inc b", "reti")}, frames=30)


@ROMS.rom
def joypad_read_without_writing() -> MicroRom:
    """P1 follows the keys while a row stays selected."""
    body = store("P1", 0x10) + store("IE", 1) + store("IF", 0) + code("ei", ".again:", "halt", "nop") + note("P1")
    body += code("res 4, h", "jr .again")
    return micro(body, handlers={"vblank": code("reti")}, frames=30)
