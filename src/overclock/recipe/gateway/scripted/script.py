"""What a scripted model does: files to write, commands to run, a last word, or a way to fail."""

import base64
import dataclasses
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Literal

from overclock.recipe.gateway.dialects.base import Tool

# loop: never comes to an end; unauthorized, server_error: HTTP 401, 500; slow: pauses before every event; drop: the
# connection breaks in the middle of the answer.
Fault = Literal["loop", "unauthorized", "server_error", "slow", "drop"]

# By the name that each agent gives them. Claude: Write, Bash. Gemini, Qwen: write_file, run_shell_command. opencode:
# write, bash. Codex, over its versions: exec_command, shell_command, shell.
WRITERS = ("Write", "write_file", "write")
SHELLS = ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell")
PATHS = ("file_path", "filePath", "absolute_path", "path")
COMMANDS = ("command", "cmd")
FILLERS = {"string": "scripted", "boolean": False, "integer": 0, "number": 0, "array": [], "object": {}}


@dataclasses.dataclass(frozen=True)
class Write:
    """Write one file; the path is relative to the working directory."""

    path: str
    content: str


@dataclasses.dataclass(frozen=True)
class Shell:
    """Run one command in the working directory."""

    command: str


@dataclasses.dataclass(frozen=True)
class Use:
    """Call the tool whose name ends so (an MCP tool, for one: agents put prefixes before those)."""

    ending: str
    arguments: Mapping[str, Any]


Step = Write | Shell | Use


@dataclasses.dataclass(frozen=True)
class Turn:
    """What answers one prompt: actions one after the other, then the text.

    An action is a mapping {relative path: content} of files to write, a string that is a shell command, or a `Use`.
    """

    actions: Sequence[Mapping[str, str] | str | Use] = ()
    text: str = "Done."
    fault: Fault | None = None

    def steps(self) -> list[Step]:
        """The actions, one tool call each."""
        return [step for action in self.actions for step in _steps(action)]


def _steps(action: Mapping[str, str] | str | Use) -> Iterator[Step]:
    if isinstance(action, Use):
        yield action
    elif isinstance(action, str):
        yield Shell(action)
    else:
        yield from (Write(path, content) for path, content in action.items())


def tool_call(step: Step, tools: Sequence[Tool], folder: PurePath, exists: bool) -> tuple[Tool, dict[str, Any]] | None:
    """The step as a call of one of the tools on offer; None if none of them can do it."""
    if isinstance(step, Use):
        tool = next((tool for tool in tools if tool.name.endswith(step.ending)), None)
        return tool and (tool, dict(step.arguments))
    shell = _first(tools, SHELLS)
    if isinstance(step, Shell):
        return shell and _shell_call(shell, step.command)
    writer = _first(tools, WRITERS)
    path = folder / step.path
    # Most agents refuse to overwrite a file that the model has not read before; a shell does not ask.
    if writer and not (shell and exists):
        return writer, _filled(writer, {_key(writer, PATHS): str(path), "content": step.content})
    return shell and _shell_call(shell, _write_command(path, step.content))


def _first(tools: Sequence[Tool], names: Sequence[str]) -> Tool | None:
    offered = {tool.name: tool for tool in tools if not tool.free_form}
    return next((offered[name] for name in names if name in offered), None)


def _shell_call(shell: Tool, command: str) -> tuple[Tool, dict[str, Any]]:
    key = _key(shell, COMMANDS)
    as_list = _properties(shell).get(key, {}).get("type") == "array"
    return shell, _filled(shell, {key: ["bash", "-lc", command] if as_list else command})


def _write_command(path: PurePath, content: str) -> str:
    packed = base64.b64encode(content.encode()).decode()
    place = shlex.quote(str(path))
    return f"mkdir -p {shlex.quote(str(path.parent))} && printf %s {packed} | base64 -d > {place}"


def _properties(tool: Tool) -> Mapping[str, Any]:
    return tool.schema.get("properties") or {}


def _key(tool: Tool, names: Sequence[str]) -> str:
    return next((name for name in names if name in _properties(tool)), names[0])


def _filled(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """With something of the right type for whatever else the tool insists on."""
    for name in tool.schema.get("required") or ():
        if name not in arguments:
            arguments[name] = fitting(_properties(tool).get(name, {}))
    return arguments


def fitting(schema: Mapping[str, Any]) -> Any:
    """The smallest JSON value that fits a simple schema."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    kind = (kind[0] if isinstance(kind, list) else str(kind)).lower()
    if kind == "object":
        inner = schema.get("properties") or {}
        return {name: fitting(inner.get(name, {})) for name in schema.get("required") or inner}
    return FILLERS.get(kind)
