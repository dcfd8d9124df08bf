"""Mutants of rules that an environment shares with others: which modules, and which of their lines."""

import dataclasses

import pytest

pytest.importorskip("coverage", reason="level 1 measures code coverage")

from verify.borrowing import world
from verify.borrowing.rules import Heap
from verify.mutable.rules import Pile
from verify.mutable.world import twin as pile_twin

from overclock.env import registry
from overclock.verify.mutation import levels
from overclock.verify.mutation.levels import Examiner
from overclock.verify.mutation.mutants import Mutant
from overclock.verify.mutation.mutate import mutants_for, sources_of
from overclock.verify.mutation.report import report
from overclock.verify.mutation.result import Outcome
from overclock.verify.mutation.shared import shared_modules
from overclock.verify.sides.patched import source_of

RULES = "verify.mutable.rules"
SECONDS = 120.0


def test_rules_of_base_classes_in_other_packages_are_shared_and_the_contract_is_not():
    assert shared_modules(Heap) == ["verify.mutable.limits", RULES]
    assert shared_modules(Pile) == []


@pytest.mark.parametrize("robot", ["halfcheetah", "hopper", "walker2d"])
def test_a_robot_shares_the_physics_engine(robot):
    pytest.importorskip("jax")
    sources = sources_of(registry.spec(robot))
    parts = ("contacts", "factor", "inertia", "integrate", "kinematics", "solver")
    engine = {f"overclock.planar.engine.{part}" for part in parts}
    assert engine | {"overclock.planar.environment", f"overclock.envs.{robot}.env"} <= set(sources)
    assert not any(source.startswith("overclock.env.") for source in sources)


def test_of_shared_rules_only_what_the_environment_runs_is_mutated():
    sources = sources_of(world.SPEC)
    mutants, not_run = mutants_for(world.SPEC, world.twin(), sources, SECONDS)
    functions = {mutant.function for mutant in mutants if mutant.module == RULES}
    assert {"Pile.transition", "Pile.draw_step", "Pile.init"} <= functions
    assert "Pile.observe" not in functions, "the environment has its own"
    assert {mutant.function for mutant in mutants if mutant.module == "verify.borrowing.rules"} == {"Heap.observe"}
    assert not_run > 0
    # Of `verify.mutable.limits` no function runs: it has none.
    assert {mutant.module for mutant in mutants} == {RULES, "verify.borrowing.rules"}


def test_a_mutant_that_was_found_is_not_shown_to_the_next_level_where_that_is_asked_for(monkeypatch):
    asked = []

    def found_by(level):
        def check(self, mutant):
            asked.append(level)
            yield from ["somewhere"] if level == 2 else []

        return check

    for level, name in enumerate(("_properties", "_interactions", "_rollouts"), start=1):
        monkeypatch.setattr(Examiner, name, found_by(level))
    monkeypatch.setattr(Examiner, "levels", [1, 2, 3])
    monkeypatch.setattr(levels, "worker_spec", None)
    examiner = Examiner(pile_twin(), None, None, [RULES], SECONDS)
    mutant = Mutant("one", "constant", RULES, 1, "", "a", "b", source_of(RULES)[0])
    found = examiner.examine(mutant, until_found=True)
    assert asked == [1, 2]
    assert {level: outcome.killed for level, outcome in found.items()} == {1: False, 2: True}
    examiner.examine(mutant)
    assert asked == [1, 2, 1, 2, 3]


def test_a_report_says_how_many_mutants_a_level_was_shown():
    mutants = [Mutant(name, "constant", RULES, 1, "", "a", "b", "") for name in ("first", "second")]
    killed, survived = Outcome(True, "difference", "somewhere"), Outcome(False)
    outcomes = {"first": {1: killed}, "second": {1: survived, 2: killed, 3: survived}}
    settings = {"episodes": 1, "seed": 0, "sample": None, "timeout": 1.0, "command": "", "until_found": True}
    made = report("heap-v0", {}, {}, mutants, outcomes, {}, settings, 1.0)
    assert made.score == 1.0
    assert [(row.killed, row.shown) for row in made.per_level.values()] == [(1, None), (1, 1), (0, 1)]
    assert [row.only for row in made.per_level.values()] == [None, None, None]
    assert dataclasses.replace(made, until_found=None).until_found is None
