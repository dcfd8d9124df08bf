"""`overclock record` writes a whole animation or nothing."""

import json

import pytest
from PIL import Image, ImageSequence

from overclock import cli
from overclock.env import registry
from overclock.errors import UsageError
from overclock.record import record


def frames_of(path):
    with Image.open(path) as picture:
        return [frame.convert("RGB").copy() for frame in ImageSequence.Iterator(picture)]


def duration_of(path):
    """How long the whole animation lasts, in milliseconds; files may join frames that do not differ."""
    with Image.open(path) as picture:
        return sum(frame.info["duration"] for frame in ImageSequence.Iterator(picture))


def test_a_gif_moves_at_the_asked_rate_and_stays_small(tmp_path, capsys):
    target = tmp_path / "out.gif"
    assert cli.main(["record", "cartpole", str(target), "--policy", "controller", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "overclock.record/1"
    assert report["path"] == str(target)
    assert (report["steps"], report["frames"], report["episodes"]) == (200, 201, 1)
    assert report["bytes"] == target.stat().st_size < 500_000
    frames = frames_of(target)
    assert frames[0].size == (400, 267)
    assert frames[0].tobytes() != frames[-1].tobytes()
    assert duration_of(target) == 201 * 20
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("suffix", [".webp", ".png"])
def test_other_formats_are_animations_too(tmp_path, suffix):
    target = tmp_path / f"out{suffix}"
    record("cartpole", target, steps=5, width=120)
    frames = frames_of(target)
    assert 1 < len(frames) <= 6  # both formats join frames that do not differ
    assert frames[0].size == (120, 80)


def test_an_episodes_last_picture_and_the_next_ones_first_are_both_shown(tmp_path):
    report = record("cartpole", tmp_path / "out.png", steps=30, policy="still", width=120)
    assert report.episodes > 1  # always pushing left, the pole falls after about ten steps
    assert report.frames == 30 + report.episodes


def test_options_are_the_environments(tmp_path, capsys):
    words = ["--steps", "3", "--width", "64", "--json", "--options"]
    assert cli.main(["record", "pong", str(tmp_path / "a.png"), *words, "frameskip=8", "continuous=true"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["options"] == {"frameskip": 8, "continuous": True}
    assert said.err == ""  # no blank line of a bar that nobody sees
    assert cli.main(["record", "pong", str(tmp_path / "b.png"), *words, "frames=8"]) == 2
    assert "pong-v1 has no option 'frames'" in capsys.readouterr().err
    with pytest.raises(UsageError, match="The scripted controller of pong-v1 does not play with these options"):
        record("pong", tmp_path / "b.png", 3, "controller", options={"continuous": True})
    assert not (tmp_path / "b.png").exists()


def test_the_same_seed_gives_the_same_file_and_another_seed_another(tmp_path):
    names = ("a", "b", "c")
    for name, seed in zip(names, (1, 1, 2), strict=True):
        record("cartpole", tmp_path / f"{name}.gif", steps=10, seed=seed, width=120)
    first, second, third = ((tmp_path / f"{name}.gif").read_bytes() for name in names)
    assert first == second != third


@pytest.mark.parametrize(
    ("name", "options", "part"),
    [
        ("out.mp4", {}, "must end in .gif, .webp, .png"),
        ("out", {}, "must end in"),
        ("absent/out.gif", {}, "does not exist"),
        ("out.gif", {"steps": 0}, "--steps must be at least 1"),
        ("out.gif", {"fps": 60}, "at most 50"),
        ("out.gif", {"fps": 0}, "--fps must be above 0"),
        ("out.gif", {"width": 3}, "--width"),
        ("out.gif", {"policy": "best"}, "No policy is called 'best'"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_writes_nothing(tmp_path, name, options, part):
    with pytest.raises(UsageError, match=part):
        record("cartpole", tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_replaced_only_when_forced(tmp_path):
    target = tmp_path / "out.gif"
    target.write_bytes(b"mine")
    with pytest.raises(UsageError, match="--force"):
        record("cartpole", target, steps=2)
    assert target.read_bytes() == b"mine"
    record("cartpole", target, steps=2, force=True)
    assert target.read_bytes().startswith(b"GIF89a")


def test_a_failure_while_writing_keeps_the_old_file_and_leaves_no_other(tmp_path, monkeypatch):
    target = tmp_path / "out.gif"
    target.write_text("mine")

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("overclock.files.os.replace", full_disk)
    with pytest.raises(UsageError, match="No space left on device"):
        record("cartpole", target, steps=2, force=True)
    assert target.read_bytes() == b"mine"
    assert list(tmp_path.iterdir()) == [target]


def test_an_environment_without_a_picture_is_refused(tmp_path, monkeypatch):
    blind = registry.Spec(id="blind-v0", entry_point="nowhere:Nothing")
    monkeypatch.setitem(registry._registry, blind.id, blind)
    with pytest.raises(UsageError, match="blind-v0 has no renderer"):
        record("blind", tmp_path / "out.gif")
