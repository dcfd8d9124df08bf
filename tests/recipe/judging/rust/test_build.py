"""From a contract to a library: generated source, compiler errors, types and shapes across the border."""

import re
from pathlib import Path

import numpy as np
import pytest
from recipe.rust import crates

import overclock
from overclock.env import Rng, Section
from overclock.errors import UsageError
from overclock.recipe.contract.file import (
    Closeness,
    ContractFile,
    DrawField,
    StateField,
    format_contract,
    load_contract,
)
from overclock.recipe.judging.rust.builder import builder_spec, compile_candidate
from overclock.recipe.judging.rust.contract_source import HERE, contract_source, declarations
from overclock.recipe.judging.rust.library import Library, RulesError, load_library, named, rows
from overclock.recipe.judging.rust.metamorphic import RULES
from overclock.recipe.judging.rust.subject import RustSubject
from overclock.recipe.loop.prompts import render
from overclock.recipe.sandbox import sandboxed

CRATE = Path(overclock.__file__).parents[2] / "native/crates/overclock-rng/src/lib.rs"


def library_of(folder, contract, root) -> Library:
    return load_library(str(folder), str(contract), str(root))


def written_contract(path, **parts):
    path.write_text(format_contract(ContractFile(**{"precisions": {"float64": Closeness()}, **parts})))
    return path


@pytest.mark.skipif(not CRATE.is_file(), reason="the Rust workspace is not part of an installed package")
def test_the_generator_is_the_one_of_our_own_crate():
    assert (HERE / "rng.rs").read_bytes() == CRATE.read_bytes()


def test_a_candidate_draws_what_our_generator_draws(honest, contract, toolchain):
    library = library_of(honest, contract, toolchain)
    seeds = np.array([0, 1, 2**40 + 3, -1])
    drawn = named(library.draw_reset(library.streams(seeds)))["uniform_0"]
    for seed, values in zip(seeds, drawn, strict=True):
        rng = Rng.of(int(seed)).of_section(Section.RESET)
        high, low = (np.asarray(rng.words(0, (4,), half=half)) for half in (0, 1))
        unit = ((high >> 5) * 2.0**26 + (low >> 6)) * 2.0**-53
        np.testing.assert_array_equal(values, (unit - 0.5) * (0.05 - -0.05) + (0.05 + -0.05) * 0.5)


@pytest.mark.parametrize(
    ("file", "old", "new", "place", "said"),
    [
        ("src/physics.rs", "theta.sin()", "theta.sine()", "theta.sin()", "no method named `sine`"),
        ("src/lib.rs", "(1.0, fallen", "(1, fallen", "(1.0, fallen", "expected `f64`, found integer"),
        ("src/lib.rs", "pub struct Env;", "pub struct Other;", "impl Rules for Env", "cannot find type `Env`"),
        (
            "src/lib.rs",
            "pub struct Env;",
            "struct Env;",
            None,
            "it must have `pub mod contract;` and a type `pub struct",
        ),
    ],
)
def test_what_the_compiler_says_comes_back_as_findings(file, old, new, place, said, candidate, contract, toolchain):
    text = crates.FILES[file]
    folder = candidate({**crates.FILES, file: crates.changed(text, old, new)})
    findings = compile_candidate(sandboxed(builder_spec(folder, contract), folder))
    line = 0 if place is None else text[: text.index(place)].count("\n") + 1
    assert {(finding.file, finding.line, finding.rule) for finding in findings} == {(file, line, "compile")}
    assert any(said in finding.sentence for finding in findings)


def test_unsafe_is_forbidden_by_the_compiler_too(candidate, contract, toolchain):
    sly = crates.changed(crates.PHYSICS, "theta.cos()", "unsafe { *(&theta as *const f64) }.cos()")
    for more in ("", "#![allow(unsafe_code)]\n"):
        findings = compile_candidate(builder_spec(candidate(physics=sly, lib=more + crates.HONEST), contract))
        assert any("unsafe" in finding.sentence for finding in findings)


def test_the_judge_builds_with_its_own_contract(candidate, contract, toolchain):
    folder = candidate(contract="compile_error!();")
    assert compile_candidate(builder_spec(folder, contract)) == []


def test_the_example_of_the_prompt_is_a_candidate(tmp_path, toolchain):
    contract = written_contract(
        tmp_path / "contract.toml",
        state=(StateField("position", "position", "int64"),),
        reset_draws=(DrawField("start", "integers"),),
        step_draws=(DrawField("chance", "random"),),
    )
    prompt = render("contract_rust", task="example")
    (example,) = re.findall(r"^```rust\n(.*?)^```$", prompt, re.MULTILINE | re.DOTALL)
    folder = crates.written(tmp_path / "corridor", {"src/lib.rs": example})
    subject = RustSubject(3, str(folder), str(contract), str(toolchain))
    seen = subject.reset(np.ones(3, np.bool_), np.arange(3), {"start": np.array([1, 3, 6])})
    np.testing.assert_array_equal(np.argmax(seen.outputs["obs"], 1), [1, 3, 6])
    seen = subject.step(np.array([0, 0, 1]), {"chance": np.array([0.5, 0.05, 0.5])})
    np.testing.assert_array_equal(seen.state["position"], [0, 3, 7])  # the second one slipped
    np.testing.assert_array_equal(seen.outputs["reward"], [-1.0, 0.0, 1.0])
    np.testing.assert_array_equal(seen.outputs["terminated"], [True, False, True])
    with pytest.raises(ValueError, match="draws luck, which the rules do not take"):
        subject.step(np.array([0, 0, 1]), {"chance": np.zeros(3), "luck": np.zeros(3)})
    with pytest.raises(ValueError, match="no value was given for the draw 'chance'"):
        subject.step(np.array([0, 0, 1]), {})
    assert all(check["passed"] for check in map(subject.metamorphic, RULES))


