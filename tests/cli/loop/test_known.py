"""`overclock translate --all-known` and `overclock demo`: what they print, and what they refuse."""

import json
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="the built-in translator reads Gymnasium environments")

from level_results import walk

from overclock.cli import main
from overclock.cli.loop.known import line, repeated
from overclock.results import encode

HELD = {
    "name": "lake", "outcome": "done", "lines_in": 20, "lines_out": 40, "generation_s": 0.5, "compile_s": 2.5,
    "largest_error": 0.0, "mutation": {"killed": 38, "total": 40}, "branches": {"reached": 3, "reachable": 4},
    "exhaustive": encode(walk(sentence="exhaustive: 11 states")),
    "speed_up": 123.4, "batch": 4096,
}  # fmt: skip


def run(capsys, *words):
    code = main([*words])
    return code, capsys.readouterr()


def test_a_row_says_what_was_seen_or_why_not():
    assert line(HELD) == (
        "lake: holds; 20 lines became 40 in 0.5 s, compiled in 2.5 s, largest error 0, 3 of 4 branches, exhaustive: 11 "
        "states, 38 of 40 planted mistakes found, 123x the original at batch 4,096"
    )
    failed = {**{key: value for key, value in HELD.items() if key != "compile_s"}, "compile_error": "No answer."}
    assert "0.5 s, largest error" in line(failed)
    assert line(failed).endswith("at batch 4,096, No answer.")
    assert line({"name": "x", "outcome": "refused", "sentence": "No."}) == "x: refused: No."


def test_every_row_is_reported_and_one_that_does_not_hold_is_an_exit_code(capsys, monkeypatch, tmp_path):
    rows, planted = iter([HELD, {"name": "y", "outcome": "refused", "sentence": "No."}]), []

    def translated(one, folder, options, measure, mutants, say):
        planted.append(mutants)
        options.progress("uniform, float64", 1, 2)
        options.progress("uniform, float64", 2, 2)
        return next(rows)

    monkeypatch.setattr("overclock.recipe.studies.known_environments.translate_known", translated)
    words = ("translate", "--known", "frozen_lake", "taxi", "--output", str(tmp_path / "k"), "--mutants", "7", "--json")
    code, said = run(capsys, *words)
    report = json.loads(said.out)
    assert code == 1
    assert (report["schema"], report["held"], [row["name"] for row in report["rows"]]) == (
        "overclock.known/1", 1, ["lake", "y"],
    )  # fmt: skip
    assert planted == [7, 7]
    output = f"--output {tmp_path / 'k'}"
    assert report["command"] == f"overclock translate --known frozen_lake taxi {output} --mutants 7 --json"
    assert [line.partition(" s  ")[2] for line in said.err.splitlines()] == [
        "frozen_lake (1 of 2): uniform, float64", "frozen_lake (1 of 2): done",
        "taxi (2 of 2): uniform, float64", "taxi (2 of 2): refused",
    ]  # fmt: skip


def test_the_command_that_repeats_a_result_says_what_was_asked_for():
    assert repeated((), None, measure=True, mutants=0) == "overclock translate --all-known --json"
    everything = "overclock translate --all-known --output 'a b' --no-measure --mutants 40 --json"
    assert repeated((), Path("a b"), measure=False, mutants=40) == everything


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("translate",), "What shall be translated?"),
        (("translate", "CartPole-v1", "--all-known"), "leave 'CartPole-v1' out"),
        (("translate", "--all-known", "--mutants", "-1"), "--mutants must be 0"),
        (("translate", "--known", "tetris"), "no known environment 'tetris'"),
    ],
)
def test_wrong_words_are_one_sentence(capsys, words, said):
    code, shown = run(capsys, *words)
    assert code == 2
    assert said in shown.err


def test_earlier_results_are_not_written_over(capsys, tmp_path):
    (tmp_path / "taxi").mkdir()
    code, shown = run(capsys, "translate", "--known", "taxi", "--output", str(tmp_path))
    assert code == 2
    assert "is there already" in shown.err


@pytest.mark.long
def test_the_demo_translates_judges_and_times(capsys, tmp_path):
    code, said = run(capsys, "demo", "--levels", "1", "2", "3", "--batch", "64", "--output", str(tmp_path), "--json")
    report = json.loads(said.out)
    assert code == 0
    assert report["outcome"] == "done"
    assert report["speed"][0]["speed_up"] > 0
    page = Path(report["page"]).read_text()
    assert 'href="candidate/env.py"' in page
