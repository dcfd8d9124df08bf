"""docs/environment.md is followed from its first line to its last: its files, its commands, its snippets, in order."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("few_optimisations")

TEXT = (Path(__file__).parent.parent / "docs/environment.md").read_text()
FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (?P<path>[\w./-]+\.(py|toml))\n")
QUICK = {"bench": ["--min-seconds", "0.05"]}  # steady numbers are for readers


class Reader:
    """Somebody who does what the page says; packages go into a folder of their own."""

    def __init__(self, folder: Path):
        self.here, self.packages = folder, folder / "packages"

    def run(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        places = os.pathsep.join(map(str, (self.here, self.packages)))
        return subprocess.run(
            [sys.executable, *arguments], cwd=self.here, env={**os.environ, "PYTHONPATH": places, "COLUMNS": "200"},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    def install(self) -> subprocess.CompletedProcess[str]:
        """The package's metadata as pip makes them, with its modules found here, as `--editable` has it."""
        done = self.run(
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation",
             "--target", str(self.packages), "."]
        )  # fmt: skip
        shutil.rmtree(self.packages / "shop", ignore_errors=True)
        return done

    def does(self, line: str) -> None:
        command, _, comment = line.partition("  #")
        words = shlex.split(command)
        if words[0] == "mkdir":
            (self.here / words[1]).mkdir()
            return
        if words[0] == "cd":
            self.here /= words[1]
            return
        if words[0] == "pip":
            assert words == ["pip", "install", "--editable", "."]
            done = self.install()
        else:
            assert words[0] == "overclock", f"the page has a command that nothing checks: {line}"
            done = self.run(["-m", *words, *QUICK.get(words[1], [])])
        expected = int(comment.removeprefix(" exit code ")) if comment else 0
        assert done.returncode == expected, done.stdout + done.stderr

    def writes(self, body: str) -> bool:
        """Whether a fence is a file; it is written then."""
        if file := FILE.match(body):
            (self.here / file["path"]).write_text(body)
        return file is not None


def test_the_page_leads_from_nothing_to_a_trained_policy(tmp_path):
    reader = Reader(tmp_path)
    for fence in FENCE.finditer(TEXT):
        if fence["language"] == "console":
            for line in fence["body"].splitlines():
                reader.does(line.removeprefix("$ "))
        elif not reader.writes(fence["body"]):
            done = reader.run(["-c", fence["body"]])
            assert done.returncode == 0, done.stderr
    assert (reader.here / "runs/train-shop-v0-seed0").is_dir()
    assert (reader.here / "shop/scenarios/fills-up.json").is_file()
