"""A console's memory by address, as PyBoy's `memory`."""

from collections.abc import Iterable
from typing import Any

from overclock.errors import UsageError
from overclock.gameboy.given import is_whole
from overclock.vector.native import usage_errors

BANKED = ((0x0000, 0x8000), (0x8000, 0xA000), (0xA000, 0xC000), (0xC000, 0xE000))


class Memory:
    """`memory[address]`, `memory[first:last]`, and `memory[bank, ...]`; slices are lists of numbers."""

    def __init__(self, console: Any) -> None:
        self._console = console

    def __getitem__(self, place: Any) -> Any:
        bank, first, last, single = _place(place)
        with usage_errors():
            if bank is None:
                found = list(self._console.read(first, last - first))
            else:
                found = list(self._console.read_bank(bank, first, last - first))
        return found[0] if single else found

    def __setitem__(self, place: Any, value: Any) -> None:
        bank, first, last, _ = _place(place)
        if bank is not None:
            raise UsageError("Banks can be read but not written; select the bank and write to its address.")
        given = value.tolist() if hasattr(value, "tolist") else value  # an array without axes is a number
        values = list(given) if isinstance(given, Iterable) else [given] * (last - first)
        if len(values) != last - first:
            raise UsageError(f"Got {len(values)} bytes for {last - first} addresses.")
        if not all(is_whole(byte) and 0 <= byte <= 0xFF for byte in values):
            raise UsageError(f"A byte is a whole number from 0 to 255, got {value!r}.")
        for offset, byte in enumerate(values):
            self._console.write(first + offset, byte)


def _place(place: Any) -> tuple[int | None, int, int, bool]:
    """Bank, first address, the one after the last, and whether a single byte is meant."""
    bank, where = place if isinstance(place, tuple) and len(place) == 2 else (None, place)
    if bank is not None and not is_whole(bank):
        raise UsageError(f"A bank of memory is a whole number, got {bank!r}.")
    if isinstance(where, slice) and where.step in (None, 1) and is_whole(where.start) and is_whole(where.stop):
        first, last, single = int(where.start), int(where.stop), False
    elif is_whole(where):
        first, last, single = int(where), int(where) + 1, True
    else:
        raise UsageError(f"memory takes an address, or a slice with both ends, after a bank if need be; got {place!r}.")
    if not 0 <= first < last <= 0x10000:
        raise UsageError(f"Addresses are 0 to 0xFFFF, and a slice has at least one; got {first:#x} to {last:#x}.")
    if bank is not None and not any(low <= first and last <= high for low, high in BANKED):
        raise UsageError(f"There are no banks from {first:#x} to {last:#x}.")
    return None if bank is None else int(bank), first, last, single
