"""Nobody tries again until chance says yes: one verdict per program, held-out seeds that stay, a stricter level 4."""

import shutil

import pytest
from recipe.scripted_run import FakeJudge, ScriptedRun, env, small_project

from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.hygiene.program_hash import program_hash
from overclock.recipe.judging.verdict import HELD_OUT, Verdict, failure
from overclock.recipe.loop.context import OptionalSteps
from overclock.recipe.loop.loop import IDLE
from overclock.recipe.mcp import session as mcp_session
from overclock.recipe.mcp.session import Session
from overclock.recipe.runs.run import Run
from overclock.verify.interaction.result import InteractionLevel
from overclock.verify.transfer.plan import TransferPlan

QUICKLY = OptionalSteps(optimise=False)


def frozen(**files):
    contents = {name.replace("__", "."): text.encode() for name, text in files.items()}
    return Frozen(tree_hash(contents), contents)


class Lucky(FakeJudge):
    """Held-out episodes show every candidate's mistake but under the seeds of `kind`."""

    kind = frozenset()

    def judge(self, frozen, level, seed, module=None, attempt=1):
        found = super().judge(frozen, level, seed, module, attempt)
        if level != HELD_OUT or seed in self.kind:
            return found
        return Verdict(level, "fail", 0, 1, failure(level, ["Held-out episodes differ."]))


@pytest.fixture
def lucky(monkeypatch):
    monkeypatch.setattr("recipe.scripted_run.FakeJudge", Lucky)
    monkeypatch.setattr(Lucky, "kind", frozenset())
    return Lucky


# ---- what a candidate says ----


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"env__py": "x = 1\n"}, {"env__py": "# another comment\nx=( 1 )\n\n\n"}),
        ({"env__py": "def f():\n    return 1\n"}, {"env__py": 'def f():\n    "About."\n    return 1\n'}),
        ({"lib__rs": "fn f() -> u8 { 1 }"}, {"lib__rs": "// one\nfn f()\n-> u8 { /* 2 */ 1 }"}),
        ({"env__py": "x = 1\n"}, {"env__py": "x = 1\n", "README__md": "About it."}),
    ],
    ids=["comment", "docstring", "rust", "readme"],
)
def test_comments_and_layout_do_not_make_another_program(first, second):
    assert frozen(**first).hash != frozen(**second).hash
    assert program_hash(frozen(**first)) == program_hash(frozen(**second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"env__py": "x = 1\n"}, {"env__py": "x = 2\n"}),
        ({"env__py": "x = 1\n"}, {"more__py": "x = 1\n"}),
        ({"env__py": "x = '# 1'\n"}, {"env__py": "x = '# 2'\n"}),
        ({"lib__rs": 'f("// 1")'}, {"lib__rs": 'f("// 2")'}),
        ({"env__py": "x = (\n"}, {"env__py": "x = ( \n"}),  # no program: it counts as it is
    ],
)
def test_anything_else_does(first, second):
    assert program_hash(frozen(**first)) != program_hash(frozen(**second))


# ---- a run ----


def test_another_comment_is_not_another_throw_of_the_dice(tmp_path, lucky):
    repairs = [env("x=1", f"# {number}") for number in range(9)]
    story = ScriptedRun(tmp_path, {"translate": [env("x=1")], "repair": repairs}, QUICKLY, levels=(1, 2, 3))
    assert story.go() == "stuck"
    assert len(story.hands.tasks) == 1 + IDLE
    assert "changed nothing" in story.said[-1]
    assert [level for _, level, *_ in story.judge.judged].count(HELD_OUT) == 1
    # What was said of the first is written down for each text of it, and read back when the run goes on.
    said = [verdict for level, verdict in story.facts("judged", "level", "verdict") if level == HELD_OUT]
    assert said == ["fail"] * (1 + IDLE)
    assert len(story.facts("seeds drawn", "seed")) == 5 + IDLE  # hygiene reads the text
    assert story.go() == "stuck"
    assert (story.hands.tasks, story.judge.judged) == ([], [])


def test_a_failed_held_out_seed_stays_for_all_that_come_after(tmp_path, lucky, monkeypatch):
    numbers = iter(range(1000))
    monkeypatch.setattr("overclock.recipe.loop.verdicts.secrets.randbits", lambda bits: next(numbers))
    lucky.kind = set(range(10, 1000))  # the seeds that the second candidate meets, and not that of the first
    story = ScriptedRun(
        tmp_path, {"translate": [env("x=1")], "repair": [env("x=2"), env("x=3")]}, QUICKLY, levels=(1, 3)
    )
    assert story.go() == "stuck"
    seeds = [seed for _, level, seed, _ in story.judge.judged if level == HELD_OUT]
    assert len(set(seeds)) == 1 < len(seeds), "every candidate was judged by the first one's seed, and no new one drawn"
    lucky.kind |= set(seeds)
    assert story.go() == "stuck"  # what is in the journal stands
    assert story.judge.judged == []


