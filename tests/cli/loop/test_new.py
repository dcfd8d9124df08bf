"""What `overclock new` tells its user about a reference."""

import json
from pathlib import Path

import pytest

from overclock.cli import main
from overclock.cli.loop.new import show
from overclock.recipe.project.project import load_project


def test_what_is_left_out_is_told_and_not_only_in_json(capsys):
    report = {
        "reference": "pond.py:PondEnv", "target": "jax", "project": "pond", "modules": [], "state": [], "warnings": [],
        "advice": {"reasons": ["Its state is small."], "against": []}, "not_represented": [], "oddities": [],
        "rooms": [{"list": "body", "items": 31, "why": "there are 6 x 5 cells", "follows": False}],
        "look": None, "x64": "in float32 9 of 100 episodes have another length",
        "dropped": [
            {"function": "pond:PondEnv.render", "file": "/x/pond.py", "line": 30, "lines": 9, "reason": "rendering"}
        ],
    }  # fmt: skip
    show(report)
    out = capsys.readouterr().out
    assert "- left out: pond:PondEnv.render, rendering (pond.py:30)" in out
    assert out.startswith("pond.py:PondEnv to jax\n")
    assert "- float64 is required (JAX_ENABLE_X64=1): in float32 9 of 100 episodes have another length" in out
    assert "- 'body' has room for 31 items (there are 6 x 5 cells; assumed: give a bound with --capacity body=N" in out


HEAP = """
import gymnasium
import numpy as np


class Heap(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 1000, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stones = []
        return np.array([0.0]), {}

    def step(self, action):
        if action == 1:
            self.stones.append(1)
        elif action == 2:
            self.stones.clear()
        return np.array([float(len(self.stones))]), 0.0, False, False, {}
"""


def test_a_capacity_is_given_and_kept(tmp_path, monkeypatch, capsys):
    pytest.importorskip("gymnasium", reason="references are Gymnasium environments")
    monkeypatch.chdir(tmp_path)
    Path("heap.py").write_text(HEAP)
    new = ["new", "heap", "--reference", "heap.py", "--agent", "builtin", "--to", "jax", "--json"]
    for wrong, said in (("stones", "takes LIST=ITEMS"), ("stones=0", "at least one item")):
        assert main([*new, "--capacity", wrong]) == 2
        assert said in json.loads(capsys.readouterr().out)["error"]
    assert main([*new, "--capacity", "stones=600"]) == 0
    room = {"list": "stones", "items": 600, "why": "as given", "follows": True}
    assert json.loads(capsys.readouterr().out)["rooms"] == [room]
    project = load_project(tmp_path / "heap")
    assert (project.reference.capacities, project.contract.shapes["stones"].capacity) == ({"stones": 600}, 600)
    assert main([*new[:5], "manual", "--capacity", "stones=600"]) == 2
