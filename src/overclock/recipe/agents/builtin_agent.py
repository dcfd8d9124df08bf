"""The built-in translator as one more agent: no model, no key, no network; its work is judged like anybody's.

It also writes the contract of what it translates, because only it knows how lists, None-or-value and draws in branches
are laid out. What it cannot translate it says with file and line; it repairs nothing, a person or another agent must.
"""

import dataclasses
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gymnasium
import numpy as np

from overclock.errors import OverclockError, UsageError
from overclock.files import write_whole
from overclock.recipe.agents.base import Endpoint, Task, Work
from overclock.recipe.contract.codec import codec_fields, draw_field
from overclock.recipe.contract.file import Closeness, ContractFile
from overclock.recipe.contract.tolerances import Numbers, closeness
from overclock.recipe.gateway.usage import Usage
from overclock.recipe.loop.briefing import MAIN
from overclock.recipe.project.project import Project, Target
from overclock.recipe.references.reference import registered
from overclock.recipe.references.stored_observations import FIELD, can_store, stored_shape
from overclock.recipe.survey.live.loading import require_from
from overclock.recording.codec import InstanceCodec
from overclock.recording.errors import UnsupportedError
from overclock.recording.float_survey import survey_floats
from overclock.recording.floats import Floats
from overclock.recording.single_play import lost_in_single
from overclock.recording.sites.call_sites import file_of
from overclock.recording.sites.generators import LaneGenerators
from overclock.recording.sites.install import hooked
from overclock.recording.sites.recorder import Site, tupled
from overclock.translate.compiler import Compiler
from overclock.translate.ir.sites import DrawSite
from overclock.translate.jax.file import print_jax
from overclock.translate.program import Program
from overclock.translate.python.frames import source_of
from overclock.translate.rust.file import print_rust
from overclock.verify.sides.apart import call_apart

NAME = "builtin"
CODEC = "state.json"
PRINTERS: Mapping[Target, Callable[[Program], str]] = {"jax": print_jax, "rust": print_rust}


def program_of(
    name: str, make: Mapping[str, Any], path: str = "", capacities: Mapping[str, int] = MappingProxyType({})
) -> Program:
    """The translation of a reference; `make` is what `references.reference.make_env` takes, `path` where it lies.

    `capacities` are given for lists of its state, by the names of their attributes.
    """
    sys.path[:0] = [place for place in path.split(os.pathsep) if place and place not in sys.path[:1]]

    def instance() -> gymnasium.Env:
        # As the judged reference is made: constructors that draw give the same constants.
        with hooked(), LaneGenerators().making():
            return gymnasium.make(spec)

    try:
        spec = registered(**make)
        if path and "entry_point" in make:
            module, _, _ = make["entry_point"].partition(":")
            require_from(sys.modules[module], Path(path.split(os.pathsep)[0]).resolve(), make["entry_point"])
        compiler = Compiler(instance, name, capacities=capacities)
    except OverclockError:
        raise
    except Exception as error:  # whatever importing, making or playing somebody's class raises
        said = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise UsageError(
            f"The reference cannot be played ({said}); see that Python can import it, make it and reset it."
        ) from error
    program = compiler.program()
    program.floats = _floats(instance, program)
    if any(np.dtype(leaf.dtype).kind == "f" for leaf in program.state):
        with hooked():
            program.single_loss = lost_in_single(instance())
    if program.stored_observation and not can_store(compiler.played, program):
        shown = source_of(inspect.unwrap(type(compiler.played.unwrapped).step))
        reason = "its observation is no function of its state that could be found, so no state can be shown"
        raise UnsupportedError(reason, shown.place(shown.node))
    return program


