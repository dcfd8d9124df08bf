"""The closed loop on a judge that knows its verdicts beforehand: which way it takes, when it stops, how it goes on."""

import dataclasses
import shutil

import pytest
from recipe.scripted_run import SECRET, ScriptedRun, env, first_events_of

from overclock.errors import UsageError
from overclock.recipe.gateway.usage import Usage
from overclock.recipe.loop.context import OptionalSteps
from overclock.recipe.loop.loop import IDLE
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import Run
from overclock.results import encode

GOOD = env("speed=100")


def levels(story):
    return story.facts("judged", "level")


def test_a_right_translation_passes_every_phase_in_order(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [GOOD]})
    assert story.go() == "done"
    assert story.facts("phase started", "phase") == [(1,), (2,), (3,), (4,), (5,)]
    assert levels(story) == [(0,), (1,), (2,), (3,), ("held-out",), (4,)]  # nothing is judged twice
    assert story.hands.tasks == ["001-translate-rules", "002-optimise-1"]


def test_a_failure_goes_back_with_its_facts_and_its_repair_is_judged_from_the_bottom(tmp_path):
    script = {"translate": [env("2=fail", "a")], "repair": [env("1=fail", "b"), env("3=fail", "c"), GOOD]}
    story = ScriptedRun(tmp_path, script)
    assert story.go() == "done"
    assert [level for (level,) in levels(story)] == [0, 1, 2, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, "held-out", 4]
    prompt = story.hands.prompts["003-repair-2-level-1"]
    assert "level 1 is off by one" in prompt
    assert "level 2: level 2 is off by one" in prompt  # what was tried before
    assert "def rules()" in prompt


def test_seeds_are_drawn_after_freezing_and_never_twice(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("1=fail")], "repair": [GOOD]})
    story.go()
    order = [event.kind for event in story.events("candidate frozen", "seeds drawn", "judged")]
    assert order[:5] == ["candidate frozen", "seeds drawn", "judged", "seeds drawn", "judged"]
    seeds = [seed for (seed,) in story.facts("seeds drawn", "seed")]
    assert len(set(seeds)) == len(seeds)
    assert seeds == [seed for _, _, seed, _ in story.judge.judged]


def test_a_level_that_never_holds_ends_in_a_request_for_help(tmp_path):
    story = ScriptedRun(tmp_path, lambda task: env("1=fail", task.id), iterations=4)
    assert story.go() == "stuck"
    assert len(story.hands.tasks) == 1 + 4
    ((level, sentence, how),) = story.facts("help asked", "level", "sentence", "how")
    assert (level, "after 4 repairs" in sentence, "overclock resume" in how) == (1, True, True)
    assert "level 1 is off by one" in story.said[-1]


def test_an_agent_that_changes_nothing_is_not_asked_for_ever(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("1=fail")]})  # no repairs in the script: it crashes
    assert story.go() == "stuck"
    assert len(story.hands.tasks) == 1 + IDLE
    assert "changed nothing" in story.said[-1]


def test_a_held_out_failure_tells_nothing_but_that(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("held-out=fail")], "repair": [GOOD]})
    assert story.go() == "done"
    prompt = story.hands.prompts["002-repair-1-level-held-out"]
    assert SECRET in prompt
    assert "state.x" not in prompt
    assert not any(str(seed) in prompt for (seed,) in story.facts("seeds drawn", "seed"))


def test_an_inconclusive_level_4_asks_a_person_and_not_the_agent(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("4=inconclusive")]})
    assert story.go() == "inconclusive"
    assert story.hands.tasks == ["001-translate-rules"]
    assert "judging.seeds" in story.said[-1]


def test_a_reference_that_breaks_stops_the_run_and_blames_nobody(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("2=reference")]})
    assert story.go() == "stopped"
    assert (2,) not in levels(story)
    assert "The reference cannot be used" in story.said[-1]


def test_a_level_that_cannot_decide_is_no_failure_of_the_candidate(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("2=could not verify")]})
    assert story.go() == "stopped"
    assert (2,) not in levels(story)


