"""Random programs are right or refused: never silently different, never a crash. A failure shows the smallest one."""

import collections

import jax
import pytest

pytest.importorskip("gymnasium", reason="the programs are Gymnasium environments")

from translate import fuzz

from overclock.translate.jax import expressions as jax_expressions

QUICK = range(24)
LONG = range(1000, 1400)
LEAST_RIGHT = 0.6  # of all programs; when most are refused or raise by themselves, nothing is tested
EVERY = 100  # compiled programs are forgotten after so many


def test_random_programs_are_right_or_refused(tmp_path):
    play(QUICK, tmp_path)


@pytest.mark.long
def test_many_random_programs_are_right_or_refused(tmp_path):
    play(LONG, tmp_path)


def play(seeds, folder):
    found = collections.Counter()
    for at, seed in enumerate(seeds):
        program = fuzz.generate(seed)
        try:
            found[fuzz.outcome(program, folder)] += 1
        except Exception as error:
            small = fuzz.smallest(program, folder).source()
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}\n\n{small}", pytrace=False)
        if at % EVERY == EVERY - 1:
            jax.clear_caches()
    assert found["right"] >= LEAST_RIGHT * len(seeds), dict(found)


def test_a_seed_always_gives_the_same_program():
    assert fuzz.generate(7).source() == fuzz.generate(7).source()
    assert fuzz.generate(7).source() != fuzz.generate(8).source()


def test_a_planted_mistake_is_found_and_made_small(tmp_path, monkeypatch):
    program = fuzz.Program(
        begin=[fuzz.Node("self.a = 3"), fuzz.Node("self.b = [1, 2]")],
        helpers=[],
        play=[
            fuzz.Node("self.a = (self.a + action) % 5"),
            fuzz.Node(arms=[("if self.a > 2:", [fuzz.Node("self.b[0] = self.t - 7")])]),
            fuzz.Node("return self.a + self.b[0]"),
        ],
    )
    assert fuzz.outcome(program, tmp_path) == "right"
    monkeypatch.setitem(jax_expressions.SYMBOLS, "sub", "+")
    small = fuzz.smallest(program, tmp_path).source()
    assert "self.b[0] = self.t - 7" in small
    assert "if self.a > 2" not in small
    assert "% 5" not in small


def test_a_program_that_python_does_not_get_through_is_thrown_away(tmp_path):
    program = fuzz.Program(begin=[], helpers=[], play=[fuzz.Node("return 1 // (action - action)")])
    assert fuzz.outcome(program, tmp_path) == "raised"


def test_a_refusal_counts_as_one(tmp_path):
    program = fuzz.Program(begin=[], helpers=[], play=[fuzz.Node("return len(str(action))")])
    assert fuzz.outcome(program, tmp_path) == "refused"
