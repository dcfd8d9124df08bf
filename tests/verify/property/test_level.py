"""Level 1: equal functions pass, each planted mistake is found in its module and field, nothing goes unexercised."""

import dataclasses
import functools
import importlib
import math
import os
from pathlib import Path

import numpy as np
import pytest
from schema_checks import require_valid_part

from overclock.entry_point import EntryPoint
from overclock.envs.cartpole.plants import RULES
from overclock.envs.cartpole.recorded import FIELDS
from overclock.envs.cartpole.twin import twin
from overclock.errors import UsageError
from overclock.results import decode, encode
from overclock.verify.property import distribution, level
from overclock.verify.property.calls import Call
from overclock.verify.property.compare import compare, errors_of
from overclock.verify.property.exported import exported_in, functions_to_run
from overclock.verify.property.level import check_recorded, record
from overclock.verify.property.module import Case, Cases, Module, Output, collect
from overclock.verify.property.result import PropertyLevel
from overclock.verify.property.runner import ModuleRunner
from overclock.verify.property.targets import exported
from overclock.verify.sides.patched import Patch, source_of

TESTS = str(Path(__file__).parents[2])


@pytest.fixture(scope="module")
def recording():
    pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")
    pytest.importorskip("coverage", reason="level 1 measures code coverage")
    return record(twin())


def failed_fields(result):
    return {
        f"{module.name}.{field.name}"
        for module in result.modules
        for comparison in module.comparisons
        for field in comparison.fields
        if not field.passed
    }


@pytest.fixture(scope="module")
def clean(recording):
    heard = []
    result = check_recorded(twin(), recording, progress=lambda what, done, total: heard.append(what))
    assert set(heard) == {"checking, float64", "checking, float32"}
    return result


def test_cartpole_equals_gymnasium_function_by_function(clean):
    assert (clean.level, clean.name, clean.verdict) == (1, "property", "pass"), clean.first_failure
    for module in clean.modules:
        assert [comparison.precision for comparison in module.comparisons] == ["float64", "float32"]
        assert module.recorded > 0
        assert module.calls >= module.recorded + module.boundary
    require_valid_part(clean)
    assert decode(PropertyLevel, encode(clean)) == clean


def test_in_float64_only_the_physics_and_numbers_below_float32_may_be_off(clean):
    off = {
        f"{module.name}.{field.name}"
        for module in clean.modules
        for field in module.comparisons[0].fields
        if field.largest_error > 0 and module.name not in ("draw", "distribution")
    }
    assert off == {"dynamics.x", "dynamics.x_dot", "dynamics.theta", "dynamics.theta_dot", "observe.obs"}


def test_every_public_function_was_exercised(clean):
    assert clean.gate.passed
    names = {name.rpartition(".")[2] for name in clean.gate.exported}
    assert names == {
        "default_params", "observation_space", "action_space", "draw_reset", "init", "transition", "accelerations",
        "fallen", "reward", "observe",
    }  # fmt: skip


def test_coverage_of_both_sides_is_part_of_the_result(clean):
    performance, reference = clean.coverage.performance, clean.coverage.reference
    assert (performance.lines.percent, performance.branches.percent) == (100.0, 100.0)
    # What is left of the reference is its other integrator, which no option of CartPole-v1 selects.
    assert {line.rpartition(":")[0] for line in reference.missing_lines} == {
        "gymnasium/envs/classic_control/cartpole.py"
    }
    assert len(reference.missing_branches) == 1
    assert reference.lines.percent >= 90.0


def test_the_historic_bug_is_found_in_the_velocities(recording):
    result = check_recorded(twin().planted("polemass-plus"), recording, ["float64"])
    assert result.verdict == "fail"
    assert failed_fields(result) == {"dynamics.x_dot", "dynamics.theta_dot"}
    first = result.first_failure
    assert (first.module, first.field, first.precision) == ("dynamics", "x_dot", "float64")
    assert first.inputs.keys() == {"x", "x_dot", "theta", "theta_dot", "action"}
    assert abs(first.reference - first.performance) == first.error > 1e-3
    require_valid_part(result)


