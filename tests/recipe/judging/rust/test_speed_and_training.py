"""A Rust candidate at work: stepped as fast as it goes, and trained on through the host loop."""

import numpy as np
import pytest
from recipe.rust import crates

from overclock.env import Rng, Section
from overclock.recipe.judging.rust.library import load_library
from overclock.recipe.judging.rust.subject import TRAINER, rust_spec
from overclock.recipe.judging.speed import CHUNK, FEWEST, measure
from overclock.recipe.sandbox import sandboxed
from overclock.verify.sides.process import ProcessSubject

BATCHES = (32, 128)
LANES = 130  # more than two blocks of the runner
CONFIG = {"total_steps": 256, "num_envs": 4, "num_steps": 16, "hidden": (8,)}


def test_speed_is_steps_by_our_own_clock(honest, contract, toolchain, monkeypatch):
    asked, clock = [], iter(range(10**6))
    original = ProcessSubject.ask

    def ask(self, call, **arguments):
        asked.append((arguments["batch"], arguments["steps"]))
        return original(self, call, **arguments)

    monkeypatch.setattr(ProcessSubject, "ask", ask)
    monkeypatch.setattr("overclock.recipe.judging.speed.time.perf_counter", lambda: float(next(clock)))
    with ProcessSubject(sandboxed(rust_spec(honest, contract), honest), 1, "the candidate") as worker:
        found = measure(worker, batches=BATCHES)
    assert found == {str(batch): float(batch * CHUNK) for batch in BATCHES}  # every call took one second
    assert [batch for batch, _ in asked] == [32] * (FEWEST + 2) + [128] * (FEWEST + 2)  # two before it counts


def test_a_run_steps_every_lane_whatever_the_threads(honest, contract, toolchain):
    library = load_library(str(honest), str(contract), str(toolchain))
    totals = [library.run(library.runner(LANES, seed=0, threads=threads), 30) for threads in (1, 2, 8)]
    assert totals[0] == totals[1] == totals[2]
    assert abs(totals[0] - LANES * 30) < 100  # a reward of 1 per step, and observations close to zero
    runner = library.runner(LANES, seed=0, threads=2)
    assert [library.run(runner, 10) for _ in range(3)][-1] == totals[0]
    assert library.run(library.runner(LANES, seed=1, threads=1), 30) != totals[0]


def test_a_run_takes_the_steps_that_the_rules_take(candidate, contract, toolchain):
    """The same lanes by single calls: actions, draws, resets and counts of the runner are those of everybody else."""
    short = {name: text.replace("Some(500)", "Some(15)") for name, text in crates.FILES.items()}
    library = load_library(str(candidate(short)), str(contract), str(toolchain))
    assert library.max_steps == 15
    lanes, steps = 3, 120
    rng = Rng.of(0).lanes(lanes)
    states = library.init(library.draw_reset(keys_of(rng)))
    total, ends, counts = 0.0, [0, 0], np.zeros(lanes, int)
    for _ in range(steps):
        rng = rng.advance()
        draws = library.draw_step(keys_of(rng), states)
        actions = np.asarray(rng.of_section(Section.ACTION).integers(0, 2))
        states, rewards, terminated = library.transition(states, actions, draws)
        truncated = counts + 1 >= library.max_steps
        states = np.where(terminated | truncated, library.init(library.draw_reset(keys_of(rng))), states)
        counts = np.where(terminated | truncated, 0, counts + 1)
        total, ends = total + rewards.sum(), [ends[0] + terminated.sum(), ends[1] + truncated.sum()]
    assert min(ends) > lanes  # both by falling and by the limit
    expected = total + library.observe(states).astype(np.float64).sum()
    assert library.run(library.runner(lanes, seed=0, threads=2), steps) == pytest.approx(expected, rel=1e-12)


def test_what_was_seen_before_is_no_memory_of_a_candidate(honest, candidate, contract, toolchain):
    """One that writes its observation only where nothing was written shows the same as one that always does."""
    shy = {name: text.replace("*seen = value as f32;", "*seen += value as f32;") for name, text in crates.FILES.items()}
    assert shy != crates.FILES
    totals = []
    for folder in (honest, candidate(shy)):
        library = load_library(str(folder), str(contract), str(toolchain))
        totals.append(library.run(library.runner(LANES, seed=0, threads=1), 30))
    assert totals[0] == totals[1]


def keys_of(rng):
    return np.stack([np.asarray(rng.k0), np.asarray(rng.k1), np.asarray(rng.counter)], axis=1)


@pytest.mark.long
def test_training_learns_on_a_candidates_lanes_in_its_sandbox(honest, contract, toolchain):
    pytest.importorskip("flax", reason="training needs the extra 'train'")
    spec = rust_spec(honest, contract)
    spec = spec.wrapped_by(TRAINER, config=CONFIG)
    spec = sandboxed(spec.with_environment(JAX_PLATFORMS="cpu"), honest, hidden_packages=("gymnasium",))
    with ProcessSubject(spec, 1, "the performance side") as trainer:
        assert trainer.description["action_space"]["n"] == 2
        trainer.ask("begin", seeds=np.array([0, 1]))
        before = trainer.ask("weights")
        curve = trainer.ask("advance", updates=2)
        after = trainer.ask("weights")
    assert curve["episodes"].shape == (2, 2)
    assert curve["episodes"].sum() > 0
    assert before.keys() == after.keys()
    assert any(not np.array_equal(before[name], after[name]) for name in before)