def test_levels_that_are_switched_off_are_not_judged(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("1=fail", "2=fail", "4=fail")]}, levels=(3,))
    assert story.go() == "done"
    assert levels(story) == [(0,), (3,), ("held-out",)]


def test_without_repair_the_first_failure_ends_the_run(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("2=fail")]}, steps=OptionalSteps(repair=False))
    assert story.go() == "stuck"
    assert story.hands.tasks == ["001-translate-rules"]


def test_a_failure_of_whole_episodes_becomes_a_scenario_and_stays_one(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("3=fail")], "repair": [env("3=fail", "b"), GOOD]})
    assert story.go() == "done"
    assert story.facts("test added", "level", "name") == [(2, "repro-x-1"), (2, "repro-x-2")]
    shutil.rmtree(story.run / "repro")
    for path in (story.run / "scenarios").glob("repro*"):
        path.unlink()
    again = first_events_of(story, tmp_path / "again", len(story.events()) - 1)
    assert again.go() == "done"
    assert sorted(path.name for path in (again.run / "scenarios").iterdir()) == [
        "first.json", "repro-x-1.json", "repro-x-2.json",
    ]  # fmt: skip


def test_without_level_2_a_repro_becomes_no_scenario(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("3=fail")], "repair": [GOOD]}, levels=(1, 3))
    assert story.go() == "done"
    assert story.events("test added") == []


# ---- several modules ----


def test_modules_are_translated_in_order_and_judged_as_far_as_they_are(tmp_path):
    parts = [{"physics.py": "physics.1=fail\n"}, GOOD]
    story = ScriptedRun(
        tmp_path, {"translate": parts, "repair": [{"physics.py": "x=1\n"}]}, modules=("physics", "rules")
    )
    assert story.go() == "done"
    assert story.hands.tasks[:3] == ["001-translate-physics", "002-repair-1-level-1", "003-translate-rules"]
    parts_judged = [(level, module) for _, level, _, module in story.judge.judged]
    assert parts_judged[:6] == [(0, "physics"), (1, "physics"), (0, "physics"), (1, "physics"), (0, None), (1, None)]
    assert "`physics` in `physics.py`" in story.hands.prompts["003-translate-rules"]


# ---- optimisation ----


def test_only_verified_gains_are_kept_and_others_are_taken_back(tmp_path):
    attempts = [env("speed=200"), env("speed=900", "3=fail"), env("speed=201"), env("speed=-1"), env("speed=300")]
    story = ScriptedRun(tmp_path, {"translate": [GOOD], "optimise": attempts}, optimisations=5)
    given = []

    def before(what):
        if "optimise" in what:
            given.append((story.run / "candidate" / "env.py").read_text())

    assert story.go(before=before) == "done"
    assert given == ["speed=100\n", *["speed=200\n"] * 4]  # each attempt starts from the best so far
    assert [kept for (kept,) in story.facts("optimisation", "kept")] == [True, False, False, False, True]
    assert (story.run / "candidate" / "env.py").read_text() == "speed=300\n"
    with Run.open(story.run) as run:
        final = encode(run_report(run))["final"]
    assert {entry["level"] for entry in final["levels"]} == {0, 1, 2, 3, 4, "held-out"}  # level 4 once more
    prompt = story.hands.prompts["006-optimise-5"]
    assert "kept: 2.00 times as fast" in prompt
    assert "taken back: level 3 is off by one" in prompt


def test_a_faster_candidate_that_teaches_something_else_is_taken_back(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [GOOD], "optimise": [env("speed=200"), env("speed=400", "4=fail")]})
    assert story.go() == "done"
    assert (story.run / "candidate" / "env.py").read_text() == "speed=100\n"
    with Run.open(story.run) as run:
        assert encode(run_report(run))["final"]["candidate"] == story.facts("candidate frozen", "candidate")[0][0]


# ---- stopping and going on ----