def test_misused_randomness_and_wrong_limits_are_found(recording):
    patches = [
        Patch(RULES, "rng.uniform(site, low, high) for site", "rng.uniform(site // 2, low, high) for site"),
        Patch(RULES, "state.x > params.x_threshold", "state.x >= params.x_threshold"),
        Patch(RULES, "max_steps: int | None = 500", "max_steps: int | None = 501"),
    ]
    source, _ = source_of(RULES)
    changed = functools.reduce(lambda text, patch: patch.apply(text), patches, source)
    planted = dataclasses.replace(twin(), plants={"three": Patch(RULES, source, changed)}).planted("three")
    result = check_recorded(planted, recording, ["float64"])
    assert failed_fields(result) == {
        "draw.dependence", "distribution.dependence", "dynamics.terminated", "dynamics.reward",
        "termination.terminated", "reward.reward", "time_limit.truncated",
    }  # fmt: skip


def test_the_gate_fails_on_functions_that_never_ran(recording):
    lying = dataclasses.replace(
        twin(),
        performance=twin().performance.with_environment(PYTHONPATH=TESTS),
        modules="verify.lying_modules:MODULES",
    )
    result = check_recorded(lying, recording, ["float64"])
    assert failed_fields(result) == set()
    assert result.verdict == "fail"
    assert result.gate.declared_but_not_run == [f"termination: {RULES}:CartPole.observe"]
    assert f"{RULES}:CartPole.transition" in result.gate.not_exercised


def test_the_gate_does_not_believe_a_sides_own_list_of_its_functions(recording):
    performance = dataclasses.replace(
        twin().performance.with_environment(PYTHONPATH=TESTS), module_runner="verify.lying_modules:HidingRunner"
    )
    hiding = dataclasses.replace(twin(), performance=performance, modules="verify.lying_modules:MODULES")
    result = check_recorded(hiding, recording, ["float64"])
    assert result.gate.exported[0] == f"{RULES}:CartPole.fallen"
    assert f"{RULES}:CartPole.fallen" not in result.gate.not_exercised
    assert f"{RULES}:CartPole.transition" in result.gate.not_exercised


def test_a_request_for_cases_may_take_longer_than_one_call_of_the_reference(monkeypatch):
    waited = {}

    class Waiting:
        def __init__(self, spec, lanes, name, timeout):
            self.timeout, self.description = timeout, {"calls": []}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def ask(self, call, **_):
            waited[call] = self.timeout
            return {"inputs": {}, "expected": {}} if call == "cases" else None

    monkeypatch.setattr(level, "ProcessSubject", Waiting)
    monkeypatch.setattr(level, "Cases", lambda **_: None)
    monkeypatch.setattr(level, "decode", lambda *_: None)
    record(twin(), sources={}, timeout=7.0)
    assert waited["cases"] == 7.0 * level.CASES_PATIENCE


def test_a_twin_without_modules_is_told_so():
    with pytest.raises(UsageError, match=r"set Twin\.modules"):
        record(dataclasses.replace(twin(), modules=None))


# ---- cases from calls ----


def call(x, result, error=None):
    return Call("f", {"x": x}, {}, (), {}, {"x": x}, result, error)


def halving(**changes):
    described = {
        "name": "halving",
        "reference": ("somewhere:f",),
        "case": lambda call: Case({"x": call.arguments["x"]}, {"y": call.result}),
        "performance": lambda env, params, inputs: {"y": inputs["x"] / 2},
        "exercises": (),
        "outputs": {"float64": (Output("y"),)},
    }
    return Module(**{**described, **changes})


def test_equal_inputs_become_one_case_and_calls_that_raised_none():
    cases = collect(halving(), [call(2.0, 1.0), call(2.0, 1.0), call(9.0, None, "ValueError")], [call(0.0, 0.0)], 4)
    assert (cases.recorded, cases.boundary, cases.calls) == (1, 1, 4)
    assert cases.inputs["x"].tolist() == [2.0, 0.0]
    assert (cases.origin(0), cases.origin(1)) == ("recorded", "boundary")


