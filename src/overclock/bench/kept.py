"""The last measurement of an environment, kept so that `overclock verify` can show it on its page."""

import json
from pathlib import Path

from overclock.bench.results import Throughput
from overclock.files import finite, write_whole
from overclock.results import decode, encode

FOLDER = Path("runs")
SCHEMA = "overclock.bench/1"


def keep(report: Throughput, folder: Path = FOLDER) -> Path:
    """Remember a measurement as the last one of its environment."""
    path = folder / f"bench-{report.environment}.json"
    write_whole(path, json.dumps(finite(encode(report)), indent=1, allow_nan=False).encode() + b"\n")
    return path


def last_measurement(env_id: str, folder: Path = FOLDER) -> Throughput | None:
    """What `keep` kept, or None."""
    try:
        report = json.loads((folder / f"bench-{env_id}.json").read_bytes())
        return decode(Throughput, report) if report["schema"] == SCHEMA else None
    except (OSError, ValueError, TypeError, KeyError):
        return None  # never measured, or by a version whose reports had another form
