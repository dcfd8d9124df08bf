"""`mutate`: what each level kills, mutants that misbehave, equivalent ones, interruption and what is kept."""

import dataclasses
import functools
import json
import threading

import numpy as np
import pytest

pytest.importorskip("coverage", reason="level 1 measures code coverage")

from verify.documented import undocumented
from verify.mutable.world import SPEC, twin

from overclock.env import registry
from overclock.errors import UsageError
from overclock.results import encode
from overclock.verify.mutation import equivalent_mutants
from overclock.verify.mutation import levels as mutation_levels
from overclock.verify.mutation import state as mutation_state
from overclock.verify.mutation.journal import Journal
from overclock.verify.mutation.levels import Examiner, Outcome, examining
from overclock.verify.mutation.mutants import Mutant, mutants_of, mutate_source
from overclock.verify.mutation.mutate import TimeIsUpError, examine_all, mutate, side_by_side, sources_of
from overclock.verify.mutation.recording import LONGEST, _episodes, longest, record
from overclock.verify.mutation.report import last_result, report
from overclock.verify.mutation.result import KilledShare
from overclock.verify.mutation.state import changed as changed_names
from overclock.verify.mutation.state import fingerprint, state_of
from overclock.verify.rollout.actions import uniform
from overclock.verify.sides.patched import source_of
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import Observed

RULES = "verify.mutable.rules"
LIMITS = "verify.mutable.limits"
SOURCES = [LIMITS, RULES]
SOURCE = source_of(RULES)[0]
SECONDS = 120.0


def changed(name, old, new):
    """A mutant made by hand."""
    assert SOURCE.count(old) == 1
    return Mutant(name, "constant", RULES, 1, "", old, new, SOURCE.replace(old, new))


UNCHANGED = Mutant("as-it-is", "none", RULES, 1, "", "", "", SOURCE)


@pytest.fixture(scope="module")
def recording():
    return record(twin(), episodes=20, seed=0, progress=lambda *_: None, timeout=SECONDS)


@pytest.fixture(scope="module")
def examiner(recording):
    with examining(twin(), recording, SOURCES, SECONDS, 1) as (one,):
        yield one


# ---- one mutant ----


@pytest.mark.long
def test_the_unchanged_rules_survive_every_level(examiner):
    assert examiner.levels == [1, 2, 3]
    assert examiner.examine(UNCHANGED) == dict.fromkeys([1, 2, 3], Outcome(False))


def test_each_level_judges_on_its_own_and_says_what_it_saw_first(examiner):
    found = examiner.examine(changed("high", "height >= limits.HIGH", "height > limits.HIGH"))
    assert {level: (o.killed, o.how) for level, o in found.items()} == dict.fromkeys([1, 2, 3], (True, "difference"))
    assert found[1].where == "grow.ended, float32"
    assert found[2].where == "always-the-die, step 4, terminated, float32, free_running"
    assert found[3].where == "terminated, uniform actions, float32, free_running"


def test_a_mistake_outside_the_modules_is_left_to_the_other_levels(examiner):
    found = examiner.examine(changed("late", "max_steps: int | None = 5", "max_steps: int | None = 6"))
    assert [outcome.killed for outcome in found.values()] == [False, True, True]


def test_rules_in_several_modules_are_exchanged_as_a_whole(examiner):
    higher = Mutant("higher", "constant", LIMITS, 1, "", "HIGH = 6", "HIGH = 7", "HIGH = 7")
    assert all(outcome.killed for outcome in examiner.examine(higher, levels=(1, 3)).values())
    again = dataclasses.replace(UNCHANGED, id="after-higher")
    assert not any(outcome.killed for outcome in examiner.examine(again, levels=(1, 3)).values())


def test_a_mutant_that_cannot_start_is_killed_by_every_level_at_once(examiner, monkeypatch):
    calls, ask = [], ProcessSubject.ask
    monkeypatch.setattr(
        ProcessSubject, "ask", lambda self, call, **given: calls.append(call) or ask(self, call, **given)
    )
    found = examiner.examine(changed("stillborn", "class PileParams(Params):", "class PileParams(Nothing):"))
    assert found == dict.fromkeys([1, 2, 3], Outcome(True, "crash", "NameError: name 'Nothing' is not defined"))
    assert calls == ["load"]


