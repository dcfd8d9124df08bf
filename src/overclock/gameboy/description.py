"""What a game means to an agent, read from TOML: where values lie in RAM, what is rewarded, when an episode ends.

    description = load_description("maze.toml", symbols=program.symbols)
    description.reward(before, after), description.terminated(after)

where `before` and `after` are the values by name. games/*.toml are examples of every part.
"""

import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.gameboy.assembly.symbols import Symbol
from overclock.gameboy.console import BUTTONS
from overclock.gameboy.given import AnyPath
from overclock.gameboy.tables import Table

ENCODINGS = ("plain", "bcd", "bits", "signed")
ORDERS = ("little", "big")
OBSERVATIONS = ("rgb", "gray", "gray_2x2", "packed_2bit", "ram")
CHANGES = ("any", "increase", "decrease")
TESTS = ("is", "is_not", "at_least", "at_most")
NO_BUTTON = "none"
ReadMemory = Callable[[int, int], bytes]  # address, count


@dataclasses.dataclass(frozen=True)
class Value:
    """A number in RAM: so many bytes at one address, or the sum over several addresses.

    `encoding` is plain, bcd (two digits per byte), bits (how many are set) or signed; `mask` is applied to each byte.
    """

    name: str
    addresses: tuple[int, ...]
    size: int = 1
    encoding: str = "plain"
    order: str = "little"
    mask: int = 0xFF

    def read(self, memory: ReadMemory) -> int:
        """The number as it is now."""
        return sum(self._decoded(memory(address, self.size)) for address in self.addresses)

    def _decoded(self, content: bytes) -> int:
        content = bytes(byte & self.mask for byte in content)
        if self.encoding == "bits":
            return sum(byte.bit_count() for byte in content)
        if self.order == "little":
            content = content[::-1]
        if self.encoding == "bcd":
            number = 0
            for byte in content:
                number = number * 100 + (byte >> 4) * 10 + (byte & 0x0F)
            return number
        return int.from_bytes(content, "big", signed=self.encoding == "signed")


@dataclasses.dataclass(frozen=True)
class Reward:
    """`weight` times the change of a value over a step, or only times its rise or its fall."""

    value: str
    weight: float
    change: str = "any"

    def of(self, before: int, after: int) -> float:
        """The reward of one step."""
        difference = after - before
        if (self.change == "increase" and difference < 0) or (self.change == "decrease" and difference > 0):
            return 0.0
        return self.weight * difference


@dataclasses.dataclass(frozen=True)
class Condition:
    """A value that is, is not, is at least or is at most a number."""

    value: str
    test: str
    number: int

    def holds(self, value: int) -> bool:
        return {
            "is": value == self.number,
            "is_not": value != self.number,
            "at_least": value >= self.number,
            "at_most": value <= self.number,
        }[self.test]


@dataclasses.dataclass(frozen=True)
class Actions:
    """What the agent chooses from: sets of buttons, held for `press` of the `frames` frames of a step."""

    buttons: tuple[tuple[str, ...], ...]
    press: int = 8
    frames: int = 24


@dataclasses.dataclass(frozen=True)
class Reset:
    """How an episode begins: boot frames, then perhaps a seed written to RAM, and frames until it may start."""

    boot_frames: int = 0
    seed_address: int | None = None
    seed_size: int = 0
    settle_frames: int = 0
    state: str | None = None  # a saved state of the user's to start from


@dataclasses.dataclass(frozen=True)
class Description:
    """A whole description: values in RAM, rewards, ends, actions, and how episodes begin."""

    name: str
    actions: Actions
    observation: str
    observed: tuple[str, ...]  # the values of an observation of kind ram
    values: dict[str, Value]
    rewards: tuple[Reward, ...]
    ends: tuple[Condition, ...]  # an episode is terminated when one of them holds
    max_steps: int | None
    reset: Reset

    def read(self, memory: ReadMemory) -> dict[str, int]:
        """All values as they are now."""
        return {name: value.read(memory) for name, value in self.values.items()}

    def reward(self, before: Mapping[str, int], after: Mapping[str, int]) -> float:
        """The reward of a step between two readings."""
        return sum(reward.of(before[reward.value], after[reward.value]) for reward in self.rewards)

    def terminated(self, values: Mapping[str, int]) -> bool:
        """Whether the episode is over."""
        return any(condition.holds(values[condition.value]) for condition in self.ends)


def load_description(path: AnyPath, symbols: Mapping[str, Symbol] | None = None) -> Description:
    """The description in a TOML file; names of addresses are looked up in `symbols`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a readable description: {error}.") from error
    return parse_description(text, symbols, str(path))


def parse_description(text: str, symbols: Mapping[str, Symbol] | None = None, source: str = "text") -> Description:
    """The description in a text."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source} is not TOML: {error}.") from error
    return _Reader(Table(content, source, ""), symbols or {}).description()


