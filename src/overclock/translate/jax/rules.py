"""The rules of a generated file: `init`, `transition`, `observe`, `action_mask`, and the functions that they call."""

import dataclasses

from overclock.translate.ir.nodes import Helper
from overclock.translate.ir.passes import copied
from overclock.translate.jax.line_breaking import signature, wrapped
from overclock.translate.jax.lines import Line, Nested, named
from overclock.translate.jax.names import RESERVED, Hints, free
from overclock.translate.jax.negative_places import plain_places
from overclock.translate.jax.outline import Outliner
from overclock.translate.jax.printer import Body
from overclock.translate.jax.small_arrays import quicken
from overclock.translate.jax.tables import Tables
from overclock.translate.jax.uses import counted
from overclock.translate.program import Function, Program


class Rules:
    """The functions of a program as methods, and what is a function in the source as functions outside of the class."""

    def __init__(self, program: Program, tables: Tables, cls: str) -> None:
        self._program, self._tables, self._cls = program, tables, cls
        self._functions: dict[str, Function] = {
            name: dataclasses.replace(function, block=copied(function.block))
            for name in ("reset", "step", "observe", "mask")
            if (function := getattr(program, name)) is not None
        }
        for name, function in self._functions.items():
            plain_places(function)
            quicken(function, changes=name != "observe")  # which is drawn bit by bit into one large array
        outliner = Outliner(list(self._functions.values()), {cls, *RESERVED})
        self._helpers = outliner.helpers
        self._taken = {helper.name for helper in self._helpers}

    # ---- methods ----

    def lines(self) -> list[str]:
        """The lines of `init`, `transition`, `observe` and, where there is a mask, `action_mask`."""
        cls = self._cls
        state, params = f"state: {cls}State", f"params: {cls}Params"
        after = f'tuple[{cls}State, Float[Array, ""], Bool[Array, ""]]'
        reset, step = (f"draw: {self._draw(when)}" for when in ("reset", "step"))
        found = [
            *self._method("init", [reset, params], f"{cls}State", "reset"), "",
            *self._method("transition", [state, "action: Any", step, params], after, "step"), "",
            *self._method("observe", [state, params], "Any", "observe"),
        ]  # fmt: skip
        if "mask" in self._functions:
            found += ["", *self._method("action_mask", [state, params], "Any", "mask")]
        return found

    def _draw(self, when: str) -> str:
        return f"{self._cls}{when.capitalize()}Draw" if self._functions[when].sites else "Any"

    def _method(self, method: str, params: list[str], returns: str, name: str) -> list[str]:
        function = self._functions[name]
        counts = {site.name: site.count for site in function.sites}
        hints = Hints(function.block, function.results, {})
        body = Body(self._tables, counts, counted(function.block, function.results.values()), hints, 2)
        body.name_inputs({var: "action" if one == "action" else f"state.{one}" for one, var in function.inputs.items()})
        body.block(function.block)
        body.lines += self._results(body, name)
        head = signature(f"    def {method}", ["self", *params], returns)
        return [*head, *_short(named(body.lines, {}, hints.shown, self._taken, 2))]

    def _results(self, body: Body, name: str) -> list[Line]:
        """The last lines of a method."""
        results = self._functions[name].results
        match name:
            case "reset":
                return self._new_state(body, "return")
            case "step":
                reward = body.exactly(results["reward"], "float32")
                last = Line(f"return after, {reward}, {body.exactly(results['terminated'], 'bool')}")
                return [*self._new_state(body, "after ="), last]
            case "observe":
                choices = type(self._program.observation_space).__name__ in ("Discrete", "MultiDiscrete")
                dtype = "int32" if choices else results["obs"].type.dtype  # as our spaces have it
                return [Line(f"return {body.exactly(results['obs'], dtype)}")]
            case _:
                return [Line(f"return {body.exactly(results['mask'], 'bool')}")]

    def _new_state(self, body: Body, word: str) -> list[Line]:
        program = self._program
        function = self._functions["reset" if word == "return" else "step"]
        types = {leaf.name: leaf.dtype for leaf in program.state}
        if program.stored_observation:
            types["observation"] = program.step.results["observation"].type.dtype
        if program.overflow:
            types["overflow"] = "bool"
        fields = [f"{name}={body.exactly(function.results[name], dtype)}," for name, dtype in types.items()]
        fields = fields or ["nothing=jnp.asarray(False),"]
        if len(fields) == 1:
            return [Line(f"{word} {self._cls}State({fields[0][:-1]})")]
        return [Line(f"{word} {self._cls}State("), *(Line(f"    {field}") for field in fields), Line(")")]

    # ---- functions outside of the class ----

    def helpers(self) -> list[str]:
        """The lines of the functions that the methods call."""
        return [line for helper in self._helpers for line in self._function(helper)]

    def _function(self, helper: Helper) -> list[str]:
        hints = Hints(helper.block, {}, helper.arguments)
        body = Body(self._tables, helper.draws, counted(helper.block, helper.results), hints, 1)
        names: dict[int, str] = {}
        for var in helper.params:
            names[var.number] = free(hints.shown(var), {*self._taken, *RESERVED, *names.values()})
            body.sure.add(var)
        if helper.guarded:
            body.guard("when")
        body.block(helper.block)
        shown = [body.exactly(one, one.type.dtype) for one in helper.results]
        body.lines.append(Line(f"return {', '.join(shown)}"))
        given = [*(["draw"] if helper.draws else []), *names.values(), *(["when=True"] if helper.guarded else [])]
        apart = [""] if any(isinstance(one, Nested) for one in body.lines[:2]) else []  # as ruff has it
        return [
            *signature(f"def {helper.name}", given),
            f'    """`{helper.source}` of the source."""',
            *apart,
            *_short(named(body.lines, {}, hints.shown, self._taken, 1, names)),
            "",
            "",
        ]


def _short(lines: list[str]) -> list[str]:
    return [short for line in lines for short in wrapped(line)]
