"""The grader judges an inspection's answer: what it says, and that it is an answer at all."""

import copy

import pytest
from recipe.hygiene.answers import CLEAN, FUNCTION

from overclock.recipe.judging.hygiene import Limits, judge_inspection
from overclock.recipe.judging.hygiene.judge import FUNCTIONS

LIMITS = Limits()


def answer(**changes):
    return {**copy.deepcopy(CLEAN), **changes}


def function(name="transition", **changes):
    return answer(functions={**CLEAN["functions"], name: {**FUNCTION, **changes}})


def rules(data, limits=LIMITS) -> set[str]:
    return {finding.rule for finding in judge_inspection(data, limits)}


def test_a_clean_answer_has_no_findings():
    assert judge_inspection(answer(), LIMITS) == []


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (answer(error="ImportError: no"), "import"),
        (answer(contract="reward is int32[], expected float32[]."), "contract"),
        (answer(rounds=["transition"]), "hidden-state"),
        (answer(tampered=["time.time"]), "tampering"),
        (answer(not_finite=["obs"]), "nan"),
        (answer(own_randomness=["`draw_step` is odd"]), "randomness"),
        (answer(eager_ulps=9.0), "eager"),
        (answer(eager_ulps=float("inf")), "eager"),
        (answer(replaced=["step"]), "derived"),
        (answer(functions={**CLEAN["functions"], "step": {"error": "TypeError: no"}}), "trace"),
        (function(primitives=["pure_callback"]), "callback"),
        (function(primitives=["io_callback"]), "callback"),
        (function(primitives=["debug_callback"]), "callback"),
        (function(primitives=["ffi_call"]), "callback"),
        (function(primitives=["infeed"]), "callback"),
        (function(primitives=["outfeed"]), "callback"),
        (function(effects=["IO"]), "callback"),
        (function(custom_calls=["xla_ffi_python_cpu_callback"]), "callback"),
        (function(custom_calls=["my_library"]), "callback"),
        (function(primitives=["random_bits"]), "randomness"),
        (function(constant_bytes=1 << 17), "constants"),
        (function(digests=["0" * 64, "1" * 64]), "hidden-state"),
    ],
)
def test_each_thing_seen_becomes_its_finding(data, rule):
    assert rules(data) == {rule}


def test_a_candidate_that_tampers_and_then_fails_is_told_both():
    assert rules(answer(error="ImportError: no", tampered=["time.time"])) == {"import", "tampering"}


def test_drawing_is_where_random_numbers_are_made():
    assert rules(function("draw_step", primitives=["random_bits"])) == set()


def test_a_project_may_carry_more_data():
    assert rules(function(constant_bytes=1 << 17), Limits(constant_bytes=1 << 20)) == set()


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "pass",
        True,
        {},
        {"ok": True},
        answer(more=1),
        {name: value for name, value in CLEAN.items() if name != "tampered"},
        answer(tampered=None),
        answer(tampered="nothing"),
        answer(tampered=[0]),
        answer(error=0),
        answer(error=""),
        answer(contract=False),
        answer(functions={}),
        answer(functions=dict.fromkeys(FUNCTIONS[1:], FUNCTION)),
        answer(rounds=[""]),
        answer(rounds=[None] * (1 << 17)),
        answer(eager_ulps=float("nan")),
        answer(eager_ulps=-1.0),
        answer(eager_ulps=True),
        answer(eager_ulps="0"),
        answer(steps=0),
        answer(steps=-1),
        answer(steps=True),
        answer(steps=1.5),
        function(constant_bytes=-1),
        function(constant_bytes=float("nan")),
        function(constant_bytes="0"),
        function(digests=[]),
        function(digests=["0" * 64]),
        function(digests=["same", "same"]),
        function(primitives="add"),
    ],
)
def test_an_answer_of_another_form_is_a_failure(data):
    assert rules(data) == {"answer"}


def test_a_workers_text_is_cut():
    (finding,) = judge_inspection(answer(contract="x" * 10_000), LIMITS)
    assert len(finding.sentence) < 400
