"""Every sandbox that works here, and a way to run a few lines of Python inside one."""

import dataclasses
import subprocess
import sys

import pytest

from overclock.errors import MissingError
from overclock.recipe.sandbox import Launch, Rights, Sandbox, by_name
from overclock.recipe.sandbox.places import python_places, python_variables
from overclock.recipe.sandbox.plan import Plan

NAMES = ("bubblewrap", "landlock", "none")
PATIENCE_S = 60.0  # only so that a broken sandbox cannot hang the tests


def named(name: str) -> Sandbox:
    try:
        return by_name(name)
    except MissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session", params=NAMES)
def sandbox(request) -> Sandbox:
    return named(request.param)


@dataclasses.dataclass(frozen=True)
class Inside:
    """Runs Python code in a sandbox with plain rights, changed by keyword."""

    sandbox: Sandbox

    def rights(self, **changes) -> Rights:
        return Rights(**{"read": python_places(), "environment": python_variables(), **changes})

    def start(self, code: str, *arguments: object, **changes) -> "subprocess.Popen[str]":
        command = [sys.executable, "-I", "-S", "-c", code, *map(str, arguments)]
        pipe = subprocess.PIPE
        return self.sandbox.popen(command, self.rights(**changes), stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def run(self, code: str, *arguments: object, **changes) -> "subprocess.CompletedProcess[str]":
        process = self.start(code, *arguments, **changes)
        out, err = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture(scope="session")
def inside(sandbox) -> Inside:
    return Inside(sandbox)


@pytest.fixture
def without_control_groups(monkeypatch) -> None:
    """The plan of every command says not to use them."""

    def launch(*arguments) -> Launch:
        started = original(*arguments)
        at = next(index for index, text in enumerate(started.argv) if text.startswith("{"))
        plan = dataclasses.replace(Plan.from_json(started.argv[at]), cgroup=False)
        return Launch([*started.argv[:at], plan.to_json(), *started.argv[at + 1 :]], started.environment)

    original = Sandbox.launch
    monkeypatch.setattr(Sandbox, "launch", launch)
