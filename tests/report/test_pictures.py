"""Errors of a chaotic system and curves of every seed: on the page, and as pictures of their own."""

import re

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="the page needs the extra 'report'")
pytest.importorskip("matplotlib", reason="pictures need the extra 'report'")

from report.reading import html
from verify.chaos import ENVELOPE

from overclock.report.figures import curves
from overclock.report.pictures import draw_curves, draw_envelope
from overclock.results import decode, encode
from overclock.verify.rollout.envelope import judge_errors
from overclock.verify.tolerance import Tolerance
from overclock.verify.transfer.result import Curve, TransferLevel


@pytest.fixture
def found():
    """Errors that double, the copies' behind by a factor of ten; zero at first, as equal sides have them."""
    free = np.tile(1e-16 * 2.0 ** np.arange(40)[:, None], (1, 20))
    free[0] = 0.0
    return judge_errors(ENVELOPE, Tolerance(1e-12), np.full_like(free, 1e-15), free, np.stack([free / 10, free / 5]))


def level(report, number):
    return next(one for one in report["levels"] if one["level"] == number)


def test_the_page_shows_the_envelope_and_when_errors_reach_a_size(passed, found):
    plain = html(passed, None)
    assert "A chaotic system beside its own spread" not in plain
    level(passed, 3)["envelope"] = encode(found)
    page = html(passed, None)
    assert page.count("<svg") == plain.count("<svg") + 1
    assert "Free running to the end of 20 episodes stays in the envelope of 8 copies" in page
    assert "because it rounds at every step" in page
    cells = [re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>1e-10</td>(.*?)</tr>", page)]
    assert cells == ["2124"]  # step 21 here, 24 of both copies together


def test_an_envelope_that_was_left_stands_out_and_fails_the_page(passed, found):
    left = {"verdict": "fail", "sentence": "free running leaves what an ulp explains at step 7"}
    level(passed, 3).update(envelope={**encode(found), **left}, verdict="fail")
    passed["verdict"] = "fail"
    page = html(passed, None)
    assert "level 3 (rollout) failed; free running leaves what an ulp explains at step 7." in page
    assert '<div class="card alarm"><p>Free running leaves' in page


def test_a_picture_of_the_envelope_has_every_share_and_single_steps(found):
    axes = draw_envelope(found, "a title").axes
    assert [one.get_title().partition(":")[0] for one in axes] == ["free running"] * 3 + [
        "one step from the reference's own state"
    ]
    assert all(one.get_yscale() == "log" for one in axes)
    allowed = [[line.get_label() for line in one.lines if "allowed" in str(line.get_label())] for one in axes]
    assert allowed == [["allowed (100 x)"], [], [], ["allowed"]]  # of 20 episodes no two in ten are judged


def curve(seeds):
    rows = np.array(seeds, float)
    return {
        "steps": [10, 20, 30], "seconds": [0.1, 0.2, 0.3], "mean": rows.mean(0).tolist(), "low": rows.min(0).tolist(),
        "high": rows.max(0).tolist(), "band": [10.0, 90.0], "seeds": [list(map(float, row)) for row in seeds],
    }  # fmt: skip


def test_every_seed_of_either_side_has_its_line(passed):
    sides = {"performance": curve([[0, 1, 2], [1, 2, 9]]), "reference": curve([[0, 0, 1], [-3, 2, 2], [1, 1, 1]])}
    sides["reference"]["seeds"][0][0] = None  # no episode had ended yet
    lines = {line.side: line.seeds for line in curves(decode(dict[str, Curve], sides))[0].lines}
    assert {side: len(seeds) for side, seeds in lines.items()} == {"performance": 2, "reference": 3}
    assert [len(points.split()) for points in lines["reference"]] == [2, 3, 3]
    heights = [float(point.partition(",")[2]) for seeds in lines.values() for one in seeds for point in one.split()]
    assert min(heights) >= 0
    assert max(heights) <= 240  # also where a seed is outside of the band
    level(passed, 4)["curves"] = sides
    assert html(passed, None).count('stroke-width=".7"') == 2 * 5  # against steps and against seconds
    drawn = draw_curves(decode(TransferLevel, level(passed, 4)), "a title").axes[0].lines
    assert [line.get_linewidth() for line in drawn].count(0.8) == 5


def test_reports_without_seeds_still_have_curves(passed):
    assert 'stroke-width=".7"' not in html(passed, None)
