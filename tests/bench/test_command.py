"""`overclock bench` as it is called: one JSON object on stdout, or a table; files only when complete."""

import json

import pytest
from bench.made import MACHINE

from overclock.bench import resets
from overclock.bench.results import ResetComparison
from overclock.cli import main

TINY = ["--batch", "4", "--steps", "16", "--warmup", "1", "--repeats", "5"]


def test_json_is_one_object_and_nothing_else(capsys):
    assert main(["bench", "cartpole", *TINY, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "overclock.bench/1"
    assert report["environment"] == "cartpole-v1"
    assert report["results"][0]["batch"] == 4


def test_the_reported_command_repeats_the_measurement(capsys):
    assert main(["bench", "cartpole-v1", *TINY, "--seed", "5", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    program, *words = first["command"].split()
    assert program == "overclock"
    assert main([*words, "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["command"] == first["command"]
    assert second["results"][0]["checksum"] == first["results"][0]["checksum"]


def test_people_get_a_table_and_files(capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    report, picture = tmp_path / "out" / "report.json", tmp_path / "out" / "speed.svg"
    assert main(["bench", *TINY, "--output", str(report), "--plot", str(picture)]) == 0
    shown = capsys.readouterr().out
    for word in ("cartpole-v1 on", "implementation", "overclock", "repeat: overclock bench cartpole --batch 4"):
        assert word in shown
    assert json.loads(report.read_text())["schema"] == "overclock.bench/1"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.json", "speed.svg"]


def test_reset_strategies_are_compared_by_a_flag(capsys, monkeypatch):
    def measured(config, progress):
        return ResetComparison(
            schema=resets.SCHEMA, date="", command="", seed=0, machine=MACHINE, environment="", batch=config.batch[0],
            step="", results=[],
        )  # fmt: skip

    monkeypatch.setattr(resets, "measure_resets", measured)
    assert main(["bench", "--compare-resets", "--batch", "32", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["schema"], report["batch"]) == ("overclock.bench.resets/1", 32)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["cartpol"], "did you mean 'cartpole'"),
        (["--batch", "0"], "--batch takes positive whole numbers"),
        (["--repeats", "4"], "at least 5 repeats"),
        (["--peers", "nobody"], "No peer is called 'nobody'"),
        (["--sizes", "0.01"], "--sizes changes nothing in this measurement; add --breakdown, or leave it out."),
        (
            ["--breakdown", "--peers", "gymnax"],
            "--peers changes nothing in this measurement; leave it out with --break",
        ),
        (["--breakdown", "--min-seconds", "1"], "--min-seconds changes nothing"),
        (["--compare-resets", "--resets", "pool:8"], "--resets changes nothing"),
        (["--compare-resets", "--plot", "a.png"], "leave it out with --compare-resets"),
    ],
)
def test_bad_input_is_one_sentence_exit_code_2_and_no_file(capsys, tmp_path, words, sentence):
    target = tmp_path / "report.json"
    assert main(["bench", *words, "--output", str(target)]) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert said.out == ""
    assert not target.exists()
