"""Builds a run's page from the reports of `verify` and `bench`: three files that say the same."""

import json
from pathlib import Path
from typing import Any

from overclock.bench import tables
from overclock.bench.results import Throughput
from overclock.errors import MissingError
from overclock.files import finite, write_whole
from overclock.report.failure import failure_section
from overclock.report.figures import throughput
from overclock.report.levels import interaction_section, overview, property_section, rollout_section
from overclock.report.short import markdown
from overclock.report.summary import compared, contract, name_of, not_shown, sentences
from overclock.report.table import tone
from overclock.report.transfer import transfer_section
from overclock.results import encode

FILES = ("report.md", "report.json", "report.html")
SECTIONS = {1: property_section, 2: interaction_section, 3: rollout_section, 4: transfer_section}

Report = dict[str, Any]


def write_report(folder: Path, verify: Report | None, bench: Throughput | None) -> Path:
    """Write report.html, report.md and report.json into `folder` and return the page.

    All three are built before the first is written, each appears whole, and other files in the folder stay.
    """
    numbers = json.dumps(
        finite({"schema": "overclock.report/1", "verify": verify, "bench": encode(bench)}), allow_nan=False
    )
    texts = (markdown(verify, bench), numbers, html(verify, bench))
    for name, text in zip(FILES, texts, strict=True):
        write_whole(folder / name, text.encode())
    return folder / "report.html"


def html(verify: Report | None, bench: Throughput | None) -> str:
    """The page: everything inline, nothing fetched."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingError("The page needs jinja2; install it with `pip install 'overclock[report]'`.") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("overclock.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters["tone"] = tone
    return environment.get_template("page.html").render(
        env=name_of(verify, bench), sentences=sentences(verify, bench), verify=verify, levels=overview(verify),
        **({} if verify is None else _verified(verify)), bench=bench, **({} if bench is None else _measured(bench)),
        commands=[*([verify["command"]] if verify else []), *([bench.command] if bench else [])],
        date=verify["date"] if verify else bench.date if bench else "",
        versions=_versions(verify, bench),
    )  # fmt: skip


def _verified(verify: Report) -> dict[str, Any]:
    sections = [
        {**level, "shown": None if level["verdict"] == "not run" else SECTIONS[level["level"]](level)}
        for level in verify["levels"]
    ]
    return {
        "compared": compared(verify),
        "contract": contract(verify),
        "sections": sections,
        "failure": failure_section(verify),
        "not_shown": not_shown(verify),
    }


def _measured(bench: Throughput) -> dict[str, Any]:
    columns, rows = tables.columns_and_rows(bench)
    return {
        "plot": throughput(bench),
        "bench_title": tables.title(bench),
        "bench_columns": columns,
        "bench_rows": rows,
    }


def _versions(verify: Report | None, bench: Throughput | None) -> dict[str, str]:
    if verify:
        return verify["versions"]
    return {name: getattr(bench.machine, name) for name in ("python", "jax", "numpy")} if bench else {}
