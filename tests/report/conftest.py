"""Reports to look at: cut-down real ones of CartPole, and fresh ones of a small house that takes a second to verify."""

import copy
import json
from pathlib import Path

import pytest

from overclock.results import encode

DATA = Path(__file__).parent / "data"


@pytest.fixture
def passed():
    """`overclock verify cartpole`: four levels, all passed."""
    return json.loads((DATA / "passed.json").read_text())


@pytest.fixture
def failed():
    """`overclock verify cartpole --plant polemass-plus`: level 1 fails, the others are not run."""
    return json.loads((DATA / "failed.json").read_text())


def house(folder, **options):
    from overclock.verify.engine import verify

    return encode(verify("verify.subjects_shrink:twin", episodes=8, levels=(3,), folder=folder, **options))


@pytest.fixture(scope="session")
def _level_3(tmp_path_factory):
    return house(tmp_path_factory.mktemp("house"))


@pytest.fixture(scope="session")
def _level_3_failed(tmp_path_factory):
    return house(tmp_path_factory.mktemp("house"), plant="door")


@pytest.fixture
def level_3(_level_3):
    """Level 3 alone, as the engine reports it today."""
    return copy.deepcopy(_level_3)


@pytest.fixture
def level_3_failed(_level_3_failed):
    """Level 3 alone, failing, with a repro that the engine has just shrunk."""
    return copy.deepcopy(_level_3_failed)


@pytest.fixture(scope="session")
def measured():
    """A tiny benchmark."""
    from overclock.bench import BenchConfig, measure

    return measure(BenchConfig(batch=(2, 4), steps=16, repeats=5, warmup=1))
