"""Every cheat is rejected by the product's own judge, and those that the static scan rejects by a later check as well.

`overclock redteam` judges all of them, which takes minutes of processor time. Here all are scanned, and some are judged
by the level that has to reject them.
"""

import json
import types

import pytest
from schema_checks import as_json, require_valid

from overclock.cli.verification.redteam import Redteam
from overclock.env import check
from overclock.errors import MissingError, UsageError
from overclock.recipe.judging.hygiene import Limits, check_source, dynamic, judge_inspection
from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.hygiene.judge import ANSWER
from overclock.recipe.judging.verdict import HELD_OUT, HYGIENE, Verdict, failure
from overclock.recipe.redteam import (
    Outcome,
    blind_spots,
    breakouts,
    examine,
    find_cheats,
    handed_in,
    prepare_judges,
    redteam,
)
from overclock.recipe.redteam.catch import find_candidate
from overclock.recipe.redteam.cheats import HONEST, edited, honest_files
from overclock.recipe.redteam.frauds import ALL_IS_WELL
from overclock.recipe.redteam.grading_folder import frozen_candidate, grader_files
from overclock.recipe.redteam.own_randomness import OWN_RANDOMNESS
from overclock.recipe.redteam.result import JudgedCheat, JudgedControl, RedteamReport, Rejection
from overclock.recipe.sandbox import best

ALL = {cheat.name: cheat for cheat in find_cheats()}
# The static scan finds nothing in these: they are only wrong, only large, or keep state in a way seen as they run.
PASS_THE_SCAN = {
    "special-cases-seeds", "drops-the-left", "drops-truncation", "nan-instead-of-an-end", "wrong-types",
    "only-in-float64", "counts-out-of-sight", "calm-weather", "starts-alike", "long-limit",
    "other-parameters", "other-spaces", "forgets-the-end", "clips-what-is-rare", "keeps-fewer-digits",
    "half-the-precision", "numbers-of-python", "cries-overflow", "hides-an-action", "other-bounds",
    "third-action",
    *(one.name for one in OWN_RANDOMNESS),
}  # fmt: skip
LATER_CHECK = {"calls-the-reference": "sandbox", "forges-answers": "level 1", "recorded-trajectories": "held-out"}
INSPECTED = {
    "counts-through-a-helper": "hidden-state", "cached-outputs": "eager", "reads-the-batch": "batch",
    "asks-the-tracer": "batch", "batches-by-its-own-rule": "callback", "other-parameters": "parameters",
    "counts-in-a-slot": "hidden-state", "counts-in-a-cache": "hidden-state", "counts-in-a-library": "tampering",
    "walks-the-frames": "batch", "wind-of-the-state": "randomness",
}  # fmt: skip
SEED = 7


def frozen(files):
    contents = {name: text.encode() for name, text in files.items()}
    return Frozen(tree_hash(contents), contents)


@pytest.fixture(scope="module")
def judges(tmp_path_factory):
    pytest.importorskip("gymnasium", reason="the red team's reference is a Gymnasium environment")
    try:
        best()
    except MissingError as error:
        pytest.skip(str(error))
    return prepare_judges(tmp_path_factory.mktemp("judges"))


@pytest.fixture(scope="module")
def practice(judges):
    return judges.record_practice()


@pytest.fixture
def place(practice, request):
    with handed_in(find_candidate(request.param), practice) as prepared:
        yield prepared


@pytest.mark.parametrize("name", [HONEST, *ALL])
def test_the_static_scan_rejects_most_cheats(practice, name):
    with handed_in(find_candidate(name), practice) as prepared:
        found = check_source(prepared.candidate)
    kept = [finding for finding in found if finding.rule != "derived"]  # which level 2 is to judge
    assert bool(kept) is (name not in PASS_THE_SCAN | {HONEST, "own-auto-reset"}), found


@pytest.mark.long
def test_level_1_sees_what_no_episode_shows(judges):
    files = edited("env.py", blind_spots.STILL_IN_FLOAT32, blind_spots.NO_WIND, blind_spots.SAME_START)
    files["records.py"] = edited("records.py", blind_spots.LATE_END)["records.py"]
    found = judges.judge.judge(frozen(files), 1, SEED)
    wrong = {
        (module.name, one.precision) for module in found.report.modules for one in module.comparisons if not one.passed
    }
    assert {name for name, _ in wrong} >= {"transition", "draw_step", "draw_later", "time_limit"}
    assert ("transition", "float32") in wrong
    assert ("transition", "float64") not in wrong


