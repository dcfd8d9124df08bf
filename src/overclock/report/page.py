"""Builds a run's page from the reports of `verify` and `bench`: three files that say the same."""

import dataclasses
import json
from pathlib import Path
from typing import Any, Literal

from overclock.bench import tables
from overclock.bench.results import Throughput
from overclock.errors import MissingError
from overclock.files import finite, write_whole
from overclock.report.failure import failure_section
from overclock.report.figures import throughput
from overclock.report.levels import (
    InteractionSection,
    PropertySection,
    RolloutSection,
    interaction_section,
    overview,
    property_section,
    rollout_section,
)
from overclock.report.short import markdown
from overclock.report.summary import compared, contract, margins, name_of, not_shown, sentences
from overclock.report.table import tone
from overclock.report.transfer import TransferSection, transfer_section
from overclock.results import encode
from overclock.verify.interaction.result import InteractionLevel
from overclock.verify.margins import warnings_of
from overclock.verify.property.result import PropertyLevel
from overclock.verify.result import LevelResult, VerifyReport
from overclock.verify.rollout.result import RolloutLevel
from overclock.verify.transfer.result import TransferLevel

FILES = ("report.md", "report.json", "report.html")

Section = PropertySection | InteractionSection | RolloutSection | TransferSection


@dataclasses.dataclass(frozen=True, kw_only=True)
class PageReport:
    """The content of report.json: what `verify` found, and the last `overclock bench` of the environment."""

    schema: Literal["overclock.report/1"] = "overclock.report/1"
    verify: VerifyReport | None
    bench: Throughput | None


def write_report(folder: Path, verify: VerifyReport | None, bench: Throughput | None) -> Path:
    """Write report.html, report.md and report.json into `folder` and return the page.

    All three are built before the first is written, each appears whole, and other files in the folder stay.
    """
    numbers = json.dumps(finite(encode(PageReport(verify=verify, bench=bench))), allow_nan=False)
    texts = (markdown(verify, bench), numbers, html(verify, bench))
    for name, text in zip(FILES, texts, strict=True):
        write_whole(folder / name, text.encode())
    return folder / "report.html"


def html(verify: VerifyReport | None, bench: Throughput | None) -> str:
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
        commands=[*([verify.command] if verify else []), *([bench.command] if bench else [])],
        date=verify.date if verify else bench.date if bench else "",
        versions=_versions(verify, bench), machine=_machine(verify, bench),
    )  # fmt: skip


def _section(level: LevelResult) -> Section | None:
    match level:
        case PropertyLevel():
            return property_section(level)
        case InteractionLevel():
            return interaction_section(level)
        case RolloutLevel():
            return rollout_section(level)
        case TransferLevel():
            return transfer_section(level)
        case _:
            return None


def _verified(verify: VerifyReport) -> dict[str, Any]:
    return {
        "compared": compared(verify),
        "contract": contract(verify),
        "margins": margins(verify),
        "wide": warnings_of(verify.margins or []),
        "sections": [(level, _section(level)) for level in verify.levels],
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


def _versions(verify: VerifyReport | None, bench: Throughput | None) -> dict[str, str]:
    if verify:
        return verify.versions
    return {name: getattr(bench.machine, name) for name in ("python", "jax", "numpy")} if bench else {}


def _machine(verify: VerifyReport | None, bench: Throughput | None) -> str:
    """The processor, as far as it is known."""
    if verify:
        return "" if verify.processor is None else str(verify.processor)
    return bench.machine.cpu if bench else ""