def test_a_module_that_leaves_out_an_input_is_told_so():
    with pytest.raises(UsageError, match=r"'halving' is incomplete.*missing among the inputs"):
        collect(halving(), [call(2.0, 1.0), call(2.0, 3.0)], [], 2)


def test_a_module_without_calls_is_told_so():
    with pytest.raises(UsageError, match="no cases"):
        collect(halving(), [], [], 0)


@pytest.mark.parametrize("loose", [{"relative": 1e-9}, {"margin": 1e-9}, {"distance": lambda inputs, expected: 0.0}])
def test_a_tolerance_needs_a_reason(loose):
    with pytest.raises(UsageError, match="needs a reason"):
        Output("y", **loose)


@pytest.mark.parametrize("kind", ["absolute", "relative", "margin"])
@pytest.mark.parametrize("tolerance", [math.nan, math.inf, -1.0])
def test_a_tolerance_is_a_finite_number(kind, tolerance):
    with pytest.raises(UsageError, match="the output 'y' must be a finite number and not negative"):
        Output("y", reason="it", **{kind: tolerance})


@pytest.mark.parametrize("outputs", [{}, {"float64": ()}, {"float64": (Output("y"),), "float32": ()}])
def test_a_module_that_compares_nothing_is_refused(outputs):
    with pytest.raises(UsageError, match="'halving' names no outputs to compare"):
        halving(outputs=outputs)


# ---- comparing values ----


@pytest.mark.parametrize(
    "got",
    [
        np.array([1.0, math.nan]),
        np.array([1.0, math.inf]),
        np.array([1.0, 2.0 + 1e-9]),
        np.array([[1.0], [2.0]]),
        np.array([1, 2]),
    ],
)
def test_values_of_another_size_shape_or_kind_are_wrong(got):
    _, wrong = errors_of(np.array([1.0, 2.0]), got, absolute=1e-10)
    assert wrong[1]


def test_whole_numbers_are_compared_as_such_and_flags_are_none():
    large = np.array([2**60, 2**60], np.int64)
    assert errors_of(large, large + np.array([0, 1]))[1].tolist() == [False, True]
    assert not errors_of(np.array([200]), np.array([200], np.uint8))[1].any()
    for other in (np.array([True]), np.array([1.0]), np.array([1.0 + 1.0j])):
        assert errors_of(np.array([1]), other, absolute=9.0)[1].all()
    assert errors_of(np.zeros((2, 0)), np.zeros((2, 3)))[1].all()


def test_equal_infinities_and_nans_are_right():
    values = np.array([math.inf, -math.inf, math.nan, 0.0])
    errors, wrong = errors_of(values, np.array([math.inf, -math.inf, math.nan, -0.0]))
    assert not errors.any()
    assert not wrong.any()


def test_a_relative_tolerance_grows_with_the_references_value_but_not_to_infinity():
    expected = np.array([1.0, 1000.0, math.inf])
    _, wrong = errors_of(expected, np.array([1.5, 1000.5, 1e300]), relative=1e-3)
    assert wrong.tolist() == [True, False, True]


def test_a_flag_is_excused_only_next_to_its_threshold():
    output = Output("over", reason="rounding", distance=lambda i, e: np.abs(i["x"] - 1.0), margin=1e-6)
    cases = Cases({"x": np.array([1.0 + 1e-7, 1.1])}, {"over": np.array([True, True])}, 2, 0, 2)
    result = compare(halving(outputs={"float32": (output,)}), cases, {"over": np.array([False, False])}, "float32")
    assert result.fields[0].excused == 1
    assert result.first_failure.case == 1


