"""Names of addresses, and the .sym files in which RGBDS and other tools keep them."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from overclock.errors import UsageError
from overclock.gameboy.given import AnyPath

LABEL = re.compile(r"(?P<bank>[0-9a-fA-F]{1,3}|BOOT):(?P<address>[0-9a-fA-F]{4})\s+(?P<name>\S+)\s*")
CONSTANT = re.compile(r"[0-9a-fA-F]+\s+\S+\s*")  # RGBDS lists exported numbers too; they are no addresses
BOOT = "BOOT"


@dataclasses.dataclass(frozen=True, order=True)
class Symbol:
    """A place: the bank is that of ROM below 8000, of RAM above."""

    bank: int
    address: int

    def __str__(self) -> str:
        return f"{self.bank:02X}:{self.address:04X}"


def parse_symbols(lines: Iterable[str], source: str = "symbols") -> dict[str, Symbol]:
    """The labels of a .sym file; comments begin with `;`."""
    found: dict[str, Symbol] = {}
    for number, line in enumerate(lines, start=1):
        text = line.split(";", 1)[0].strip()
        if not text or text.startswith("["):  # no$gmb and bgb write section names
            continue
        match = LABEL.fullmatch(text)
        if match is None:
            if CONSTANT.fullmatch(text):
                continue
            raise UsageError(f"{source}:{number}: {text!r} is not bank, address and name, as in '01:4000 Start'.")
        if match["bank"] != BOOT:
            found[match["name"]] = Symbol(int(match["bank"], 16), int(match["address"], 16))
    return found


def read_symbols(path: AnyPath) -> dict[str, Symbol]:
    """The labels of the .sym file at `path`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, TypeError) as error:  # the last for what is no path
        raise UsageError(f"{path} is not a readable symbol file: {error}.") from error
    return parse_symbols(text.splitlines(), str(path))


def format_symbols(symbols: Mapping[str, Symbol]) -> str:
    """The text of a .sym file, in the order of addresses."""
    lines = [f"{symbol} {name}" for name, symbol in sorted(symbols.items(), key=lambda item: (item[1], item[0]))]
    return "\n".join(["; labels by Overclock's assembler", *lines, ""])
