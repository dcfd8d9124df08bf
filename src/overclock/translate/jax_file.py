"""The generated file: header, tables, state, draws, and the environment with its rules."""

import importlib.metadata
import math
import re
from typing import Any

import numpy as np

from overclock import __version__
from overclock.translate.draws import DrawSite
from overclock.translate.ir import Const, Operand
from overclock.translate.jax_printer import Body, Names, Tables, dtype_text
from overclock.translate.observations import flat_space
from overclock.translate.program import Function, Program

KINDS = {"f": "Float", "i": "Int", "u": "UInt", "b": "Bool"}


def print_jax(program: Program) -> str:
    """The text of env.py."""
    return _File(program).text()


class _File:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._tables = Tables()
        self._cls = class_name(program.name)

    def text(self) -> str:
        reset, step = self._init(), self._transition()
        observe = [*self._observe(), *self._mask()]
        draws = [*self._draw_method("reset"), *self._draw_method("step")]
        body = [
            *self._class(), "", *self._spaces(), "", *draws, *reset, "", *step, "", *observe,
        ]  # fmt: skip
        tables = [*self._tables.lines, ""] if self._tables.lines else []
        parts = [
            *self._header(), "", *self._imports(body), "", *tables, "",
            *self._records(), *body, "", "",
            f"def make() -> tuple[{self._cls}, {self._cls}Params]:",
            '    """The environment and its parameters."""',
            f"    env = {self._cls}()",
            "    return env, env.default_params()",
        ]  # fmt: skip
        return "\n".join(parts).rstrip() + "\n"

    # ---- head ----

    def _header(self) -> list[str]:
        program = self._program
        package = program.source.partition(".")[0].partition(":")[0]
        try:
            version = f" ({package} {importlib.metadata.version(package)})"
        except importlib.metadata.PackageNotFoundError:
            version = ""
        lines = [
            f'"""{program.name}, translated from {program.source}{version}',
            f"by overclock {__version__}.",
            "",
            "Randomness is drawn first (`draw_reset`, `draw_step`) and handed to the rules as data. Both arms of a",
            "branch are computed and `jnp.where` picks one; the comments above are the conditions of the source.",
        ]
        if program.overflow:
            lines.append(
                "`overflow` in the state: a list or a loop needed more room than it has, and nothing is right."
            )
        return [*lines, '"""']

    def _imports(self, body: list[str]) -> list[str]:
        text = "\n".join(body)
        lines = ["import dataclasses", "from typing import Any", ""]
        if "jax.lax" in text:
            lines.append("import jax")
        lines.append("import jax.numpy as jnp")
        if "np." in re.sub(r"jnp\.", "", text) or self._tables.lines:
            lines.append("import numpy as np")
        held = [self._program.step.results["observation"].type] if self._program.stored_observation else []
        stored = {KINDS[np.dtype(one.dtype).kind] for one in [*self._program.state, *held]}
        kinds = sorted(stored | {"Float", "Bool"} | self._draw_kinds())
        lines += [f"from jaxtyping import Array, {', '.join(kinds)}", ""]
        spaces = {name for name in ("Box", "Discrete", "MultiDiscrete") if f"{name}(" in text}
        return [
            *lines,
            f"from overclock.env import {', '.join(sorted({'Environment', 'Params', 'Rng', 'Struct', *spaces}))}",
        ]

    def _draw_kinds(self) -> set[str]:
        sites = self._program.reset.sites + self._program.step.sites
        return {KINDS[np.dtype(site.dtype).kind] for site in sites}

    def _records(self) -> list[str]:
        program = self._program
        limit = "None" if program.max_steps is None else repr(program.max_steps)
        lines = [
            "", f"class {self._cls}Params(Params):", '    """The time limit of the reference."""', "",
            f"    max_steps: int | None = {limit}", "", "",
            f"class {self._cls}State(Struct):", '    """What the rules remember."""', "",
        ]  # fmt: skip
        lines += [f"    {leaf.name}: {annotation(leaf.dtype, leaf.shape)}" for leaf in program.state]
        if program.stored_observation:
            held = program.step.results["observation"].type
            lines.append(f"    observation: {annotation(held.dtype, held.shape)}  # as the last step returned it")
        if program.overflow:
            lines.append('    overflow: Bool[Array, ""]')
        if lines[-1] == "":
            lines.append('    nothing: Bool[Array, ""]')
        for when in ("reset", "step"):
            sites = getattr(program, when).sites
            if sites:
                lines += [
                    "",
                    "",
                    f"class {self._cls}{when.capitalize()}Draw(Struct):",
                    f'    """The randomness of a {when}."""',
                    "",
                ]
                lines += [f"    {site.name}: {annotation(site.dtype, leaf_shape(site))}" for site in sites]
        return [*lines, "", ""]

    def _class(self) -> list[str]:
        cls = self._cls
        return [
            "@dataclasses.dataclass(frozen=True)",
            f"class {cls}(Environment[{cls}State, {cls}Params]):",
            f'    """{self._program.name}."""',
            "",
            f"    numpy_refusal = {self._numpy_refusal()!r}  # why rng='numpy' is not possible; empty where it is",
            "",
            f"    def default_params(self) -> {cls}Params:",
            f"        return {cls}Params()",
        ]

    def _numpy_refusal(self) -> str:
        """Whether the same seed can give the reference's own episodes."""
        program = self._program
        kept = f"a reset of the reference leaves '{program.restart[0]}' as it was" if program.restart else ""
        return program.reset.numpy_refusal or program.step.numpy_refusal or kept

    def _spaces(self) -> list[str]:
        lines = []
        for name, space in (("observation", self._program.observation_space), ("action", self._program.action_space)):
            lines += [
                f"    def {name}_space(self, params: {self._cls}Params) -> Any:",
                f"        return {self._space(space)}",
                "",
            ]
        return lines[:-1]

    def _space(self, space: Any) -> str:
        if type(space).__name__ == "MultiDiscrete":
            return f"MultiDiscrete({tuple(int(n) for n in space.nvec)})"
        flat = flat_space(space)
        if flat.n:
            return f"Discrete({flat.n})"
        low, high = (self._bound(bound) for bound in (flat.low, flat.high))
        return f"Box({low}, {high}, {flat.shape}, {_np_dtype(flat.dtype)})"

    def _bound(self, bound: np.ndarray) -> str:
        if bound.size and (bound == bound.flat[0]).all():
            return _plain(bound.flat[0])
        return "(" + ", ".join(_plain(one) for one in bound.ravel()) + ("," if bound.size == 1 else "") + ")"

    # ---- rules ----

    def _draw_method(self, when: str) -> list[str]:
        sites: list[DrawSite] = getattr(self._program, when).sites
        if not sites:
            return []
        cls = f"{self._cls}{when.capitalize()}Draw"
        state = "" if when == "reset" else f", state: {self._cls}State"
        lines = [
            f"    def draw_{when}(self, rng: Rng{state}, params: {self._cls}Params) -> {cls}:",
            f"        return {cls}(",
        ]
        number = 0
        for site in sites:
            shape = leaf_shape(site)
            lines.append(f"            {site.name}={_drawn(site, number, shape)},")
            number += max(1, math.prod(_sites_shape(site, shape)))
        return [*lines, "        )", ""]

    def _body(self, function: Function) -> Body:
        draws = {site.name: (site.name, site.count) for site in function.sites}
        body = Body(Names(set()), self._tables, draws)
        body.count(function.block, list(function.results.values()))
        return body

    def _inputs(self, body: Body, function: Function) -> None:
        body.name_inputs(
            {var: "action" if name == "action" else f"state.{name}" for name, var in function.inputs.items()}
        )

    def _new_state(self, body: Body, function: Function) -> list[str]:
        program = self._program
        names = [leaf.name for leaf in program.state]
        types = {leaf.name: leaf.dtype for leaf in program.state}
        if program.stored_observation:
            names.append("observation")
            types["observation"] = program.step.results["observation"].type.dtype
        if program.overflow:
            names.append("overflow")
            types["overflow"] = "bool"
        lines = [f"{name}={exactly(body, function.results[name], types[name])}," for name in names]
        return lines or ["nothing=jnp.asarray(False),"]

    def _init(self) -> list[str]:
        function = self._program.reset
        body = self._body(function)
        self._inputs(body, function)
        body.block(function.block)
        draw = f"{self._cls}ResetDraw" if function.sites else "Any"
        return [
            f"    def init(self, draw: {draw}, params: {self._cls}Params) -> {self._cls}State:",
            *body.lines,
            f"        return {self._cls}State(",
            *(f"            {line}" for line in self._new_state(body, function)),
            "        )",
        ]

    def _transition(self) -> list[str]:
        function = self._program.step
        body = self._body(function)
        self._inputs(body, function)
        body.block(function.block)
        draw = f"{self._cls}StepDraw" if function.sites else "Any"
        reward = exactly(body, function.results["reward"], "float32")
        terminated = exactly(body, function.results["terminated"], "bool")
        return [
            "    def transition(",
            f"        self, state: {self._cls}State, action: Any, draw: {draw}, params: {self._cls}Params",
            f'    ) -> tuple[{self._cls}State, Float[Array, ""], Bool[Array, ""]]:',
            *body.lines,
            f"        after = {self._cls}State(",
            *(f"            {line}" for line in self._new_state(body, function)),
            "        )",
            f"        return after, {reward}, {terminated}",
        ]

    def _observe(self) -> list[str]:
        function = self._program.observe
        body = self._body(function)
        self._inputs(body, function)
        body.block(function.block)
        result = function.results["obs"]
        dtype = "int32" if type(self._program.observation_space).__name__ == "Discrete" else result.type.dtype
        return [
            f"    def observe(self, state: {self._cls}State, params: {self._cls}Params) -> Any:",
            *body.lines,
            f"        return {exactly(body, result, dtype)}",
        ]

    def _mask(self) -> list[str]:
        function = self._program.mask
        if function is None:
            return []
        body = self._body(function)
        self._inputs(body, function)
        body.block(function.block)
        return [
            "",
            f"    def action_mask(self, state: {self._cls}State, params: {self._cls}Params) -> Any:",
            *body.lines,
            f"        return {exactly(body, function.results['mask'], 'bool')}",
        ]


