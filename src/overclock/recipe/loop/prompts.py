"""The prompts: Jinja templates filled with facts. A project's own `prompts/` folder wins, file by file.

The names and facts of the templates are written at the top of each file in `prompts/` beside this one. Whatever a
template says, a prompt begins with a line that names its task, so that recordings and scripted models recognise it.
"""

import functools
import hashlib
import re
from pathlib import Path
from typing import Any

from overclock.errors import MissingError, UsageError

BUILT_IN = Path(__file__).with_name("prompts")
SUFFIX = ".md.j2"
BATCHES = (32, 128, 512, 2048, 8192)  # at which speed is measured
FIRST_LINE = "<!-- overclock task: {} -->"


def render(name: str, *, task: str, overrides: Path | None = None, **facts: Any) -> str:
    """The whole prompt `name` for a task; `overrides` is the folder of a project's own templates.

    UsageError where a template or a fact that it uses is missing, or where a template is not Jinja.
    """
    if not re.fullmatch(r"\S+", task) or "-->" in task:
        raise UsageError(f"A task's id is one word, not {task!r}.")
    jinja2 = _jinja2()
    environment = _environment(None if overrides is None else overrides.resolve())
    try:
        text = environment.get_template(name + SUFFIX).render({"batches": BATCHES, **facts})
    except jinja2.TemplateNotFound as error:
        raise UsageError(f"There is no prompt '{error.name}'; there are {', '.join(names(overrides))}.") from error
    except jinja2.TemplateSyntaxError as error:
        place = f"'{error.filename or name}', line {error.lineno}"
        raise UsageError(f"The prompt {place} is not a Jinja template: {error.message}.") from error
    except jinja2.UndefinedError as error:
        raise UsageError(f"The prompt '{name}' uses a fact that was not given: {error.message}.") from error
    return f"{FIRST_LINE.format(task)}\n{text.strip()}\n"


def names(overrides: Path | None = None) -> list[str]:
    """The templates that can be rendered or included."""
    folders = [folder for folder in (BUILT_IN, overrides) if folder is not None]
    return sorted({path.name.removesuffix(SUFFIX) for folder in folders for path in folder.glob(f"*{SUFFIX}")})


def fingerprint(prompt: str) -> str:
    """What tells two prompts apart: the SHA-256 of the text."""
    return hashlib.sha256(prompt.encode()).hexdigest()


def fenced(text: str, language: str = "") -> str:
    """A text as a code block that ends where the text ends, whatever fences it contains."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def line_count(text: str) -> int:
    """How many lines a source has."""
    return len(text.splitlines())


@functools.lru_cache(maxsize=8)
def _environment(overrides: Path | None) -> Any:
    jinja2 = _jinja2()
    folders = [folder for folder in (overrides, BUILT_IN) if folder is not None]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders), undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, autoescape=False,
    )  # fmt: skip
    environment.filters.update(fenced=fenced, line_count=line_count)
    return environment


def _jinja2() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise MissingError("Prompts need jinja2; install it with `pip install 'overclock[report]'`.") from error
    return jinja2
