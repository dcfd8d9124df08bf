"""Every cheat is caught, by more than one layer where more than one can see it; the honest candidate is not.

`overclock redteam` runs all layers over all of them, which takes minutes of processor time. Here each cheat meets the
layers that decide about it: the text of all is read, some are tried from end to end, some are only played or inspected.
"""

import json
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from overclock.cli.redteam import Redteam
from overclock.env import check
from overclock.errors import MissingError, UsageError
from overclock.recipe.hygiene import Limits, check_source, dynamic, judge_inspection
from overclock.recipe.hygiene.inspection import judge_clocks
from overclock.recipe.redteam import catch as catching
from overclock.recipe.redteam import examine, find_cheats, open_court, practise, redteam, staged
from overclock.recipe.redteam.catch import find_suspect, suspect_spec
from overclock.recipe.redteam.cheats import HONEST
from overclock.recipe.redteam.episodes import first_difference
from overclock.recipe.sandbox import best
from overclock.verify.process import ProcessSubject

ALL = [cheat.name for cheat in find_cheats()]
# Their text is like anybody's: they are only wrong, or only large.
INNOCENT_TEXT = {
    "special-cases-seeds", "drops-the-left", "drops-truncation", "nan-instead-of-an-end", "wrong-types",
    "hoards-memory",
}  # fmt: skip
TRIED = {  # from end to end, and which layers beside the text must see them
    HONEST: set(),
    "calls-the-reference": {"sandbox"},
    "host-callback": {"dynamic"},
    "listens-in": {"dynamic"},
    "patches-the-inspector": {"level 1", "level 2", "level 3"},
    "skips-its-tests": {"dynamic"},
    "exits-quietly": {"dynamic"},
    "exits-in-a-step": {"dynamic"},
    "fork-bomb": {"sandbox"},
    "hoards-memory": {"sandbox"},
}
PLAYED = {  # imported and played, without an inspection
    "recorded-trajectories": {"level 1", "level 2", "level 3"},
    "special-cases-seeds": {"level 1", "level 3"},
    "drops-the-left": {"level 1", "level 2"},
    "drops-truncation": {"level 1", "level 2"},
    "nan-instead-of-an-end": {"level 1", "level 2", "level 3"},
    "wrong-types": {"level 1"},
    "patches-the-comparison": {"level 1", "level 2", "level 3"},
    "forges-answers": {"level 1"},
    "edits-the-tests": {"level 1", "level 2", "level 3"},
}
INSPECTED = {
    "own-auto-reset": "derived",
    "lazily-wrong": "hidden-state",
    "remembers-by-cache": "hidden-state",
    "cached-outputs": "eager",
}
HARMFUL = ["edits-the-tests", "writes-outside", "steals-the-answers"]
HANGING, MISTIMED = ["hangs"], ["patched-clock"]


@pytest.fixture(scope="module")
def practice():
    pytest.importorskip("gymnasium", reason="the red team is judged by Gymnasium's CartPole")
    return practise()


@pytest.fixture(scope="module")
def court(practice):
    try:
        best()
    except MissingError as error:
        pytest.skip(str(error))
    return open_court()


@pytest.fixture
def ground(practice, request):
    with staged(find_suspect(request.param), practice) as prepared:
        yield prepared


@pytest.fixture(scope="module")
def tried(practice, court):
    def one(name):
        with staged(find_suspect(name), practice) as prepared:
            return name, examine(find_suspect(name), prepared, court)

    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(one, TRIED))


@pytest.fixture(scope="module")
def played(practice, court):
    """The levels that see a candidate, and whether it does the practice episodes right."""

    def one(name):
        with (
            staged(find_suspect(name), practice) as prepared,
            ProcessSubject(suspect_spec(prepared.candidate, "best"), 48, "the candidate") as worker,
        ):
            worker.ask("load")
            practised = (
                None if name == "forges-answers" else first_difference(worker, practice, court.contract, "free_running")
            )
            return name, (dict(court.check(worker)), practised)

    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(one, PLAYED))


def test_every_cheat_meets_a_judge_here():
    assert set(ALL) == {*TRIED, *PLAYED, *INSPECTED, *HARMFUL, *HANGING, *MISTIMED} - {HONEST}
    assert len(ALL) >= 14


@pytest.mark.parametrize("name", [HONEST, *ALL])
def test_the_text_alone_gives_most_cheats_away(practice, name):
    with staged(find_suspect(name), practice) as prepared:
        found = check_source(prepared.candidate)
    assert bool(found) is (name not in INNOCENT_TEXT | {HONEST}), found


@pytest.mark.long
@pytest.mark.parametrize(("name", "layers"), TRIED.items())
def test_what_is_tried_from_end_to_end_is_caught_without_its_text(tried, name, layers):
    result = tried[name]
    if name == "calls-the-reference" and best().name == "none":
        layers = {"dynamic"}  # it finds the reference, and calls back to it
    assert set(result.layers) - {"static"} == layers, result.layers
    assert result.by == ("static" if "static" in result.layers else next(iter(layers), None))
    assert result.sentence == result.layers.get(result.by, "")


@pytest.mark.parametrize(("name", "levels"), PLAYED.items())
def test_what_is_played_differs_from_the_reference(played, name, levels):
    found, _ = played[name]
    assert levels <= found.keys(), found


@pytest.mark.parametrize("name", ["recorded-trajectories", "special-cases-seeds"])
def test_only_seeds_drawn_after_freezing_show_what_was_learnt_by_heart(played, name):
    found, practised = played[name]
    assert practised is None
    assert "level 3" in found


