"""Builds a run's page from the reports of `verify` and `bench`."""

import io
import json
from pathlib import Path
from typing import Any

from overclock.bench import tables
from overclock.bench.config import XLA
from overclock.bench.plots import draw
from overclock.errors import MissingError
from overclock.files import finite, write_whole
from overclock.verify.text import divergence_text, level_text, rollouts, worst_text


def write_report(folder: Path, verify: dict[str, Any] | None, bench: dict[str, Any] | None) -> Path:
    """Write report.html, report.md and report.json into `folder` and return the page.

    All three are built before the first is written, each appears whole, and other files in the folder stay.
    """
    numbers = json.dumps(finite({"schema": "overclock.report/1", "verify": verify, "bench": bench}), allow_nan=False)
    files = {"report.md": markdown(verify, bench), "report.json": numbers, "report.html": html(verify, bench)}
    for name, text in files.items():
        write_whole(folder / name, text.encode())
    return folder / "report.html"


def html(verify: dict[str, Any] | None, bench: dict[str, Any] | None) -> str:
    """The page: everything inline, nothing fetched."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingError("The page needs jinja2; install it with `pip install 'overclock[report]'`.") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("overclock.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    bench_columns, bench_rows = tables.columns_and_rows(bench) if bench else ([], [])
    return environment.get_template("page.html").render(
        env=_env(verify, bench), verify=verify, bench=bench, sentences=sentences(verify, bench),
        levels=levels(verify), comparisons=comparisons(verify), plot=_svg(bench) if bench else "",
        bench_title=tables.title(bench) if bench else "", bench_columns=bench_columns, bench_rows=bench_rows,
        commands=[report["command"] for report in (verify, bench) if report],
        versions=_versions(verify, bench), date=(verify or bench or {})["date"],
    )  # fmt: skip


def markdown(verify: dict[str, Any] | None, bench: dict[str, Any] | None) -> str:
    """The same facts for a pull request or a README."""
    parts = [f"# {_env(verify, bench)}\n", " ".join(sentences(verify, bench)) + "\n"]
    if verify:
        parts.append(f"Compared with `{verify['reference']}`; `{verify['command']}`:\n")
        parts.append("| actions | precision | synchronised | episodes | steps | largest error | verdict |")
        parts.append("|---|---|---|---:|---:|---|---|")
        for c in comparisons(verify):
            cells = [c["actions"], c["precision"], c["mode"].replace("_", " "), f"{c['episodes']:,}", f"{c['steps']:,}"]
            parts.append("| " + " | ".join([*cells, c["worst"], "equal" if c["passed"] else "DIFFERENT"]) + " |")
        parts.append("")
    if bench:
        parts.append(tables.markdown(bench))
    return "\n".join(parts)


def sentences(verify: dict[str, Any] | None, bench: dict[str, Any] | None) -> list[str]:
    """The whole report in a few sentences."""
    said = []
    if verify and verify["verdict"] == "pass":
        steps = sum(c["steps"] for c in rollouts(verify))
        said.append(f"Equal to {verify['reference']} in {steps:,} compared steps.")
    elif verify and verify["verdict"] == "fail":
        said.append(f"Different from {verify['reference']}.")
    elif verify:
        said.append(f"Compared with {verify['reference']}: {verify['verdict']}.")
    if bench and bench["ratios"]:
        largest = max(ratio["batch"] for ratio in bench["ratios"])
        against = [r for r in bench["ratios"] if r["batch"] == largest and r["implementation"] == XLA]
        factors = ", ".join(f"{_factor(r['ratio'])} {r['peer']}" for r in against)
        said.append(f"At batch {largest:,} on {tables.device_name(bench)}, in the same run: {factors}.")
    return said


def _factor(ratio: float) -> str:
    return f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def levels(verify: dict[str, Any] | None) -> list[dict[str, str]]:
    """One line per level that was run."""
    found = [] if verify is None else verify["levels"]
    return [
        {"name": f"{level['level']} {level['name']}", "verdict": level["verdict"], "text": level_text(level)}
        for level in found
    ]


def comparisons(verify: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The comparisons with what people want to read of them."""
    found = [] if verify is None else rollouts(verify)
    return [
        {
            **c,
            "worst": worst_text(c),
            "divergence": divergence_text(c["first_divergence"]) if c["first_divergence"] else "",
        }
        for c in found
    ]


def _svg(bench: dict[str, Any]) -> str:
    content = io.BytesIO()
    draw(bench).savefig(content, format="svg")
    text = content.getvalue().decode()
    return text[text.index("<svg") :]  # the XML prologue has no place inside a page


def _env(verify: dict[str, Any] | None, bench: dict[str, Any] | None) -> str:
    return verify["env"] if verify else (bench or {})["environment"]


def _versions(verify: dict[str, Any] | None, bench: dict[str, Any] | None) -> dict[str, str]:
    if verify:
        return verify["versions"]
    return {name: (bench or {})["machine"][name] for name in ("python", "jax", "numpy")}
