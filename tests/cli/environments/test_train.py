"""`overclock train`: what it says before it trains. What it trains is tested in tests/train."""

import types

import numpy as np
import pytest

pytest.importorskip("flax", reason="training needs the extra 'train'")
pytest.importorskip("optax", reason="training needs the extra 'train'")

from overclock import cli
from overclock.cli.environments.train import _quarters
from overclock.train import command, loop
from overclock.train.networks.flops import Speed

UNFINISHED = types.SimpleNamespace(finished=False, steps=0)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "train_and_report", lambda *_: UNFINISHED)
    return tmp_path


@pytest.mark.parametrize("name", [loop.SETTINGS, loop.CHECKPOINT])
def test_a_folder_with_a_run_names_the_options_that_go_on(here, name, capsys):
    (here / "mine").mkdir()
    (here / "mine" / name).write_text("")
    assert cli.main(["train", "cartpole", "--output", "mine"]) == 2
    err = capsys.readouterr().err
    assert err == (
        "error: 'mine' holds a training run: --resume continues it, --force replaces it, --output chooses another "
        "folder.\n"
    )
    for option in ("--resume", "--force"):
        assert cli.main(["train", "cartpole", "--output", "mine", option]) == 130  # what the answer above says
    capsys.readouterr()


@pytest.mark.parametrize(
    ("steps", "said"),
    [("10", "--steps 10 becomes 1,024: an update takes 1,024 steps, and a run has whole updates.\n"), ("2048", "")],
)
def test_a_number_of_steps_that_is_rounded_up_is_told(steps, said, capsys):
    cli.main(["train", "cartpole", "--steps", steps])
    out, err = capsys.readouterr()
    assert out == ""
    assert err == said + "Stopped after 0 steps; the same command with --resume continues.\n"  # and no blank line


def test_in_a_pipe_every_quarter_is_a_line(capsys):
    update = _quarters(100)
    for done in (10, 30, 40, 100):
        curve = types.SimpleNamespace(
            steps=np.array([done]), metrics={"return": np.zeros((1, 2))}, recent_return=lambda seed: 20.0 + seed
        )
        peak = None if done < 100 else 8e9
        update(types.SimpleNamespace(curve=curve, speed=Speed(1e6, 2e9, peak)))
    assert capsys.readouterr().err.splitlines() == [
        "30 steps: return 20.5, 1,000,000 steps/s",
        "100 steps: return 20.5, 1,000,000 steps/s, MFU 25.0%",
    ]


def test_options_and_size_reach_the_training(monkeypatch):
    asked = []
    monkeypatch.setattr(command, "train_and_report", lambda *given: asked.append(given) or UNFINISHED)
    cli.main(["train", "pong", "--options", "frameskip=8", "continuous=true", "--network", "gru", "--millions", "2"])
    ((env_id, config, *_, static),) = asked
    assert (env_id, static) == ("pong-v1", {"frameskip": 8, "continuous": True})
    assert (config.network, config.memory, config.normalise_observations) == ("gru", config.hidden[0], True)
    assert 12 * config.memory**2 == pytest.approx(2e6, rel=0.05)  # twelve square matrices make nearly all of it


def test_wrong_options_are_all_that_is_told_and_nothing_is_removed(here, capsys):
    (here / "mine").mkdir()
    (here / "mine" / loop.SETTINGS).write_text("{}")
    words = ["train", "pong", "--options", "frameskip=0", "--steps", "1000", "--output", "mine", "--force"]
    assert cli.main(words) == 2
    assert capsys.readouterr().err == "error: Pong's frameskip is a whole number from 1 up, got 0.\n"
    assert (here / "mine" / loop.SETTINGS).exists()


def test_an_option_without_a_value_is_refused(capsys):
    assert cli.main(["train", "pong", "--options", "frameskip"]) == 2
    assert "--options takes name=value, frameskip=8 for example, got 'frameskip'." in capsys.readouterr().err
