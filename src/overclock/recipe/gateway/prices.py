"""What a call costs: dated list prices, which a user's own table overrides. A missing price is never zero."""

import dataclasses
import datetime
import importlib.resources
import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.recipe.gateway.tokens import Tokens

MAX_OUTPUT = 128_000  # the most that any listed model writes in one answer
MILLION = 1e6
RATES = ("input", "cached", "cache_write", "cache_write_hour", "output")
# What may follow a name in the table without making it another model, whose price nobody can guess: a date, and words
# for the newest or for a first version.
SUFFIX = re.compile(r"(-latest|(-preview|-exp)(-\d{2}-(\d{2}|\d{4}))?)?([-@](\d{8}|\d{4}-\d{2}-\d{2}))?")


@dataclasses.dataclass(frozen=True)
class Price:
    """Dollars per million tokens, for prompts of more than `above` tokens."""

    input: float
    cached: float
    cache_write: float
    cache_write_hour: float
    output: float
    above: int = 0


@dataclasses.dataclass(frozen=True)
class ModelPrice:
    """The prices of one model, for short prompts first."""

    prices: tuple[Price, ...]
    max_output: int = MAX_OUTPUT

    def dollars(self, tokens: Tokens) -> float:
        """The price of the tokens of one call."""
        price = self._at(tokens.input)
        plain = max(0, tokens.input - tokens.cached - tokens.cache_write)
        written = max(0, tokens.cache_write - tokens.cache_write_hour)
        return (
            plain * price.input
            + tokens.cached * price.cached
            + written * price.cache_write
            + tokens.cache_write_hour * price.cache_write_hour
            + tokens.output * price.output
        ) / MILLION

    def worst(self, prompt: int, output: int) -> float:
        """The most that a call of this size can cost: its whole prompt at the dearest way to take a prompt."""
        price = self._at(prompt)
        return (prompt * max(price.input, price.cache_write, price.cache_write_hour) + output * price.output) / MILLION

    def _at(self, prompt: int) -> Price:
        return next(price for price in reversed(self.prices) if prompt > price.above or price.above == 0)


@dataclasses.dataclass(frozen=True)
class Prices:
    """Tables of prices; of two rows for one name, that of the earlier table counts."""

    tables: tuple[Mapping[str, ModelPrice], ...]
    date: datetime.date | None  # of the built-in table

    @classmethod
    def load(cls, override: Path | None = None) -> "Prices":
        """The built-in table, under a user's own one if there is one."""
        built_in = tomllib.loads((importlib.resources.files("overclock.recipe.gateway") / "prices.toml").read_text())
        tables = [_table(built_in, "the built-in price table")]
        if override is not None:
            tables.insert(0, _table(_read(override), f"'{override}'"))
        return cls(tuple(tables), built_in["date"])

    def find(self, model: str) -> ModelPrice | None:
        """The price of a model, from the row with the longest name that fits; None if no table knows it."""
        name = model.rpartition("/")[2]
        rows = [(known, price) for table in self.tables for known, price in table.items() if _fits(name, known)]
        return max(rows, key=lambda row: len(row[0]), default=(name, None))[1]


def _fits(name: str, known: str) -> bool:
    return name.startswith(known) and SUFFIX.fullmatch(name, len(known)) is not None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"Cannot read the price table '{path}': {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"The price table '{path}' is not TOML: {error}.") from error


def _table(content: Mapping[str, Any], where: str) -> dict[str, ModelPrice]:
    models = content.get("models")
    if not isinstance(models, dict):
        raise UsageError(f"{where} has no [models] table; write one line '\"NAME\" = {{ input = 1.0, output = 5.0 }}'.")
    return {name: _model(row, f"model '{name}' in {where}") for name, row in models.items()}


def _model(row: Any, where: str) -> ModelPrice:
    if not isinstance(row, dict):
        raise UsageError(f"The price of {where} must be a table like {{ input = 1.0, output = 5.0 }}.")
    row = dict(row)
    long, max_output = row.pop("long", []), row.pop("max_output", MAX_OUTPUT)
    if not isinstance(max_output, int) or max_output < 1:
        raise UsageError(f"max_output of {where} must be a positive whole number.")
    if not isinstance(long, list) or not all(isinstance(step, dict) for step in long):
        raise UsageError(
            f"'long' of {where} must be a list of tables like {{ above = 200000, input = 2, output = 9 }}."
        )
    steps = [_price(row, 0, where), *(_price(step, step.get("above"), where) for step in long)]
    return ModelPrice(tuple(sorted(steps, key=lambda price: price.above)), max_output)


def _price(row: Mapping[str, Any], above: Any, where: str) -> Price:
    if unknown := set(row) - {*RATES, "above"}:
        raise UsageError(f"The price of {where} has an unknown key '{min(unknown)}'; known are {', '.join(RATES)}.")
    if not isinstance(above, int) or (above == 0) != ("above" not in row):
        raise UsageError(f"Each step of 'long' of {where} needs 'above', a positive number of tokens.")
    for key in ("input", "output"):
        if key not in row:
            raise UsageError(f"The price of {where} has no '{key}', in dollars per million tokens.")
    for key, value in row.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            raise UsageError(f"'{key}' of {where} must be a number that is not negative.")
    write = row.get("cache_write", row["input"])
    return Price(
        input=row["input"],
        cached=row.get("cached", row["input"]),
        cache_write=write,
        cache_write_hour=row.get("cache_write_hour", write),
        output=row["output"],
        above=above,
    )