@pytest.mark.parametrize(("place", "name"), [(name, name) for name in LATER_CHECK], indirect=["place"])
def test_a_later_check_rejects_what_the_scan_rejects(judges, place, name):
    result = examine(find_candidate(name), place, judges, SEED)
    expected = "dynamic" if best().name == "none" and LATER_CHECK[name] == "sandbox" else LATER_CHECK[name]
    assert list(result.layers) == ["static", expected], result.layers
    assert (result.by, result.sentence) == ("static", result.layers["static"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "name"),
    [(name, name) for name in ("lists-what-is-imported", "knows-the-date", "asks-for-the-device")],
    indirect=["place"],
)
def test_what_looks_around_is_seen_where_users_load_it(judges, place, name):
    result = examine(find_candidate(name), place, judges, SEED)
    assert list(result.layers) == ["static", "as used"], result.layers


@pytest.mark.parametrize(("place", "rule"), INSPECTED.items(), indirect=["place"], ids=list(INSPECTED))
def test_what_is_inspected_shows_itself(place, rule, monkeypatch):
    monkeypatch.setattr(check, "CHECKS", ())
    report = dynamic.Inspector(1, str(place.candidate), batches=[2, 4096]).inspect()
    assert rule in {finding.rule for finding in judge_inspection(report, Limits())}


@pytest.mark.long
@pytest.mark.parametrize("sandbox", ["best", "none"])
def test_what_writes_outside_is_held_back_and_where_it_is_not_it_is_seen(judges, sandbox, monkeypatch):
    monkeypatch.setattr(judges.without_scan, "sandbox", best().name if sandbox == "best" else sandbox)
    with grader_files() as folder:
        harm = "".join((breakouts.EDIT, breakouts.WRITE, breakouts.STEAL)).replace("GRADER", str(folder))
        files = {**honest_files(), "env.py": harm + honest_files()["env.py"]}
        with frozen_candidate(folder, files) as place:
            found = judges.without_scan.judge(place.frozen, HELD_OUT, SEED)
            damage = place.damage()
    if judges.without_scan.sandbox != "none":
        assert (damage, found.passed) == (None, True)
    else:
        assert "conftest.py, test_gravity.py" in damage
        assert "its own files changed" in found.failure.sentence


@pytest.mark.parametrize("place", ["hangs"], indirect=True)
def test_nobody_waits_long_for_what_hangs(judges, place):
    result = examine(find_candidate("hangs"), place, judges, SEED)
    assert "no answer within 8 s" in result.layers["level 1"]


def test_a_forged_inspection_has_every_entry_of_a_real_one():
    assert all(f'"{name}"' in ALL_IS_WELL for name in ANSWER)


@pytest.mark.long
def test_every_cheat_is_caught_and_the_honest_candidate_is_not(judges):
    report = redteam(timeout=240.0)
    require_valid(as_json(report), "overclock.redteam/1")
    assert [one.name for one in report.cheats if not one.caught] == []
    assert report.control.passed, report.control
    behind = {one.name: [layer.layer for layer in one.layers[1:]] for one in report.cheats}
    given_away = [name for name in ALL if name not in PASS_THE_SCAN | {"own-auto-reset"}]
    assert [name for name in given_away if ALL[name].level is not None and not behind[name]] == []


# ---- how a candidate is tried ----


class Told:
    """A judge that knows what it will say, and remembers what it was asked."""

    sandbox = "none"

    def __init__(self, judges, wrong, text=()):
        self.project, self.wrong, self.text, self.asked = judges.project, wrong, list(text), []

    def read(self, folder):
        return self.text

    def judge(self, frozen, level, seed):
        self.asked.append((level, seed))
        if level in self.wrong:
            return Verdict(level, "fail", 0, 1, failure(level, [f"{level} differs."]))
        return Verdict(level, "pass", 1, 1)


@pytest.mark.parametrize(
    ("text", "wrong", "layers", "asked", "again"),
    [
        ([], [1, 2], ["level 1"], [1], []),  # the level that is expected to catch it is asked first
        ([], [2, 3], ["level 2"], [1, 0, 2], []),
        ([], ["held-out"], ["held-out"], [1, 0, 2, 3, "held-out"], []),
        ([], [HYGIENE], ["dynamic"], [1, 0], []),
        ([], [], [], [1, 0, 2, 3, "held-out"], []),
        (["a finding"], [HYGIENE, 1], ["static", "level 1"], [0], [1]),
        (["a finding"], [HYGIENE], ["static"], [0], [1]),
        (["a finding"], [1], ["level 1"], [0, 1], []),  # hygiene leaves it to the levels
    ],
)
@pytest.mark.parametrize("place", ["drops-the-left"], indirect=True)
def test_a_candidate_is_judged_until_a_level_rejects_it(judges, place, text, wrong, layers, asked, again):
    judge, without_scan = Told(judges, wrong, text), Told(judges, wrong)
    found = examine(ALL["drops-the-left"], place, types.SimpleNamespace(judge=judge, without_scan=without_scan), SEED)
    assert list(found.layers) == layers
    assert (found.by, found.sentence) == (layers[0] if layers else None, found.layers.get(layers[0]) if layers else "")
    assert judge.asked == [(level, SEED) for level in asked]
    assert without_scan.asked == [(level, SEED) for level in again]