@pytest.fixture(scope="module")
def only_rollouts(recording):
    """Just the episodes: quicker, where it does not matter which level finds something."""
    return dataclasses.replace(recording, cases={}, scenarios=[])


@pytest.fixture(scope="module")
def quick(only_rollouts):
    with examining(twin(), only_rollouts, SOURCES, SECONDS, 1) as (one,):
        yield one


def before(statement):
    """A mutant that does something else first, in every step."""
    return changed(statement, "        shown =", f"        {statement}\n        shown =")


@pytest.mark.parametrize(
    ("mutant", "seen"),
    [
        (before("raise ArithmeticError('lost')"), "ArithmeticError: lost"),
        (before("import os; os._exit(3)"), "process ended"),
    ],
)
def test_a_crash_is_reported_as_one(quick, mutant, seen):
    (outcome,) = quick.examine(mutant).values()
    assert (outcome.killed, outcome.how) == (True, "crash")
    assert seen in outcome.where


@pytest.mark.long
def test_a_loop_without_end_is_stopped_from_outside(only_rollouts):
    with examining(twin(), only_rollouts, SOURCES, 5.0, 1) as (impatient,):
        found = impatient.examine(before("while True: pass"))
    assert found == {3: Outcome(True, "timeout", "no answer within 5 s")}


def test_the_next_mutant_gets_a_process_as_good_as_new(quick):
    assert quick.examine(before("import os; os._exit(3)"))[3].killed
    assert quick.examine(before("import time; state = state.replace(height=state.height + 1)"))[3].killed
    assert not quick.examine(UNCHANGED)[3].killed


class Unlucky:
    """A machine on which some processes do not come up; those that do survive everything."""

    def __init__(self, monkeypatch, failures):
        self.started, self.failures = 0, failures
        monkeypatch.setattr(mutation_levels, "ProcessSubject", self)

    def __call__(self, *given):
        self.started += 1
        if self.started <= self.failures:
            raise CouldNotVerifyError("could not verify: the worker of mutants: its process ended during `describe`.")
        return self

    def ask(self, call, **given):
        return {"value": None, "raised": "ArithmeticError: lost" if call == "episodes" else None}

    def close(self):
        pass


def test_a_worker_that_does_not_come_up_is_tried_again(only_rollouts, monkeypatch):
    machine = Unlucky(monkeypatch, failures=1)
    with examining(twin(), only_rollouts, SOURCES, SECONDS, 1) as (one,):
        assert one.examine(UNCHANGED) == {3: Outcome(True, "crash", "ArithmeticError: lost")}
    assert machine.started == 2


def test_a_machine_that_cannot_start_workers_kills_no_mutant(only_rollouts, monkeypatch):
    machine = Unlucky(monkeypatch, failures=2)
    with (
        examining(twin(), only_rollouts, SOURCES, SECONDS, 1) as (one,),
        pytest.raises(CouldNotVerifyError, match="its process ended during `describe`"),
    ):
        one.examine(UNCHANGED)
    assert machine.started == 2


class Endless:
    """A reference whose episodes never end."""

    num_envs = 2
    description = {"kind": "discrete", "n": 2}  # noqa: RUF012

    def __init__(self):
        self.steps = np.zeros(2, np.int32)

    def reset(self, mask, seeds, draws=None):
        self.steps = np.where(mask, 0, self.steps)
        return Observed({"obs": self.steps}, {"steps": self.steps}, {})

    def step(self, actions, draws=None):
        self.steps = self.steps + 1
        never = np.zeros(2, np.bool_)
        return Observed({"obs": self.steps, "terminated": never, "truncated": never}, {"steps": self.steps}, {})


def test_episodes_without_an_end_are_cut():
    events = _episodes(Endless(), uniform, 3, 0, 7, lambda done: None)
    assert sum(event.reset is None for event in events) == 14
    assert max(int(event.seen.state["steps"].max()) for event in events) == 7
    assert longest(twin()) == LONGEST


# ---- many of them ----


class Scripted:
    """An examiner that knows every answer beforehand."""

    def __init__(self, killed, unchanged=(False, False)):
        self.killed, self.unchanged, self.examined = killed, list(unchanged), []

    def examine(self, mutant, levels=(1, 2, 3), until_found=False):
        self.examined.append(mutant.id)
        killed = self.unchanged.pop(0) if mutant.id == "unchanged" else mutant.id in self.killed
        return {1: Outcome(killed, "difference", "here") if killed else Outcome(False)}


