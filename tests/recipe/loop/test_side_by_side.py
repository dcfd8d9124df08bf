"""Several candidates for every task: all are asked for at once, each is judged, and the run goes on with the best."""

import threading

import pytest
from recipe.scripted_run import TRANSLATE, ScriptedRun, env, needs_git, three_candidates

from overclock.errors import UsageError
from overclock.recipe.judging.hygiene.frozen import tree_hash
from overclock.recipe.loop.context import OptionalSteps
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.project import Changes, load_project

pytestmark = needs_git
GOOD = env("speed=100")


def test_the_right_one_of_three_is_kept(tmp_path):
    story = three_candidates(tmp_path, [env("1=fail"), GOOD, env("2=fail")])
    assert story.go() == "done"
    assert sorted(story.hands.tasks) == TRANSLATE
    assert story.facts("candidate chosen", "task", "number") == [("001-translate-rules", 2)]
    assert (story.run / "candidate" / "env.py").read_text() == "speed=100\n"
    found = story.report()
    assert found["final"]["candidate"] == story.facts("candidate chosen", "candidate")[0][0]
    assert [(row["task"], row["kept"], row["verdict"]) for row in found["iterations"]] == [
        (TRANSLATE[0], False, "fail"), (TRANSLATE[1], True, "pass"), (TRANSLATE[2], False, "fail"),
    ]  # fmt: skip
    assert not (story.run / "candidates").exists()


def test_each_is_judged_from_the_bottom_until_it_fails_and_the_kept_one_never_again(tmp_path):
    texts = [env("1=fail"), GOOD, env("2=fail")]
    story = three_candidates(tmp_path, texts)
    story.go()
    judged = {tree_hash({"env.py": one["env.py"].encode()}): [] for one in texts}
    for candidate, level, *_ in story.judge.judged:
        judged[candidate].append(level)
    assert list(judged.values()) == [[0, 1], [0, 1, 2, 3, "held-out", 4], [0, 1, 2]]


def test_all_begin_at_the_same_time_with_the_same_files(tmp_path):
    together, began = threading.Barrier(3, timeout=30), {}

    def script(task):
        together.wait()  # breaks unless all three are inside
        files = {path.name: path.read_text() for path in task.folder.glob("*.py")}
        began.setdefault(task.id, (task.folder, files))
        return env("1=fail", task.id) if task.purpose == "translate" else GOOD

    story = ScriptedRun(tmp_path, script, OptionalSteps(optimise=False), candidates=3)
    assert story.go() == "done"
    first = [began.pop(task) for task in TRANSLATE]
    assert len({folder for folder, _ in first} | {story.run / "candidate"}) == 4
    assert [files for _, files in first] == [{}] * 3
    # Of equals the first is kept, and the next three begin with it.
    assert [files for _, files in began.values()] == [env("1=fail", TRANSLATE[0])] * 3
    prompts = {prompt.partition("\n")[2] for task, prompt in story.hands.prompts.items() if task in TRANSLATE}
    assert len(prompts) == 1


def test_of_those_that_hold_the_fastest_is_kept_and_no_wrong_one_is_timed(tmp_path):
    story = three_candidates(tmp_path, [env("speed=100"), env("speed=300"), env("speed=900", "3=fail")])
    assert story.go() == "done"
    assert story.facts("candidate chosen", "number") == [(2,)]
    assert len(story.judge.timed) == 2


def test_of_those_that_fail_alike_the_one_with_more_tests_passing_is_repaired(tmp_path):
    story = three_candidates(
        tmp_path, [env("2=fail", "tests=1"), env("2=fail", "tests=3"), env("2=fail", "tests=2")],
        tasks={"repair-1-level-2": [GOOD, {}, {}]},
    )  # fmt: skip
    assert story.go() == "done"
    assert story.facts("candidate chosen", "task", "number") == [
        ("001-translate-rules", 2),
        ("002-repair-1-level-2", 1),
    ]
    assert story.judge.timed == []


def test_optimisations_are_tried_side_by_side_and_the_fastest_that_holds_is_kept(tmp_path):
    attempts = [env("speed=200"), env("speed=900", "3=fail"), env("speed=400")]
    story = three_candidates(tmp_path, [GOOD] * 3, steps=OptionalSteps(), tasks={"optimise-1": attempts})
    assert story.go() == "done"
    assert story.facts("candidate chosen", "number")[1] == (3,)
    assert story.facts("optimisation", "kept") == [(True,)]
    assert (story.run / "candidate" / "env.py").read_text() == "speed=400\n"
    assert story.report()["final"]["candidate"] == story.facts("candidate chosen", "candidate")[1][0]


def test_only_the_kept_candidate_s_failure_becomes_a_test(tmp_path):
    """A test that came of the first would judge the second by more than the first."""
    story = three_candidates(
        tmp_path, [env("3=fail", "tests=1"), env("3=fail", "tests=4"), env("3=fail", "tests=2")],
        tasks={"repair-1-level-3": [{}, GOOD, {}]},
    )  # fmt: skip
    assert story.go() == "done"
    kinds = [event.kind for event in story.events("candidate chosen", "test added")]
    assert kinds == ["candidate chosen", "test added", "candidate chosen"]
    assert story.facts("test added", "name") == [("repro-x-2",)]


def test_the_kept_candidate_s_own_tests_and_notes_stay_with_it(tmp_path):
    notes = {**env("1=fail"), "tests/test_it.py": "assert 1\n", "NOTES.md": "done\n", ".gitattributes": "* eol=crlf\n"}
    story = three_candidates(
        tmp_path, [env("0=fail"), notes, env("0=fail")], tasks={"repair-1-level-1": [GOOD, {}, {}]}
    )
    seen = []

    def before(what):
        if what.startswith("agent 002"):
            seen.append(sorted(path.name for path in (story.run / "candidate").iterdir()))

    assert story.go(before=before) == "done"
    assert seen == [[".gitattributes", "NOTES.md", "env.py", "tests"]] * 3
    assert (story.run / "candidate" / "NOTES.md").read_text() == "done\n"


# ---- who can ----


def test_a_person_works_on_one_candidate_at_a_time(tmp_path):
    project = ScriptedRun(tmp_path, {}, candidates=3).project
    with pytest.raises(UsageError, match="one candidate at a time; set candidates to 1"):
        translate(project, "2")
    assert not (project.folder / "runs" / "2").exists()


@pytest.mark.parametrize("number", ["0", "99", '"two"'])
def test_a_project_says_how_many_candidates_there_are(tmp_path, number):
    project = ScriptedRun(tmp_path, {}, candidates=3).project
    text = (project.folder / "overclock.toml").read_text()
    (project.folder / "overclock.toml").write_text(text.replace("candidates = 3", f"candidates = {number}"))
    with pytest.raises(UsageError, match=r"agent\.candidates must be"):
        load_project(project.folder)
    assert Changes(candidates=2).of(project).agent.candidates == 2
