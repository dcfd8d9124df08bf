"""The whole of `verify`: which levels run, how a failure ends, what becomes of references that cannot be used."""

import dataclasses
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium's")

from verify import worlds

from overclock.cli import main
from overclock.env import registry
from overclock.errors import UsageError
from overclock.verify import engine
from overclock.verify.engine import verify
from overclock.verify.levels import LEVELS
from overclock.verify.mutation.report import report, save
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.twins import find_twin

TESTS = str(Path(__file__).parents[1])
NO_MODULES = ()
RECORDED = SimpleNamespace(seen=None)  # what level 1 recorded


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """Runs are kept in the working folder, so each test has its own; registered environments are forgotten again."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    monkeypatch.chdir(tmp_path)


# ---- the historic bug ----


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    return verify("cartpole", plant="polemass-plus", folder=folder), folder


def test_level_1_finds_the_historic_bug_first_and_names_the_field(planted):
    report, _ = planted
    assert report.verdict == "fail"
    assert [level.verdict for level in report.levels] == ["fail", "not run", "not run", "not run"]
    assert report.levels[0].first_failure.module == "dynamics"
    assert report.levels[0].first_failure.field == "x_dot"
    assert report.levels[3].reason == "level 1 failed"


def test_a_failure_ends_as_a_short_repro_with_both_states(planted):
    report, folder = planted
    repro = report.repro
    assert len(repro.actions) <= 2
    assert repro.field == "state.x_dot"
    after = repro.states.after
    assert after.reference["state.x_dot"] != after.performance["state.x_dot"]
    written = folder / "repro" / "1"
    assert repro.folder == str(written)
    assert json.loads((written / "repro.json").read_text())["plant"] == "polemass-plus"
    assert repro.command == f"overclock repro {written} --plant polemass-plus"


def test_the_repro_command_shows_the_bug_and_its_absence(planted, capsys):
    report, folder = planted
    assert main(report.repro.command.split()[1:]) == 1
    assert main(["repro", str(folder / "repro" / "1")]) == 0
    capsys.readouterr()


def test_a_comparison_of_returns_alone_does_not_see_it(planted):
    report, _ = planted
    assert report.returns_alone.verdict == "equivalent"
    said = "A comparison of mean returns with a margin of 3 calls the two equivalent: untrained policies score 22"
    assert report.returns_alone.sentence.startswith(said)


def test_the_prompt_of_level_1_does_not_claim_that_the_level_had_steps(planted):
    report, _ = planted
    prompt = (Path(report.repro.folder) / "prompt.md").read_text()
    assert prompt.startswith(
        "# Level 1 comparison of cartpole-v1 failed; an episode that shows it diverges at step 1\n"
    )


# ---- which levels run ----


@pytest.fixture
def levels(monkeypatch):
    """Levels answered at once; gives the verdict of each and the levels that were asked."""
    verdicts, asked = {1: "pass", 2: "pass", 3: "pass", 4: "pass"}, []

    def answer(level):
        asked.append(level)
        return SimpleNamespace(
            level=level, name=LEVELS[level].name, verdict=verdicts[level], modules=[], scenarios=[], metamorphic=[],
            comparisons=[], first_failure=None,
        )  # fmt: skip

    monkeypatch.setattr(engine, "check_reference", lambda twin, **_: None)
    monkeypatch.setattr(engine, "record", lambda *_, **__: RECORDED)
    monkeypatch.setattr("overclock.verify.levels.check_recorded", lambda *_, **__: answer(1))
    monkeypatch.setattr("overclock.verify.levels.check_interactions", lambda *_, **__: answer(2))
    monkeypatch.setattr("overclock.verify.levels.check_rollouts", lambda *_: (answer(3), None))
    monkeypatch.setattr("overclock.verify.transfer.level.check_transfer", lambda twin, *_, **__: answer(4))
    monkeypatch.setattr(engine, "hunt", lambda *_: None)
    monkeypatch.setattr(engine, "returns_alone", lambda twin, **_: None)
    return verdicts, asked


@pytest.mark.parametrize(
    ("verdict", "asked", "overall"),
    [
        ("pass", [1, 2, 3, 4], "pass"),
        ("fail", [1, 2], "fail"),
        ("inconclusive", [1, 2, 3, 4], "inconclusive"),
        ("could not verify", [1, 2, 3, 4], "could not verify"),
    ],
)
def test_only_a_difference_ends_the_run(levels, verdict, asked, overall):
    levels[0][2] = verdict
    assert verify("cartpole").verdict == overall
    assert levels[1] == asked


def test_keep_going_runs_what_is_left(levels):
    levels[0][2] = "fail"
    assert verify("cartpole", keep_going=True).verdict == "fail"
    assert levels[1] == [1, 2, 3, 4]


def test_the_report_says_how_to_repeat_it(levels):
    assert verify("cartpole", levels=[1, 2]).command == "overclock verify cartpole-v1 --episodes 100 --seed 0 --level 2"
    alone = verify("cartpole", levels=[3], plant="gravity", seed=4, episodes=7, keep_going=True).command
    assert alone == "overclock verify cartpole-v1 --episodes 7 --seed 4 --only 3 --plant gravity --keep-going"


def test_what_level_1_recorded_can_be_written_as_tests(levels, monkeypatch, tmp_path):
    written = []

    def emit(twin, recording, folder):
        written.append((twin.name, recording))
        return [folder / "test_it.py"]

    monkeypatch.setattr(engine, "emit", emit)
    assert verify("cartpole").tests is None
    assert verify("cartpole", write_tests=tmp_path).tests == [str(tmp_path / "test_it.py")]
    assert written == [("cartpole-v1", RECORDED)]


def test_the_last_result_of_mutate_is_shown_and_nothing_is_examined(levels):
    assert verify("cartpole").adequacy is None
    settings = {"episodes": 1, "seed": 0, "sample": None, "timeout": 1.0, "command": "overclock mutate cartpole"}
    found = report("cartpole-v1", {"json": "0"}, {}, [], {}, {}, settings, 1.0)
    save(dataclasses.replace(found, killed=9, state=None))
    shown = verify("cartpole").adequacy
    assert (shown.killed, shown.stale) == (9, ["json"])
    assert shown.mutants is None


@pytest.mark.parametrize("wrong", [{"episodes": 0}, {"timeout": 0.0}, {"seed": -3}, {"seed": 2**31}])
def test_senseless_numbers_are_refused(wrong):
    with pytest.raises(UsageError, match="must be"):
        verify("cartpole", **wrong)


@pytest.mark.parametrize(
    ("lacking", "levels_asked", "sentence"),
    [
        (["transfer"], (1, 2, 3, 4), "nothing for level 4; set Twin.transfer, or leave it away: --level 3."),
        (["scenarios"], (1, 2), "nothing for level 2; set Twin.scenarios, or leave it away: --level 1."),
        (["modules"], (1, 2, 3), "level 1; set Twin.modules, or run the rest alone: --only 2, --only 3."),
        (["modules", "scenarios", "transfer"], (1, 2, 3, 4), "levels 1, 2, 4; set Twin.modules and Twin.scenarios and"),
        (["transfer"], (4,), "or choose level 3, which needs no description: --only 3."),
    ],
)
def test_a_level_without_a_description_is_refused_before_any_work(levels, lacking, levels_asked, sentence):
    found = find_twin("cartpole")
    twin = dataclasses.replace(found.twin, **dict.fromkeys(lacking))
    with pytest.raises(UsageError) as refused:
        verify(dataclasses.replace(found, twin=twin), levels=levels_asked)
    assert str(refused.value).startswith("cartpole-v1 describes nothing for ")
    assert sentence in str(refused.value)
    assert levels[1] == []


def test_an_empty_description_is_none(levels, tmp_path):
    found = find_twin("cartpole")
    for field, value in (("scenarios", str(tmp_path)), ("modules", "verify.test_engine:NO_MODULES")):
        twin = dataclasses.replace(found.twin, **{field: value})
        with pytest.raises(UsageError, match=f"set Twin.{field}"):
            verify(dataclasses.replace(found, twin=twin))


def test_a_description_that_cannot_be_found_is_refused(levels):
    found = find_twin("cartpole")
    twin = dataclasses.replace(found.twin, transfer="nowhere:PLAN")
    with pytest.raises(UsageError, match=r"Twin\.transfer of cartpole-v1 cannot be loaded"):
        verify(dataclasses.replace(found, twin=twin))
    verify(dataclasses.replace(found, twin=twin), levels=[1, 2, 3])


# ---- level 3 on a finite environment ----


def finite_lake():
    return dataclasses.replace(worlds.lake(4), exhaustive={"count_steps": True}, traced=True)


def lock_with_a_bug():
    return dataclasses.replace(worlds.lock("prize"), exhaustive={})


@pytest.mark.long
def test_a_bug_that_only_the_walk_finds_ends_as_a_repro(tmp_path):
    report = verify("verify.test_engine:lock_with_a_bug", episodes=8, levels=[3], folder=tmp_path)
    level = report.levels[0]
    assert all(comparison.passed for comparison in level.comparisons)
    assert (level.exhaustive.verdict, report.verdict) == ("fail", "fail")
    assert len(report.repro.actions) == 1
    assert (tmp_path / "repro" / "1" / "repro.json").exists()


@pytest.mark.long
def test_a_finite_environment_is_also_proven():
    report = verify("verify.test_engine:finite_lake", episodes=8, levels=[3])
    level = report.levels[0]
    assert (report.verdict, report.env) == ("pass", "lake-v0")
    assert (level.exhaustive.verdict, level.exhaustive.proof) == ("pass", True)
    sources = ["uniform", "uniform", "sticky", "sticky", "coverage-guided", "coverage-guided"]
    assert [c.actions for c in level.comparisons] == sources
    assert any("frozen_lake" in branch for branch in level.comparisons[-1].branches.reached)


# ---- references that cannot be used, from a folder, as a user has them ----

TWIN = f"""
import sys
sys.path.insert(0, {TESTS!r})
from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.sides.subject import SubjectSpec

