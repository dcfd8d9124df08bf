"""What a translation must not contain: what a file, a clock or an address said while it was made."""

import functools
import math
import operator
import time

import gymnasium
import numpy as np
import pytest

from overclock.recording.errors import UnsupportedError
from overclock.translate.compiler import Compiler
from overclock.translate.python.purity import only_computes


class Pond(gymnasium.Env):
    """Changes by a rule that subclasses have."""

    observation_space = gymnasium.spaces.Box(-1e9, 1e9, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.level, self.word = 0.0, ""
        return np.array([self.level]), {}

    def step(self, action):
        self.level += self.rule(action)
        return np.array([self.level]), 1.0, False, False, {}


class ReadsText(Pond):
    def rule(self, action):
        with_name = open(GAIN)  # noqa: SIM115
        return float(with_name.read()) * action


class ReadsArray(Pond):
    def rule(self, action):
        return np.loadtxt(GAIN) * action


class Addressed(Pond):
    def rule(self, action):
        return float(id(GAIN) % 7) * action


class Grows(Pond):
    def rule(self, action):
        self.word += "ab"[int(action)]
        return float(len(self.word))


GAIN = ""


@pytest.mark.parametrize("cls", [ReadsText, ReadsArray, Addressed])
def test_what_is_outside_of_the_program_is_refused_with_its_line(cls, tmp_path, monkeypatch):
    (tmp_path / "gain.txt").write_text("2.5")
    monkeypatch.setattr(f"{__name__}.GAIN", str(tmp_path / "gain.txt"), raising=True)
    with pytest.raises(UnsupportedError, match="not decided by the program alone") as refused:
        Compiler(cls, "pond").program()
    assert (refused.value.place.file, "gain" in str(refused.value).lower()) == (__file__, True)


def test_texts_that_grow_without_end_are_refused():
    with pytest.raises(UnsupportedError, match="one of more than 256 texts") as refused:
        Compiler(Grows, "pond").program()
    assert "self.word +=" in str(refused.value)


@pytest.mark.parametrize(
    "function", [abs, math.sqrt, "a".upper, (1, 2).index, operator.add, operator.itemgetter(1), dict.fromkeys,
                 functools.partial(max, 3), functools.reduce]
)  # fmt: skip
def test_these_only_compute(function):
    assert only_computes(function)


@pytest.mark.parametrize("function", [open, id, hash, time.time, time.perf_counter, input, globals, print, vars])
def test_these_do_not(function):
    assert not only_computes(function)
