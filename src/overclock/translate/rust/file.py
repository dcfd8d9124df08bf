"""A program as a Rust candidate: the text of src/lib.rs, which implements the `Rules` of the contract's contract.rs."""

import re
from typing import Any

import numpy as np

from overclock import __version__
from overclock.recording.errors import UnsupportedError
from overclock.recording.observations import flat_space
from overclock.recording.shapes import Leaf
from overclock.translate.ir.nodes import Operand
from overclock.translate.ir.sites import DrawSite
from overclock.translate.printing.header import origin
from overclock.translate.program import Function, Program
from overclock.translate.rust.direct_writes import direct_writes
from overclock.translate.rust.draws import drawn_fields
from overclock.translate.rust.helpers import RESERVED as HELPER_NAMES
from overclock.translate.rust.helpers import Helpers
from overclock.translate.rust.index import Place
from overclock.translate.rust.line_breaking import LONGEST, wrapped
from overclock.translate.rust.lines import Lines, Nest, Storage, listed, rendered
from overclock.translate.rust.names import Names, Tables
from overclock.translate.rust.plan import Plan
from overclock.translate.rust.printer import Body
from overclock.translate.rust.reductions import TOTAL
from overclock.translate.rust.syntax import array_literal, field_name, kind_of, rust_type

RESERVED = {"state", "action", "draw", "rng", "into", "std", "from_fn", "contract", TOTAL, *HELPER_NAMES}

INLINE = "#[inline]"  # into the loops of whoever steps many instances

OUTCOME = {"reward": "float64", "terminated": "bool"}


def print_rust(program: Program) -> str:
    """The text of src/lib.rs for a translated program; UnsupportedError where it has no Rust form."""
    return _File(program).text()


