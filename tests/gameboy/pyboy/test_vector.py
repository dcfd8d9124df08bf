"""The peers that our batch is measured beside play its episodes: the same seeds, pictures, rewards and ends."""

import numpy as np
import pytest

from overclock.errors import MissingError, UsageError
from overclock.gameboy.games import game_program
from overclock.gameboy.pyboy.console import import_pyboy
from overclock.gameboy.pyboy.vector import PyBoyProcesses, PyBoyThreads
from overclock.gameboy.vector import GameBoyMaze, GameBoyPaddle

pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")


@pytest.fixture(autouse=True)
def _pyboy():
    try:
        import_pyboy()
    except MissingError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize(
    ("peer", "game", "ours", "steps"),
    [
        (PyBoyThreads, "paddle", GameBoyPaddle, 40),
        (PyBoyThreads, "maze", GameBoyMaze, 10),
        (PyBoyProcesses, "paddle", GameBoyPaddle, 40),
    ],
)
def test_a_peer_plays_our_episodes(peer, game, ours, steps):
    theirs, batch = peer(3, 2 if peer is PyBoyThreads else 1, game=game), ours(3)
    numbers, ended = np.random.default_rng(0), 0
    for _ in range(2):  # what one run leaves in a PyBoy must not show in the next
        np.testing.assert_array_equal(theirs.reset([5, 6, 7]), batch.reset([5, 6, 7]))
        for _ in range(steps):
            actions = numbers.integers(0, batch.action_space.n, 3)
            expected, found = theirs.step(actions), batch.step(actions)
            for name in ("obs", "reward", "terminated", "truncated", "final_obs"):
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
            ended += found.terminated.sum()
    theirs.close()
    assert ended or game == "maze"


def test_a_state_of_ours_is_nothing_for_pyboy(tmp_path):
    (tmp_path / "own.gb").write_bytes(game_program("maze").rom)
    (tmp_path / "late.state").write_bytes(b"")
    (tmp_path / "own.toml").write_text(
        'name = "own"\n[actions]\nbuttons = ["none"]\n[observation]\nkind = "gray"\n[reset]\nstate = "late.state"\n'
        "[values]\nlives = { at = 0xC005 }\n"
    )
    with pytest.raises(UsageError, match="PyBoy cannot load a state of ours"):
        PyBoyThreads(1, 1, rom=str(tmp_path / "own.gb"), description=str(tmp_path / "own.toml"))
