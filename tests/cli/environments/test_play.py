"""Playing by hand: what keys do, what is shown, and that a real terminal is left as it was found."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest

from overclock import play
from overclock.cli.environments.terminal import LEAVE_SCREEN, KeyReader, Terminal
from overclock.env import registry
from overclock.errors import UsageError

PATIENCE_S = 120  # a guard against hanging, not a measure

# The program, with its stdin as the controlling terminal, so that Ctrl-C becomes a signal.
START = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from overclock.cli import main
sys.exit(main())
"""


@pytest.fixture
def game():
    return play.Game.of("cartpole", seed=1)


class ScriptedScreen:
    """Gives one list of keys per frame and keeps what was shown."""

    def __init__(self, script, size=(60, 20)):
        self.script, self.shown, self.deadlines, self.window = iter(script), [], [], size

    def size(self):
        return self.window

    def keys(self, deadline):
        self.deadlines.append(deadline)
        return next(self.script, ["q"])

    def show(self, lines):
        self.shown.append(lines)


def test_nothing_moves_before_the_first_key(game):
    before = game.frame()
    game.tick()
    assert (game.phase, game.steps) == ("ready", 0)
    np.testing.assert_array_equal(before, game.frame())


@pytest.mark.parametrize(("key", "direction"), [("left", -1), ("a", -1), ("right", 1), ("d", 1)])
def test_keys_push_the_cart(game, key, direction):
    before = float(game.state.rules.x_dot)
    game.press(key)
    game.tick()
    assert np.sign(float(game.state.rules.x_dot) - before) == direction


def test_the_last_key_counts_until_the_next(game):
    game.press("right")
    for _ in range(3):
        game.tick()
    assert game.steps == 3
    assert float(game.state.rules.x_dot) > 0.4


def test_an_episode_ends_with_its_last_picture_and_keeps_the_best_score(game):
    game.press("left")
    while game.phase == "running":
        game.tick()
    score = game.score
    assert abs(float(game.state.rules.theta)) > 0.2  # the fallen pole, not the next start
    assert (game.phase, game.best) == ("over", score)
    game.tick()
    assert game.score == score
    game.press("space")
    assert (game.phase, game.score, game.best) == ("ready", 0, score)
    assert "best" in game.status()


def test_pause_holds_and_restart_begins_anew(game):
    game.press("right")
    game.tick()
    game.press("p")
    game.tick()
    assert (game.phase, game.steps) == ("paused", 1)
    game.press("p")
    game.tick()
    assert game.steps == 2
    first = game.frame()
    game.press("r")
    assert (game.phase, game.steps, game.score) == ("ready", 0, 0)
    assert (game.frame() != first).any()


def test_the_loop_shows_every_frame_at_a_fixed_rate_until_quit(game):
    screen = ScriptedScreen([[], ["right"], [], ["q"]])
    play.loop(game, screen, fps=50, clock=lambda: 7.0)
    assert game.steps == 2 + 1  # the step of the frame in which q came is still made
    np.testing.assert_allclose(screen.deadlines, [7.02, 7.04, 7.06, 7.08])
    assert all(len(lines) == 20 for lines in screen.shown)
    assert "score 0" in screen.shown[0][-2]
    assert "score 1" in screen.shown[2][-2]


def test_a_late_frame_is_not_made_up_for(game):
    times = iter([0.0, 5.0, 5.0, 5.02])
    screen = ScriptedScreen([[], [], ["q"]])
    play.loop(game, screen, fps=50, clock=lambda: next(times))
    np.testing.assert_allclose(screen.deadlines, [5.0, 5.02, 5.04])


def test_a_tiny_window_asks_for_a_larger_one(game):
    screen = ScriptedScreen([["q"]], size=(10, 3))
    play.loop(game, screen, fps=50, clock=lambda: 0.0)
    assert screen.shown == [["Enlarge th"]]


def test_half_blocks_carry_two_pixels_per_character():
    frame = np.zeros((4, 4, 3), np.uint8)
    frame[0] = (255, 0, 0)
    frame[1] = (0, 0, 255)
    first, second = play.half_blocks(frame, 4, 2)
    assert first == "\x1b[38;2;255;0;0;48;2;0;0;255m▀▀▀▀\x1b[0m"
    assert second == "\x1b[48;2;0;0;0m    \x1b[0m"


