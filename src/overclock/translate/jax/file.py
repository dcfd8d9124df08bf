"""The generated file: header, constants, state, draws, helpers, and the environment with its rules."""

import math
import re
import textwrap
from typing import Any

import numpy as np

from overclock import __version__
from overclock.recording.observations import flat_space
from overclock.translate.jax.draws import draw_method
from overclock.translate.jax.line_breaking import WIDTH, wrapped
from overclock.translate.jax.rules import Rules
from overclock.translate.jax.small_arrays import NAMES as QUICK
from overclock.translate.jax.tables import Tables
from overclock.translate.printing.draws import leaf_shape
from overclock.translate.printing.header import origin
from overclock.translate.program import Program

KINDS = {"f": "Float", "i": "Int", "u": "UInt", "b": "Bool"}


def print_jax(program: Program) -> str:
    """The text of env.py for a translated program."""
    return _File(program).text()


class _File:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._tables = Tables({path.rpartition(".")[2] for path in program.shapes})
        self._cls = class_name(program.name)
        self._rules = Rules(program, self._tables, self._cls)

    def text(self) -> str:
        rules = self._rules.lines()
        draws = [
            *draw_method(self._cls, "reset", self._program.reset.sites),
            *draw_method(self._cls, "step", self._program.step.sites),
        ]
        helpers = self._rules.helpers()
        body = [*helpers, *self._class(), "", *self._spaces(), "", *draws, *rules]
        constants = ["", *self._tables.lines] if self._tables.lines else []
        parts = [
            *self._header(), "", *self._imports(body), *constants, "", "", *self._records(), *body, "", "",
            f"def make() -> tuple[{self._cls}, {self._cls}Params]:",
            '    """The environment and its parameters."""'
            if not self._program.single_loss
            else '    """The environment and its parameters; raises where JAX computes in float32."""',
            f"    env = {self._cls}()",
            "    return env, env.default_params()",
        ]  # fmt: skip
        return "\n".join(parts) + "\n"

    # ---- head ----

    def _header(self) -> list[str]:
        program = self._program
        what = f'"""{program.name}, translated from {origin(program)} by overclock {__version__}.'
        lines = [
            *textwrap.wrap(what, WIDTH, break_long_words=False, break_on_hyphens=False),
            "",
            "Randomness is drawn first (`draw_reset`, `draw_step`) and handed to the rules as data. Both arms of a",
            "branch are computed and `jnp.where` picks one; the comments above are the conditions of the source.",
        ]
        if program.single_loss:
            lines.append("It needs float64 (JAX_ENABLE_X64=1): " + program.single_loss + ".")
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
        if any("np." in line for line in self._tables.lines) or "np." in re.sub(r"jnp\.", "", text):
            lines.append("import numpy as np")
        held = [self._program.step.results["observation"].type] if self._program.stored_observation else []
        sites = self._program.reset.sites + self._program.step.sites
        kinds = {KINDS[np.dtype(one.dtype).kind] for one in [*self._program.state, *held, *sites]}
        lines += [f"from jaxtyping import Array, {', '.join(sorted(kinds | {'Float', 'Bool'}))}", ""]
        spaces = {name for name in ("Box", "Discrete", "MultiDiscrete") if f"{name}(" in text}
        quick = {name for name in QUICK if re.search(rf"\b{name}\(", text)}
        names = {"Environment", "Params", "Struct", *spaces, *quick} | ({"Rng"} if sites else set())
        names |= {"require_float64"} if self._program.single_loss else set()
        lines[-1] = f"from overclock.env import {', '.join(sorted(names))}"
        return lines

    def _records(self) -> list[str]:
        program = self._program
        limit = "None" if program.max_steps is None else repr(program.max_steps)
        lines = [
            f"class {self._cls}Params(Params):", '    """The time limit of the reference."""', "",
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
                head = f"class {self._cls}{when.capitalize()}Draw(Struct):"
                lines += ["", "", head, f'    """The randomness of a {when}."""', ""]
                lines += [f"    {site.name}: {annotation(site.dtype, leaf_shape(site))}" for site in sites]
        return [*lines, "", ""]

    def _class(self) -> list[str]:
        cls = self._cls
        return [
            "@dataclasses.dataclass(frozen=True)",
            f"class {cls}(Environment[{cls}State, {cls}Params]):",
            f'    """{self._program.name}."""',
            "",
            "    # Why rng='numpy' is not possible; empty where it is.",
            *_assigned("    numpy_refusal", self._numpy_refusal()),
            *self._capacities(),
            "",
            f"    def default_params(self) -> {cls}Params:",
            *self._requirement(),
            f"        return {cls}Params()",
        ]

    def _requirement(self) -> list[str]:
        lost = self._program.single_loss
        return [f'        require_float64("{lost}")'] if lost else []

    def _capacities(self) -> list[str]:
        rooms = self._program.rooms
        told = ", ".join(f"{room.list}: {room.items}{'' if room.follows else ' (assumed)'}" for room in rooms)
        return ["", "    # How many items its lists have room for.", *_assigned("    capacities", told)] if told else []

    def _numpy_refusal(self) -> str:
        program = self._program
        kept = f"a reset of the reference leaves '{program.restart[0]}' as it was" if program.restart else ""
        return program.reset.numpy_refusal or program.step.numpy_refusal or kept

    def _spaces(self) -> list[str]:
        lines = []
        for name, space in (("observation", self._program.observation_space), ("action", self._program.action_space)):
            lines += [
                f"    def {name}_space(self, params: {self._cls}Params) -> Any:",
                *wrapped(f"        return {_space(space)}"),
                "",
            ]
        return lines[:-1]


def _space(space: Any) -> str:
    if type(space).__name__ == "MultiDiscrete":
        return f"MultiDiscrete({tuple(int(n) for n in space.nvec)})"
    flat = flat_space(space)
    if flat.n:
        return f"Discrete({flat.n})"
    low, high = (_bound(bound) for bound in (flat.low, flat.high))
    return f'Box({low}, {high}, {flat.shape}, "{flat.dtype.name}")'


def _bound(bound: np.ndarray) -> str:
    if bound.size and (bound == bound.flat[0]).all():
        return _plain(bound.flat[0])
    return "(" + ", ".join(_plain(one) for one in bound.ravel()) + ("," if bound.size == 1 else "") + ")"


def _plain(value: Any) -> str:
    if isinstance(value, np.bool_ | bool):
        return repr(bool(value))
    number = float(value)
    if math.isinf(number):
        return 'float("inf")' if number > 0 else '-float("inf")'
    return repr(number) if isinstance(value, np.floating | float) else repr(int(value))


def _assigned(name: str, text: str) -> list[str]:
    """A text in double quotes, as one or several lines."""
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if len(f"{name} = {quoted}") <= WIDTH:
        return [f"{name} = {quoted}"]
    half = text.rindex(" ", 0, WIDTH - 20) + 1
    parts = ['"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"' for part in (text[:half], text[half:])]
    return [f"{name} = (", *(f"        {part}" for part in parts), "    )"]


def annotation(dtype: str, shape: tuple[int, ...]) -> str:
    """The jaxtyping annotation of an array, 'Float[Array, "3 4"]' for example."""
    return f'{KINDS[np.dtype(dtype).kind]}[Array, "{" ".join(map(str, shape))}"]'


def class_name(name: str) -> str:
    """The name of the generated class for an environment's name, 'CartPole' for 'CartPole-v1'."""
    last = name.rpartition("/")[2].rpartition(":")[2]
    words = re.split(r"[^A-Za-z0-9]+", re.sub(r"-v\d+$", "", last))
    joined = "".join(word[:1].upper() + word[1:] for word in words if word)
    return joined if joined and not joined[0].isdigit() else f"Env{joined}"