def some(*names):
    return [changed(name, "height >= limits.HIGH", f"height >= {7 + place}") for place, name in enumerate(names)]


def test_the_unchanged_environment_is_examined_first_and_must_pass():
    examiner = Scripted(killed={"a"}, unchanged=[True])
    with pytest.raises(CouldNotVerifyError, match="the unchanged environment does not pass level 1, so nothing"):
        examine_all([examiner], [RULES], some("a"), Journal(None, ""))
    assert examiner.examined == ["unchanged"]


def test_a_process_damaged_by_a_mutant_is_noticed():
    with pytest.raises(CouldNotVerifyError, match="no longer passes level 1 after its mutants ran"):
        examine_all([Scripted({"a"}, unchanged=[False, True])], [RULES], some("a"), Journal(None, ""))


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    path, heard = tmp_path / "runs" / "journal.jsonl", []

    def interrupt(what, done, total):
        heard.append((what, done, total))
        if (what, done) == ("examining mutants", 2):
            raise KeyboardInterrupt

    mutants = some("a", "b", "c")
    with pytest.raises(KeyboardInterrupt):
        examine_all([Scripted({"a"})], [RULES], mutants, Journal(path, "now"), interrupt)
    assert heard[-1] == ("examining mutants", 2, 3)
    with path.open("a") as file:
        file.write('{"id": "c", "lev')  # as if it had been writing
    again = Scripted({"a"})
    found = examine_all([again], [RULES], mutants, Journal(path, "now"))
    assert again.examined == ["unchanged", "c", "unchanged"]
    assert {name: outcome[1].killed for name, outcome in found.items()} == {"a": True, "b": False, "c": False}
    assert Journal(path, "another state").known == {}


def test_no_mutant_begins_after_the_deadline_and_the_next_run_goes_on(tmp_path):
    path = tmp_path / "journal.jsonl"
    late = Scripted({"a"})
    assert examine_all([late], [RULES], some("a", "b"), Journal(path, "now"), deadline=0.0) == {}
    assert late.examined == ["unchanged", "unchanged"]
    assert len(examine_all([Scripted({"a"})], [RULES], some("a", "b"), Journal(path, "now"))) == 2


@pytest.mark.long
def test_a_sample_is_resumed_and_leaves_nothing_behind(pile, tmp_path, monkeypatch):
    monkeypatch.setattr(equivalent_mutants, "file_of", lambda spec: None)
    run = functools.partial(mutate, SPEC.id, episodes=20, jobs=1, timeout=SECONDS, folder=tmp_path, sample_size=2)
    with pytest.raises(TimeIsUpError, match="0 of 2 mutants"):
        run(minutes=1e-9)
    assert [path.name for path in tmp_path.iterdir()] == ["mutate-pile-v0-sample-2-seed-0.journal.jsonl"]
    assert run().planted == 2
    assert list(tmp_path.iterdir()) == []


# ---- what a result depends on ----


@pytest.fixture
def depended(tmp_path, monkeypatch):
    """Stand-ins for the twin's folder, our packages and the versions; `write(name)` changes a file."""

    def write(name, content="something"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    for name in ("pile/twin.py", "pile/rules.py", "pile/scenarios/falls.json", "pile/equivalent_mutants.toml"):
        write(name)
    for name in mutation_state.PACKAGES:
        write(f"{name}/deep/inside.py")
    monkeypatch.setattr(equivalent_mutants, "twin_folder", lambda spec: tmp_path / "pile")
    monkeypatch.setattr(mutation_state, "_home", lambda package: tmp_path / package)
    monkeypatch.setattr(mutation_state, "source_of", lambda module: ("", str(tmp_path / "pile" / "rules.py")))
    return write


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("pile/twin.py", "pile/twin.py"),
        ("pile/scenarios/falls.json", "pile/scenarios/falls.json"),
        ("pile/scenarios/new.json", "pile/scenarios/new.json"),
        ("pile/equivalent_mutants.toml", "pile/equivalent_mutants.toml"),
        ("overclock.verify/deep/inside.py", "overclock.verify"),
        ("overclock.env/other.py", "overclock.env"),
        ("overclock.vector/deep/inside.py", "overclock.vector"),
    ],
)
def test_whatever_a_result_depends_on_is_named_when_it_changes(depended, name, called):
    before = state_of(SPEC, [RULES])
    assert changed_names(before, state_of(SPEC, [RULES])) == []
    depended(name, "something else")
    now = state_of(SPEC, [RULES])
    assert changed_names(before, now) == [called]
    # Equivalent mutants are examined like the others: their list decides no outcome, so a journal outlives it.
    same = fingerprint(before, {}, {}) == fingerprint(now, {}, {})
    assert same == (called == "pile/equivalent_mutants.toml")


