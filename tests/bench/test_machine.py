"""A report says which code made it, and never guesses."""

import shutil
import subprocess

import pytest

from overclock.bench.machine import code_version
from overclock.bench.results import Code

NOTHING = Code(commit=None, dirty=None)


@pytest.fixture
def package(tmp_path):
    """A folder that is checked out from a repository of its own."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "checkout" / "package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    git(folder.parent, "init", "--quiet")
    git(folder.parent, "add", ".")
    git(folder.parent, "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "--quiet", "--message", "first")
    return folder


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout.strip()


def test_a_checkout_names_its_commit(package):
    assert code_version(package) == Code(commit=git(package, "rev-parse", "HEAD"), dirty=False)


@pytest.mark.parametrize("name", ["__init__.py", "new.py"])
def test_a_changed_or_new_file_of_the_package_makes_it_dirty(package, name):
    (package / name).write_text("changed = True")
    assert code_version(package).dirty is True


def test_files_outside_the_package_do_not(package):
    (package.parent / "report.json").write_text("{}")
    assert code_version(package).dirty is False


def test_a_package_installed_inside_somebody_elses_checkout_has_no_commit(package):
    installed = package.parent / ".venv" / "package"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert code_version(installed) == NOTHING


def test_outside_a_checkout_there_is_no_commit(tmp_path):
    assert code_version(tmp_path) == NOTHING
    assert code_version(tmp_path / "nowhere") == NOTHING


def test_without_git_there_is_no_commit(package, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert code_version(package) == NOTHING


def test_a_hooks_variables_do_not_lead_to_another_repository(package, monkeypatch):
    commit = git(package, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(package / "elsewhere"))
    assert code_version(package).commit == commit
