"""Documents tell the truth: their Python snippets run, their `overclock` commands succeed, their make targets exist."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from snippets import failure

from overclock.cli.parse import parse

pytestmark = pytest.mark.usefixtures("few_optimisations")

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs/case_studies").glob("*.md"),
        *(ROOT / "src/overclock/envs").glob("*/README.md"),
    ]
)
FOLLOWED = ROOT / "docs/environment.md"  # one program from top to bottom: test_tutorial.py
FENCE = re.compile(r"^```(?P<language>\w+)[^\n]*\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


# These take minutes, fail on purpose, or need a project, a run or a model; tests of their own run them. Here
# it is only checked that they are spelled as the program wants them.
PARSED = {
    "verify", "mutate", "new", "translate", "resume", "submit", "status", "watch", "report", "redteam", "update",
    "contamination", "compare", "localise", "mcp", "repro", "demo", "export",
}  # fmt: skip


# These compile for ten seconds and more.
LONG = ("overclock train", "--batch 1024 --peers", 'make("halfcheetah")', 'make("walker2d")', "make_train(")


def marks(text: str) -> list:
    return [pytest.mark.long] * any(words in text for words in LONG)


def blocks(language: str) -> list:
    found = []
    for document in DOCUMENTS:
        if document == FOLLOWED:
            continue
        for number, match in enumerate(FENCE.finditer(document.read_text())):
            if match["language"] == language:
                body, name = match["body"], f"{document.relative_to(ROOT)}:{number}"
                found.append(pytest.param(body, id=name, marks=marks(body)))
    return found


def commands() -> list:
    """Every command once, however many documents show it."""
    found = {}
    for block in blocks("console"):
        for line in block.values[0].splitlines():
            if line.startswith("$ "):
                command = line.removeprefix("$ ").partition("  #")[0].strip()
                found.setdefault(command, pytest.param(command, id=f"{block.id}:{line}", marks=marks(command)))
    return list(found.values())


def written_out() -> list:
    """Commands that take too long, or need what is not here: fences of `sh`, and those in running text."""
    found = {}
    for document in DOCUMENTS:
        text = document.read_text()
        lines = [line.partition("  #")[0] for match in FENCE.finditer(text) if match["language"] == "sh"
                 for line in match["body"].splitlines()]  # fmt: skip
        lines += [" ".join(one.split()) for one in re.findall(r"`(overclock (?:bench|train|verify) [^`]*)`", text)]
        for line in lines:
            if line.startswith("overclock ") and not re.search(r"[<\[{]|\b[A-Z]{3,}\b|\.\.\.|--help", line):
                found.setdefault(line.strip(), f"{document.relative_to(ROOT)}:{line.strip()}")
    return [pytest.param(command, id=name) for command, name in found.items()]


@pytest.mark.parametrize("command", written_out())
def test_a_command_that_is_not_run_is_spelled_as_the_program_wants_it(command):
    assert parse(shlex.split(command)[1:]) is not None


@pytest.mark.parametrize("snippet", blocks("python"))
def test_snippets_run(snippet, tmp_path):
    assert failure(snippet, tmp_path) == ""


@pytest.mark.parametrize("command", commands())
def test_commands_succeed(command, tmp_path):
    words = shlex.split(command)
    if words[0] == "make":
        assert set(words[1:]) <= TARGETS
        return
    if words[0] in ("git", "cd", "pip"):
        return  # setting up is what a fresh clone in continuous integration does
    assert words[0] == "overclock", f"a document shows a command nothing checks: {command}"
    if words[1] in PARSED:
        assert parse(words[1:]) is not None
        return
    if words[1] == "play":
        words.append("--help")  # needs a person at a terminal; tests/cli plays through a pseudo-terminal
    if words[1] == "bench" and "--min-seconds" not in words:
        words += ["--min-seconds", "0.05"]  # steady numbers are for readers, not for this test
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
