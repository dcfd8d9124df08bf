"""The curve of a run: tests passing against tokens. The geometry is made here; templates/run_curve.html draws it."""

from collections.abc import Iterable, Sequence
from typing import Any

from overclock.recipe.runs.report import CurvePoint
from overclock.report.figures import ticks

WIDTH, HEIGHT = 400.0, 240.0  # units; about a phone's width, where the text must be readable
LEFT, RIGHT, TOP, BOTTOM = 42.0, 24.0, 10.0, 38.0


def curve_picture(points: Sequence[CurvePoint]) -> dict[str, Any] | None:
    """Steps of tests passing, and of tests there are; along the verdicts where tokens were not reported."""
    if not points:
        return None
    counted = all(point.tokens is not None for point in points)
    x = [float(point.tokens or 0) if counted else float(index + 1) for index, point in enumerate(points)]
    right, top = max(x) or 1.0, float(max(point.total for point in points)) or 1.0

    def across(value: float) -> float:
        return round(LEFT + value / right * (WIDTH - LEFT - RIGHT), 1)

    def down(value: float) -> float:
        return round(HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM), 1)

    def steps(counts: Iterable[int]) -> str:
        """What was known stays known until the next verdict."""
        path, before = [], None
        for place, count in zip(x, counts, strict=True):
            path += [] if before is None else [f"{across(place)},{before}"]
            before = down(count)
            path.append(f"{across(place)},{before}")
        return " ".join(path)

    return {
        "width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT, "bottom": HEIGHT - BOTTOM,
        "label": "tokens" if counted else "verdicts (tokens were not reported)",
        "x_ticks": [(across(value), _short(value)) for value in ticks(0.0, right) if counted or value >= 1],
        "y_ticks": [(down(value), f"{value:,.0f}") for value in ticks(0.0, top) if value == int(value)],
        "passed": steps(point.passed for point in points),
        "total": steps(point.total for point in points),
        "points": [(across(place), down(point.passed)) for place, point in zip(x, points, strict=True)],
    }  # fmt: skip


def _short(value: float) -> str:
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k" if value >= 1e4 else f"{value:,g}"