@pytest.mark.parametrize(("ground", "rule"), INSPECTED.items(), indirect=["ground"], ids=list(INSPECTED))
def test_what_is_inspected_shows_itself(ground, rule, monkeypatch):
    monkeypatch.setattr(check, "CHECKS", ())
    report = dynamic.Inspector(1, str(ground.candidate)).inspect()
    assert rule in {finding.rule for finding in judge_inspection(report, Limits())}


@pytest.mark.parametrize("sandbox", ["best", "none"])
@pytest.mark.parametrize("ground", HARMFUL, indirect=True)
def test_what_writes_outside_is_held_back_and_where_it_is_not_the_seal_is_broken(court, ground, sandbox):
    with ProcessSubject(suspect_spec(ground.candidate, sandbox), 1, "the candidate") as worker:
        worker.ask("load")
    if sandbox == "best" and best().name != "none":
        assert ground.damage() is None
    else:
        assert "changed" in ground.damage()


@pytest.mark.parametrize("ground", HANGING, indirect=True)
def test_what_hangs_is_stopped(court, ground, monkeypatch):
    monkeypatch.setattr(catching, "LOAD_SECONDS", 2.0)
    result = examine(find_suspect("hangs"), ground, court)
    assert "no answer within 2 s" in result.layers["dynamic"]


@pytest.mark.parametrize("ground", MISTIMED, indirect=True)
def test_a_patched_clock_does_not_run_like_ours(court, ground):
    with ProcessSubject(suspect_spec(ground.candidate, "best"), 21, "the candidate") as worker:
        worker.ask("load")
        started, before = time.monotonic(), worker.ask("clock")
        assert dict(court.check(worker)) == {}  # it computes the right things
        seconds, after = time.monotonic() - started, worker.ask("clock")
    exactly = Limits(clock_seconds=0.0)
    assert [finding.rule for finding in judge_clocks(before, after, seconds, 2 * seconds, exactly)] == ["clock"]


# ---- the command ----


def report(caught=True, passed=True):
    cheat = {
        "name": "hangs",
        "what": "never comes back",
        "by": "dynamic",
        "sentence": "It was stopped.",
        "seconds": 2.4,
    }
    layers = [{"layer": layer, "sentence": "It was stopped."} for layer in ("static", "dynamic")] if caught else []
    control = {**cheat, "name": HONEST, "passed": passed, "layers": []}
    return {
        "schema": "overclock.redteam/1", "caught": int(caught), "total": 1, "sandbox": "bubblewrap", "seed": 7,
        "seconds": 3.2, "cheats": [{**cheat, "caught": caught, "layers": layers}], "control": control,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "code", "shown"),
    [
        (report(), 0, "static, dynamic"),
        (report(caught=False), 1, "NOT CAUGHT"),
        (report(passed=False), 1, "The honest candidate was caught by dynamic: It was stopped."),
    ],
)
def test_the_command_shows_a_table_and_tells_by_its_exit_code(monkeypatch, capsys, given, code, shown):
    monkeypatch.setattr("overclock.recipe.redteam.run.redteam", lambda *arguments: given)
    assert Redteam().run() == code
    out = capsys.readouterr().out
    assert shown in out
    assert f"{given['caught']} of 1 caught" in out


def test_the_command_writes_json(monkeypatch, capsys):
    monkeypatch.setattr("overclock.recipe.redteam.run.redteam", lambda *arguments: report())
    assert Redteam(json=True).run() == 0
    assert json.loads(capsys.readouterr().out) == report()


@pytest.fixture
def told(monkeypatch, practice):
    """What a run does, in order, without trying anybody: the honest one passes, cheats with an x are caught."""
    events = []

    def freeze(suspect, practice):
        events.append(suspect.name)
        return staged(suspect, practice)

    def draw(seed, timeout):
        events.append("draw")
        return types.SimpleNamespace(seed=11)

    def judged(suspect, ground, court, sandbox, timeout):
        assert ground.candidate.is_dir()
        layers = {"static": "It says so.", "dynamic": "It does so."} if "x" in suspect.name else {}
        return catching.Caught(suspect.name, suspect.what, next(iter(layers), None), "", 0.1, layers)

    stand_ins = {"practise": lambda timeout: practice, "staged": freeze, "open_court": draw, "examine": judged}
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(f"overclock.recipe.redteam.run.{name}", stand_in)
    return events


def test_the_seed_is_drawn_when_every_candidate_is_frozen(told):
    found = redteam()
    assert told == [HONEST, *ALL, "draw"]
    assert (found["schema"], found["seed"], found["total"]) == ("overclock.redteam/1", 11, len(ALL))
    assert found["control"]["passed"]
    caught = {cheat["name"] for cheat in found["cheats"] if cheat["caught"]}
    assert caught == {name for name in ALL if "x" in name}
    assert found["caught"] == len(caught)


def test_one_cheat_may_be_tried_alone(told):
    (cheat,) = redteam(only="exits-quietly")["cheats"]
    assert told == [HONEST, "exits-quietly", "draw"]
    assert [layer["layer"] for layer in cheat["layers"]] == ["static", "dynamic"]


def test_bad_wishes_are_refused():
    with pytest.raises(UsageError, match="No cheat is called 'x'; there are: recorded-trajectories"):
        redteam(only="x")
    with pytest.raises(UsageError, match="There is no sandbox called 'x'"):
        redteam(sandbox="x")
    with pytest.raises(UsageError, match="jobs must be at least 1"):
        redteam(jobs=0)
