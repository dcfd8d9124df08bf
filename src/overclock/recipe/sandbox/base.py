"""`Sandbox`: how a command is started in isolation. Each kind of sandbox adds its own restrictions to the plan."""

import abc
import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import overclock
from overclock.recipe.sandbox.plan import MARK, Plan
from overclock.recipe.sandbox.rights import Rights

STOP_PATIENCE_S = 10.0
LIMITS = ("memory_bytes", "address_space", "cpu_seconds", "processes", "file_bytes", "wall_seconds")
# Isolated (-I): the environment and the working folder belong to the command and must not decide what runs here.
BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from {module} import main; main()"


@dataclasses.dataclass(frozen=True)
class Launch:
    """A command line and an environment for `subprocess.Popen`."""

    argv: list[str]
    environment: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Sandbox(abc.ABC):
    """A way to isolate commands; `sentence` says in reports what it prevents and what it does not."""

    name: str
    title: str  # the name as reports show it
    sentence: str

    def launch(self, argv: Sequence[str], rights: Rights) -> Launch:
        """What to start instead of `argv`; input, output and exit code are those of `argv`.

        It must be started by this process. Killing the process that it becomes, or this one, by whatever signal, ends
        everything that runs in the sandbox. The exit code is 137 when a limit was passed; the last line on stderr then
        says which (see `stopped_because`).
        """
        environment = self._environment(rights)
        plan = self._plan(rights, sorted(environment)).to_json()
        command = self._inside(list(argv), rights)
        return Launch([*own_program("overclock.recipe.sandbox.supervisor"), plan, *command], environment)

    def popen(self, argv: Sequence[str], rights: Rights, **options: Any) -> "subprocess.Popen[Any]":
        """Start a command; `options` are those of `subprocess.Popen` (streams, text)."""
        launch = self.launch(argv, rights)
        return subprocess.Popen(launch.argv, env=launch.environment, start_new_session=True, **options)

    @abc.abstractmethod
    def _plan(self, rights: Rights, variables: list[str]) -> Plan: ...

    def _inside(self, argv: list[str], rights: Rights) -> list[str]:
        """The command line that is executed inside the sandbox."""
        return argv

    def _environment(self, rights: Rights) -> dict[str, str]:
        return dict(rights.environment)


def limits_of(rights: Rights) -> dict[str, Any]:
    """The fields of a `Plan` that are the same in every kind of sandbox."""
    lasting = bool(rights.write) or rights.network is not False
    return {"caller": os.getpid(), "lasting": lasting, **{name: getattr(rights, name) for name in LIMITS}}


def own_program(module: str) -> list[str]:
    """The command line that runs `main` of one of our modules, whatever environment it is started in."""
    return [sys.executable, "-I", "-c", BOOT.format(module=module), str(Path(overclock.__file__).parents[1])]


def stop(process: "subprocess.Popen[Any]") -> int:
    """End a command that `popen` started and everything it started; returns its exit code when nothing is left."""
    process.terminate()
    try:
        return process.wait(STOP_PATIENCE_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def stopped_because(stderr: str) -> str | None:
    """The limit for which the supervisor stopped a command, read from the command's stderr; None if it did not."""
    lines = [line for line in stderr.splitlines() if line.startswith(MARK)]
    return lines[-1].removeprefix(MARK) if lines else None
