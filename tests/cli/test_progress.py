"""Progress in a log: one plain line per finished piece, and nothing else."""

import re

from overclock.cli.progress import ProgressDisplay


def told(capsys):
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"( *\d+ s  [^\n]+\n)*", err)  # no blank line
    return re.findall(r"\d+ s  (.*)", err)


def test_a_piece_is_told_once_when_it_is_over(capsys):
    with ProgressDisplay() as progress:
        for done in range(3):
            progress("episodes", done, 3)
        assert told(capsys) == []
        progress("shrinking", 5, 5)
        progress("shrinking", 6, 6)
        assert told(capsys) == ["episodes"]
        progress("episodes", 0, 3)
        progress("replaying", 0, 1)
    assert told(capsys) == ["shrinking", "replaying"]


def test_what_is_said_comes_after_the_pieces_before_it_and_pieces_may_come_again(capsys):
    with ProgressDisplay() as progress:
        progress("episodes", 3, 3)
        progress.say("level 3: the reward differs [0.0].")
        progress("episodes", 1, 3)
    assert [line.partition(" s  ")[2] or line for line in capsys.readouterr().err.splitlines()] == [
        "episodes", "level 3: the reward differs [0.0].", "episodes",
    ]  # fmt: skip


def test_a_piece_that_was_cut_short_is_not_told(capsys):
    progress = ProgressDisplay()
    progress.__enter__()
    progress("episodes", 1, 3)
    progress.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert told(capsys) == []
