"""The documents' pictures of a twin, from the reports of `overclock verify`.

    python scripts/pictures.py runs/verify-halfcheetah/report.json docs/images/halfcheetah

writes docs/images/halfcheetah-envelope.png where level 3 has an envelope, and -curves.png where level 4 was run.
"""

import argparse
import json
from pathlib import Path

from overclock.bench.plots import save
from overclock.report.pictures import draw_curves, draw_envelope

DPI = 110  # small files; the pictures are shown about 900 pixels wide


def main() -> None:
    """Draw what there is to draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", type=Path, help="report.json of a run")
    parser.add_argument("place", type=Path, help="where the files shall lie, with the beginning of their names")
    arguments = parser.parse_args()
    verify = json.loads(arguments.report.read_text())["verify"]
    pictures = {}
    for level in verify["levels"]:
        found = level.get("envelope")
        if found is not None:
            title = f"{verify['env']} beside {verify['reference']}, {found['episodes']:,} episodes"
            pictures["envelope"] = draw_envelope(found, title)
        if "curves" in level:
            pictures["curves"] = draw_curves(level, f"{verify['env']}: PPO on either side")
    for name, figure in pictures.items():
        figure.set_dpi(DPI)
        save(figure, arguments.place.with_name(f"{arguments.place.name}-{name}.png"))


if __name__ == "__main__":
    main()