class _File:
    def __init__(self, program: Program) -> None:
        if program.stored_observation:
            raise UnsupportedError("the Rust printer has no observations that do not follow from the state")
        self._program = program
        self._reset, self._step = map(direct_writes, (program.reset, program.step))
        self._tables, self._helpers = Tables(), Helpers()
        self._observed = flat_space(program.observation_space)
        self._actions = flat_space(program.action_space)

    def text(self) -> str:
        shown = self._program.observe.results["obs"].type
        draws = [self._draws("reset"), self._draws("step")]
        mask, steps = self._program.mask, self._program.max_steps
        limit = "None" if steps is None else f"Some({steps})"
        functions = [self._spaces(), *draws, self._init(), self._transition(), self._observe()]
        functions += [] if mask is None else [self._filling("action_mask", mask, mask.results["mask"], "bool")]
        rules = [
            f"    type Element = {kind_of(shown.dtype)};",
            f"    type Action = {self._action_type()};",
            f"    const MAX_STEPS: Option<i32> = {limit};",
            *([] if mask is None else ["    const MASKED: bool = true;"]),
            *(f"{'    ' if line else ''}{line}" for part in functions if part for line in ("", *part)),
        ]
        body = ["#[derive(Default)]", "pub struct Env;", "", "impl Rules for Env {", *rules, "}"]
        helpers = [line for text in self._helpers.texts() for line in ("", text)]
        used = "\n".join([*body, *helpers])
        imports = ["use contract::*;", *(["use std::array::from_fn;"] if "from_fn" in used else [])]
        tables = [*self._tables.lines, ""] if self._tables.lines else []
        parts = [*self._header(), "pub mod contract;", "", *imports, "", *tables, *body, *helpers]
        return "\n".join(line for part in parts for line in wrapped(part)) + "\n"

    def _header(self) -> list[str]:
        program = self._program
        lines = [
            f"//! {program.name}, translated from {origin(program)}",
            f"//! by overclock {__version__}.",
            "//!",
            "//! Randomness is drawn first (`draw_reset`, `draw_step`) and handed to the rules as data; the comments",
            "//! are the conditions of the source.",
        ]
        if program.overflow:
            lines.append("//! `overflow` in the state says that a list or a loop needed more room than it has.")
        return [*lines, ""]

    # ---- spaces ----

    def _action_type(self) -> str:
        space = self._actions
        if space.n:
            return "i64"
        if space.dtype.kind != "f" or len(space.shape) != 1:
            kind = type(self._program.action_space).__name__
            raise UnsupportedError(f"the Rust contract has no actions of {kind} with the shape {space.shape}")
        return rust_type(space.dtype.name, space.shape)

    def _spaces(self) -> list[str]:
        lines: Lines = []
        for name, space in (("observation", self._observed), ("action", self._actions)):
            if lines:
                lines.append("")
            lines.append(Nest(f"fn {name}_space(&self) -> Space", _space(space)))
        return rendered(lines)

    # ---- rules ----

    def _draws(self, when: str) -> list[str]:
        sites: list[DrawSite] = getattr(self._program, when).sites
        if not sites:
            return []
        cls = f"{when.capitalize()}Draw"
        body = self._body(Function([], {}, {}))
        fields = drawn_fields(sites, body)
        state = "" if when == "reset" else ", _state: &State"
        return [INLINE, f"fn draw_{when}(&self, rng: Rng{state}) -> {cls} {{", *_record(cls, fields), "}"]

    def _body(self, function: Function) -> Body:
        counts = {site.name: site.count for site in function.sites}
        body = Body(Plan(function), Names(RESERVED), self._tables, self._helpers, counts)
        for name, var in function.inputs.items():
            body.texts[var] = "action" if name == "action" else f"state.{field_name(name)}"
            if var.type.shape:
                body.storage[var] = Storage(body.texts[var], changeable=name != "action" and function is self._step)
        body.block(function.block, function.results.values())
        return body

    def _after(self, body: Body, function: Function) -> dict[str, str]:
        leaves = [*self._program.state, *([Leaf("overflow", "bool", ())] if self._program.overflow else [])]
        return {
            field_name(leaf.name): body.whole(function.results[leaf.name], leaf.dtype, leaf.shape) for leaf in leaves
        }

    def _init(self) -> list[str]:
        function = self._reset
        if function.inputs:
            raise UnsupportedError(f"the Rust contract has no reset that reads '{min(function.inputs)}' of the state")
        body = self._body(function)
        fields = [f"{name}: {value}," for name, value in self._after(body, function).items()]
        lines = [*rendered(body.lines, 1), *_record("State", fields)]
        return [INLINE, f"fn init(&self, {_named('draw', lines)}: &ResetDraw) -> State {{", *lines, "}"]

    def _transition(self) -> list[str]:
        function = self._step
        body = self._body(function)
        after = {f"state.{name}": value for name, value in self._after(body, function).items()}
        outcome = [_single(body, function.results[name], kind) for name, kind in OUTCOME.items()]
        # Whatever reads the state must do so before the state is changed.
        changes = {target: _settled(body, value) for target, value in after.items() if value != target}
        outcome = [_settled(body, value) for value in outcome]
        body.lines += [f"{target} = {value};" for target, value in changes.items()]
        lines = rendered([*body.lines, listed(outcome)], 1)
        kinds = {"state": "&mut State", "action": "Self::Action", "draw": "&StepDraw"}
        given = ", ".join(f"{_named(name, lines)}: {kind}" for name, kind in kinds.items())
        return [INLINE, f"fn transition(&self, {given}) -> (f64, bool) {{", *lines, "}"]

    def _observe(self) -> list[str]:
        function = self._program.observe
        return self._filling("observe", function, function.results["obs"], function.results["obs"].type.dtype)

    def _filling(self, name: str, function: Function, shown: Operand, dtype: str) -> list[str]:
        """A function of the state that writes all numbers of a result into a slice."""
        body = self._body(direct_writes(function))
        shape = shown.type.shape
        if not shape:
            body.lines.append(f"into[0] = {body.whole(shown, dtype)};")
        else:
            flat = body.held(shown, dtype) + ".as_flattened()" * (len(shape) - 1)
            body.lines.append(f"into.copy_from_slice({flat if len(shape) > 1 else f'&{flat}'});")
        lines = rendered(body.lines, 1)
        given = f"{_named('state', lines)}: &State, into: &mut [{kind_of(dtype)}]"
        return [INLINE, f"fn {name}(&self, {given}) {{", *lines, "}"]


def _single(body: Body, operand: Operand, dtype: str) -> str:
    if any(length != 1 for length in operand.type.shape):
        raise UnsupportedError(f"the Rust contract has no rewards of the shape {operand.type.shape}")
    return body.element(operand, [Place() for _ in operand.type.shape], dtype).text


def _settled(body: Body, text: str) -> str:
    """The value as it is now, in a variable of its own where it reads the state."""
    if "state." not in text:
        return text
    name = body.names.fresh("after")
    body.lines.append(f"let {name} = {text};")
    return name


def _record(cls: str, fields: list[str]) -> list[str]:
    if not fields:
        return [f"    {cls} {{}}"]
    return [f"    {cls} {{", *(f"        {field}" for field in fields), "    }"]


def _named(name: str, lines: list[str]) -> str:
    """A parameter that nothing reads has an underscore."""
    return name if any(re.search(rf"\b{name}\b", line) for line in lines) else f"_{name}"


def _space(space: Any) -> Lines:
    if space.n:
        return [f"Space::Discrete({space.n})"]
    low, high = (array_literal(np.asarray(bound, np.float64).ravel()) for bound in (space.low, space.high))
    if len(space.shape) != 1:
        return [f"Space::Box {{ shape: vec!{list(space.shape)}, low: vec!{low}, high: vec!{high} }}"]
    short = f"Space::vector(&{low}, &{high})"
    return [short] if len(short) < LONGEST else ["Space::vector(", f"    &{low},", f"    &{high},", ")"]