ODD = """\
pub mod contract;
use contract::*;
#[derive(Default)]
pub struct Env;
impl Rules for Env {
    type Element = u8;
    type Action = [f32; 2];
    const MAX_STEPS: Option<i32> = None;
    fn observation_space(&self) -> Space {
        Space::Box { shape: vec![2, 3], low: vec![0.0; 6], high: vec![255.0; 6] }
    }
    fn action_space(&self) -> Space { Space::vector(&[-1.0, -2.0], &[1.0, 2.0]) }
    fn init(&self, _draw: &ResetDraw) -> State {
        State { board: [[1, 2, 3], [4, 5, 250]], r#type: true, small: 0.5, count: u64::MAX }
    }
    fn transition(&self, state: &mut State, action: [f32; 2], _draw: &StepDraw) -> (f64, bool) {
        state.board[1][2] = state.board[1][2].wrapping_add(10);
        state.r#type = !state.r#type;
        state.small += action[1];
        state.count = state.count.wrapping_add(2);
        (f64::from(action[0]), false)
    }
    fn observe(&self, state: &State, into: &mut [u8]) {
        for (seen, value) in into.iter_mut().zip(state.board.iter().flatten()) { *seen = *value; }
    }
}
"""
FIELDS = (
    StateField("board", "board", "uint8", (2, 3)), StateField("type", "type", "bool"),
    StateField("small", "small", "float32"), StateField("count", "count", "uint64"),
)  # fmt: skip


def test_arrays_flags_small_types_and_words_of_the_language_cross_the_border(tmp_path, toolchain):
    contract = written_contract(tmp_path / "contract.toml", state=FIELDS)
    folder = crates.written(tmp_path / "odd", {"src/lib.rs": ODD})
    subject = RustSubject(2, str(folder), str(contract), str(toolchain))
    description = subject.describe()
    assert (description["kind"], description["low"].dtype) == ("box", np.float32)
    np.testing.assert_array_equal(description["high"], [1.0, 2.0])
    subject.reset(np.array([True, False]), np.arange(2), {})
    seen = subject.step(np.array([[0.5, 0.25], [-1.0, -0.5]], np.float32), {})
    assert (seen.outputs["obs"].shape, seen.outputs["obs"].dtype) == ((2, 2, 3), np.uint8)
    np.testing.assert_array_equal(seen.outputs["obs"][0], [[1, 2, 3], [4, 5, 4]])
    np.testing.assert_array_equal(seen.outputs["reward"], [0.5, -1.0])
    np.testing.assert_array_equal(seen.state["small"], np.array([0.75, 0.0], np.float32))
    np.testing.assert_array_equal(seen.state["type"], [False, False])
    np.testing.assert_array_equal(seen.state["count"], np.array([1, 1], np.uint64))
    assert not seen.outputs["truncated"].any()
    again = RustSubject(2, str(folder), str(contract), str(toolchain))
    again.set_state(seen.state)
    assert all(np.array_equal(again.get_state()[name], values) for name, values in seen.state.items())


def test_types_that_do_not_fit_are_refused(honest, contract, toolchain):
    library = library_of(honest, contract, toolchain)
    with pytest.raises(ValueError, match=r"has the shape \(1, 3\), the contract says \(1, 4\)"):
        rows({"state": np.zeros((1, 3))}, library.state_dtype, 1, "the state field")
    with pytest.raises(ValueError, match="complex128"):
        rows({"state": np.zeros((1, 4), complex)}, library.state_dtype, 1, "the state field")
    for name, dtype, said in (("self", "float64", "rename it"), ("a.b", "float64", "rename it"), ("x", "U3", "Rust")):
        with pytest.raises(UsageError, match=said):
            declarations(ContractFile((StateField(name, name, dtype),)))
    assert "pub state: [f64; 4], // the reference's `state`" in contract_source(load_contract(contract))


def test_a_panic_ends_the_call_and_not_the_process(candidate, contract, toolchain):
    library = library_of(candidate(physics=crates.panicking()), contract, toolchain)
    states = np.zeros(8, library.state_dtype)
    draws, actions = np.zeros(8, library.step_dtype), np.zeros(8, np.int64)
    for threads in (1, 3):
        states["state"][5, 2] = 0.2
        with pytest.raises(RulesError, match=r"the pole is at 0\.2"):
            library.transition(states, actions, draws, threads)
        states["state"][5, 2] = 0.0
        assert not library.transition(states, actions, draws, threads)[2].any()


def test_masks_say_which_actions_are_legal(candidate, contract, toolchain):
    masked = crates.changed(
        crates.HONEST,
        "    fn init(",
        "    const MASKED: bool = true;\n"
        "    fn action_mask(&self, state: &State, into: &mut [bool]) {\n"
        "        into[usize::from(state.state[0] > 0.0)] = true;\n    }\n"
        "    fn init(",
    )
    subject = RustSubject(2, str(candidate(lib=masked)), str(contract), str(toolchain))
    seen = subject.reset(np.ones(2, np.bool_), np.arange(2), {"uniform_0": np.array([[0.01] * 4, [-0.01] * 4])})
    np.testing.assert_array_equal(seen.outputs["action_mask"], [[False, True], [True, False]])