def test_versions_and_settings_count_too(depended, monkeypatch):
    before = state_of(SPEC, [RULES])
    assert "pile/rules.py" not in before  # what is mutated is known by its module's name
    monkeypatch.setattr(mutation_state, "versions", lambda: {"jax": "0.0.1"})
    now = state_of(SPEC, [RULES])
    assert changed_names(before, now) == ["versions"]
    marks = {
        fingerprint(state, {RULES: digest}, {"seed": seed})
        for state in (before, now) for digest in "ab" for seed in (0, 1)
    }  # fmt: skip
    assert len(marks) == 8


def test_side_by_side_uses_every_worker_and_ends_at_the_first_error():
    meeting = threading.Barrier(2, timeout=60)  # passes only if two workers run at once

    def meet(item):
        meeting.wait()
        return item * 2

    assert dict(side_by_side([meet, meet], [1, 2])) == {1: 2, 2: 4}
    with pytest.raises(ZeroDivisionError):
        dict(side_by_side([lambda item: 1 // item], [0, 1]))


def test_side_by_side_begins_nothing_after_it_was_told_to_stop():
    answers = iter([True, False])
    assert dict(side_by_side([lambda item: item], [1, 2, 3], lambda: next(answers))) == {1: 1}


SETTINGS = {"episodes": 20, "seed": 0, "sample": None, "timeout": 60.0, "command": "overclock mutate pile-v0"}


def test_a_level_is_credited_for_what_it_kills_alone_first_and_only():
    no, yes = Outcome(False), Outcome(True, "difference", "here")
    crash, timeout = Outcome(True, "crash", "boom"), Outcome(True, "timeout", "late")
    mutants = some("a", "b", "c", "d")
    outcomes = {
        "a": {1: yes, 2: no, 3: no},
        "b": {1: no, 2: crash, 3: timeout},
        "c": {1: no, 2: no, 3: yes},
        "d": {1: no, 2: no, 3: no},
    }
    result = report("pile-v0", {RULES: "0"}, {"versions": "0"}, mutants, outcomes, {}, SETTINGS, 1.0)
    keys = ("killed", "share", "first", "only", "crashes", "timeouts")
    assert {level: tuple(getattr(row, key) for key in keys) for level, row in result.per_level.items()} == {
        1: (1, 0.25, 1, 1, 0, 0), 2: (1, 0.25, 1, 0, 1, 0), 3: (2, 0.5, 1, 1, 0, 1),
    }  # fmt: skip
    assert (result.killed, result.score) == (3, 0.75)
    assert undocumented("mutate", encode(result).keys() - {"schema"}) == []


# ---- equivalent mutants ----


def listed(path, **changes):
    entry = {"function": "f", "before": "return x - 1", "after": "return x", "reason": "why not", **changes}
    lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items() if value is not None]
    path.write_text("[[equivalent]]\n" + "\n".join(lines))
    return path


def test_an_entry_names_its_mutants_and_the_reason(tmp_path):
    mutants = mutate_source("m", "def f(x):\n    return x - 1")
    found = equivalent_mutants.reasons(mutants, listed(tmp_path / "list.toml"))
    assert [mutant.after for mutant in mutants if mutant.id in found] == ["return x"]
    assert set(found.values()) == {"why not"}
    assert equivalent_mutants.reasons(mutants, None) == {}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"after": "return x * 9"}, "matches no mutant"),
        ({"reason": ""}, "needs exactly function, before, after, reason"),
        ({"reason": None}, "needs exactly function, before, after, reason"),
        ({"more": "y"}, "needs exactly function, before, after, reason"),
    ],
)
def test_a_list_that_is_wrong_is_refused(tmp_path, changes, sentence):
    mutants = mutate_source("m", "def f(x):\n    return x - 1")
    with pytest.raises(UsageError, match=sentence):
        equivalent_mutants.reasons(mutants, listed(tmp_path / "list.toml", **changes))


# ---- from an id to a result ----