def test_a_refused_task_ends_the_run_and_is_sent_again_when_it_is_resumed(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": ["refused 402"]}, usage=Usage(dollars=0.25, basis="self-reported"))
    assert story.go() == "out of budget"
    assert "$0.2500 are spent of $10.00" in story.said[-1]
    story.script = {"translate": [GOOD]}
    assert story.go() == "done"
    assert story.hands.tasks[0] == "001-translate-rules"
    assert story.go() == "done"  # and the two ends of one task do not confuse a third reading
    assert story.hands.tasks == []


def test_a_provider_that_fails_is_named_and_the_task_is_sent_again(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": ["crashed 500"]})
    assert story.go() == "stopped"
    assert "The model's provider fails: It crashed" in story.said[-1]
    assert f"`overclock resume {story.run}` asks it again" in story.said[-1]
    assert story.facts("judged", "level") == []  # what the agent could not begin is not judged
    story.script = {"translate": [GOOD]}
    assert story.go() == "done"
    assert story.hands.tasks[0] == "001-translate-rules"


def test_who_is_asked_for_help_is_told_what_stopped_the_agent(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("1=fail")], "repair": ["crashed"] * 3})
    assert story.go() == "stuck"
    assert "changed nothing 3 times in a row (It crashed)." in story.said[-1]


def test_a_spent_budget_that_an_agent_told_of_itself_sends_no_further_task(tmp_path):
    usage = Usage(dollars=0.5, basis="self-reported")
    story = ScriptedRun(tmp_path, lambda task: env("1=fail", task.id), usage=usage, dollars=1.0)
    assert story.go() == "out of budget"
    assert len(story.hands.tasks) == 2
    richer = dataclasses.replace(story.project, limits=dataclasses.replace(story.project.limits, dollars=1.5))
    assert story.go(richer) == "out of budget"
    assert story.hands.tasks == ["003-repair-2-level-1"]


def test_a_run_waits_for_a_person_and_takes_what_is_submitted(tmp_path):
    script = {"translate": ["waiting"], "repair": ["waiting"]}
    story = ScriptedRun(tmp_path, script, steps=OptionalSteps(optimise=False))
    for text in ("1=fail\n", "speed=100\n"):
        assert story.go(submitted=text != "1=fail\n") == "waiting"
        (story.run / "candidate" / "env.py").write_text(text)
    assert story.go(submitted=True) == "done"
    assert story.facts("task ended", "reason") == [("It was submitted.",)] * 2


def help_given(story, changed):
    with Run.open(story.run, write=True) as run:
        run.journal.append("help given", note="look at the sign", changed=changed)


def test_a_run_that_goes_on_tells_nothing_twice(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("1=fail", "a")], "repair": [env("2=fail", "b"), "waiting"]})
    assert story.go() == "waiting"
    assert [said for said in story.said if "off by one" in said] == [
        "level 1: level 1 is off by one", "level 2: level 2 is off by one",
    ]  # fmt: skip
    story.script = {"repair": {1: env("3=fail")}}
    story.go()
    told = [said for said in story.said if "off by one" in said or said.startswith("phase")]
    assert told[0] == "phase 3: rollout"
    assert not any("level 1 is" in said or "level 2 is" in said for said in told)


def test_help_lets_a_stuck_run_go_on_and_asks_for_every_verdict_anew(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("1=fail")]}, iterations=2)
    assert story.go() == "stuck"
    help_given(story, changed=False)
    story.script = {"repair": {2: GOOD}}
    assert story.go() == "done"
    stuck = story.facts("candidate frozen", "candidate")[0][0]
    # The contract may be another one now.
    assert [(candidate, level) for candidate, level, *_ in story.judge.judged][:2] == [(stuck, 0), (stuck, 1)]
    assert story.hands.tasks[0] == "004-repair-3-level-1"
    assert story.go() == "done"
    assert (story.hands.tasks, story.judge.judged) == ([], [])


def test_a_candidate_that_a_person_repaired_is_judged_as_it_is(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("1=fail")]}, steps=OptionalSteps(optimise=False))
    assert story.go() == "stuck"
    (story.run / "candidate" / "env.py").write_text("speed=100\n")
    help_given(story, changed=True)
    assert story.go() == "done"
    assert story.hands.tasks == []
    assert story.facts("candidate frozen", "task")[-1] == (None,)


