"""What commands print."""

import json
from pathlib import Path

import numpy as np
import pytest

from overclock.cli import output


def test_emit_prints_one_line_of_strict_json(capsys):
    output.emit({"schema": "x/1", "n": np.float32(0.5), "a": np.arange(2), "p": Path("a"), "bad": [float("nan"), 1.0]})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"schema": "x/1", "n": 0.5, "a": [0, 1], "p": "a", "bad": [None, 1.0]}


def test_emit_refuses_a_report_without_schema(capsys):
    with pytest.raises(ValueError, match="schema"):
        output.emit({"n": 1})
    assert capsys.readouterr().out == ""


def test_a_table_shows_cells_as_they_are(capsys):
    output.table(["id", "note"], [["cartpole", "overclock[cuda]"], ["pong", "x" * 120]], title="Table")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Table"
    assert lines[2].split() == ["cartpole", "overclock[cuda]"]
    assert lines[3].endswith("x" * 120)


def test_a_title_is_not_broken_where_its_table_is_narrow(capsys):
    output.table(["id"], [["x"]], title="gymnasium:CartPole-v1 to jax")
    assert capsys.readouterr().out.splitlines()[0] == "gymnasium:CartPole-v1 to jax"


def test_messages_go_to_stderr(capsys):
    output.console().print("working")
    assert capsys.readouterr() == ("", "working\n")
