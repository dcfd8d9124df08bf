"""What a candidate's modules hold once they have been imported."""

import importlib

import pytest
from recipe.hygiene.answers import CLEAN

from overclock.recipe.judging.candidate import package_of
from overclock.recipe.judging.hygiene import Limits, judge_inspection
from overclock.recipe.judging.hygiene.tampering import foreign


@pytest.fixture
def held(candidate):
    def found(**changes):
        package = package_of(candidate(**changes))
        for name in ("env", *changes):
            importlib.import_module(f"{package}.{name}")
        return foreign(package)

    return found


def test_the_honest_candidate_holds_nothing_foreign(held):
    assert held() == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import os", ["more.os: os"]),
        ("from time import time as now", ["more.now: time"]),
        ("import gc\nfind = gc.get_objects", ["more.find: gc", "more.gc: gc"]),
        ("from pathlib import Path", ["more.Path: pathlib"]),
        ("run = exec", ["more.run: builtins.exec"]),
        ("from jax import debug", ["more.debug: jax.debug"]),
        ("import numpy as np\nimport math\nfrom jax import lax\nfrom enum import IntEnum\nroot = math.sqrt", []),
        ("from typing import Any, NamedTuple\nfrom jaxtyping import Array, Float\nfrom functools import partial", []),
    ],
)
def test_what_comes_from_elsewhere_is_named(held, text, found):
    assert held(more=text) == found


def test_a_project_may_allow_a_module():
    data = {**CLEAN, "foreign": ["env.chain: itertools"]}
    assert {one.rule for one in judge_inspection(data, Limits())} == {"import"}
    assert judge_inspection(data, Limits(imports=("itertools",))) == []
