"""The lines of an environment that could hold a mistake, and which of them a report leaves under suspicion."""

import ast
import dataclasses
import functools
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import jax.numpy as jnp

from overclock.env import Rng, Section
from overclock.recipe.studies.localise_trace import PARAMS, Line, Traced, traced
from overclock.vector.host import flatten_state
from overclock.verify.mutation.mutants import Mutant
from overclock.verify.property.module import Cases, Module
from overclock.verify.sides.patched import source_of

Place = tuple[str, str]  # module, 'Class.function', a class, or nothing for the top level


@dataclasses.dataclass(frozen=True)
class Code:
    """The lines on which a mistake can be planted, where each stands, and what lines outside of functions define."""

    owners: dict[Line, Place]
    functions: frozenset[Place]  # those of the owners that are functions
    defines: dict[Line, str]  # of lines outside of functions: the name that is set there
    passing: frozenset[Line]  # lines that hand a value on as it is, in a tuple or a record
    params: Place  # the class of the parameters

    @property
    def lines(self) -> frozenset[Line]:
        """All lines that can be suspected."""
        return frozenset(self.owners)

    def suspects(self, run: Traced, outputs: Iterable[str] | None) -> frozenset[Line]:
        """The lines that could have made one of these outputs of a run wrong; None: any output.

        In a function that was entered a line is cleared if it did not run; or if it computed something, nothing of
        that reached an output, and it handed nothing else on. Of the parameters those are left from which an output was
        computed, of other definitions those that an entered function mentions.
        """
        chosen = list(run.outputs) if outputs is None else [name for name in outputs if name in run.outputs]
        reached = frozenset[Line]().union(*(run.outputs[name].lines for name in chosen))
        inputs = frozenset[str]().union(*(run.outputs[name].inputs for name in chosen))
        wanted = []
        for line, owner in self.owners.items():
            if owner in self.functions:
                elsewhere = line in run.computing and line not in self.passing and line not in reached
                cleared = elsewhere and outputs is not None
                under = owner in run.functions and (line in run.ran or line in reached) and not cleared
            elif owner == self.params:
                under = run.params_built or f"{PARAMS}{self.defines.get(line)}" in inputs
            else:
                under = self.defines.get(line) in run.names
            if under:
                wanted.append(line)
        return frozenset(wanted)


def code_of(mutants: Sequence[Mutant], params: type) -> Code:
    """The code of an environment, from all mutants that can be planted in it."""
    owners = {(mutant.module, mutant.line): (mutant.module, mutant.function) for mutant in mutants}
    functions, defines, passing = set(), {}, set()
    for module in {mutant.module for mutant in mutants}:
        tree = ast.parse(source_of(module)[0])
        functions |= {(module, name) for name in _functions(tree)}
        defines |= {(module, line): name for line, name in _definitions(tree)}
        passing |= {(module, line) for line in _passing(tree)}
    place = (params.__module__, params.__qualname__)
    return Code(owners, frozenset(functions), defines, frozenset(passing), place)


def _functions(node: ast.AST, prefix: str = "") -> Iterable[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            if isinstance(child, ast.FunctionDef):
                yield name
            yield from _functions(child, f"{name}.")


def _definitions(tree: ast.Module) -> Iterable[tuple[int, str]]:
    """The lines of assignments outside of functions, each with the name that is set."""
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    for statement in (one for body in bodies for one in body):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in targets:
            for name in ast.walk(target) if target is not None else ():
                if isinstance(name, ast.Name):
                    for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
                        yield line, name.id


def _passing(tree: ast.Module) -> Iterable[int]:
    """The lines of tuples, lists and records that contain a value which is not computed there.

    What a function is called with goes nowhere but into its result, which is computed.
    """
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and not _makes_record(node.func)]
    consumed = {id(argument) for call in calls for argument in call.args}
    for node in ast.walk(tree):
        if id(node) in consumed:
            continue
        elements: list[ast.expr] = []
        if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load):
            elements = node.elts
        elif isinstance(node, ast.Dict):
            elements = node.values
        elif isinstance(node, ast.Call) and _makes_record(node.func):
            elements = [*node.args, *(keyword.value for keyword in node.keywords)]
        bare = [one for one in elements if isinstance(one, ast.Name | ast.Attribute)]
        if bare and isinstance(node, ast.expr):
            yield from {node.lineno, *(one.lineno for one in bare)}


