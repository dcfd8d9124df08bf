"""`overclock mutate`: what it prints, its exit codes, and a real sample of CartPole's mutants."""

import json
import subprocess
import sys

import pytest

from overclock.cli import main
from overclock.cli.verification.mutate import change
from overclock.results import decode
from overclock.verify.mutation.mutate import EXAMINING, TimeIsUpError
from overclock.verify.mutation.result import MutationReport

SURVIVOR = {
    "id": "c0ffee00",
    "operator": "comparison",
    "file": "overclock/envs/cartpole/env.py",
    "line": 106,
    "function": "CartPole.fallen",
    "before": "return x < 1",
    "after": "return x <= 1",
}
LEVEL = {"name": "property", "killed": 9, "share": 0.9, "first": 9, "only": 2, "crashes": 1, "timeouts": 0}
REPORT = {
    "schema": "overclock.mutate/1",
    "env": "cartpole-v1",
    "planted": 12,
    "total": 10,
    "killed": 9,
    "score": 0.9,
    "per_level": {"1": LEVEL},
    "together": {"killed": 9, "share": 0.9},
    "per_operator": {},
    "survivors": [SURVIVOR],
    "equivalent": [{**SURVIVOR, "id": "feedbeef", "reason": "why not"}] * 2,
    "sources": {},
    "episodes": 100,
    "seed": 3,
    "sample": 10,
    "timeout": 60.0,
    "command": "overclock mutate cartpole-v1",
    "seconds": 12.3,
    "date": "2026-11-18",
    "versions": {},
}


@pytest.fixture
def asked(monkeypatch):
    """`mutate` answered at once; gives the arguments it was called with."""
    calls = []

    def answer(*arguments, until_found, minutes):
        calls.append(arguments[:-1])
        return decode(MutationReport, REPORT)

    monkeypatch.setattr("overclock.verify.mutation.mutate.mutate", answer)
    return calls


def test_prints_the_share_of_each_level_and_the_survivors(asked, capsys):
    assert main(["mutate", "cartpole", "--threshold", "0.9", "--sample", "10", "--seed", "3", "--jobs", "2"]) == 0
    assert asked == [("cartpole", 100, 3, 10, 60.0, 2)]
    shown = capsys.readouterr().out
    for text in (
        "10 mutants of cartpole-v1", "1 property", "9 of 10", "90.0%", "overclock/envs/cartpole/env.py:106",
        "return x < 1", "return x <= 1", "pass: 90.0% >= 90.0%", "finds alone", "finds first", "nobody else finds",
    ):  # fmt: skip
        assert text in shown


def test_prints_the_equivalent_ones_with_their_reasons(asked, capsys):
    main(["mutate", "cartpole"])
    shown = capsys.readouterr().out
    assert "equivalent, not counted" in shown
    assert "feedbeef, feedbeef: why not" in shown


def test_a_share_below_the_threshold_fails(asked, capsys):
    assert main(["mutate", "cartpole"]) == 1
    assert "fail: 90.0% < 95.0%" in capsys.readouterr().out


def test_json_is_one_object_with_the_verdict(asked, capsys):
    assert main(["mutate", "cartpole", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {**REPORT, "threshold": 0.95, "verdict": "fail"}


def test_a_threshold_is_a_share(capsys):
    assert main(["mutate", "cartpole", "--threshold", "95"]) == 2
    assert "a share between 0 and 1, got 95" in capsys.readouterr().err


@pytest.mark.parametrize("seed", ["-3", "2147483648"])
def test_a_seed_that_no_reference_takes_is_refused(seed, asked, capsys):
    assert main(["mutate", "cartpole", f"--seed={seed}"]) == 2
    assert "seed must be a number from 0 to 2147483647" in capsys.readouterr().err
    assert asked == []


@pytest.mark.parametrize("target", [".", "./somewhere", "package.module:twin"])
def test_only_registered_environments_can_be_mutated(target, asked, capsys):
    assert main(["mutate", target]) == 2
    assert "mutate needs the id of a registered environment" in capsys.readouterr().err
    assert asked == []


@pytest.mark.parametrize(
    ("words", "examined", "sentence"),
    [
        ([], 7, "interrupted; 7 examined mutants are kept, and the same command goes on from there\n"),
        ([], 0, "interrupted before this run had examined a mutant; the same command tries again\n"),
        (["--sample", "9"], 7, "interrupted; 7 examined mutants are kept, and the same command goes on from there\n"),
    ],
)
def test_an_interrupt_says_what_is_kept(words, examined, sentence, monkeypatch, capsys):
    def interrupted(*arguments, **options):
        arguments[-1]("recording", 1, 1)
        arguments[-1](EXAMINING, examined, 10)
        raise KeyboardInterrupt

    monkeypatch.setattr("overclock.verify.mutation.mutate.mutate", interrupted)
    assert main(["mutate", "cartpole", *words]) == 130
    assert capsys.readouterr().err.endswith(sentence)


def test_when_the_time_is_up_nothing_is_lost_and_nothing_is_judged(monkeypatch, capsys):
    def late(*arguments, until_found, minutes):
        assert (until_found, minutes) == (True, 2.5)
        raise TimeIsUpError(7, 10)

    monkeypatch.setattr("overclock.verify.mutation.mutate.mutate", late)
    assert main(["mutate", "cartpole", "--minutes", "2.5", "--until-found"]) == 3
    assert "7 of 10 mutants are examined and kept, and the same command goes on" in capsys.readouterr().err


def test_list_shows_every_mutant_without_running_one(capsys):
    assert main(["mutate", "cartpole", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert (listed["schema"], listed["env"]) == ("overclock.mutants/1", "cartpole-v1")
    assert main(["mutate", "cartpole", "--list"]) == 0
    shown = capsys.readouterr().out
    assert len(listed["mutants"]) >= 100
    assert all(mutant["id"] in shown for mutant in listed["mutants"])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("return x < 1", "return x <= 1", ("return x < 1", "return x <= 1")),
        (f"{'a' * 50}+{'b' * 50}", f"{'a' * 50}-{'b' * 50}", (f"…{'a' * 24}+{'b' * 24}…", f"…{'a' * 24}-{'b' * 24}…")),
        ("y = a", "y = aa", ("y = a", "y = aa")),
    ],
)
def test_a_long_statement_is_cut_to_its_change(before, after, expected):
    assert change(before, after) == expected


@pytest.mark.long
def test_a_sample_of_cartpole(tmp_path):
    pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")
    pytest.importorskip("coverage", reason="level 1 measures code coverage")
    words = ["mutate", "cartpole", "--sample", "3", "--seed", "5", "--episodes", "20", "--threshold", "1", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "overclock", *words],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["schema"], report["env"], report["verdict"]) == ("overclock.mutate/1", "cartpole-v1", "pass")
    assert (report["planted"], report["killed"], report["score"]) == (3, 3, 1.0)
    levels = {level["name"]: level["killed"] for level in report["per_level"].values()}
    assert levels == {"property": 3, "interaction": 3, "rollout": 3}
    assert report["command"] == "overclock mutate cartpole-v1 --episodes 20 --seed 5 --sample 3"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []  # a sample is not kept
