"""CartPole is solved in seconds by its tuned configuration, through the command and through Python."""

import dataclasses
import json
import re

import numpy as np
import pytest

import overclock
from overclock import cli
from overclock.train import PPOConfig, command, load_policy, make_train, train, tuned
from overclock.train.evaluate import evaluate_policy
from overclock.vector import vectorize


@pytest.mark.long  # one seed, in both precisions: test_network.py
def test_several_seeds_solve_cartpole():
    env, params = overclock.make("cartpole")
    seeds = [0, 1, 2]
    run = train(make_train(env, params, tuned("cartpole")), seeds)
    venv = vectorize(env, 100)
    for index in range(len(seeds)):
        returns = evaluate_policy(run.policy(index), venv, range(1000, 1100)).returns
        assert returns.mean() >= 475, f"seed {seeds[index]}"


def test_the_tuned_configuration_belongs_to_the_id():
    assert tuned("cartpole") == tuned("cartpole-v1") != PPOConfig()
    assert tuned("cartpole", gamma=0.5).gamma == 0.5


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("few_optimisations")
def test_the_command_reports_writes_and_refuses_to_overwrite(here, capsys):
    words = ["train", "cartpole", "--steps", "2000", "--seeds", "2", "--seed", "7", "--measured-peak"]
    assert cli.main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    folder = here / "runs" / "train-cartpole-v1-seed7"
    assert report["schema"] == "overclock.train/1"
    assert report["finished"]
    assert report["steps"] == 2048  # whole updates
    assert [entry["seed"] for entry in report["seeds"]] == [7, 8]
    assert (report["devices"], report["hosts"], report["parameters"]) == (1, 1, 9155)
    assert report["steps_per_second"] == pytest.approx(2 * 2048 / report["seconds"], rel=1e-3)
    assert report["peak_source"] == "measured"
    used = report["steps_per_second"] * report["flops_per_step"]
    assert report["mfu"] == pytest.approx(used / report["peak_flops"])
    assert json.loads((folder / "curve.json").read_text()) == report
    for entry in report["seeds"]:
        assert entry["evaluation"]["episodes"] == 100
        assert entry["curve"]["steps"] == [1024, 2048]
        assert len(entry["curve"]["seconds"]) == len(entry["curve"]["return"]) == 2
        policy = load_policy(entry["policy"])
        returns = evaluate_policy(policy, vectorize(overclock.make("cartpole")[0], 100), range(2**32, 2**32 + 100))
        assert entry["evaluation"]["return_mean"] == pytest.approx(float(np.mean(returns.returns)))

    assert cli.main(words) == 2
    assert "holds a training run" in capsys.readouterr().err
    assert cli.main([*words, "--resume"]) == 0  # a finished run is evaluated again, nothing else
    out = capsys.readouterr().out
    assert "2,048 steps per seed" in out
    assert re.search(r"steps/s with 9,155 parameters, MFU \d+\.\d% of the measured peak", out)
    (folder / "notes.txt").write_text("mine")
    command.clear(folder)  # what --force does first
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == ["notes.txt"]


@pytest.mark.parametrize("json_option", [[], ["--json"]])
def test_an_interrupted_command_says_how_to_go_on(here, capsys, monkeypatch, json_option):
    nothing = dict.fromkeys(field.name for field in dataclasses.fields(command.TrainingReport))
    known = {"schema": "overclock.train/1", "finished": False, "steps": 1024}
    unfinished = command.TrainingReport(**(nothing | known))
    monkeypatch.setattr(command, "train_and_report", lambda *_: unfinished)
    assert cli.main(["train", "cartpole", *json_option]) == 130
    out, err = capsys.readouterr()
    assert out == (json.dumps(nothing | known) + "\n" if json_option else "")
    assert "1,024 steps; the same command with --resume continues" in " ".join(err.split())


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["cartpol"], "did you mean 'cartpole'"),
        (["cartpole", "--seeds", "0"], "--seeds must be at least 1"),
        (["cartpole", "--seed", "-1"], "Seeds must be"),
        (["cartpole", "--steps", "0"], "total_steps must be"),
        (["cartpole", "--resume", "--force"], "choose one"),
        (["cartpole", "--resume"], "no training run"),
        (["cartpole", "--output", "/dev/null"], "is a file, not a folder"),
    ],
)
def test_wrong_requests_are_one_sentence_and_write_nothing(here, capsys, words, part):
    assert cli.main(["train", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert part in err
    assert list(here.iterdir()) == []
