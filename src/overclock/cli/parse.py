"""From words on the command line to a command object. Only the module of the command that was asked for is imported."""

import contextlib
import difflib
import importlib
import inspect
import io
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Protocol, Union

from overclock.errors import UsageError

PROGRAM = "overclock"
COMMANDS = {  # name -> "module:Class", a dataclass whose fields are the command's options
    "demo": "overclock.cli.environments.demo:Demo",
    "list": "overclock.cli.environments.listing:List",
    "doctor": "overclock.cli.environments.doctor:Doctor",
    "bench": "overclock.cli.environments.bench:Bench",
    "verify": "overclock.cli.verification.verify:Verify",
    "repro": "overclock.cli.verification.repro:Repro",
    "mutate": "overclock.cli.verification.mutate:Mutate",
    "play": "overclock.cli.environments.play:Play",
    "record": "overclock.cli.environments.record:Record",
    "train": "overclock.cli.environments.train:Train",
    "new": "overclock.cli.loop.new:New",
    "translate": "overclock.cli.loop.translate:Translate",
    "resume": "overclock.cli.loop.translate:Resume",
    "submit": "overclock.cli.loop.translate:Submit",
    "status": "overclock.cli.loop.status:Status",
    "watch": "overclock.cli.loop.watch:Watch",
    "report": "overclock.cli.loop.report:Report",
    "export": "overclock.cli.loop.export:Export",
    "redteam": "overclock.cli.verification.redteam:Redteam",
    "compare": "overclock.cli.loop.compare:Compare",
    "localise": "overclock.cli.verification.localise:Localise",
    "update": "overclock.cli.loop.update:Update",
    "contamination": "overclock.cli.loop.contamination:Contamination",
    "mcp": "overclock.cli.loop.mcp:Mcp",
}
DESCRIPTION = """Slow reinforcement-learning environment in, fast one out, with the evidence that it behaves the same.

Examples:
  overclock doctor                     what works on this machine
  overclock list                       which environments there are
  overclock verify cartpole            compare one with its reference
  overclock repro DIR                  replay a difference that verify found
  overclock mutate cartpole            count the planted mistakes that verify finds
  overclock bench cartpole             measure its speed
  overclock train cartpole             train a policy with PPO
  overclock translate gymnasium:CartPole-v1 --agent claude     translate one of your own
  overclock export DIR                 write what was translated as a package of its own
  overclock play cartpole              play it in the terminal
  overclock record cartpole out.gif    write an animation

`overclock COMMAND --help` explains a command. --debug, before or after the command, shows tracebacks;
--version prints the version. Commands that report take --json: one JSON object on stdout, all else on stderr.

Exit codes: 0 pass, 1 fail, 2 usage, 3 inconclusive, 4 could not verify, 70 unexpected, 130 interrupted."""


class Command(Protocol):
    """What every command is once its options are read."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        ...


class ParseError(UsageError):
    """The command line was refused and the parser has told the user why; the sentence is for the JSON report."""


def load(name: str) -> type[Command]:
    """The class of a command."""
    module, _, attribute = COMMANDS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def parse(words: Sequence[str], quiet: bool = False) -> Command:
    """The command behind the words. `--help` prints and leaves with SystemExit; nonsense raises UsageError.

    With `quiet` the parser's explanation is not shown on stderr but only carried by the error.
    """
    import tyro

    if not words:
        words = ["--help"]
    config = (tyro.conf.FlagCreatePairsOff,)
    if words[0] in COMMANDS:
        command = load(words[0])
        description = inspect.getdoc(command)
        with _refusals(quiet):
            return tyro.cli(
                command, prog=f"{PROGRAM} {words[0]}", description=description, args=words[1:], config=config
            )
    if not words[0].startswith("-"):
        raise UsageError(f"No command is called '{words[0]}'. {_hint(words[0])}")
    if words[0] not in ("-h", "--help") and not words[0].startswith("--tyro-"):
        raise UsageError(f"'{words[0]}' must come after a command, for example `overclock list {words[0]}`.")
    classes = {name: load(name) for name in COMMANDS}
    options = [
        Annotated[Any, tyro.conf.subcommand(name, constructor=command, description=_summary(command))]
        for name, command in classes.items()
    ]
    everything: Any = Union[tuple(options)]  # noqa: UP007
    with _refusals(quiet):
        return tyro.cli(everything, prog=PROGRAM, description=DESCRIPTION, args=words, config=config)


def _summary(command: type) -> str:
    return (inspect.getdoc(command) or "").partition("\n")[0]


def _hint(word: str) -> str:
    close = difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0.5)
    return f"Did you mean '{close[0]}'?" if close else f"The commands are {', '.join(COMMANDS)}."


@contextlib.contextmanager
def _refusals(quiet: bool) -> Iterator[None]:
    """Turn the parser's exit with code 2 into an error; with `quiet` it carries what the parser wanted to print."""
    told = io.StringIO()
    try:
        with contextlib.redirect_stderr(told) if quiet else contextlib.nullcontext():
            yield
    except SystemExit as leaving:
        if leaving.code in (0, None):
            raise
        raise ParseError(_sentence(told.getvalue())) from leaving


def _sentence(box: str) -> str:
    """The first part of the parser's framed message, without the frame."""
    lines = [re.sub(r"[╭╮╰╯│]", "", line).strip() for line in box.splitlines()[1:]]
    part: list[str] = []
    for line in lines:
        if line.startswith("─"):
            break
        part.append(line)
    return " ".join(part) or "The command line was not understood."