@pytest.mark.parametrize("size", [(80, 22), (200, 10), (21, 60)])
def test_half_blocks_fill_the_window_and_keep_the_shape(size):
    frame = np.random.default_rng(0).integers(0, 255, (400, 600, 3), np.uint8)
    lines = play.half_blocks(frame, *size)
    text = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert len(text) == size[1]
    drawn = [line for line in text if line]
    cells = len(drawn[0].strip())
    assert max(map(len, text)) <= size[0]
    assert cells / (2 * len(drawn)) == pytest.approx(1.5, rel=0.1)  # whole characters only


def test_environments_that_cannot_be_played_say_so(monkeypatch):
    blind = registry.Spec(id="blind-v0", entry_point="nowhere:Nothing", keys=(("left", 0),))
    monkeypatch.setitem(registry._registry, blind.id, blind)
    with pytest.raises(UsageError, match="no renderer"):
        play.check("blind")
    with pytest.raises(UsageError, match="--fps must be above 0 and at most 1000, got 0"):
        play.check("cartpole", fps=0)


def test_a_game_has_the_environments_options():
    assert play.Game.of("pong", 1, {"frameskip": 8}).env.frameskip == 8
    with pytest.raises(UsageError, match="pong-v1 cannot be played with these options"):
        play.Game.of("pong", 1, {"continuous": True})


def test_keys_are_read_whole_even_when_they_arrive_in_pieces():
    reader = KeyReader()
    assert reader.feed(b"aD \r\x1b[D\x1bOC\x1b[1;5A") == ["a", "d", "space", "enter", "left", "right", "up"]
    assert reader.feed(b"x\x1b") == ["x"]
    assert reader.feed(b"[") == []
    assert reader.feed(b"Cq") == ["right", "q"]


@contextlib.contextmanager
def pseudo_terminal(rows=24, columns=80):
    """(master, slave) of a new terminal with a size."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    try:
        yield master, slave
    finally:
        os.close(master)
        os.close(slave)


def read_until(master, marker, seen=""):
    """What the terminal received up to (and a little past) the marker."""
    while marker not in seen:
        ready, _, _ = select.select([master], [], [], PATIENCE_S)
        assert ready, f"never saw {marker!r}; the end of what was seen: {seen[-300:]!r}"
        seen += os.read(master, 65536).decode("utf-8", "replace")
    return seen


@contextlib.contextmanager
def own_terminal():
    """This process on a terminal: (master, slave). Not a fixture: pytest sets sys.stdout anew before each test."""
    with (
        pseudo_terminal() as (master, slave),
        open(slave, closefd=False) as stdin,
        open(slave, "w", closefd=False) as stdout,
        contextlib.redirect_stdout(stdout),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "stdin", stdin)
        yield master, slave


def fail_inside():
    with Terminal():
        raise ZeroDivisionError


def be_terminated_inside():
    with Terminal():
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(("leave", "error"), [(fail_inside, ZeroDivisionError), (be_terminated_inside, SystemExit)])
def test_the_terminal_is_restored_whatever_happens_inside(leave, error):
    with own_terminal() as (master, slave):
        before, handler = termios.tcgetattr(slave), signal.getsignal(signal.SIGTERM)
        with pytest.raises(error):
            leave()
        assert termios.tcgetattr(slave) == before
        assert signal.getsignal(signal.SIGTERM) == handler
        read_until(master, LEAVE_SCREEN)


def test_only_lines_that_changed_are_drawn_again_unless_the_window_did():
    with own_terminal() as (master, slave), Terminal() as terminal:
        assert terminal.size() == (80, 24)
        terminal.show(["one", "two"])
        terminal.show(["one", "six"])
        text = read_until(master, "\x1b[2;1Hsix")
        assert text.count("one") == 1
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 90, 0, 0))
        terminal.show(["one", "six"])
        assert "\x1b[2J\x1b[1;1Hone" in read_until(master, "\x1b[2;1Hsix")


@pytest.mark.parametrize(("leave", "code"), [(b"q", 0), (b"\x03", 130)])
def test_a_real_terminal_plays_and_is_left_as_it_was(leave, code):
    command = [sys.executable, "-c", START, "play", "cartpole", "--seed", "1", "--fps", "20"]
    with pseudo_terminal() as (master, slave):
        before = termios.tcgetattr(slave)
        process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        try:
            read_until(master, "press left/right to start")
            os.write(master, b"\x1b[C")
            assert "▀" in read_until(master, "score 2")
            os.write(master, leave)
            seen = read_until(master, LEAVE_SCREEN)
            assert process.wait(PATIENCE_S) == code
        finally:
            process.kill()
            process.wait()
        assert "Traceback" not in seen
        assert termios.tcgetattr(slave) == before
