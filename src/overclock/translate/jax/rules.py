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
    """The functions of a program as methods, with everything that is a function in the source outside of them."""

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
        """The methods."""
        cls = self._cls
        state, params = f"state: {cls}State", f"params: {cls}Params"
        after = f'tuple[{cls}State, Float[Array, ""], Bool[Array, ""]]'
        found = [
            *signature("    def init", ["self", f"draw: {self._draw('reset')}", params], f"{cls}State"),
            *self._init(),
            "",
            *signature(
                "    def transition", ["self", state, "action: Any", f"draw: {self._draw('step')}", params], after
            ),
            *self._transition(),
            "",
            *signature("    def observe", ["self", state, params], "Any"),
            *self._observe(),
        ]
        if "mask" in self._functions:
            found += ["", *signature("    def action_mask", ["self", state, params], "Any"), *self._mask()]
        return found

    def _draw(self, when: str) -> str:
        return f"{self._cls}{when.capitalize()}Draw" if self._functions[when].sites else "Any"

    def _init(self) -> list[str]:
        body, hints = self._body("reset")
        body.lines += self._new_state(body, "return")
        return self._finished(body, hints)

    def _transition(self) -> list[str]:
        body, hints = self._body("step")
        results = self._functions["step"].results
        reward, terminated = (
            body.exactly(results[name], dtype) for name, dtype in (("reward", "float32"), ("terminated", "bool"))
        )
        body.lines += [*self._new_state(body, "after ="), Line(f"return after, {reward}, {terminated}")]
        return self._finished(body, hints)

    def _observe(self) -> list[str]:
        body, hints = self._body("observe")
        result = self._functions["observe"].results["obs"]
        choices = type(self._program.observation_space).__name__ in ("Discrete", "MultiDiscrete")
        dtype = "int32" if choices else result.type.dtype  # as our spaces have it
        body.lines.append(Line(f"return {body.exactly(result, dtype)}"))
        return self._finished(body, hints)

    def _mask(self) -> list[str]:
        body, hints = self._body("mask")
        body.lines.append(Line(f"return {body.exactly(self._functions['mask'].results['mask'], 'bool')}"))
        return self._finished(body, hints)

    def _body(self, name: str) -> tuple[Body, Hints]:
        function = self._functions[name]
        hints = Hints(function.block, function.results, {})
        counts = {site.name: site.count for site in function.sites}
        body = Body(self._tables, counts, counted(function.block, function.results.values()), hints, 2)
        inputs = {var: "action" if name == "action" else f"state.{name}" for name, var in function.inputs.items()}
        body.name_inputs(inputs)
        body.block(function.block)
        return body, hints

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

    def _finished(self, body: Body, hints: Hints) -> list[str]:
        return _short(named(body.lines, {}, hints.shown, self._taken, 2))

    # ---- functions outside of the class ----

    def helpers(self) -> list[str]:
        """The functions that the methods call."""
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
