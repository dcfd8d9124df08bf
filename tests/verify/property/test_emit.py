"""Level 1 as files: a candidate's own pytest run shows what the level shows, without the reference."""

import ast
import os
import subprocess
import sys

import pytest

from overclock.envs.cartpole.modules import MODULES
from overclock.envs.cartpole.twin import PLANTS, twin
from overclock.verify.property.emit import emit
from overclock.verify.property.level import record
from overclock.verify.rollout.actions import uniform

gymnasium = pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")
pytest.importorskip("coverage", reason="level 1 measures code coverage")

PLANT = """
from overclock.verify.sides.patched import Patch, load_patched

load_patched([Patch({module!r}, {old!r}, {new!r})])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("candidate")
    emit(twin(), record(twin(), sources={"uniform": uniform}), folder / "tests")
    return folder / "tests"


def run(folder, *names):
    files = [f"test_property_{name}.py" for name in names]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        ".",
        "-c",
        os.devnull,
        *files,
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_each_module_has_a_readable_test_and_its_data(folder):
    names = {path.name for path in folder.iterdir() if "property" in path.name}
    assert len(names) == 2 * len(MODULES)
    assert {"test_property_dynamics.py", "property_dynamics.npz"} <= names
    text = (folder / "test_property_dynamics.py").read_text()
    for fact in (
        "CartPoleEnv.step",
        f"gymnasium {gymnasium.__version__}",
        "recorded in play",
        "at boundary values",
        "1-2 ulp",
    ):
        assert fact in text


def test_the_tests_import_nothing_of_the_reference(folder):
    for path in folder.glob("*.py"):
        imported = {
            name.partition(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            for name in (
                [a.name for a in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", "")]
            )
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert imported == {"functools", "pathlib", "jax", "numpy", "pytest", "overclock"}


def test_the_tests_pass_on_the_true_code_without_the_reference(folder):
    (folder / "conftest.py").write_text("import sys\n\nsys.modules['gymnasium'] = None\n")
    result = run(folder, "dynamics", "draw", "spaces")
    assert result.returncode == 0, result.stdout
    assert "passed" in result.stdout


def test_the_tests_fail_on_planted_code_and_show_the_case(folder):
    plant = PLANTS["polemass-plus"]
    (folder / "conftest.py").write_text(PLANT.format(module=plant.module, old=plant.old, new=plant.new))
    result = run(folder, "dynamics", "termination")
    assert result.returncode == 1
    assert "test_dynamics_equals_the_reference[float64-x_dot" in result.stdout
    assert "x_dot is wrong in" in result.stdout
    assert "4 failed" in result.stdout  # both velocities in both precisions, nothing else
