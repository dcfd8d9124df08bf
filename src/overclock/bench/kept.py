"""The last measurement of an environment, kept so that `overclock verify` can show it on its page."""

import json
from pathlib import Path
from typing import Any

from overclock.files import finite, write_whole

FOLDER = Path("runs")
SCHEMA = "overclock.bench/1"


def keep(report: dict[str, Any], folder: Path = FOLDER) -> Path:
    """Remember a measurement as the last one of its environment."""
    path = folder / f"bench-{report['environment']}.json"
    write_whole(path, json.dumps(finite(report), indent=1, allow_nan=False).encode() + b"\n")
    return path


def last_measurement(env_id: str, folder: Path = FOLDER) -> dict[str, Any] | None:
    """What `keep` kept, or None."""
    try:
        report = json.loads((folder / f"bench-{env_id}.json").read_bytes())
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) and report.get("schema") == SCHEMA else None
