"""Entry points: what crosses process borders by name."""

import json
import math

import pytest

from overclock.entry_point import EntryPoint


def power(base: float, exponent: float = 2.0) -> float:
    return base**exponent


class Place:
    @staticmethod
    def inside() -> str:
        return "inside"


def test_a_function_is_found_again_by_its_entry_point():
    point = EntryPoint.of(power, exponent=3.0)
    assert point.call(2.0) == 8.0
    assert str(point) == f"{__name__}:power"
    assert EntryPoint.of(Place.inside).call() == "inside"


def test_a_text_names_an_object_without_importing_it():
    assert EntryPoint.of("math:pi").load() == math.pi
    assert str(EntryPoint.of("nowhere:Class")) == "nowhere:Class"
    with pytest.raises(ModuleNotFoundError):
        EntryPoint.of("nowhere:Class").load()


def test_one_argument_may_follow_a_bar():
    point = EntryPoint.of("os.path:basename|a/b")
    assert point.load() == "b"
    assert str(point) == "os.path:basename|a/b"


@pytest.mark.parametrize("point", [EntryPoint.of(power, exponent=[1, {"a": None}]), EntryPoint.of("a.b:C|d")])
def test_json_keeps_everything(point):
    assert EntryPoint.from_json(json.loads(json.dumps(point.as_json()))) == point


def test_further_arguments_are_added():
    point = EntryPoint.of("math:pow")
    assert EntryPoint.of(point, x=1) == EntryPoint("math", "pow", (("x", 1),))
    assert EntryPoint.of(point) == point


def test_what_has_no_name_at_the_top_level_is_refused():
    with pytest.raises(ValueError, match="not at the top level"):
        EntryPoint.of(lambda: None)