def twin():
    fields = [Field(name) for name in ("obs", "reward", "terminated", "truncated")]
    side = SubjectSpec("broken:make", (("fault", FAULT),))
    return Twin("broken", side, side, {{"float64": Contract(tuple(fields))}})
"""
BROKEN = f"""
import os, sys, time
sys.path.insert(0, {TESTS!r})
from verify.subjects_selfcheck import Reference

class Broken(Reference):
    def step(self, actions, draws=None):
        if self.steps.max() >= 3 and self.fault == "crash":
            os._exit(3)
        if self.steps.max() >= 3 and self.fault == "hang":
            time.sleep(600)
        return super().step(actions, draws)

def make(num_envs, fault):
    return Broken(num_envs, fault)
"""


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Makes a folder with a twin whose reference has a fault."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def make(fault):
        folder = tmp_path / fault
        folder.mkdir()
        (folder / "twin.py").write_text(f"FAULT = {fault!r}\n{TWIN}")
        (folder / "broken.py").write_text(BROKEN)
        return folder

    yield make
    for name in ("twin", "broken"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("crash", "could not verify: the reference: its process ended during `step`"),
        ("hang", "could not verify: the reference: `step` gave no answer within 8 s; it was stopped"),
        ("nan", "the reference is not sound: obs is NaN at step 3"),
        ("shape", "shape () to shape (2,)"),
        ("unseeded", "could not verify: reference diverges from itself at step 3, field obs"),
    ],
)
def test_a_bad_reference_gives_a_verdict_and_no_half_written_report(broken, fault, reason, capsys):
    folder = broken(fault)
    assert main(["verify", str(folder), "--only", "3", "--timeout", "8", "--json", "--output", "here"]) == 4
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["schema"], verdict["verdict"]) == ("overclock.verify/1", "could not verify")
    assert verdict["env"] == "broken"
    assert reason in verdict["reason"]
    assert not os.path.exists("here")


def test_no_earlier_page_survives_a_run_without_a_verdict(broken, capsys):
    Path("here").mkdir()
    for name in ("report.html", "report.md", "report.json", "mine.txt"):
        (Path("here") / name).write_text("yesterday: pass")
    assert main(["verify", str(broken("nan")), "--only", "3", "--output", "here"]) == 4
    assert [path.name for path in Path("here").iterdir()] == ["mine.txt"]
    assert "could not verify" in capsys.readouterr().err


NAMESAKE = """
import dataclasses
from overclock.envs.cartpole.twin import twin as registered