def test_whatever_an_interrupted_call_left_is_removed_before_the_next_one(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("1=fail")], "repair": [{"more.py": ""}]})
    seen = []

    def before(what):
        if what.startswith("agent 002"):
            seen.append(sorted(path.name for path in (story.run / "candidate").iterdir()))
            if len(seen) == 1:
                (story.run / "candidate" / "half.py").write_text("x=1\n")
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        story.go(before=before)
    story.go(before=before)
    assert seen == [["env.py"], ["env.py"]]


def test_an_agent_that_changes_the_judge_s_files_ends_the_run(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [GOOD]})

    def before(what):
        if what.startswith("agent"):
            (story.project.folder / "contract.toml").write_text("")

    assert story.go(before=before) == "stopped"
    assert "changed while" in story.said[-1]


def test_links_tests_and_notes_of_an_agent_are_no_part_of_its_candidate(tmp_path):
    files = {**GOOD, "tests/test_it.py": "assert 1\n", "NOTES.md": "done\n"}
    story = ScriptedRun(tmp_path, {"translate": [files]})

    def before(what):
        if what.startswith("agent 001"):
            (story.run / "candidate" / "link.py").symlink_to("/etc/passwd")

    assert story.go(before=before) == "done"
    assert [set(files) for (files,) in story.facts("candidate frozen", "files")] == [{"env.py"}, {"env.py"}]
    assert (story.run / "candidate" / "NOTES.md").exists()  # it stays where its author left it


def test_tests_and_notes_outlive_an_optimisation_that_is_taken_back(tmp_path):
    files = {**GOOD, "tests/test_it.py": "assert 1\n", "NOTES.md": "done\n"}
    story = ScriptedRun(tmp_path, {"translate": [files], "optimise": [env("speed=50"), env("3=fail")]})

    def before(what):
        if what == "agent 003-optimise-2":
            (story.run / "candidate" / "link.py").symlink_to("/etc/passwd")

    assert story.go(before=before) == "done"
    place = story.run / "candidate"
    assert {str(path.relative_to(place)) for path in place.rglob("*") if not path.is_dir()} == set(files)
    assert (place / "env.py").read_text() == GOOD["env.py"]


def test_a_journal_of_another_project_is_refused(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [GOOD]})
    story.go()
    fewer = dataclasses.replace(story.project, judging=dataclasses.replace(story.project.judging, levels=(1, 3)))
    with pytest.raises(UsageError, match="does not fit"):
        story.go(fewer)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Everything that can happen in one run."""
    script = {
        "translate": [env("1=fail")],
        "repair": [env("2=fail"), env("3=fail"), env("held-out=fail"), env("4=fail"), GOOD],
        "optimise": [env("speed=200"), env("speed=900", "2=fail"), env("speed=400")],
    }
    story = ScriptedRun(tmp_path_factory.mktemp("finished"), script)
    assert story.go() == "done"
    return story


def test_a_run_that_is_cut_anywhere_goes_on_without_repeating_anything(finished, tmp_path):
    events = finished.events()
    tasks, judged = finished.hands.tasks, finished.judge.judged
    last = finished.facts("optimisation", "candidate")[-1]
    for count in range(1, len(events)):
        done = events[:count]
        again = first_events_of(finished, tmp_path / str(count), count)
        assert again.go() == "done", count
        ended = sum(event.kind == "task ended" for event in done)
        assert again.hands.tasks == tasks[ended:], count
        verdicts = sum(event.kind == "judged" for event in events[count:])
        mine, theirs = ([(one, level) for one, level, *_ in calls] for calls in (again.judge.judged, judged))
        assert mine == theirs[len(theirs) - len(mine) :], count
        # The held-out episodes that one candidate failed are played by the four that come as far after it.
        assert verdicts <= len(mine) <= verdicts + 4, count
        timed = sum(event.kind == "measured" for event in done)
        assert again.judge.timed == finished.judge.timed[timed:], count
        assert again.facts("optimisation", "candidate")[-1] == last, count
        assert (again.run / "candidate" / "env.py").read_text() == "speed=400\n", count
        seeds = [event.facts["seed"] for event in done if event.kind == "seeds drawn"]
        assert [seed for (seed,) in again.facts("seeds drawn", "seed")][: len(seeds)] == seeds, count