CHOSEN = {
    "height > limits.HIGH": [True, True, True],
    "max_steps: int | None = 6": [False, True, True],
    "integers(0, 4)": [False, False, False],
    "maximum(draw.die, -1)": [False, False, False],
}


@pytest.fixture
def pile(monkeypatch):
    """The little world under an id, with four of its mutants."""
    mutants = mutants_of(SOURCES)
    few = [next(mutant for mutant in mutants if text in mutant.after) for text in CHOSEN]
    monkeypatch.setitem(registry._registry, SPEC.id, SPEC)
    monkeypatch.setattr("overclock.verify.mutation.mutate.mutants_of", lambda sources: few)
    for user in ("mutate", "report"):  # the tree may change while this test runs
        monkeypatch.setattr(
            f"overclock.verify.mutation.{user}.state_of", lambda *_: {"pile/twin.py": "0", "versions": "0"}
        )
    return few


@pytest.mark.long
def test_a_whole_run_counts_explains_and_is_kept(pile, tmp_path, monkeypatch):
    right = equivalent_mutants.file_of(SPEC)
    assert right is not None
    run = functools.partial(mutate, SPEC.id, episodes=20, jobs=1, timeout=SECONDS, folder=tmp_path)
    wrong = listed(tmp_path / "list.toml", **{key: getattr(pile[0], key) for key in ("function", "before", "after")})

    monkeypatch.setattr(equivalent_mutants, "file_of", lambda spec: wrong)
    with pytest.raises(UsageError, match="equivalent, but level 1 kills it"):
        run()
    assert last_result(SPEC.id, tmp_path) is None

    monkeypatch.setattr(equivalent_mutants, "file_of", lambda spec: right)
    monkeypatch.setattr(Examiner, "examine", None)  # everything is in the journal
    result = run()

    assert (result.planted, result.total, result.killed, result.score) == (4, 3, 2, 2 / 3)
    assert result.together == KilledShare(killed=2, share=2 / 3)
    killed = {row.after: [row.levels[level].killed for level in (1, 2, 3)] for row in result.mutants}
    assert list(killed.values()) == list(CHOSEN.values())
    assert {level: (row.killed, row.first, row.only) for level, row in result.per_level.items()} == {
        1: (1, 1, 0), 2: (2, 1, 0), 3: (2, 0, 0),
    }  # fmt: skip
    assert [survivor.id for survivor in result.survivors] == [pile[2].id]
    assert [(row.id, row.reason) for row in result.equivalent] == [(pile[3].id, "a die shows no negative number")]
    assert encode(result.per_operator) == {
        "comparison": {"total": 1, "killed": 1}, "off_by_one": {"total": 2, "killed": 1},
    }  # fmt: skip
    assert result.command == "overclock mutate pile-v0 --episodes 20 --seed 0"

    assert sorted(path.name for path in tmp_path.iterdir()) == ["list.toml", "mutate-pile-v0.json"]
    kept = last_result(SPEC.id, tmp_path)
    assert kept == dataclasses.replace(result, stale=[])
    monkeypatch.setattr("overclock.verify.mutation.report.state_of", lambda *_: {"versions": "1"})
    assert last_result(SPEC.id, tmp_path).stale == ["pile/twin.py", "versions"]
    monkeypatch.setattr("overclock.verify.mutation.report.source_digest", lambda module: "changed")
    assert last_result(SPEC.id, tmp_path).stale == [*SOURCES, "pile/twin.py", "versions"]


@pytest.mark.parametrize("arguments", [{"episodes": 0}, {"sample_size": 0}, {"jobs": 0}, {"minutes": 0}])
def test_numbers_that_make_no_sense_are_refused(arguments):
    with pytest.raises(UsageError, match=r"must be (at least 1|a positive number), got 0"):
        mutate("cartpole", **arguments)


def test_an_environment_without_a_reference_cannot_be_examined(monkeypatch):
    lonely = dataclasses.replace(SPEC, id="lonely-v0", twin=None)
    monkeypatch.setitem(registry._registry, lonely.id, lonely)
    with pytest.raises(UsageError, match="lonely-v0 has no reference"):
        mutate(lonely.id)


def test_sources_are_the_modules_of_the_rules_and_never_rendering():
    assert sources_of(registry.spec("cartpole")) == ["overclock.envs.cartpole.env"]
    assert sources_of(SPEC) == SOURCES
