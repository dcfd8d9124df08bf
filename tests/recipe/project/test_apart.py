"""New projects are made of references that run in a process of their own."""

import json
from pathlib import Path

import pytest

from overclock.cli import main

pytest.importorskip("gymnasium", reason="references are Gymnasium environments")

POND = """
import os

import gymnasium
import numpy as np


class Pond(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-10.0, 10.0, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(-1, 1))
        return np.array([self.x]), {}

    def step(self, action):
        self.x += 0.5 if action else -0.5
        HERE
        return np.array([self.x]), 1.0, bool(abs(self.x) > 3), False, {}
"""


def _pond(here: str) -> str:
    Path("pond.py").write_text(POND.replace("HERE", here))
    return "pond.py"


def test_a_reference_that_ends_its_process_gets_one_sentence_and_leaves_no_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    reference = _pond("os._exit(0)")
    assert main(["new", "project", "--reference", reference, "--json"]) == 4
    answer = json.loads(capsys.readouterr().out)
    assert "'pond.py' ended its own process with exit code 0" in answer["error"]
    assert main(["translate", reference, "--json"]) == 4
    assert "'pond.py' ended its own process" in json.loads(capsys.readouterr().out)["error"]
    assert {path.name for path in tmp_path.iterdir()} <= {"pond.py", "__pycache__"}


def test_a_reference_that_changes_the_working_folder_does_not_move_its_project(tmp_path, monkeypatch, capsys):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    reference = _pond("pass")
    Path(reference).write_text(f"{Path(reference).read_text()}\n\nos.chdir({str(tmp_path / 'elsewhere')!r})\n")
    assert main(["new", "project", "--reference", reference, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["project"] == "project"
    assert (tmp_path / "project" / "overclock.toml").is_file()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_a_reference_prints_is_not_on_stdout(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    reference = _pond("print('splash'); os.write(1, b'splash')")
    assert main(["new", "project", "--reference", reference, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["schema"] == "overclock.new/1"
