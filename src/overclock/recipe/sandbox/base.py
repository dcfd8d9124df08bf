"""`Sandbox`: how a command is started apart from us. Each choice only adds its own fences to the keeper's plan."""

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
# Isolated (-I): the environment and the working folder belong to the command and must not decide what runs here.
BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from {module} import main; main()"


@dataclasses.dataclass(frozen=True)
class Launch:
    """A command line and an environment for `subprocess.Popen`."""

    argv: list[str]
    environment: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Sandbox(abc.ABC):
    """A way to run commands apart; `sentence` says for reports what it holds back and what it does not."""

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
        return Launch([*own_program("overclock.recipe.sandbox.keeper"), plan, *command], environment)

    def popen(self, argv: Sequence[str], rights: Rights, **options: Any) -> "subprocess.Popen[Any]":
        """Start a command; `options` are those of `subprocess.Popen` (streams, text)."""
        launch = self.launch(argv, rights)
        return subprocess.Popen(launch.argv, env=launch.environment, start_new_session=True, **options)

    @abc.abstractmethod
    def _plan(self, rights: Rights, variables: list[str]) -> Plan: ...

    def _inside(self, argv: list[str], rights: Rights) -> list[str]:
        """The command as it starts inside."""
        return argv

    def _environment(self, rights: Rights) -> dict[str, str]:
        return dict(rights.environment)


def limits_of(rights: Rights) -> dict[str, Any]:
    """The fields of a `Plan` that every choice takes over."""
    return {
        "caller": os.getpid(),
        "memory_bytes": rights.memory_bytes,
        "address_space": rights.address_space,
        "cpu_seconds": rights.cpu_seconds,
        "processes": rights.processes,
        "file_bytes": rights.file_bytes,
        "wall_seconds": rights.wall_seconds,
    }


def own_program(module: str) -> list[str]:
    """The command line of a `main` of ours, whatever the environment it is started in."""
    return [sys.executable, "-I", "-c", BOOT.format(module=module), str(Path(overclock.__file__).parents[1])]


def stop(process: "subprocess.Popen[Any]") -> int:
    """End a command that `popen` started, and everything it started; returns when nothing is left of it."""
    process.terminate()
    try:
        return process.wait(STOP_PATIENCE_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def stopped_because(stderr: str) -> str | None:
    """Which limit a command with this stderr passed, if the keeper had to stop it."""
    lines = [line for line in stderr.splitlines() if line.startswith(MARK)]
    return lines[-1].removeprefix(MARK) if lines else None
