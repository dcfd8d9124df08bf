"""The distribution: a built wheel has everything, runs without the checkout, and its metadata tells the truth."""

import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = sysconfig.get_paths()["purelib"]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def run(unpacked, *words):
    # -S leaves out site-packages' .pth files, and with them the editable checkout.
    program = (
        f"import sys, runpy; sys.path[:0] = [{str(unpacked)!r}]; sys.path.append({PACKAGES!r}); "
        f"sys.argv = ['overclock', *{list(words)!r}]; runpy.run_module('overclock', run_name='__main__')"
    )
    return subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, cwd=unpacked, check=False
    )


def test_the_wheel_runs_without_the_checkout(unpacked):
    done = run(unpacked, "list")
    assert done.returncode == 0, done.stderr
    assert "cartpole-v1" in done.stdout


def test_the_wheel_holds_every_file_that_is_not_code(unpacked):
    package = ROOT / "src" / "overclock"
    wanted = {
        path.relative_to(package)
        for path in package.rglob("*")
        if path.is_file() and path.suffix in (".html", ".json", ".toml", ".md", ".j2")
    }
    assert wanted
    assert all((unpacked / "overclock" / path).is_file() for path in wanted)


def test_both_distributions_carry_one_version():
    import overclock

    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    native = tomllib.loads((ROOT / "native" / "Cargo.toml").read_text())["workspace"]["package"]
    assert ours["version"] == overclock.__version__ == native["version"]
    assert ours["license"] == native["license"] == "MIT OR Apache-2.0"