def contract_of_program(program: Program) -> ContractFile:
    """What reference and translation must agree on, with the layout of the state and the sites of the draws."""
    shapes = {**program.shapes, **stored_shape(program)}
    return ContractFile(
        state=codec_fields(shapes, program.ranges, program.overflow),
        reset_draws=tuple(draw_field(_site(site)) for site in program.reset.sites),
        step_draws=tuple(draw_field(_site(site)) for site in program.step.sites),
        precisions={
            precision: _held(close)
            for precision, close in closeness(_numbers(program)).items()
            if precision == "float64" or not program.single_loss
        },
        x64=program.single_loss,
        codec=CODEC,
        shapes=shapes,
        restart=program.restart,
        rooms=program.rooms,
    )


def _held(close: Closeness) -> Closeness:
    """An observation that is part of the state is as close as one that is shown."""
    per_step, running = ({**of, FIELD: of["obs"]} if "obs" in of else of for of in (close.per_step, close.free_running))
    return dataclasses.replace(close, per_step=per_step, free_running=running)


def _floats(instance: Callable[[], gymnasium.Env], program: Program) -> dict[str, Floats]:
    """The float fields of a reference that is played once more; none where its state cannot be read all the time."""
    codec = InstanceCodec(program.shapes)

    def read(env: gymnasium.Env) -> dict[str, np.ndarray]:
        return {f"state.{name}": value for name, value in codec.read(env).items()}

    try:
        with hooked():
            return survey_floats(instance(), read)
    except Exception:  # a list that has no room here, say; the ranges that were seen before have to do
        return {}


def _numbers(program: Program) -> Numbers:
    seen = {f"state.{name}": max(map(abs, bounds)) for name, bounds in program.ranges.items()}
    shown = np.dtype(program.observe.results["obs"].type.dtype)
    sizes = {f"state.{leaf.name}": 1.0 for leaf in program.state if np.dtype(leaf.dtype).kind == "f"} | seen
    names = [f"state.{leaf.name}" for leaf in program.state if np.dtype(leaf.dtype).kind == "f"]
    names += ["obs"] if shown.kind == "f" else []
    if names or program.rounded_rewards:
        names.append("reward")
    sizes |= {"obs": max(seen.values(), default=1.0), "reward": max(1.0, program.largest_reward, *seen.values())}
    return Numbers(
        fields={name: program.floats.get(name, Floats.of_size(sizes[name])) for name in names},
        listed=frozenset(["obs", *(f"state.{name}" for name in InstanceCodec(program.shapes).plain)]),
        rounded_rewards=program.rounded_rewards,
        single_observations=shown == np.float32,
        mixed=program.mixed,
    )


def _site(site: DrawSite) -> Site:
    arguments = tuple((name, tupled(_plain(value))) for name, value in site.arguments.items())
    place = file_of(site.module, site.filename), site.line, site.column
    return Site(
        site.name, *place, site.method, site.form, site.shape, site.count, arguments, site.source, site.dtype
    )  # fmt: skip


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _printed(name: str, make: Mapping[str, Any], path: str, capacities: Mapping[str, int], target: Target) -> str:
    return PRINTERS[target](program_of(name, make, path, capacities))


class BuiltInAgent:
    """Writes the whole candidate when it is first asked; a repair is beyond it."""

    name = NAME

    def __init__(self, project: Project, program: Program | None = None) -> None:
        """`program`: what was made of the reference already, when the contract was written."""
        self._project, self._program = project, program

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        """Translate, or say what stands in the way."""
        if task.purpose != "translate":
            return Work("refused", f"The built-in translator has translated; it cannot {task.purpose}.")
        target, reference = self._project.target, self._project.reference
        try:
            if self._program is None:
                text = call_apart(
                    _printed, self._project.name, reference.make(), reference.path, dict(reference.capacities), target,
                    of=f"The reference '{reference.source}'", patience=self._project.limits.timeout,
                )  # fmt: skip
            else:
                text = PRINTERS[target](self._program)
        except UnsupportedError as error:
            return Work("refused", f"The built-in translator cannot translate this: {error}.")
        write_whole(task.folder / MAIN[target], text.encode())
        return Work("finished", "Translated without a model.", usage=Usage())  # no call, so it cost nothing
