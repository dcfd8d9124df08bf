"""The page's functions, given reports as JSON has them: tests change those more easily than frozen dataclasses."""

from typing import Any

from overclock.report import page, summary
from overclock.results import decode
from overclock.verify.result import VerifyReport


def read(report: Any) -> Any:
    """A report of `verify` from its JSON; one that is none already stays as it is."""
    return decode(VerifyReport, report) if isinstance(report, dict) else report


def html(report: Any, bench: Any) -> str:
    return page.html(read(report), bench)


def markdown(report: Any, bench: Any) -> str:
    return page.markdown(read(report), bench)


def write_report(folder: Any, report: Any, bench: Any) -> Any:
    return page.write_report(folder, read(report), bench)


def sentences(report: Any, bench: Any) -> list[str]:
    return summary.sentences(read(report), bench)
