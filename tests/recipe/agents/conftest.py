"""A coding agent of a few lines: a Python script that behaves as a test wants it to."""

import json
import sys
from pathlib import Path

import pytest

from overclock.recipe.agents import Task

GOLDEN = Path(__file__).with_name("golden")

PRELUDE = """#!{python}
import json, os, pathlib, signal, subprocess, sys, time
if "--version" in sys.argv:
    print("fake agent {version}")
    sys.exit(0)
prompt = sys.stdin.buffer.read().decode()
golden = pathlib.Path({golden!r})
seen = pathlib.Path({seen!r})
seen.write_text(json.dumps(dict(argv=sys.argv[1:], env=dict(os.environ), prompt=prompt, cwd=os.getcwd())))
"""


class FakeCli:
    """Where the script is, and what it saw when it was last called."""

    def __init__(self, folder):
        self.program, self._seen = folder / "fake-agent", folder / "seen.json"

    def write(self, body, version="99.0.0"):
        values = {"python": sys.executable, "version": version, "golden": str(GOLDEN), "seen": str(self._seen)}
        self.program.write_text(PRELUDE.format(**values) + body)
        self.program.chmod(0o755)

    def says(self, golden, more=""):
        self.write(f"print((golden / {golden!r}).read_text())\n{more}")

    @property
    def seen(self):
        return json.loads(self._seen.read_text())


@pytest.fixture
def cli(tmp_path):
    return FakeCli(tmp_path)


@pytest.fixture
def task(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return Task("physics/1", "translate", "<!-- overclock task: physics/1 -->\nTranslate.\n", folder, 60.0)