def test_of_wrong_outputs_the_cause_is_named_and_not_its_consequence():
    outputs = (Output("obs"), Output("x"), Output("terminated"))
    values = {output.name: np.array([0.0, 1.0]) for output in outputs}
    cases = Cases({"x": np.zeros(2)}, values, 2, 0, 2)
    wrong = compare(
        halving(outputs={"float64": outputs}), cases, {name: v + 1 for name, v in values.items()}, "float64"
    )
    assert wrong.first_failure is not None
    assert wrong.first_failure.field == "terminated"
    right = {"terminated": values["terminated"]}
    wrong = compare(halving(outputs={"float64": outputs}), cases, right, "float64")
    assert wrong.first_failure is not None
    assert wrong.first_failure.field == "x"


def test_an_output_that_is_not_there_is_wrong():
    cases = Cases({"x": np.array([2.0])}, {"y": np.array([1.0])}, 1, 0, 1)
    result = compare(halving(), cases, {}, "float64")
    assert result.fields[0].largest_error == math.inf
    assert not result.passed


# ---- comparing samples ----


def test_samples_of_one_distribution_pass_and_others_do_not():
    generator = np.random.default_rng(0)
    uniform = generator.uniform(-1, 1, 2000)
    for sample, same in [
        (generator.uniform(-1, 1, 2000), True),
        (generator.uniform(-1.3, 1.3, 2000), False),
        (generator.normal(0, 0.3, 2000), False),
        (np.full(2000, np.nan), False),
    ]:
        distance, limit = distribution.distance(uniform, sample)
        assert (distance <= limit) == same


def test_samples_that_hang_together_differently_are_found():
    generator = np.random.default_rng(0)
    free = {"a": generator.random(2000), "b": generator.random(2000)}
    same = generator.random(2000)
    slow = np.repeat(generator.random(1000), 2)
    for sample, alike in [
        ({"a": generator.random(2000), "b": generator.random(2000)}, True),
        ({"a": same, "b": same}, False),
        ({"a": generator.random(2000), "b": slow}, False),
        ({"a": generator.random(2000), "b": np.zeros(2000)}, False),
    ]:
        difference, limit = distribution.dependence(free, sample)
        assert (difference <= limit) == alike


def test_draws_that_are_slightly_too_small_are_found(recording):
    """3 % too small moves the distribution by 1.5 %, which a few thousand seeds do not show."""
    patch = Patch(RULES, "rng.uniform(site, low, high) for site", "0.97 * rng.uniform(site, low, high) for site")
    planted = dataclasses.replace(twin(), plants={"slightly": patch}).planted("slightly")
    result = check_recorded(planted, recording, ["float64"])
    assert failed_fields(result) == {f"distribution.{name}" for name in FIELDS}


def test_a_large_sample_shows_small_deviations_of_its_distribution():
    generator = np.random.default_rng(0)
    a, b = (generator.uniform(-2.0, 3.0, distribution.KNOWN_SAMPLE).astype(np.float32) for _ in range(2))
    rarely = generator.random(distribution.KNOWN_SAMPLE) < 0.03
    for other, wrong in [
        (b, set()),
        (b + np.float32(0.1), {"b"}),  # 2 % of the range
        (np.where(rarely, 0.5, b), {"b"}),
        (np.where(rarely, a, b), {"dependence"}),
        (np.where(rarely, np.roll(b, 1), b), {"dependence"}),
        (np.full_like(b, 0.5), {"b", "dependence"}),
        (np.full_like(b, np.nan), {"b", "dependence"}),
    ]:
        facts = {name: np.asarray(f) for name, f in distribution.uniform_facts({"a": a, "b": other}, -2.0, 3.0).items()}
        limits = {"a": distribution.KNOWN_LIMIT, "b": distribution.KNOWN_LIMIT}
        expected = {"a": distribution.EVEN_SHARES, "b": distribution.EVEN_SHARES, "dependence": np.zeros(3)}
        found = {
            name
            for name in facts
            if errors_of(expected[name], facts[name], limits.get(name, distribution.KNOWN_DEPENDENCE_LIMIT))[1].any()
        }
        assert found == wrong


