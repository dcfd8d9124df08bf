"""What holds on a machine without the Rust extension."""

import pathlib
import runpy
import sys

import pytest

from overclock.errors import MissingError
from overclock.vector import host_vector

VECTORS = pathlib.Path(__file__).parents[2] / "native/crates/overclock-rng/tests"


def test_asking_for_a_rust_environment_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "overclock_native", None)
    with pytest.raises(MissingError, match="make native") as raised:
        host_vector("cartpole", 2, backend="native")
    assert "pip install ./native" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_vectors_that_rust_is_tested_with_are_those_of_the_generator():
    text = runpy.run_path(str(VECTORS / "make_vectors.py"))["text"]()
    assert (VECTORS / "vectors.csv").read_text() == text