def twin():
    wrong = registered().planted("gravity")
    strict = {"float64": wrong.contracts["float64"]}
    return dataclasses.replace(wrong, contracts=strict, traced=False, transfer=None)  # what is not looked at
"""


@pytest.mark.long
def test_a_repro_of_a_folder_is_replayed_from_that_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    folder = tmp_path / "namesake"
    folder.mkdir()
    (folder / "twin.py").write_text(NAMESAKE)
    report = verify(str(folder), episodes=8, levels=[3], folder=tmp_path / "out")
    sys.modules.pop("twin")
    assert (report.verdict, report.env, report.adequacy) == ("fail", "cartpole-v1", None)
    assert report.command.startswith(f"overclock verify {folder} ")
    assert main(["repro", report.repro.folder]) == 1
    assert "still diverges" in capsys.readouterr().out
    sys.modules.pop("twin")


def test_a_difference_stays_one_when_it_cannot_be_explained(levels, monkeypatch):
    def gives_up(*_):
        raise CouldNotVerifyError("could not verify: it fell over")

    monkeypatch.setattr(engine, "hunt", gives_up)
    levels[0].update({1: "fail", 2: "could not verify"})
    report = verify("cartpole", keep_going=True)
    assert (report.verdict, report.repro) == ("fail", None)
    assert report.unexplained == "could not verify: it fell over"


def test_two_folders_do_not_share_their_twin(broken):
    assert [dict(find_twin(str(broken(fault))).twin.reference.options)["fault"] for fault in ("nan", "shape")] == [
        "nan", "shape",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("no/such/folder", "is no folder with a twin.py"),
        ("json:dumps", "The twin 'json:dumps' cannot be loaded"),
        ("nowhere:twin", "The twin 'nowhere:twin' cannot be loaded"),
        ("os:getcwd", "returns a str, not an overclock.verify Twin"),
    ],
)
def test_what_is_no_twin_is_refused_in_a_sentence(target, sentence):
    with pytest.raises(UsageError, match=sentence):
        find_twin(target)
