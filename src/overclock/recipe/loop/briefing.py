"""What an agent is told: the facts of a project in the words of the prompts."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.recipe.contract.file import DrawField
from overclock.recipe.judging.hygiene.rulebook import rulebook
from overclock.recipe.judging.rust import target as rust
from overclock.recipe.judging.verdict import Failure
from overclock.recipe.loop.prompts import render
from overclock.recipe.project.project import ModulePlan, Project, checkable
from overclock.recipe.survey.static.other_languages import language

MAIN = {"jax": "env.py", "rust": "src/lib.rs"}
PART = {"jax": "{}.py", "rust": "src/{}.rs"}
MAKE = {
    "jax": "make() -> (environment, parameters), in env.py: the environment and its default parameters",
    "rust": "a type `Env` that implements the trait of the contract, in src/lib.rs",
}


@dataclasses.dataclass(frozen=True)
class Briefing:
    """Renders the prompts of one run. `scenarios` is the run's folder of level 2, `sources` has the modules' texts."""

    project: Project
    scenarios: Path

    def translate(self, task: str, module: ModulePlan) -> str:
        """The first translation of a module."""
        earlier = [one for one in self.project.modules if one.name in self._before(module)]
        return self._render(
            "translate",
            task,
            module={
                "name": module.name,
                "summary": f"{len(module.functions)} definitions of the reference",
                "path": ", ".join(Path(file).name for file in module.files),
                "language": language(module.files),
                "source": source_text(self.project, module),
            },
            output=self.output(module),
            last=self.output(module) == MAIN[self.project.target],
            interface=self.interface(module),
            constraints=[*self.constraints(), *filter(None, [self.project.agent.note])],
            earlier=[{"name": one.name, "output": self.output(one)} for one in earlier],
        )

    def repair(self, task: str, failure: Failure, level: int, tries: tuple[int, int], tried: Sequence[str]) -> str:
        """The facts of a failure."""
        more = {} if failure.divergence is None else {"divergence": failure.divergence}
        sources = [
            {"path": module.name, "source": source_text(self.project, module), "language": language(module.files)}
            for module in self.project.modules
        ]
        return self._render(
            "repair", task, level=level, failures=failure.sentences, sources=sources, tried=list(tried[-5:]),
            iteration=tries[0], iterations=tries[1], **more,
        )  # fmt: skip

    def optimise(self, task: str, measured: dict[str, float], attempts: list[str]) -> str:
        """A verified candidate that shall become faster."""
        rows = [{"batch": batch, "sps": sps} for batch, sps in measured.items()]
        files = [self.output(module) for module in self.project.modules]
        return self._render("optimise", task, measured=rows, hardware="this CPU", attempts=attempts, files=files)

    def output(self, module: ModulePlan) -> str:
        """The file that a module's translation goes to; the last one holds the environment."""
        last = module.name == self.project.modules[-1].name
        return MAIN[self.project.target] if last else PART[self.project.target].format(module.name)

    def interface(self, module: ModulePlan) -> list[str]:
        """What the judge will call."""
        if self.output(module) != MAIN[self.project.target]:
            return [f"{name.partition(':')[2]}: the same name, arguments and results" for name in checkable(module)]
        return [MAKE[self.project.target]]

    def constraints(self) -> list[str]:
        """State, draws and time limit by the names that the comparison uses."""
        contract = self.project.contract
        limit = self.project.reference.max_steps
        if self.project.target == "rust":  # the generated source says the rest
            return [f"MAX_STEPS is {f'Some({limit})' if limit else 'None'}; nothing else truncates an episode."]
        fields = [f"{f.name}: {f.dtype}{list(f.shape)} (the reference's `{f.read}`)" for f in contract.state]
        said = [f"The state has exactly these fields: {'; '.join(fields)}."]
        for when, draws in (("draw_reset", contract.reset_draws), ("draw_step", contract.step_draws)):
            said.append(_drawn(when, draws))
        said.append(f"max_steps is {limit}; nothing else truncates an episode." if limit else "max_steps is None.")
        return said

    def _before(self, module: ModulePlan) -> list[str]:
        names = [one.name for one in self.project.modules]
        return names[: names.index(module.name)]

    def _render(self, name: str, task: str, **facts: Any) -> str:
        own = self.project.folder / "prompts"
        return render(
            name, task=task, overrides=own if own.is_dir() else None, environment=self.project.name,
            target=self.project.target, **self._of_target(), **facts,
        )  # fmt: skip

    def _of_target(self) -> dict[str, Any]:
        """What the judge accepts in this language."""
        if self.project.target == "rust":
            return rust.facts(self.project)
        return {"hygiene": rulebook(self.project.hygiene)}


def source_text(project: Project, module: ModulePlan) -> str:
    """A module's source as it was when the project was made (`modules/` of the project)."""
    path = module_file(project.folder, module.name)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no text"
        raise UsageError(
            f"The source of the module '{module.name}' cannot be read from '{path}': {said}; put it back, or make a "
            "new project of the reference."
        ) from error


def module_file(folder: Path, name: str) -> Path:
    """Where a project keeps the source of a module."""
    return folder / "modules" / f"{name}.txt"


def _drawn(when: str, draws: tuple[DrawField, ...]) -> str:
    if not draws:
        return f"`{when}` draws nothing: it returns ()."
    fields = "; ".join(f"{d.name}: {list(d.shape)}, as {d.method}({d.arguments}) draws it" for d in draws)
    return f"`{when}` returns a Struct with exactly these fields: {fields}."
