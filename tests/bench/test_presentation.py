"""Tables, plots and files made from a report."""

import dataclasses
import io
import os

import pytest
from bench.made import MACHINE, row

from overclock.bench import markdown, plot, table
from overclock.bench.plots import label_shift
from overclock.bench.report import ratios
from overclock.bench.results import Skip, Throughput
from overclock.bench.tables import compared, notes, rate
from overclock.cli.environments.bench import show
from overclock.errors import UsageError
from overclock.files import write_whole


def around(name, batch, median, **changes):
    return row(name, batch, [median * 0.9, median, median * 1.1], **changes)


@pytest.fixture
def report():
    results = [
        around("overclock", 64, 30e6, compile_seconds=1.25),
        around("gymnax", 64, 6e6),
        around("gymnasium-sync", 64, 1e5),
        around("overclock", 1024, 3.4e9),
        around("gymnasium-sync", 1024, 1e5, run_batch=64),
    ]
    return Throughput(
        schema="overclock.bench/1", date="2026-11-15T12:00:00+00:00", command="overclock bench cartpole", seed=0,
        machine=MACHINE, environment="cartpole-v1", step="", results=results, ratios=ratios(results), skipped=[],
    )  # fmt: skip


def test_steps_without_room_are_told_below_the_table(report):
    assert not any("WARNING" in note for note in notes(report))
    report.results[0] = dataclasses.replace(report.results[0], overflowed=1234)
    assert notes(report) == [
        "WARNING: overclock (batch 64) ran out of room in 1,234 steps, which are not the reference's "
        "(docs/translator.md, Capacities)."
    ]


@pytest.mark.parametrize(
    ("sps", "text"), [(3.4123e10, "34.1 G"), (999.6e6, "1 G"), (7.8e5, "780 K"), (1.2e12, "1,200 G"), (12.0, "12")]
)
def test_rates_have_three_digits(sps, text):
    assert rate(sps) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(5.0, "5x faster"), (12.54, "12.5x faster"), (1950.2, "1,950x faster"), (0.5, "2x slower")]
)
def test_ratios_read_as_words(ratio, text):
    assert compared(ratio) == text


def test_the_markdown_shows_every_row_with_its_ratio_and_the_command(report):
    text = markdown(report)
    assert "`overclock bench cartpole`" in text
    assert "NVIDIA H200, jax 0.11.2, 2026-11-15" in text
    assert "| 64 | overclock | 30 M | 27 M .. 33 M | 64 | 22.2 | 1.2 s | - |" in text
    assert "| 64 | gymnax 1.0.1 | 6 M | 5.4 M .. 6.6 M | 64 | 22.2 | - | 5x faster |" in text
    # A peer that ran at another batch than ours has no ratio.
    assert "| 1,024 | gymnasium-sync 1.0.1 (at 64) | 100 K | 90 K .. 110 K | 64 | 22.2 | - | - |" in text


def test_labels_of_lines_that_end_close_together_move_apart():
    lines = {"a": [(8, 1.0, 100.0, 1.0)], "b": [(8, 1.0, 90.0, 1.0)], "c": [(8, 1.0, 10.0, 1.0)]}
    shifts = [label_shift(lines, name) for name in lines]
    assert shifts[0] > 0 > shifts[1]
    assert shifts[2] == 0


def test_the_terminal_table_has_the_same_cells(report):
    from rich.console import Console

    text = io.StringIO()
    Console(file=text, width=200).print(table(report))
    for cell in ("fastest of ours is", "5x faster", "300x faster", "3.4 G"):
        assert cell in text.getvalue()


def test_a_note_is_shown_once_with_the_batches_it_is_about(report, capsys):
    rows = [
        dataclasses.replace(row, note="threads: 2" if i in (1, 2, 4) else "") for i, row in enumerate(report.results)
    ]
    show(dataclasses.replace(report, results=rows))
    shown = capsys.readouterr().out
    assert "gymnax (batch 64): threads: 2." in shown
    assert "gymnasium-sync (batch 64 and 1,024): threads: 2." in shown


def test_the_plot_is_a_readable_picture(report, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    import numpy as np
    from PIL import Image

    path = tmp_path / "new" / "folder" / "speed.png"
    plot(report, path)
    with Image.open(path) as image:
        image.verify()
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape[0] > 400
    assert (pixels == (0xD1, 0x49, 0x5B)).all(axis=-1).sum() > 500  # our line, in our colour
    assert os.listdir(path.parent) == ["speed.png"]


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_the_plot_takes_its_format_from_the_name(report, tmp_path, suffix):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    plot(report, tmp_path / f"speed{suffix}")
    start = (tmp_path / f"speed{suffix}").read_bytes()[:64]
    assert (b"<?xml" if suffix == ".svg" else b"%PDF") in start


def test_a_reason_is_one_line_however_long(report, capsys):
    reason = "it is so because " + "of this and " * 40 + "that."
    show(dataclasses.replace(report, skipped=[Skip("overclock-c", reason)]))
    assert f"not measured: overclock-c: {reason}" in capsys.readouterr().out.splitlines()


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    write_whole(path, b"old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report.json"]


def test_an_impossible_place_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"Cannot write .*choose another place"):
        write_whole(tmp_path / "file" / "report.json", b"{}")