def test_who_passes_what_others_failed_is_judged_by_a_new_seed_as_well(tmp_path, lucky):
    def work(task):
        lucky.kind = lucky.kind if task.purpose == "translate" else range(1 << 30)
        return env(f"x={task.iteration + (task.purpose == 'repair')}")

    story = ScriptedRun(tmp_path, work, QUICKLY, levels=(1, 3))
    assert story.go() == "done"
    first, again, new = [seed for _, level, seed, _ in story.judge.judged if level == HELD_OUT]
    assert first == again != new


def test_level_4_is_told_how_often_it_was_asked(tmp_path):
    script = {"translate": [env("4=fail", "a")], "repair": [env("4=fail", "b"), env("c=1")]}
    story = ScriptedRun(tmp_path, script, QUICKLY)
    assert story.go() == "done"
    assert [attempt for level, attempt in story.judge.attempts if level == 4] == [1, 2, 3]


def test_every_further_attempt_at_level_4_must_be_surer():
    assert TransferPlan(attempt=4).alpha == TransferPlan().alpha / 4
    assert TransferPlan(attempt=4).registered("x", 0).sha256 != TransferPlan().registered("x", 0).sha256


# ---- a session over MCP ----


class Judging:
    """Held-out episodes fail under the first seed; level 2 fails unless the candidate is repaired."""

    def __init__(self):
        self.calls = []

    def judge(self, frozen, level, seed, attempt, heard):
        self.calls.append((level, seed, attempt))
        first = next((one for level, one, _ in self.calls if level == HELD_OUT), None)
        wrong = b"wrong = 2" in frozen.files["env.py"] and level == 2
        if wrong or (level == HELD_OUT and seed == first and b"y = 1" not in frozen.files["env.py"]):
            report = InteractionLevel(verdict="fail", scenarios=[], metamorphic=[]) if level == 2 else None
            return Verdict(level, "fail", 0, 1, failure(level, ["It differs."]), report)
        return Verdict(level, "pass", 1, 1)

    def stop(self):
        pass


@pytest.fixture
def session(tmp_path):
    project = small_project(tmp_path / "pond", levels=(1, 2, 3))
    with Run.create(tmp_path / "pond" / "runs" / "1", {"project": "pond", "folder": str(tmp_path / "pond")}) as run:
        shutil.copytree(project.scenarios, run.folder / "scenarios")
        found = Session(project, run, Judging(), "none", pause=0.0)
        yield found
        found.close()


def verified(session, text, level=3):
    (session.run.candidate / "env.py").write_text(text)
    job = session.start_verify(level)["job"]
    assert session._jobs[job].ended.wait(30)
    return session.poll(job)["verdict"], session.next_failure(job)["failure"]


def test_a_session_cannot_ask_again_until_it_passes(session):
    found, fact = verified(session, "wrong = 2\n")
    assert (found, fact["level"]) == ("fail", 2)
    asked = len(session._judge.calls)
    assert verified(session, "wrong = 2  # please\n") == (found, fact)
    assert [level for level, *_ in session._judge.calls[asked:]] == [0, 1], "level 2 was not asked again"


def test_a_session_meets_the_held_out_seed_that_it_failed_again(session):
    assert verified(session, "x = 1\n")[0] == "fail"
    assert verified(session, "x = 2\n")[0] == "fail"
    first, second = [seed for level, seed, _ in session._judge.calls if level == HELD_OUT]
    assert first == second
    assert verified(session, "y = 1\n")[0] == "pass"
    *_, again, new = [seed for level, seed, _ in session._judge.calls if level == HELD_OUT]
    assert again == first != new


def test_another_contract_gives_a_session_another_chance(session, monkeypatch):
    assert verified(session, "wrong = 2\n")[0] == "fail"
    session._record._rules = session.run.journal.store(b"others")
    monkeypatch.setattr(mcp_session, "PAUSE_S", 0.0)
    asked = len(session._judge.calls)
    assert verified(session, "wrong = 2\n")[0] == "fail"
    assert [level for level, *_ in session._judge.calls[asked:]] == [0, 1, 2]