def exactly(body: Body, operand: Operand, dtype: str) -> str:
    """A result in its dtype, never weakly typed."""
    if isinstance(operand, Const):
        return body.constant(operand, dtype)
    text = body.text(operand, 10)
    if text.endswith(f".astype({dtype_text(dtype)})"):
        return text
    return f"{text}.astype({dtype_text(dtype)})"


def annotation(dtype: str, shape: tuple[int, ...]) -> str:
    """A jaxtyping annotation."""
    return f'{KINDS[np.dtype(dtype).kind]}[Array, "{" ".join(map(str, shape))}"]'


def leaf_shape(site: DrawSite) -> tuple[int, ...]:
    """The shape of all draws of a site in one event."""
    return site.shape if site.count == 1 else (site.count, *site.shape)


def _sites_shape(site: DrawSite, shape: tuple[int, ...]) -> tuple[int, ...]:
    if site.form == "permutation":
        return (*shape[:-1], site.arguments["n"])
    return shape


def _drawn(site: DrawSite, number: int, shape: tuple[int, ...]) -> str:
    """The expression that draws for a site."""
    size = f", shape={shape}" if shape else ""
    match site.form:
        case "unit":
            return f"rng.unit({number}{size})"
        case "normal":
            return f"rng.normal({number}{size})"
        case "permutation":
            total, several = site.arguments["n"], site.arguments["k"]
            order = f"jnp.argsort(rng.unit({number}, shape={(*shape[:-1], total)}), axis=-1)"
            return order + (f"[..., :{several}]" if several < total else "") + ".astype(int)"
        case "index":
            if "p" in site.arguments:
                running = np.cumsum(site.arguments["p"])
                edges = [float(one) for one in (running / running[-1])[:-1]]
                return f"jnp.searchsorted(jnp.array({edges}), rng.unit({number}{size}), side='right').astype(int)"
            return f"rng.integers({number}, {site.arguments['n']}{size}).astype(int)"
    if site.method in ("uniform",):
        low, high = (_argument(site.arguments[name]) for name in ("low", "high"))
        return f"rng.uniform({number}, {low}, {high}{size})"
    loc, scale = (_argument(site.arguments[name]) for name in ("loc", "scale"))
    return f"{loc} + {scale} * rng.normal({number}{size})"


def _argument(value: Any) -> str:
    if np.ndim(value) == 0:
        return repr(float(value))
    return f"jnp.array({np.asarray(value, float).tolist()})"


def _plain(value: Any) -> str:
    if isinstance(value, np.bool_ | bool):
        return repr(bool(value))
    number = float(value)
    if math.isinf(number):
        return "float('inf')" if number > 0 else "-float('inf')"
    return repr(number) if isinstance(value, np.floating | float) else repr(int(value))


def _np_dtype(dtype: np.dtype) -> str:
    return f'"{dtype.name}"'


def class_name(name: str) -> str:
    """'CartPole-v1' -> 'CartPole'."""
    last = name.rpartition("/")[2].rpartition(":")[2]
    words = re.split(r"[^A-Za-z0-9]+", re.sub(r"-v\d+$", "", last))
    joined = "".join(word[:1].upper() + word[1:] for word in words if word)
    return joined if joined and not joined[0].isdigit() else f"Env{joined}"
