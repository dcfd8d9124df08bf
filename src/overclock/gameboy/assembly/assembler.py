"""An assembler for the Game Boy: our games, boot code and test ROMs are text, and become bytes when they are needed.

    program = assemble(text, name="maze.asm", symbols={"SPEED": 2}, cartridge=Cartridge("MAZE"))
    program.rom, program.symbols["score"].address

A line is `label: instruction operands ; comment`. Labels that begin with a dot belong to the last one that does not.
Directives: `NAME equ n` · `db n, "text"` · `dw n` · `ds count, fill` · `org address` · `bank n` (goes on where that
bank was left) · `pixels ..12.3..` (a row of a tile) · `charmap "ABC", first` · `assert condition, "why"` ·
`include "file"`.
At addresses from 8000 on only labels and `ds` without a fill may stand: they name RAM. Code begins at 0150, where the
header leads to unless there is a label `start`. Numbers are 12, 0x1F, $1F, 0b101, %101 or 'c'; `@` is the address of
the line; there are low(n), high(n) and bank(label).
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from importlib.resources.abc import Traversable

from overclock.gameboy.assembly.encoding import as_byte, as_word, encode, find_instruction
from overclock.gameboy.assembly.errors import AssemblyError
from overclock.gameboy.assembly.expressions import Lookup, character_value, parse_expression
from overclock.gameboy.assembly.hardware import REGISTERS
from overclock.gameboy.assembly.instructions import MNEMONICS
from overclock.gameboy.assembly.lines import split_operands, without_comment
from overclock.gameboy.assembly.symbols import Symbol
from overclock.gameboy.assembly.tiles import row_bytes
from overclock.gameboy.cartridge import BANK_SIZE, CODE, MAX_BANKS, Cartridge, build_rom

LABEL = re.compile(r"(\.?[A-Za-z_]\w*)(::?)\s*(.*)")
CONSTANT = re.compile(r"([A-Za-z_]\w*)\s+equ\s+(.+)", re.IGNORECASE)
RAM = 0x8000
ADDRESSES = 0x10000


@dataclasses.dataclass(frozen=True)
class Program:
    """The result of assembling a text: the ROM, its labels, and its constants."""

    rom: bytes
    symbols: dict[str, Symbol]
    constants: dict[str, int]


@dataclasses.dataclass(frozen=True)
class _Piece:
    """Bytes that can be computed once every label is known."""

    bank: int
    address: int
    make: Callable[[Lookup], bytes]
    source: str
    line: int
    scope: str


def assemble(
    text: str,
    *,
    name: str = "text",
    symbols: Mapping[str, int] | None = None,
    cartridge: Cartridge = Cartridge(),
    folder: Traversable | None = None,
) -> Program:
    """A ROM with a header. `symbols` are constants given from outside; the names of hardware.py are always there.

    `folder` is where the files are that the text includes.
    """
    assembly = _Assembly(name, symbols or {}, folder)
    banks = assembly.run(text)
    entry = assembly.labels.get("start", Symbol(0, CODE))
    return Program(build_rom(banks, entry.address, cartridge), assembly.labels, assembly.settled())


def assemble_flat(text: str, size: int, *, name: str = "text", symbols: Mapping[str, int] | None = None) -> Program:
    """`size` bytes from address 0 on without any header, as boot code is."""
    assembly = _Assembly(name, symbols or {})
    assembly.address = 0
    content = assembly.run(text).get(0, b"")
    if len(content) > size:
        raise AssemblyError(f"the code is {len(content)} bytes long; {size} are there for it.", name, 0)
    return Program(content.ljust(size, b"\0"), assembly.labels, assembly.settled())


class _Assembly:
    """First every line gets its place, so that all labels are known; then the bytes are made."""

    def __init__(self, name: str, symbols: Mapping[str, int], folder: Traversable | None = None) -> None:
        self.name, self.line, self.folder = name, 0, folder
        self.labels: dict[str, Symbol] = {}
        self.constants: dict[str, str | int] = {**REGISTERS, **symbols}
        self.given = len(self.constants)
        self.characters: dict[str, int] = {}
        self.pieces: list[_Piece] = []
        self.bank, self.address, self.scope = 0, CODE, ""
        self.left: dict[int, int] = {}  # where each bank was left
        self.settling: set[str] = set()

    def run(self, text: str) -> dict[int, bytes]:
        try:
            self._read(text)
            return self._written()
        except AssemblyError as error:
            raise error if error.source else AssemblyError(error.message, self.name, self.line) from None

    def settled(self) -> dict[str, int]:
        names = list(self.constants)[self.given :]
        return {name: self._lookup(name, "", 0) for name in names}

    # Where things are.

    def _read(self, text: str) -> None:
        for self.line, line in enumerate(text.splitlines(), start=1):
            self._statement(without_comment(line).strip())

    def _statement(self, text: str) -> None:
        if match := CONSTANT.fullmatch(text):
            return self._define(match[1], match[2])
        if match := LABEL.fullmatch(text):
            self._label(match[1])
            text = match[3]
        elif text.startswith("."):
            word, _, text = text.partition(" ")
            self._label(word)
            text = text.strip()
        if not text:
            return None
        word, _, rest = text.partition(" ")
        word, rest = word.lower(), rest.strip()
        directive = getattr(self, f"_do_{word}", None)
        if directive is not None:
            return directive(rest)
        if word not in MNEMONICS:
            raise AssemblyError(f"{word!r} is neither an instruction nor a directive.")
        return self._instruction(word, rest)

    def _define(self, name: str, expression: str) -> None:
        self._check_new(name)
        self.constants[name] = expression

    def _label(self, name: str) -> None:
        if name.startswith("."):
            if not self.scope:
                raise AssemblyError(f"the local label {name} stands before any other label.")
            name = self.scope + name
        else:
            self.scope = name
        self._check_new(name)
        self.labels[name] = Symbol(self.bank if self.address < RAM else 0, self.address)

    def _check_new(self, name: str) -> None:
        if name in self.labels or name in self.constants:
            raise AssemblyError(f"{name} is defined twice.")

    def _place(self, size: int, make: Callable[[Lookup], bytes] | None) -> None:
        end = self.address + size
        if self.address >= RAM and make is not None:
            raise AssemblyError(f"bytes cannot be put at {self.address:04X}: only ROM has content.")
        room = BANK_SIZE if self.address < BANK_SIZE else RAM if self.address < RAM else ADDRESSES
        if end > room:
            raise AssemblyError(f"this ends at {end:04X}, behind the end of its bank or memory at {room:04X}.")
        if make is not None:
            self.pieces.append(_Piece(self.bank, self.address, make, self.name, self.line, self.scope))
        self.address = end

    def _now(self, text: str) -> int:
        """The value of an expression that decides addresses, so its labels must be known already."""
        return parse_expression(text, self.characters)(lambda name: self._lookup(name, self.scope, self.address))

    # Directives.

    def _do_org(self, rest: str) -> None:
        address = self._now(rest)
        if not 0 <= address < ADDRESSES:
            raise AssemblyError(f"org {address:#x} is not an address.")
        self._leave()
        if address < RAM:
            self.bank = 0 if address < BANK_SIZE else max(self.bank, 1)
        self.address = address

    def _do_bank(self, rest: str) -> None:
        bank = self._now(rest)
        if not 0 <= bank < MAX_BANKS:
            raise AssemblyError(f"there is no bank {bank}; banks are 0 to {MAX_BANKS - 1}.")
        self._leave()
        self.bank, self.address = bank, self.left.get(bank, BANK_SIZE if bank else CODE)

    def _leave(self) -> None:
        if self.address < RAM:
            self.left[self.bank] = self.address

    def _do_db(self, rest: str) -> None:
        for operand in split_operands(rest):
            if operand.startswith('"'):
                content = bytes(character_value(c, self.characters) & 0xFF for c in _string(operand))
                self._place(len(content), lambda lookup, content=content: content)
            else:
                value = parse_expression(operand, self.characters)
                self._place(1, lambda lookup, value=value: as_byte(value(lookup)))

    def _do_dw(self, rest: str) -> None:
        for operand in split_operands(rest):
            value = parse_expression(operand, self.characters)
            self._place(2, lambda lookup, value=value: as_word(value(lookup)))

    def _do_ds(self, rest: str) -> None:
        operands = split_operands(rest)
        if len(operands) not in (1, 2):
            raise AssemblyError("ds takes a count and, in ROM, a byte to fill with.")
        size = self._now(operands[0])
        if size < 0:
            raise AssemblyError(f"ds cannot reserve {size} bytes.")
        if len(operands) == 1 and self.address >= RAM:
            return self._place(size, None)
        fill = parse_expression(operands[1] if len(operands) == 2 else "0", self.characters)
        return self._place(size, lambda lookup: as_byte(fill(lookup)) * size)

    def _do_include(self, rest: str) -> None:
        name = _string(rest) if rest.startswith('"') else rest
        file = self.folder.joinpath(name) if self.folder else None
        if file is None or not file.is_file():
            raise AssemblyError(f"there is no file {name} to include.")
        before = self.name, self.line
        self.name = name
        self._read(file.read_text(encoding="utf-8"))
        self.name, self.line = before

    def _do_pixels(self, rest: str) -> None:
        content = row_bytes(rest)
        self._place(2, lambda lookup: content)

    def _do_charmap(self, rest: str) -> None:
        operands = split_operands(rest)
        if len(operands) != 2 or not operands[0].startswith('"'):
            raise AssemblyError('charmap takes a string and its first character\'s number: charmap "ABC", 16.')
        first = self._now(operands[1])
        self.characters |= {c: first + i for i, c in enumerate(_string(operands[0]))}

    def _do_assert(self, rest: str) -> None:
        condition, *why = split_operands(rest)
        value = parse_expression(condition, self.characters)
        sentence = _string(why[0]) if why else f"{condition} does not hold."

        def check(lookup: Lookup) -> bytes:
            if not value(lookup):
                raise AssemblyError(sentence)
            return b""

        self.pieces.append(_Piece(self.bank, self.address, check, self.name, self.line, self.scope))

    def _instruction(self, word: str, rest: str) -> None:
        found = find_instruction(word, split_operands(rest))
        value = parse_expression(found.number, self.characters) if found.number else None
        address = self.address
        self._place(
            found.instruction.size, lambda lookup: encode(found.instruction, value(lookup) if value else 0, address)
        )

    # Bytes.

    def _lookup(self, name: str, scope: str, address: int) -> int:
        if name == "@":
            return address
        if name.startswith("bank:"):
            label = self._full(name[5:], scope)
            if label not in self.labels:
                raise AssemblyError(f"{label} is not a label.")
            return self.labels[label].bank
        name = self._full(name, scope)
        if name in self.labels:
            return self.labels[name].address
        value = self.constants.get(name)
        if value is None:
            raise AssemblyError(f"{name} is not defined.")
        if isinstance(value, int):
            return value
        if name in self.settling:
            raise AssemblyError(f"{name} is defined by itself.")
        self.settling.add(name)
        result = parse_expression(value, self.characters)(lambda other: self._lookup(other, scope, address))
        self.settling.discard(name)
        self.constants[name] = result
        return result

    @staticmethod
    def _full(name: str, scope: str) -> str:
        return scope + name if name.startswith(".") else name

    def _written(self) -> dict[int, bytes]:
        banks: dict[int, bytearray] = {}
        taken: dict[int, bytearray] = {}
        for piece in self.pieces:
            self.name, self.line = piece.source, piece.line
            content = piece.make(lambda name, piece=piece: self._lookup(name, piece.scope, piece.address))
            start = piece.address - (BANK_SIZE if piece.bank else 0)
            end = start + len(content)
            bank = banks.setdefault(piece.bank, bytearray())
            used = taken.setdefault(piece.bank, bytearray(BANK_SIZE))
            if any(used[start:end]):
                raise AssemblyError(f"two things are at {piece.address:04X} of bank {piece.bank}.")
            used[start:end] = b"\1" * len(content)
            if len(bank) < end:
                bank.extend(bytes(end - len(bank)))
            bank[start:end] = content
        return {number: bytes(content) for number, content in banks.items()}


def _string(operand: str) -> str:
    if len(operand) < 2 or not operand.endswith('"'):
        raise AssemblyError(f"the string {operand} does not end.")
    return operand[1:-1].replace('\\"', '"').replace("\\\\", "\\")
