"""The report of a run: computed from the journal alone, the same wherever the journal is replayed."""

import json
import re

import pytest
from recipe.written_journal import COUNTER, RIGHT, SIGN, JournalWriter, failure, finished_run, write_until_sign_error

from overclock.recipe.runs.curve import curve_picture
from overclock.recipe.runs.report import final_candidate, run_report
from overclock.recipe.runs.run import Run
from overclock.results import encode


@pytest.fixture
def finished(tmp_path):
    """The report of the whole story, and its candidates."""
    candidates = finished_run(tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        return encode(run_report(run)), candidates


def test_what_the_run_was(finished):
    report, _ = finished
    assert report["schema"] == "overclock.run/1"
    assert (report["project"], report["agent"], report["outcome"]) == ("cartpole", "scripted", "done")
    assert report["sandbox"] == {"candidate": "bubblewrap", "agent": "landlock", "warning": None}
    assert report["volatile"]["project"] == "houses/cartpole"
    assert [(p["phase"], p["name"], p["tasks"], p["verdict"]) for p in report["phases"]] == [
        (1, "modules", 2, "pass"), (2, "integration", 1, "pass"), (3, "rollout", 0, "pass"), (4, "transfer", 0, "pass"),
    ]  # fmt: skip


def test_a_row_per_task_with_verdict_cost_and_diff(finished):
    report, candidates = finished
    rows = report["iterations"]
    assert [row["task"] for row in rows] == ["t1", "t2", "t3"]
    assert [row["candidate"] for row in rows] == list(candidates)
    assert [(row["level_judged"], row["verdict"]) for row in rows] == [(1, "fail"), (2, "fail"), ("held-out", "pass")]
    assert [(row["tests_passed"], row["tests_total"]) for row in rows] == [(3, 5), (6, 7), (19, 19)]
    assert rows[0]["failure"]["sentence"].startswith("physics.step returns -1")
    assert [row["cost"]["tokens"] for row in rows] == [1000, 1000, 1000]
    assert "-    return x - 1\n+    return x + 1\n" in rows[1]["diff"]
    assert rows[0]["diff"].startswith("--- /dev/null")


def test_which_level_caught_what_and_who_repaired_it(finished):
    report, (_, second, third) = finished
    sign, counter = report["caught"]
    assert (sign["level"], sign["module"], sign["field"], sign["task"]) == (1, "physics", "x", "t1")
    assert sign["repaired_by"] == {"task": "t2", "candidate": second}
    assert (counter["level"], counter["step"], counter["sentence"]) == (2, 1, "The step counter survives a reset.")
    assert counter["repaired_by"] == {"task": "t3", "candidate": third}
    assert report["caught_by_level"] == {"1": 1, "2": 1}


def test_a_module_that_is_right_again_was_repaired_though_another_is_wrong(tmp_path):
    wrong = {"field": "x", "step": None, "level": 1}
    with Run.create(tmp_path / "run", {}) as run:
        story = JournalWriter(run)
        story.start()
        for task, failure in (
            ("t1", {**wrong, "module": "reset", "sentence": "reset is off.", "modules": ["reset", "observe"]}),
            ("t2", {**wrong, "module": "observe", "sentence": "observe is off.", "modules": ["observe"]}),
            ("t3", None),
        ):
            story.task(task, 1)
            candidate = story.freeze(task, env=task.encode())
            story.judge(candidate, 1, "fail" if failure else "pass", failure=failure)
        caught = encode(run_report(run))["caught"]
    assert [(one["module"], one["repaired_by"]["task"]) for one in caught] == [("reset", "t2"), ("observe", "t3")]


def test_the_curve_counts_each_levels_newest_tests_against_tokens(finished):
    report, _ = finished
    points = [(point["tokens"], point["passed"], point["total"]) for point in report["curve"]]
    assert points[:4] == [(1000, 3, 5), (2000, 5, 5), (2000, 6, 7), (3000, 7, 8)]
    assert points[4:] == [(3000, 8, 8), (3000, 18, 18), (3000, 19, 19)]
    assert report["curve"][2]["levels"] == {"1": 5, "2": 1}


def test_the_final_candidate_with_its_verification(finished):
    report, (_, _, third) = finished
    assert report["final"]["candidate"] == third
    assert [entry["level"] for entry in report["final"]["levels"]] == [1, 2, 3, 4, "held-out"]
    (rollout,) = [entry for entry in report["volatile"]["verification"] if entry["level"] == 3]
    assert rollout["report"]["date"] == "today"
    assert report["seeds"] == [{"candidate": third, "purpose": "level 3", "seed": 1234}]
    assert [test["name"] for test in report["tests_added"]] == ["test_counter"]
    assert report["volatile"]["throughput"][0]["sps"] == {"32": 1e6, "8192": 1e7}


def test_replaying_gives_the_same_report_but_for_its_volatile_part(tmp_path):
    finished_run(tmp_path / "here" / "first")
    finished_run(tmp_path / "there" / "second", date="tomorrow", seconds=99.0, sps=7.0)
    texts = []
    for folder in (tmp_path / "here" / "first", tmp_path / "there" / "second"):
        with Run.open(folder) as run:
            report = encode(run_report(run))
            assert report == encode(run_report(run))
        volatile = json.dumps(report.pop("volatile"))
        assert folder.name in volatile
        texts.append(json.dumps(report))
    assert texts[0] == texts[1]
    assert not re.search(r"\d{4}-\d\d-\d\dT", texts[0])
    assert "second" not in texts[0].replace("seconds", "")


@pytest.mark.parametrize("named", ["none", "UNSANDBOXED"])
@pytest.mark.parametrize(
    ("who", "other", "said"), [("candidate", "agent", "the candidates ran"), ("agent", "candidate", "the agent ran")]
)
def test_a_run_without_a_sandbox_says_who_had_none(tmp_path, named, who, other, said):
    with Run.create(tmp_path / "run", {}) as run:
        story = JournalWriter(run)
        story.start(**{f"{who}_sandbox": named, f"{other}_sandbox": "landlock"})
        story.start(candidate_sandbox="bubblewrap", agent_sandbox="bubblewrap")  # resumed elsewhere: the warning stays
        found = encode(run_report(run))["sandbox"]
    assert (found[who], found[other]) == (f"{named}, bubblewrap", "landlock, bubblewrap")
    assert found["warning"].startswith(f"UNSANDBOXED: {said} with nothing")


def test_an_unfinished_run_has_a_report(tmp_path):
    with Run.create(tmp_path / "run", {}) as run:
        assert run_report(run).iterations == []
        first = write_until_sign_error(JournalWriter(run, meter=None))
        report = encode(run_report(run))
    assert report["outcome"] is None
    assert report["caught"][0]["repaired_by"] is None
    assert report["cost"]["tokens"] is report["cost"]["dollars"] is None
    assert report["final"]["candidate"] == first
    assert [point["tokens"] for point in report["curve"]] == [None]


def test_work_by_hand_and_tasks_sent_twice_have_their_rows(tmp_path):
    with Run.create(tmp_path / "run", {}) as run:
        story = JournalWriter(run)
        story.start()
        story.task("t1", 1)
        story.start()
        story.task("t1", 1)  # a kill came before the candidate was frozen
        story.freeze("t1", env=SIGN)
        by_hand = story.freeze(None, env=COUNTER)
        story.judge(by_hand, 1)
        rows = encode(run_report(run))["iterations"]
    assert [(row["task"], row["purpose"], row["verdict"]) for row in rows] == [
        ("t1", "repair", None), (None, "submitted", "pass"),
    ]  # fmt: skip
    assert [row["cost"] and row["cost"]["tokens"] for row in rows] == [2000, None]


def test_a_row_has_the_first_levels_verdict_that_is_not_a_pass(tmp_path):
    with Run.create(tmp_path / "run", {}) as run:
        story = JournalWriter(run)
        candidate = story.freeze(None, env=SIGN)
        story.judge(candidate, 4, "inconclusive")
        story.judge(candidate, 1, "fail", 4, 5, failure(1, "wrong"))
        story.judge(candidate, 2)
        story.judge(candidate, 4)  # asked again, with more episodes
        report = encode(run_report(run))
    (row,) = report["iterations"]
    assert (row["level_judged"], row["verdict"], row["tests_passed"]) == (1, "fail", 14)
    assert [(entry["level"], entry["repaired_by"]) for entry in report["caught"]] == [(1, None)]
    assert len(row["judged"]) == 4


def test_a_candidate_that_hangs_was_caught(tmp_path):
    with Run.create(tmp_path / "run", {}) as run:
        story = JournalWriter(run)
        candidate = story.freeze(None, env=SIGN)
        story.judge(candidate, 1, "could not verify", None, None, failure(1, "It did not answer."))
        story.judge(candidate, 2, "inconclusive", None, None)
        report = encode(run_report(run))
    assert [(entry["level"], entry["sentence"]) for entry in report["caught"]] == [(1, "It did not answer.")]


@pytest.fixture
def verified(tmp_path):
    """Candidates by number, each judged at some levels."""
    with Run.create(tmp_path / "run", {}) as run:
        story = JournalWriter(run)

        def verify(number, *levels):
            candidate = story.freeze(None, env=RIGHT + b"#" * number)
            for level in levels:
                story.judge(candidate, level)
            return candidate

        def decide(candidate, kept):
            run.journal.append("optimisation", candidate=candidate, kept=kept, before=1, after=2, why="measured")

        yield verify, decide, lambda: final_candidate(run.journal.events())


def test_the_final_candidate_passed_most_levels_and_is_the_newest_of_equals(verified):
    verify, _, final = verified
    assert final() is None
    first = verify(1)
    assert final() == first
    verify(2, 1, 2, 3)
    best = verify(3, 1, 2, 3)
    verify(4, 1)
    assert final() == best


def test_an_optimisation_counts_once_it_is_kept(verified):
    verify, decide, final = verified
    base = verify(1, 1, 2, 3)
    slower = verify(2, 1, 2, 3, 4)
    decide(slower, False)
    assert final() == base
    for number in (3, 4):
        faster = verify(number, 1)
        decide(faster, True)
        assert final() == faster


def test_without_tokens_the_curve_runs_along_the_verdicts(tmp_path):
    finished_run(tmp_path / "run", meter=None)
    with Run.open(tmp_path / "run") as run:
        picture = curve_picture(run_report(run).curve)
    assert picture["label"] == "verdicts (tokens were not reported)"
    assert len(picture["points"]) == 7
    assert curve_picture([]) is None
