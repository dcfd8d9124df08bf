"""The documents' pictures and figures of a twin, from the reports of `overclock verify`.

    python scripts/pictures.py runs/verify-halfcheetah/report.json docs/images/halfcheetah \\
        --figures benchmarks/halfcheetah-levels-cpu.json

writes docs/images/halfcheetah-envelope.png where level 3 has an envelope, and -curves.png where level 4 was run. What
they show is added to the file of --figures, with the machine this runs on: draw where the report was made.
"""

import argparse
import io
import json
from pathlib import Path
from typing import Any

from overclock.bench import machine
from overclock.files import finite, write_whole
from overclock.report.pictures import draw_curves, draw_envelope
from overclock.results import decode, encode
from overclock.verify.result import VerifyReport
from overclock.verify.rollout.result import ComparisonResult, RolloutLevel
from overclock.verify.text import performance_name
from overclock.verify.transfer.result import Controls, TransferLevel

DPI = 100  # small files; a document shows them about 900 pixels wide
LEVEL_3 = ("actions", "precision", "mode", "passed", "episodes", "steps", "beyond_horizon", "cut", "excused_flags")
LEVEL_4 = ("verdict", "summary", "plan", "groups", "margins", "alpha", "curves", "seconds")


def main() -> None:
    """Draw what there is to draw, and keep its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", type=Path, help="report.json of a run")
    parser.add_argument("place", type=Path, help="where the pictures shall lie, with the beginning of their names")
    parser.add_argument("--figures", type=Path, help="the JSON file that keeps the figures")
    arguments = parser.parse_args()
    verify = decode(VerifyReport, json.loads(arguments.report.read_text())["verify"])
    about = {name: getattr(verify, name) for name in ("env", "backend", "reference", "command", "date", "versions")}
    about["machine"] = machine.describe(machine.find_device("gpu" if verify.backend == "cuda" else "cpu"))
    pictures, figures = {}, {}
    for level in verify.levels:
        if isinstance(level, RolloutLevel):
            figures["rollout"] = {**about, "comparisons": [_rollout(comparison) for comparison in level.comparisons]}
            if (found := level.envelope) is not None:
                title = f"{performance_name(verify)} beside {verify.reference}, {found.episodes:,} episodes"
                pictures["envelope"] = draw_envelope(found, title)
                figures["envelope"] = {**about, **encode(found)}
        if isinstance(level, TransferLevel):
            pictures["curves"] = draw_curves(level, f"{performance_name(verify)}: PPO on either side")
            kept = {name: encode(getattr(level, name)) for name in LEVEL_4}
            figures["transfer"] = {**about, **kept, "controls": _controls(level.controls)}
    for name, figure in pictures.items():
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=DPI)
        write_whole(arguments.place.with_name(f"{arguments.place.name}-{name}.png"), content.getvalue())
    if arguments.figures is not None:
        kept = json.loads(arguments.figures.read_text()) if arguments.figures.exists() else {}
        content = {"schema": "overclock.levels/1", **kept, **figures}
        write_whole(arguments.figures, f"{json.dumps(finite(content), separators=(',', ':'))}\n".encode())


def _rollout(comparison: ComparisonResult) -> dict[str, Any]:
    """How much was played, and how far every field was off."""
    fields = {field.name: field.largest_error for field in comparison.fields}
    return {**{name: getattr(comparison, name) for name in LEVEL_3}, "largest_errors": fields}


def _controls(controls: Controls) -> dict[str, Any]:
    """What the controls of level 4 said, in their own words."""
    said: dict[str, Any] = {"a_a": {"passed": controls.a_a.passed}}
    for role, found in (("planted", controls.planted), ("unseen", controls.unseen)):
        if found is not None:
            said[role] = {
                **{name: getattr(found, name) for name in ("bug", "seen", "states_differ")},
                "groups": [
                    {name: getattr(group, name) for name in ("trained_on", "strength", "verdict", "sentence")}
                    for group in found.groups
                ],
            }
    return said


if __name__ == "__main__":
    main()