# ---- the command ----


def report(caught=True, passed=True):
    told = {"what": "never comes back", "by": "dynamic", "sentence": "It was stopped.", "seconds": 2.4}
    layers = [Rejection(layer, "It was stopped.") for layer in ("static", "dynamic")] if caught else []
    return RedteamReport(
        caught=int(caught), caught_without_scan=int(caught), total=1, scan=True,
        cheats=[JudgedCheat(name="hangs", **told, layers=layers, caught=caught, wall="dynamic")],
        control=JudgedControl(name=HONEST, **told, layers=[], caught=not passed, passed=passed),
        sandbox="bubblewrap", seed=7, seconds=3.2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "code", "shown"),
    [
        (report(), 0, "static, dynamic"),
        (report(caught=False), 1, "NOT CAUGHT"),
        (report(passed=False), 1, "The honest candidate was caught by dynamic: It was stopped."),
    ],
)
def test_the_command_shows_a_table_and_tells_by_its_exit_code(monkeypatch, capsys, given, code, shown):
    monkeypatch.setattr("overclock.recipe.redteam.run.redteam", lambda *_, **__: given)
    assert Redteam().run() == code
    out = capsys.readouterr().out
    assert shown in out
    assert f"{given.caught} of 1 caught" in out


def test_the_command_writes_json(monkeypatch, capsys):
    monkeypatch.setattr("overclock.recipe.redteam.run.redteam", lambda *_, **__: report())
    assert Redteam(json=True).run() == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == as_json(report())
    require_valid(printed, "overclock.redteam/1")


@pytest.fixture
def told(monkeypatch, judges, practice):
    """What a run does, in order, without trying anybody: the honest one passes, cheats with an x are caught."""
    events = []

    def freeze(candidate, practice):
        events.append(candidate.name)
        return handed_in(candidate, practice)

    def draw(bits):
        events.append("draw")
        return 11

    def judged(candidate, place, judges, seed, scan):
        assert scan
        assert place.candidate.is_dir()
        assert seed == 11
        layers = {"static": "It says so.", "dynamic": "It does so."} if "x" in candidate.name else {}
        return Outcome(candidate.name, candidate.what, next(iter(layers), None), "", 0.1, layers)

    stand_ins = {
        "handed_in": freeze,
        "secrets.randbits": draw,
        "examine": judged,
        "prepare_judges": lambda *given: judges,
    }
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(f"overclock.recipe.redteam.run.{name}", stand_in)
    return events


def test_the_seed_is_drawn_when_every_candidate_is_frozen(told):
    found = redteam()
    assert told == [HONEST, *ALL, "draw"]
    assert (found.seed, found.total) == (11, len(ALL))
    assert found.control.passed
    caught = {cheat.name for cheat in found.cheats if cheat.caught}
    assert caught == {name for name in ALL if "x" in name}
    assert found.caught == found.caught_without_scan == len(caught)
    assert {cheat.wall for cheat in found.cheats} >= {"dynamic", "sandbox", "level 1", "held-out, as used"}


def test_one_cheat_may_be_tried_alone(told):
    (cheat,) = redteam(only="exits-quietly").cheats
    assert told == [HONEST, "exits-quietly", "draw"]
    assert [one.layer for one in cheat.layers] == ["static", "dynamic"]


def test_the_kinds_are_many_and_each_says_what_it_does_and_what_catches_it(capsys):
    assert len(ALL) >= 50
    assert len({cheat.what for cheat in ALL.values()}) == len(ALL)
    assert all(cheat.wall and cheat.what == cheat.what.strip(". ") for cheat in ALL.values())
    assert Redteam(list=True).run() == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ALL)


@pytest.mark.parametrize("place", ["drops-the-left"], indirect=True)
def test_without_the_scan_nobody_reads_the_text(judges, place):
    judge, without_scan = Told(judges, [], ["a finding"]), Told(judges, [2])
    told = types.SimpleNamespace(judge=judge, without_scan=without_scan)
    found = examine(ALL["drops-the-left"], place, told, SEED, scan=False)
    assert (list(found.layers), judge.asked) == (["level 2"], [])


def test_bad_wishes_are_refused():
    with pytest.raises(UsageError, match="No cheat is called 'x'; there are: recorded-trajectories"):
        redteam(only="x")
    with pytest.raises(UsageError, match="There is no sandbox called 'x'"):
        redteam(sandbox="x")
    with pytest.raises(UsageError, match="jobs must be at least 1"):
        redteam(jobs=0)