class _Reader:
    def __init__(self, table: Table, symbols: Mapping[str, Symbol]) -> None:
        self.table, self.symbols = table, symbols

    def description(self) -> Description:
        table = self.table
        name = table.text("name")
        values = {key: self._value(inner, key) for key, inner in table.tables("values")}
        if not values:
            raise table.wrong("has no [values], so nothing could be rewarded or end an episode.")
        kind, observed = self._observation(table.table("observation"), values)
        found = Description(
            name,
            self._actions(table.table("actions")),
            kind,
            observed,
            values,
            tuple(self._reward(inner, values) for inner in table.listed("rewards")),
            tuple(self._condition(inner, values) for inner in table.listed("terminated")),
            table.count("max_steps", default=None),
            self._reset(table.table("reset", optional=True)),
        )
        table.done()
        return found

    def _address(self, table: Table, word: Any) -> int:
        if isinstance(word, str):
            if word not in self.symbols:
                raise table.wrong(f"names the symbol {word!r}, which the game does not have.")
            return self.symbols[word].address
        if isinstance(word, bool) or not isinstance(word, int) or not 0 <= word <= 0xFFFF:
            raise table.wrong(f"has the address {word!r}; an address is 0 to 0xFFFF or a symbol.")
        return word

    def _value(self, table: Table, name: str) -> Value:
        at = table.anything("at")
        addresses = tuple(self._address(table, word) for word in (at if isinstance(at, list) else [at]))
        size = table.count("bytes", default=1)
        value = Value(
            name, addresses, size or 1, table.choice("encoding", ENCODINGS, "plain"),
            table.choice("order", ORDERS, "little"), table.count("mask", default=0xFF) or 0,
        )  # fmt: skip
        if not addresses or any(address + value.size > 0x10000 for address in addresses):
            raise table.wrong("has no address, or goes beyond FFFF.")
        if not 0 < value.mask <= 0xFF:
            raise table.wrong("has a mask that is not 1 to 0xFF.")
        table.done()
        return value

    def _known(self, table: Table, values: Mapping[str, Value]) -> str:
        name = table.text("value")
        if name not in values:
            raise table.wrong(f"names the value {name!r}; [values] has {', '.join(values)}.")
        return name

    def _reward(self, table: Table, values: Mapping[str, Value]) -> Reward:
        reward = Reward(self._known(table, values), table.number("weight"), table.choice("change", CHANGES, "any"))
        table.done()
        return reward

    def _condition(self, table: Table, values: Mapping[str, Value]) -> Condition:
        name = self._known(table, values)
        tests = [test for test in TESTS if test in table]
        if len(tests) != 1:
            raise table.wrong(f"needs exactly one of {', '.join(TESTS)}.")
        condition = Condition(name, tests[0], table.whole(tests[0]))
        table.done()
        return condition

    def _actions(self, table: Table) -> Actions:
        choices = []
        for entry in table.anything("buttons", list):
            buttons = tuple(entry) if isinstance(entry, list) else () if entry == NO_BUTTON else (entry,)
            for button in buttons:
                if button not in BUTTONS:
                    raise table.wrong(f"names the button {button!r}; there are {', '.join((*BUTTONS, NO_BUTTON))}.")
            choices.append(buttons)
        actions = Actions(tuple(choices), table.count("press", default=8) or 0, table.count("frames", default=24) or 0)
        if not choices or not 0 < actions.press <= actions.frames:
            raise table.wrong("needs buttons, and press must be 1 to frames.")
        table.done()
        return actions

    def _observation(self, table: Table, values: Mapping[str, Value]) -> tuple[str, tuple[str, ...]]:
        kind = table.choice("kind", OBSERVATIONS, None)
        observed = tuple(table.anything("values", list, default=[]))
        unknown = [name for name in observed if name not in values]
        if unknown:
            raise table.wrong(f"names the value {unknown[0]!r}; [values] has {', '.join(values)}.")
        if (kind == "ram") != bool(observed):
            raise table.wrong("lists values if, and only if, its kind is ram.")
        table.done()
        return kind, observed

    def _reset(self, table: Table) -> Reset:
        seed = table.anything("seed", default=None)
        reset = Reset(
            table.count("boot_frames", default=0) or 0,
            None if seed is None else self._address(table, seed),
            0 if seed is None else table.count("seed_bytes", default=2) or 2,
            table.count("settle_frames", default=0) or 0,
            table.text("state", default=None),
        )
        table.done()
        return reset
