"""The report in Markdown, for a pull request: the page's facts without its details."""

from typing import Any

from overclock.bench import tables
from overclock.bench.results import Throughput
from overclock.report.levels import comparisons_table, overview
from overclock.report.summary import name_of, sentences
from overclock.report.transfer import groups_table
from overclock.verify.text import adequacy_text, rollouts

Report = dict[str, Any]


def markdown(verify: Report | None, bench: Throughput | None) -> str:
    """The same facts for a pull request or a README."""
    verdict = "" if verify is None else f": {verify['verdict']}"
    parts = [f"# {name_of(verify, bench)}{verdict}\n", " ".join(sentences(verify, bench)) + "\n"]
    if verify is not None:
        parts += _verified(verify)
    if bench is not None:
        parts.append(tables.markdown(bench))
    return "\n".join(parts)


def _verified(verify: Report) -> list[str]:
    parts = [f"Compared with `{verify['reference']}`; `{verify['command']}`:\n", overview(verify).markdown()]
    if verify["repro"] is not None:
        repro = verify["repro"]
        replay = "" if repro["command"] is None else f" Replay it: `{repro['command']}`"
        parts.append(f"Shortest episode: {repro['sentence']}{replay}\n")
    if verify["returns_alone"] is not None:
        parts.append(f"{verify['returns_alone']['sentence']}\n")
    if found := rollouts(verify):
        parts += ["Whole episodes (level 3):\n", comparisons_table(found).markdown()]
    for level in verify["levels"]:
        if level["level"] == 4 and level["verdict"] != "not run":
            parts += ["Trained policies (level 4):\n", groups_table(level).markdown()]
    if verify["adequacy"] is not None:
        said = adequacy_text(verify["adequacy"])
        parts.append(f"{said[0].upper()}{said[1:]}\n")
    return parts
