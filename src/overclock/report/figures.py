"""The page's pictures: return against steps and seconds, intervals against margins, throughput.

Of level 4's only the geometry is made here; the templates draw it as SVG in the page's own colours, so that it follows
light and dark. These are WIDTH units wide, about a phone, where their text must be readable. The throughput plot is the
benchmark's own.
"""

import dataclasses
import io
import math
from collections.abc import Sequence
from typing import Any, Literal

from overclock.bench.plots import draw
from overclock.bench.results import Throughput
from overclock.verify.transfer.result import Curve, GroupResult, TransferLevel

WIDTH = 400.0
HEIGHT = 240.0
LEFT, RIGHT, TOP, BOTTOM = 42.0, 10.0, 10.0, 38.0
TICKS = 5

ROW = 34.0
HEADING = 30.0
LEAST_REACH, MOST_REACH = 1.5, 3.0  # margins to either side; what reaches further is cut off with an arrow


Axis = Literal["steps", "seconds"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """One side of a chart, as points for SVG: the mean, every seed, and the band around the mean."""

    side: str
    mean: str
    seeds: list[str]
    band: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Chart:
    """Return against something, with the places and texts of the ticks on both axes."""

    label: str
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lines: list[Line]


def curves(sides: dict[str, Curve]) -> list[Chart]:
    """Return against environment steps and against seconds, all sides in each; nothing where nobody was trained."""
    drawn = {side: curve for side, curve in sides.items() if any(mean is not None for mean in curve.mean)}
    labels: dict[Axis, str] = {"steps": "environment steps", "seconds": "seconds of training (compilation apart)"}
    return [_chart(drawn, axis, label) for axis, label in labels.items()] if drawn else []


def _chart(sides: dict[str, Curve], axis: Axis, label: str) -> Chart:
    kept = {side: _finished(curve, axis) for side, curve in sides.items()}
    rows = [row for curve in kept.values() for row in curve]
    right = max(row[0] for row in rows)
    alone = [value for curve in sides.values() for seed in curve.seeds for value in seed if value is not None]
    low, high = min([0.0, *alone, *(row[2] for row in rows)]), max([*alone, *(row[3] for row in rows)])
    high = high if high > low else low + 1.0
    right = right or 1.0

    def at(x: float, y: float) -> str:
        return f"{_across(x / right):.1f},{_down((y - low) / (high - low)):.1f}"

    return Chart(
        label=label,
        x_ticks=[(_across(value / right), _short(value)) for value in ticks(0.0, right)],
        y_ticks=[(_down((value - low) / (high - low)), _short(value)) for value in ticks(low, high)],
        lines=[
            Line(
                side=side,
                mean=" ".join(at(x, mean) for x, mean, _, _ in curve),
                seeds=[
                    " ".join(at(x, y) for x, y in zip(_along(sides[side], axis), seed, strict=True) if y is not None)
                    for seed in sides[side].seeds
                ],
                band=" ".join([*(at(x, top) for x, _, _, top in curve), *(at(x, b) for x, _, b, _ in curve[::-1])]),
            )
            for side, curve in kept.items()
        ],
    )


def _along(curve: Curve, axis: Axis) -> Sequence[float]:
    return curve.steps if axis == "steps" else curve.seconds


def _finished(curve: Curve, axis: Axis) -> list[tuple[float, float, float, float]]:
    """The points that have a return: before the first finished episode there is none."""
    rows = zip(_along(curve, axis), curve.mean, curve.low, curve.high, strict=True)
    return [
        (x, mean, low, high) for x, mean, low, high in rows if mean is not None and low is not None and high is not None
    ]


def _across(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _down(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, about TICKS of them."""
    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * 0.999)
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _short(value: float) -> str:
    return f"{value / 1e6:g}M" if abs(value) >= 1e6 else f"{value / 1e3:g}k" if abs(value) >= 1e4 else f"{value:,g}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class IntervalRow:
    """One group's interval, in the picture's units; an end that reaches further than the picture is cut."""

    y: float
    label: str
    value: str
    low: float
    high: float
    middle: float | None
    cut_low: bool
    cut_high: bool
    verdict: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Heading:
    """A line of text in a picture."""

    y: float
    text: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Intervals:
    """Every group's interval against its margin, which reaches from `left` to `right`."""

    rows: list[IntervalRow]
    headings: list[Heading]
    height: float
    bottom: float
    left: float
    right: float
    centre: float


def equivalence(level: TransferLevel) -> Intervals:
    """Every group's interval against its margin, all margins drawn equally wide; the controls below."""
    parts: list[tuple[str, Sequence[GroupResult]]] = [("the two sides", level.groups)]
    for control, says in (
        (level.controls.planted, "must be seen"), (level.controls.unseen, "known to hide from returns")
    ):  # fmt: skip
        if control is not None:
            parts.append((f"with the bug {control.bug}: {says}", control.groups))
    furthest = max(abs(end) / group.margin for _, groups in parts for group in groups for end in group.tost.interval)
    reach = min(max(LEAST_REACH, 1.1 * furthest), MOST_REACH)

    def across(margins: float) -> float:
        return WIDTH / 2 + max(-reach, min(reach, margins)) / reach * (WIDTH / 2 - RIGHT)

    rows, headings, y = [], [], 4.0
    for heading, groups in parts:
        headings.append(Heading(y=y + HEADING / 2 + 4, text=heading))
        y += HEADING
        for group in groups:
            low, high = (end / group.margin for end in group.tost.interval)
            middle = group.tost.difference / group.margin
            rows.append(
                IntervalRow(
                    y=y,
                    label=group.strength + ("" if group.trained_on == "nothing" else f", from {group.trained_on}"),
                    value=f"{group.tost.difference:+.3g} of \N{PLUS-MINUS SIGN}{group.margin:g}",
                    low=across(low),
                    high=across(high),
                    middle=across(middle) if abs(middle) <= reach else None,
                    cut_low=low < -reach,
                    cut_high=high > reach,
                    verdict=group.verdict,
                )
            )
            y += ROW
    return Intervals(
        rows=rows, headings=headings, height=y + 30, bottom=y + 4, left=across(-1.0), right=across(1.0),
        centre=across(0.0),
    )  # fmt: skip


def throughput(bench: Throughput) -> str:
    """The benchmark's plot as an SVG element."""
    return inline(draw(bench))


def inline(figure: Any) -> str:
    """A picture of matplotlib's as an SVG element."""
    content = io.BytesIO()
    figure.savefig(content, format="svg")
    text = content.getvalue().decode()
    return text[text.index("<svg") :]  # the XML prologue has no place inside a page
