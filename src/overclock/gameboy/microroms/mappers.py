"""Cartridges with banks: ROM and RAM banking of MBC1, MBC2, MBC3 and MBC5, and RAM that is switched off."""

from overclock.gameboy.microroms.micro import MicroRom, Topic, code, micro

ROMS = Topic()


def _marked(banks: int, logos: bool = False) -> str:
    """Every bank says which one it is, at its first and last bytes.

    A cartridge of 64 banks whose logo comes again in later banks is taken for a collection of several games, wired in
    another way. There is no logo in ours, so its place is marked too, unless `logos` leaves all of them (empty) alike.
    """
    mark = "" if logos else "    org 0x4104\n    ds 0x30, {n} & 0xFF\n"
    text = "    bank {n}\n    dw {n}, {n} ^ 0x5A5A\n" + mark + "    org 0x7FFE\n    dw {n} * 3\n"
    return "".join(text.format(n=n) for n in range(1, banks)) + "    bank 0\n"


READ = code("ld a, [0x4000]", "ld [hl+], a", "ld a, [0x4001]", "ld [hl+], a", "ld a, [0x7FFE]", "ld [hl+], a")


def _write(address: int, value: int) -> str:
    return code(f"ld a, {value:#x}", f"ld [{address:#x}], a")


BOARDS = (("mbc1", 4), ("mbc1", 64), ("mbc2", 16), ("mbc3", 64), ("mbc5", 32), ("mbc5", 512))


@ROMS.each({f"mapper_{kind}_with_{banks}_banks": (kind, banks) for kind, banks in BOARDS})
@ROMS.each({"mapper_mbc1_with_64_banks_and_several_logos": ("mbc1", 64, True)})
def _rom_banks(kind: str, banks: int, logos: bool = False) -> MicroRom:
    """A write to ROM chooses the bank at 4000."""
    body = READ
    for value in (0, 1, 2, 3, 5, 0x10, 0x1F, 0x20, 0x21, 0x3F, 0x40, 0x60, 0x7F, 0x80, 0xFF):
        body += _write(0x2100, value) + READ
    if kind == "mbc1":
        for upper in range(5):
            body += _write(0x4000, upper) + _write(0x2000, 0) + READ + _write(0x3FFF, 0x12) + READ
    if kind == "mbc5":
        body += _write(0x3000, 1) + READ + _write(0x2000, 0) + READ + _write(0x3000, 0) + READ
    if kind == "mbc2":
        body += _write(0x2000, 5) + READ + _write(0x0100, 7)
        body += READ + _write(0x3F00, 9) + READ + _write(0x3E00, 3) + READ
    body += code("ld a, [0x0000]", "ld [hl+], a", "ld a, [0x0150]", "ld [hl+], a")
    return micro(body, kind=kind, after=_marked(banks, logos), frames=3)


RAM_TRY = code("ld a, [0xA000]", "ld [hl+], a", "ld a, [0xBFFF]", "ld [hl+], a", "ld a, [0xA7FF]", "ld [hl+], a")


RAM_BOARDS = (("mbc1+ram", 8), ("mbc1+ram+battery", 32), ("mbc3+ram", 32), ("mbc5+ram", 32), ("mbc5+ram", 128))


@ROMS.each({f"mapper_{kind.replace('+', '_')}_{kib}_kib_banks": (kind, kib) for kind, kib in RAM_BOARDS})
def _ram_banks(kind: str, kib: int) -> MicroRom:
    """Cartridge RAM has banks of 8 KiB."""
    body = _write(0x0000, 0x0A)
    if kind.startswith("mbc1"):
        body += _write(0x6000, 1)
    for bank in range(16 if "5" in kind else 4):
        body += _write(0x4000, bank) + _write(0xA000, 0x40 + bank) + _write(0xBFFF, 0x80 + bank) + RAM_TRY
    for bank in (0, 3, 1, 2, 15, 7):
        body += _write(0x4000, bank & (15 if "5" in kind else 3)) + RAM_TRY
    return micro(body, kind=kind, ram_kib=kib, after=_marked(4), frames=3)


@ROMS.each({f"mapper_{kind}_ram_needs_enabling": (f"{kind}+ram",) for kind in ("mbc1", "mbc3", "mbc5")})
def _ram_off(kind: str) -> MicroRom:
    """RAM answers only after 0A was written below 2000."""
    body = RAM_TRY + _write(0xA000, 0x11)
    for value in (0x0A, 0x00, 0x1A, 0x0B, 0xFA, 0x01, 0x0A):
        body += _write(0x1FFF, value) + RAM_TRY + _write(0xA000, 0x30 + (value & 0xF)) + RAM_TRY
    return micro(body, kind=kind, ram_kib=8, after=_marked(2), frames=3)


