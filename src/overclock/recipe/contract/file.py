"""Reads and writes contract.toml: what a project's two sides must agree on, for people to check and change.

State fields say where the reference keeps them; draws say in which order the reference takes its random numbers;
tolerances are zero unless a line with a reason says otherwise. It lies outside the candidate's folder.

A state of lists, objects and values that may be None is laid out as arrays by a codec, whose file lies beside the
contract; draws that happen in branches and loops are named by their site. See `contract/codec.py`.
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.recipe.contract.codec import load_shapes, require_codec, require_sites
from overclock.recipe.contract.fields import DrawField, StateField
from overclock.recipe.contract.thresholds import FIELDS as LIMITED
from overclock.recipe.contract.thresholds import Limits
from overclock.recipe.contract.tolerance_value import parse_tolerance, tolerance_value
from overclock.recipe.contract.toml_text import toml_pairs, toml_value
from overclock.recording.room import Room
from overclock.recording.shape_json import codec_to_json
from overclock.recording.shapes import Shape
from overclock.verify.contract import Contract, Field, Precision
from overclock.verify.reach.excuse import Excuse
from overclock.verify.tolerance import EXACT, Tolerance

SCHEMA = "overclock.contract/1"
FILE = "contract.toml"
OUTPUTS = ("obs", "reward")
OUTPUTS_OF_STATE = tuple(f"state.{name}" for name in OUTPUTS)  # state fields that are called as an output is


@dataclasses.dataclass(frozen=True)
class Closeness:
    """How far floats of one precision may be apart, by `state`, `obs`, `reward` or a field's own name.

    A number alone is a tolerance that is absolute. `limits` are thresholds next to which rounding may turn a flag.
    """

    per_step: Mapping[str, Tolerance] = dataclasses.field(default_factory=dict)
    free_running: Mapping[str, Tolerance] = dataclasses.field(default_factory=dict)
    reason: str = ""
    free_running_steps: int | None = None
    limits: Limits | None = None

    def __post_init__(self) -> None:
        for table in ("per_step", "free_running"):
            given = {name: parse_tolerance(name, value) for name, value in getattr(self, table).items()}
            object.__setattr__(self, table, given)

    def of(self, name: str, group: str) -> tuple[Tolerance, Tolerance]:
        """The tolerances (per step, free running) of a field: its own, or those of its group."""
        keys = (name, *([name.removeprefix("state.")] if name not in OUTPUTS_OF_STATE else []), group)
        tables = (self.per_step, self.free_running)
        given = [next((table[key] for key in keys if key in table), EXACT) for table in tables]
        return given[0], given[1]


@dataclasses.dataclass(frozen=True)
class ContractFile:
    """The content of a contract.toml."""

    state: tuple[StateField, ...]
    reset_draws: tuple[DrawField, ...] = ()
    step_draws: tuple[DrawField, ...] = ()
    set_state: bool = True  # whether the reference can be put into a given state
    precisions: Mapping[Precision, Closeness] = dataclasses.field(default_factory=dict)
    codec: str | None = None  # the name of a file beside the contract
    shapes: Mapping[str, Shape] = dataclasses.field(default_factory=dict)  # its content: attribute -> shape
    restart: tuple[str, ...] = ()  # attributes that outlive a reset; every episode begins as that of a new instance
    rooms: tuple[Room, ...] = ()  # how many items lists have room for, and why
    unreached: tuple[Excuse, ...] = ()  # branches of the reference that no comparison can take, and why
    x64: str = ""  # why float64 is required, where there is no [float32] for that reason

    @property
    def by_site(self) -> bool:
        """Whether draws are recorded by their sites; with a codec and no draws at all, nothing may draw anywhere."""
        draws = (*self.reset_draws, *self.step_draws)
        return all(draw.site is not None for draw in draws) and (bool(draws) or self.codec is not None)

    def contracts(self) -> dict[Precision, Contract]:
        """The verifier's contract for each precision."""
        return {precision: self._contract(close) for precision, close in self.precisions.items()}

    def _contract(self, close: Closeness) -> Contract:
        fields = [self._field(f"state.{field.name}", field.exact, close, "state") for field in self.state]
        fields += [self._field(name, False, close, name) for name in OUTPUTS]
        fields += [Field("terminated"), Field("truncated"), Field("state.steps")]
        return Contract(
            tuple(fields),
            free_running_steps=close.free_running_steps,
            free_running_reason=close.reason if close.free_running_steps is not None else "",
            **({} if close.limits is None else self._limited(close.limits)),
        )

    def _limited(self, limits: Limits) -> dict[str, Any]:
        floats = [field.name for field in self.state if not field.exact]
        if unknown := [name for name in limits.fields if name not in floats]:
            raise UsageError(f"its limits name '{unknown[0]}', which is no float of the state")
        return {
            "distance_to_limit": limits.distance, "limit_margin": limits.margin, "limit_reason": limits.reason,
            "limit_fields": LIMITED,
        }  # fmt: skip

    @staticmethod
    def _field(name: str, exact: bool, close: Closeness, group: str) -> Field:
        step, free = (EXACT, EXACT) if exact else close.of(name, group)
        return Field(
            name, step.absolute, free.absolute, close.reason if step or free else "",
            per_step_relative=step.relative, free_running_relative=free.relative, whole=step.whole or free.whole,
        )  # fmt: skip