def _makes_record(function: ast.expr) -> bool:
    """Classes are written in capitals, and records are changed by `replace`."""
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return name[:1].isupper() or name.endswith("replace")


# ---- the runs whose results are compared ----


class Runs:
    """What the levels run, traced: a reset, a step, and every module of level 1."""

    def __init__(self, env: Any, params: Any, files: dict[str, str], action: Any) -> None:
        self._env, self._params, self._files = env, params, files
        self._state = env.reset_state(Rng.of(0), params)
        self._action = jnp.asarray(action)

    @functools.cached_property
    def reset(self) -> Traced:
        """A reset from given draws, and what is seen after it."""
        draw = self._env.draw_reset(Rng.of(0).of_section(Section.RESET), self._params)

        def run(given: dict[str, Any]) -> dict[str, Any]:
            return self._seen(self._env.begin(given["draw"], given["params"]), given["params"])

        return self._traced(run, {"draw": draw, "params": self._params})

    @functools.cached_property
    def step(self) -> Traced:
        """One step from a given state with given draws, and what is seen after it."""
        env, rules = self._env, self._state.rules
        draw = env.draw_step(Rng.of(0).of_section(Section.STEP), rules, self._params)
        fields = {f"state.{name}": value for name, value in flatten_state(rules).items()}
        names, kind = list(fields), type(self._state)

        def run(given: dict[str, Any]) -> dict[str, Any]:
            import jax

            leaves = [given[name] for name in names]
            before = kind(jax.tree.unflatten(jax.tree.structure(rules), leaves), given["state.steps"])
            after, reward, terminated, truncated = env.advance(before, given["action"], given["draw"], given["params"])
            shown = {"reward": reward, "terminated": terminated, "truncated": truncated}
            return {**self._seen(after, given["params"]), **shown}

        given = {**fields, "state.steps": self._state.steps, "action": self._action, "draw": draw}
        return self._traced(run, {**given, "params": self._params})

    def module(self, module: Module, cases: Cases) -> Traced:
        """A module of level 1 for one of its cases."""
        values = {name: jnp.asarray(column[0]) for name, column in cases.inputs.items()}

        def run(given: dict[str, Any]) -> dict[str, Any]:
            inputs = {name: given[f"input {name}"] for name in values}
            made = module.performance(self._env, given["params"], inputs)
            return {name: jnp.asarray(value) for name, value in made.items()}

        return self._traced(run, {**{f"input {n}": v for n, v in values.items()}, "params": self._params})

    def over_steps(self, field: str) -> tuple[set[str], set[str]]:
        """(outputs of steps, outputs of a reset) on which a field depends in an episode that nobody synchronises."""
        after, waiting = set[str](), [field]
        while waiting:
            name = waiting.pop()
            if name in after:
                continue
            after.add(name)
            known = self.step.outputs.get(name)
            waiting += [one for one in (known.inputs if known else ()) if one.startswith("state.")]
        return after, {name for name in after if name.startswith("state.")} | {field}

    def _seen(self, lane: Any, params: Any) -> dict[str, Any]:
        mask = self._env.action_mask(lane.rules, params)
        state = {f"state.{name}": value for name, value in _leaves(lane.rules).items()}
        seen = {"obs": self._env.observe(lane.rules, params), "state.steps": lane.steps, **state}
        return seen if mask is None else {**seen, "action_mask": mask}

    def _traced(self, run: Any, inputs: dict[str, Any]) -> Traced:
        return traced(run, inputs, self._files, type(self._params))


def _leaves(rules: Any) -> dict[str, Any]:
    """As `flatten_state` names them, without leaving the device."""
    import jax

    paths, _ = jax.tree_util.tree_flatten_with_path(rules)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in paths}


def every(sets: Collection[frozenset[Line]], otherwise: frozenset[Line]) -> frozenset[Line]:
    """The lines that all facts suspect: there is one mistake, so every difference comes from it."""
    return frozenset.intersection(*sets) if sets else otherwise
