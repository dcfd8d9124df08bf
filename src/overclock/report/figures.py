"""The page's pictures: return against steps and seconds, intervals against margins, throughput.

Of level 4's only the geometry is made here; the templates draw it as SVG in the page's own colours, so that it follows
light and dark. These are WIDTH units wide, about a phone, where their text must be readable. The throughput plot is the
benchmark's own.
"""

import io
import math
from collections.abc import Sequence
from typing import Any

from overclock.bench.plots import draw
from overclock.bench.results import Throughput

WIDTH = 400.0
HEIGHT = 240.0
LEFT, RIGHT, TOP, BOTTOM = 42.0, 10.0, 10.0, 38.0
TICKS = 5

ROW = 34.0
HEADING = 30.0
LEAST_REACH, MOST_REACH = 1.5, 3.0  # margins to either side; what reaches further is cut off with an arrow


def curves(sides: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return against environment steps and against seconds, all sides in each; nothing where nobody was trained."""
    drawn = {side: curve for side, curve in sides.items() if any(mean is not None for mean in curve["mean"])}
    labels = {"steps": "environment steps", "seconds": "seconds of training (compilation apart)"}
    return [_chart(drawn, axis, label) for axis, label in labels.items()] if drawn else []


def _chart(sides: dict[str, dict[str, Any]], axis: str, label: str) -> dict[str, Any]:
    kept = {side: _finished(curve, axis) for side, curve in sides.items()}
    rows = [row for curve in kept.values() for row in curve]
    right = max(row[0] for row in rows)
    alone = [
        value for curve in sides.values() for seed in curve.get("seeds", []) for value in seed if value is not None
    ]
    low, high = min([0.0, *alone, *(row[2] for row in rows)]), max([*alone, *(row[3] for row in rows)])
    high = high if high > low else low + 1.0
    right = right or 1.0

    def at(x: float, y: float) -> str:
        return f"{_across(x / right):.1f},{_down((y - low) / (high - low)):.1f}"

    return {
        "label": label,
        "x_ticks": [(_across(value / right), _short(value)) for value in ticks(0.0, right)],
        "y_ticks": [(_down((value - low) / (high - low)), _short(value)) for value in ticks(low, high)],
        "lines": [
            {
                "side": side,
                "mean": " ".join(at(x, mean) for x, mean, _, _ in curve),
                "seeds": [
                    " ".join(at(x, y) for x, y in zip(sides[side][axis], seed, strict=True) if y is not None)
                    for seed in sides[side].get("seeds", [])
                ],
                "band": " ".join([*(at(x, top) for x, _, _, top in curve), *(at(x, b) for x, _, b, _ in curve[::-1])]),
            }
            for side, curve in kept.items()
        ],
    }


def _finished(curve: dict[str, Any], axis: str) -> list[tuple[float, float, float, float]]:
    """The points that have a return: before the first finished episode there is none."""
    rows = zip(curve[axis], curve["mean"], curve["low"], curve["high"], strict=True)
    return [row for row in rows if row[1] is not None]


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


def equivalence(level: dict[str, Any]) -> dict[str, Any]:
    """Every group's interval against its margin, all margins drawn equally wide; the controls below."""
    controls = level["controls"]
    parts: list[tuple[str, Sequence[dict[str, Any]]]] = [("the two sides", level["groups"])]
    for role, says in (("planted", "must be seen"), ("unseen", "known to hide from returns")):
        if controls[role] is not None:
            parts.append((f"with the bug {controls[role]['bug']}: {says}", controls[role]["groups"]))
    furthest = max(abs(end) / group["margin"] for _, groups in parts for group in groups for end in _ends(group))
    reach = min(max(LEAST_REACH, 1.1 * furthest), MOST_REACH)

    def across(margins: float) -> float:
        return WIDTH / 2 + max(-reach, min(reach, margins)) / reach * (WIDTH / 2 - RIGHT)

    rows, headings, y = [], [], 4.0
    for heading, groups in parts:
        headings.append({"y": y + HEADING / 2 + 4, "text": heading})
        y += HEADING
        for group in groups:
            low, high = (end / group["margin"] for end in _ends(group))
            middle = group["tost"]["difference"] / group["margin"]
            rows.append(
                {
                    "y": y,
                    "label": _label(group),
                    "value": f"{group['tost']['difference']:+.3g} of \N{PLUS-MINUS SIGN}{group['margin']:g}",
                    "low": across(low),
                    "high": across(high),
                    "middle": across(middle) if abs(middle) <= reach else None,
                    "cut_low": low < -reach,
                    "cut_high": high > reach,
                    "verdict": group["verdict"],
                }
            )
            y += ROW
    return {
        "rows": rows, "headings": headings, "height": y + 30, "bottom": y + 4, "left": across(-1.0),
        "right": across(1.0), "centre": across(0.0),
    }  # fmt: skip


def _ends(group: dict[str, Any]) -> tuple[float, float]:
    low, high = group["tost"]["interval"]
    return low, high


def _label(group: dict[str, Any]) -> str:
    return group["strength"] + ("" if group["trained_on"] == "nothing" else f", from {group['trained_on']}")


def throughput(bench: Throughput) -> str:
    """The benchmark's plot as an SVG element."""
    return inline(draw(bench))


def inline(figure: Any) -> str:
    """A picture of matplotlib's as an SVG element."""
    content = io.BytesIO()
    figure.savefig(content, format="svg")
    text = content.getvalue().decode()
    return text[text.index("<svg") :]  # the XML prologue has no place inside a page
