"""Level 4 on the page: pictures that agree with the verdicts, controls, and what returns cannot see."""

import pytest

pytest.importorskip("jinja2", reason="the page needs the extra 'report'")
pytest.importorskip("matplotlib", reason="the page needs the extra 'report'")

from report.reading import html, markdown, sentences

from overclock.report import figures, transfer
from overclock.report.figures import ticks
from overclock.results import decode
from overclock.verify.transfer.result import Curve, TransferLevel


def equivalence(level):
    return figures.equivalence(decode(TransferLevel, level))


def curves(sides):
    return figures.curves(decode(dict[str, Curve], sides))


def transfer_section(level):
    return transfer.transfer_section(decode(TransferLevel, level))


@pytest.fixture
def level(passed):
    """Level 4 of the report `passed`, which it is part of."""
    return passed["levels"][3]


def cells(table, column):
    return [row[list(table.columns).index(column)] for row in table.rows]


def test_an_interval_lies_inside_the_band_exactly_if_the_group_is_equivalent(level):
    picture = equivalence(level)
    assert len(picture.rows) == 3 + 2 + 2
    for row in picture.rows:
        inside = picture.left < row.low and row.high < picture.right
        assert inside == (row.verdict == "equivalent")
    assert {row.verdict for row in picture.rows} == {"equivalent", "different", "inconclusive"}


def test_an_interval_that_leaves_the_picture_ends_in_an_arrow(level):
    level["groups"][0]["tost"].update(interval=[2.0, 600.0], difference=300.0)
    row = equivalence(level).rows[0]
    assert (row.cut_low, row.cut_high, row.middle) == (False, True, None)
    assert row.high <= 400


def test_both_backends_are_drawn_against_steps_and_against_seconds(level):
    by_steps, by_seconds = curves(level["curves"])
    for picture in (by_steps, by_seconds):
        assert [line.side for line in picture.lines] == ["performance", "reference"]
        for line in picture.lines:
            points = [tuple(map(float, point.split(","))) for point in line.mean.split()]
            assert len(points) == len(level["curves"][line.side]["mean"])
            assert all(0 <= x <= 400 and 0 <= y <= 240 for x, y in points)
    ends = {line.side: float(line.mean.split()[-1].split(",")[0]) for line in by_seconds.lines}
    assert ends["performance"] < ends["reference"] == 390.0


def test_updates_before_the_first_finished_episode_are_left_out(level):
    for name in ("mean", "low", "high"):
        level["curves"]["reference"][name][0] = None
    reference = curves(level["curves"])[0].lines[1]
    assert len(reference.mean.split()) == len(level["curves"]["reference"]["mean"]) - 1


def test_policies_that_were_never_trained_have_no_curves(passed, level):
    for curve in level["curves"].values():
        curve.update({name: [] for name in ("steps", "seconds", "mean", "low", "high")})
    assert curves(level["curves"]) == []
    assert 'class="card curve"' not in html(passed, None)


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0, 500, [0, 100, 200, 300, 400, 500]), (-3, 1, [-3, -2, -1, 0, 1])]
)
def test_ticks_are_round(low, high, expected):
    assert ticks(low, high) == expected


def test_controls_say_what_they_must_show_and_what_they_showed(level):
    table = transfer_section(level).controls
    assert cells(table, "verdict") == ["passed", "passed"]
    assert cells(table, "showed")[1] == "seen in half-trained policies from the reference"
    level["controls"]["a_a"].update(passed=False)
    level["controls"]["planted"].update(seen=False)
    assert cells(transfer_section(level).controls, "verdict") == ["failed", "failed"]


def test_a_plan_without_controls_says_so(passed, level):
    level["controls"].update(planted=None, unseen=None)
    assert cells(transfer_section(level).controls, "verdict") == ["passed", "not run"]
    assert "Returns hide errors" not in html(passed, None).split("Level 4, transfer")[1].split("Would these")[0]


def test_the_bug_that_returns_hide_is_named(passed):
    page = html(passed, None)
    assert "Returns hide errors: with the bug &#39;polemass-plus&#39; planted, no group" in page
    assert "only the states they visit give it away" in page


def test_an_open_question_says_how_many_policies_would_decide(passed, level):
    level["groups"][1].update(verdict="inconclusive", n_needed=57)
    level["groups"][2].update(verdict="inconclusive", n_needed=None)
    summary = "inconclusive after 20 policies per group: trained policies."
    level.update(verdict="inconclusive", summary=summary)
    passed["verdict"] = "inconclusive"
    table = transfer_section(level).groups
    assert cells(table, "policies needed") == ["-", "57", "no practical number"]
    assert "| inconclusive | 57 |" in markdown(passed, None)
    assert sentences(passed, None)[0].endswith(f"level 4 (transfer): {summary}")
    assert "pill open" in html(passed, None)


def test_visited_states_stand_beside_their_null(level):
    table = transfer_section(level).visited
    assert cells(table, "between the sides")[0] == "0.00015 bits"
    assert cells(table, "if only chance differs")[0] == "0.00014 bits"
    assert cells(table, "verdict") == ["consistent"] * 3