@ROMS.rom
def mapper_none_ignores_writes() -> MicroRom:
    """A cartridge without mapper ignores writes."""
    body = READ + "".join(_write(address, 5) + READ for address in (0, 0x2000, 0x4000, 0x6000, 0xA000)) + RAM_TRY
    return micro(body, after=_marked(2), frames=3)


@ROMS.rom
def mapper_mbc1_modes() -> MicroRom:
    """MBC1's mode decides whether its upper bits reach RAM."""
    body = _write(0x0000, 0x0A) + code("ld a, [0x0150]", "ld [hl+], a")
    for mode in (0, 1, 0, 1):
        for upper in (0, 1, 3, 2):
            body += _write(0x4000, upper) + _write(0x6000, mode)
            body += _write(0xA000, 0x40 + 8 * mode + upper) + RAM_TRY + READ
            body += _write(0x4000, 0)
    return micro(body, kind="mbc1+ram", ram_kib=32, after=_marked(32), frames=3)


@ROMS.rom
def mapper_mbc2_has_half_bytes() -> MicroRom:
    """MBC2 holds 512 half bytes that repeat."""
    body = RAM_TRY + _write(0x0000, 0x0A)
    for address, value in ((0xA000, 0x5C), (0xA1FF, 0xF3), (0xA200, 0x87), (0xBFFF, 0x19)):
        body += _write(address, value)
        body += "".join(code(f"ld a, [{a:#x}]", "ld [hl+], a") for a in (0xA000, 0xA1FF, 0xA200, 0xA3FF, 0xBFFF))
    body += _write(0x0000, 0) + RAM_TRY
    return micro(body, kind="mbc2+battery", after=_marked(4), frames=3)


CLOCK = range(0x08, 0x0D)  # seconds, minutes, hours, the lower days, the rest


@ROMS.rom
def mapper_mbc3_clock_registers() -> MicroRom:
    """The clock's registers take the place of RAM, and show the time that was latched.

    The clock stands still in the comparison, because PyBoy's follows the wall's.
    """
    read = "".join(_write(0x4000, register) + code("ld a, [0xA000]", "ld [hl+], a") for register in CLOCK)
    latch = _write(0x6000, 0) + _write(0x6000, 1)
    body = read + _write(0x0000, 0x0A) + read + latch + read
    for register, value in zip(CLOCK, (37, 59, 23, 0xAB, 0x41), strict=True):
        body += _write(0x4000, register) + _write(0xA000, value) + code("ld a, [0xA000]", "ld [hl+], a")
    body += read + latch + read + _write(0x6000, 1) + read + _write(0x4000, 2) + _write(0xA000, 0x66) + RAM_TRY
    body += _write(0x4000, 0x0D) + RAM_TRY + _write(0x4000, 7) + RAM_TRY + _write(0x0000, 0) + read
    return micro(body, kind="mbc3+timer+ram+battery", ram_kib=32, after=_marked(4), frames=3)


@ROMS.rom
def mapper_runs_code_in_banks() -> MicroRom:
    """Code in a switched bank runs at once.

    Calls into several banks, with an interrupt that switches banks and back.
    """
    body = code("ld c, 0", ".again:", "inc c", "ld a, c", "and 3", "inc a", "ld [0x2000], a", "call 0x4000", "ld a, c")
    body += code("cp 200", "jr nz, .again")
    parts = "".join(f"    bank {n}\n    ld a, {n * 17}\n    add c\n    ld [hl+], a\n    ret\n" for n in range(1, 5))
    return micro(body, kind="mbc3", after=parts, frames=3)


@ROMS.each({f"mapper_{kind}_any_write": (kind, 64) for kind in ("mbc1", "mbc3", "mbc5")})
def _many_writes(kind: str, banks: int) -> MicroRom:
    """Any byte may be written to any register of a mapper.

    A small generator writes anywhere into the mapper.
    """
    body = code("ld de, 0x1234", "ld b, 0", ".again:", "ld a, d", "add e", "rlca", "ld d, a", "xor e", "add 0x35")
    reach = "0x5F" if kind == "mbc1" else "0x7F"  # its mode would take the program's own bank away
    body += code(
        "ld e, a", "push hl", "ld a, d", f"and {reach}", "ld h, a", "ld l, e", "ld a, e", "xor d", "ld [hl], a"
    )
    body += code("pop hl") + READ + code("ld a, [0xA000]", "ld [hl+], a", "ld a, h", "and 0xCF", "ld h, a")
    body += code("dec b", "jp nz, .again")
    ram = kind + "+ram"
    return micro(body, kind=ram, ram_kib=32, after=_marked(banks), frames=3)