def test_the_result_says_how_small_a_difference_of_distributions_it_would_see(clean):
    (module,) = (module for module in clean.modules if module.name == "distribution")
    for comparison in module.comparisons:
        limits = {field.name: field.tolerance for field in comparison.fields}
        assert set(limits) == {*FIELDS, "dependence"}
        assert max(limits.values()) < 0.02
        assert all("a sample of 100,000 stays this close" in field.reason for field in comparison.fields)


# ---- what there is to run, without asking the side that runs it ----


def test_functions_are_found_by_reading_as_they_are_by_running():
    module = importlib.import_module(RULES)
    assert sorted(exported_in({RULES: str(module.__file__)})) == sorted(place.name for place in exported(module))
    assert len(exported(module)) == 10


def test_what_is_public_and_what_is_not(tmp_path):
    path = tmp_path / "rules.py"
    path.write_text(
        "import functools, typing, jax\n"
        "def plain(): ...\n"
        "@jax.jit\ndef fast(): ...\n"
        "def _own(): ...\n"
        "if True:\n    def chosen(): ...\nelse:\n    def other(): ...\n"
        "try:\n    def tried(): ...\nexcept ImportError:\n    def instead(): ...\n"
        "class Game:\n"
        "    def step(self): ...\n"
        "    @property\n    def size(self): ...\n"
        "    @size.setter\n    def size(self, value): ...\n"
        "    @staticmethod\n    def of(): ...\n"
        "    @functools.cached_property\n    def table(self): ...\n"
        "    @typing.overload\n    def at(self): ...\n"
        "    def _own(self): ...\n"
        "class _Hidden:\n    def step(self): ...\n"
    )
    names = [name.removeprefix("rules:") for name in exported_in({"rules": str(path)})]
    assert names == ["plain", "fast", "chosen", "other", "tried", "instead", "Game.step", "Game.size", "Game.of"]


def test_a_file_that_cannot_be_read_has_no_functions(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("def half(")
    assert exported_in({"broken": str(broken), "absent": str(tmp_path / "absent.py")}) == []


@pytest.mark.filterwarnings("ignore:No data was collected")
def test_the_performance_side_says_which_files_it_was_read_from():
    pytest.importorskip("coverage", reason="level 1 measures code coverage")
    runner = ModuleRunner(1, twin().performance.subject.as_json(), EntryPoint.of(twin().modules).as_json())
    runner.coverage()  # ends the measurement
    assert runner.sources() == {"files": {RULES: source_of(RULES)[1]}, "entered": []}
    assert sorted(exported_in(runner.sources()["files"])) == sorted(runner.exported())


def test_a_side_may_know_of_more_functions_and_need_not_run_what_had_to_run_before(tmp_path):
    path = tmp_path / "rules.py"
    path.write_text("def make(): ...\ndef move(): ...\n")
    sources = {"files": {"rules": str(path)}, "entered": ["rules:make"]}
    assert functions_to_run(["rules:made", "rules:make"], sources) == ["rules:made", "rules:move"]


def test_files_of_a_candidate_that_it_does_not_speak_of_are_read_all_the_same(tmp_path):
    folder = tmp_path / "candidate"
    (folder / "parts").mkdir(parents=True)
    for name in ("env", "physics", "parts/__init__", "parts/wheel"):
        (folder / f"{name}.py").write_text(f"def {name.rpartition('/')[2].strip('_')}(): ...\n")
    for module, name in (("env", "env"), ("parts.wheel", "parts/wheel"), ("parts", "parts/__init__")):
        sources = {"files": {f"package.{module}": str(folder / f"{name}.py")}, "entered": ["package.env:env"]}
        found = functions_to_run([], sources, [str(tmp_path / "contract.toml"), str(folder)])
        assert sorted(found) == ["package.parts.wheel:wheel", "package.parts:init", "package.physics:physics"]
    assert functions_to_run(["Env::init"], {"files": {}, "entered": []}, [str(folder)]) == ["Env::init"]


def test_a_pipe_in_place_of_a_source_does_not_keep_us_waiting(tmp_path):
    os.mkfifo(tmp_path / "rules.py")
    assert exported_in({"rules": str(tmp_path / "rules.py")}) == []