def load_contract(path: Path) -> ContractFile:
    """Read a contract.toml; UsageError says what is wrong with it."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if data.pop("schema", None) != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        draws = data.pop("draws", {})
        loaded = ContractFile(
            state=tuple(StateField(**{**one, "shape": tuple(one.get("shape", ()))}) for one in data.pop("state", [])),
            reset_draws=_draws(draws.pop("reset", [])),
            step_draws=_draws(draws.pop("step", [])),
            set_state=data.pop("set_state", True),
            codec=(codec := data.pop("codec", None)),
            restart=tuple(data.pop("restart", ())),
            rooms=tuple(Room(**one) for one in data.pop("rooms", [])),
            unreached=tuple(Excuse(**one) for one in data.pop("unreached", [])),
            x64=data.pop("x64", ""),
            shapes={} if codec is None else load_shapes(path.parent, codec),
            precisions={name: _closeness(data.pop(name)) for name in get_args(Precision) if name in data},
        )
        if data or draws:
            raise ValueError(f"it has the unknown part '{next(iter({**data, **draws}))}'")
        if not loaded.precisions:
            raise ValueError("it has neither [float64] nor [float32]")
        if loaded.x64 and "float32" in loaded.precisions:
            raise ValueError("it says why float64 is required (x64), and has [float32]; leave one of them away")
        loaded.contracts()  # a tolerance without a reason is refused here
        require_codec(loaded.state, loaded.shapes if loaded.codec is not None else None)
        require_sites(loaded.state, loaded.reset_draws, loaded.step_draws)
    except OSError as error:
        raise UsageError(f"The contract '{path}' cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, TypeError, ValueError, UsageError) as error:
        raise UsageError(f"The contract '{path}' is not usable: {str(error).rstrip('.')}.") from error
    return loaded


def _draws(rows: list[dict[str, Any]]) -> tuple[DrawField, ...]:
    return tuple(DrawField(**{**row, "shape": tuple(row.get("shape", ()))}) for row in rows)


def _closeness(table: dict[str, Any]) -> Closeness:
    given = table.pop("limits", None)
    if given is None:
        return Closeness(**table)
    at = {place: tuple(map(float, values)) for place, values in given.pop("at", {}).items()}
    return Closeness(**table, limits=Limits(at, **given))


def write_contract(contract: ContractFile, folder: Path) -> None:
    """Write contract.toml into a folder, and the file of its codec if it has one."""
    if contract.codec is not None:
        write_whole(folder / contract.codec, codec_to_json(contract.shapes).encode())
    write_whole(folder / FILE, format_contract(contract).encode())


def _values(table: Mapping[str, Tolerance]) -> dict[str, Any]:
    return {name: tolerance_value(tolerance) for name, tolerance in table.items()}


def format_contract(contract: ContractFile) -> str:
    """The text of a contract.toml, with the comments that a reader needs."""
    lines = [
        "# What the two sides must agree on. Change it here; nothing inside candidate/ can.",
        f'schema = "{SCHEMA}"',
        f"set_state = {toml_value(contract.set_state)}  # whether the reference can be put into a given state",
    ]
    if contract.codec is not None:
        lines.append(f"codec = {toml_value(contract.codec)}  # how the state is laid out as the arrays below")
    if contract.restart:
        lines.append("# These outlive a reset of the reference. Here every episode begins as that of a new instance.")
        lines.append(f"restart = {toml_value(contract.restart)}")
    if contract.x64:
        lines.append("# Candidates are judged and used in float64 alone (JAX's x64), because")
        lines.append(f"x64 = {toml_value(contract.x64)}")
    if contract.rooms:
        lines += ["", "# Lists that may become longer in a step. Where `follows` is false, the bound is assumed:"]
        lines.append("# a new project takes another one with `overclock new --capacity LIST=ITEMS`.")
    for room in contract.rooms:
        lines += ["[[rooms]]", *toml_pairs(dataclasses.asdict(room)), ""]
    if contract.unreached:
        lines += ["", "# Branches of the reference that no comparison can take; without an excuse there is no pass."]
    for excuse in contract.unreached:
        lines += ["[[unreached]]", *toml_pairs(dataclasses.asdict(excuse)), ""]
    lines += ["", "# State: its name on the performance side, and where an instance of the reference keeps it."]
    for field in contract.state:
        lines += ["[[state]]", *toml_pairs(dataclasses.asdict(field)), ""]
    for when, draws in (("reset", contract.reset_draws), ("step", contract.step_draws)):
        if draws:
            lines.append(f"# The random numbers of a {when}, in the order in which the reference draws them.")
        for draw in draws:
            lines += [f"[[draws.{when}]]", *toml_pairs(dataclasses.asdict(draw)), ""]
    for precision, close in contract.precisions.items():
        lines += ["# Largest harmless differences; what is not listed must be equal bit for bit."]
        lines += [
            "# Each element may be off by absolute + relative * (its size in the reference); a list has a number per"
        ]
        lines += ["# element. `whole`: where the reference has a whole number below 2^24, it must be equal."]
        lines += [f"[{precision}]"]
        lines += toml_pairs({"reason": close.reason, "free_running_steps": close.free_running_steps})
        for table in ("per_step", "free_running"):
            lines += ["", f"[{precision}.{table}]", *toml_pairs(_values(getattr(close, table)))]
        if close.limits is not None:
            lines += ["", "# Next to these thresholds a flag may fall either way; such flags are counted."]
            lines += [f"[{precision}.limits]", *toml_pairs(dataclasses.asdict(close.limits))]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
