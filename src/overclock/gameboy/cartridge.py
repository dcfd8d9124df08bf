"""The header of a cartridge: what it is, how large it is, and the sums that consoles and emulators check."""

import dataclasses

from overclock.errors import UsageError

BANK_SIZE = 0x4000
ENTRY, TITLE, CGB_FLAG, KIND, ROM_SIZE, RAM_SIZE, HEADER_SUM, GLOBAL_SUM, CODE = (
    0x100, 0x134, 0x143, 0x147, 0x148, 0x149, 0x14D, 0x14E, 0x150,
)  # fmt: skip
TITLE_LENGTH = 15
KINDS = {
    "rom": 0x00, "mbc1": 0x01, "mbc1+ram": 0x02, "mbc1+ram+battery": 0x03, "mbc2": 0x05, "mbc2+battery": 0x06,
    "mbc3+timer+battery": 0x0F, "mbc3+timer+ram+battery": 0x10, "mbc3": 0x11, "mbc3+ram": 0x12,
    "mbc3+ram+battery": 0x13, "mbc5": 0x19, "mbc5+ram": 0x1A, "mbc5+ram+battery": 0x1B, "mbc5+rumble": 0x1C,
}  # fmt: skip
RAM_KIB = {0: 0, 2: 1, 8: 2, 32: 3, 128: 4, 64: 5}  # the header's code for so many KiB
CGB = {"no": 0x00, "yes": 0x80, "only": 0xC0}
MAX_BANKS = 512


@dataclasses.dataclass(frozen=True)
class Cartridge:
    """What the header says. `cgb` is "no", "yes" (runs on both) or "only"."""

    title: str = ""
    kind: str = "rom"
    ram_kib: int = 0
    cgb: str = "no"

    def __post_init__(self) -> None:
        if len(self.title) > TITLE_LENGTH or not self.title.isascii():
            raise UsageError(f"The title {self.title!r} is not {TITLE_LENGTH} ASCII characters or fewer.")
        for name, value, known in (("kind", self.kind, KINDS), ("RAM", self.ram_kib, RAM_KIB), ("cgb", self.cgb, CGB)):
            if value not in known:
                raise UsageError(f"A cartridge's {name} is one of {', '.join(map(str, known))}, not {value!r}.")


def build_rom(banks: dict[int, bytes], entry: int, cartridge: Cartridge) -> bytes:
    """The banks one after another, padded to the next size there is, with a header that leads to `entry`."""
    count = 2
    while count <= max(banks, default=0):
        count *= 2
    if count > MAX_BANKS:
        raise UsageError(f"A cartridge has at most {MAX_BANKS} banks.")
    rom = bytearray(count * BANK_SIZE)
    for bank, content in banks.items():
        rom[bank * BANK_SIZE : bank * BANK_SIZE + len(content)] = content
    rom[ENTRY:CODE] = bytes(CODE - ENTRY)  # the logo's place stays empty: nothing of ours looks at it
    rom[ENTRY : ENTRY + 4] = bytes([0x00, 0xC3, entry & 0xFF, entry >> 8])
    rom[TITLE : TITLE + len(cartridge.title)] = cartridge.title.encode("ascii")
    rom[CGB_FLAG] = CGB[cartridge.cgb]
    rom[KIND], rom[ROM_SIZE] = KINDS[cartridge.kind], count.bit_length() - 2
    rom[RAM_SIZE] = RAM_KIB[cartridge.ram_kib]
    rom[HEADER_SUM] = header_sum(rom)
    rom[GLOBAL_SUM : GLOBAL_SUM + 2] = global_sum(rom).to_bytes(2, "big")
    return bytes(rom)


def header_sum(rom: bytes | bytearray) -> int:
    """What byte 14D must be."""
    return -sum(byte + 1 for byte in rom[TITLE:HEADER_SUM]) & 0xFF


def global_sum(rom: bytes | bytearray) -> int:
    """What bytes 14E and 14F must be: the sum of all others."""
    return (sum(rom) - rom[GLOBAL_SUM] - rom[GLOBAL_SUM + 1]) & 0xFFFF
