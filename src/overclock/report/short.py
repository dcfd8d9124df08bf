"""The report in Markdown, for a pull request: the page's facts without its details."""

from overclock.bench import tables
from overclock.bench.results import Throughput
from overclock.report.levels import comparisons_table, overview
from overclock.report.summary import name_of, sentences
from overclock.report.transfer import groups_table
from overclock.verify.margins import warnings_of
from overclock.verify.reach.reached import reached_lines
from overclock.verify.result import VerifyReport
from overclock.verify.text import adequacy_text, made_with
from overclock.verify.transfer.result import TransferLevel


def markdown(verify: VerifyReport | None, bench: Throughput | None) -> str:
    """The same facts for a pull request or a README."""
    verdict = "" if verify is None else f": {verify.verdict}"
    parts = [f"# {name_of(verify, bench)}{verdict}\n", " ".join(sentences(verify, bench)) + "\n"]
    if verify is not None:
        parts += _verified(verify)
    if bench is not None:
        parts.append(tables.markdown(bench))
    return "\n".join(parts)


def _verified(verify: VerifyReport) -> list[str]:
    parts = [f"Compared with `{verify.reference}`; `{verify.command}`:\n", overview(verify).markdown()]
    if verify.repro is not None:
        replay = "" if verify.repro.command is None else f" Replay it: `{verify.repro.command}`"
        parts.append(f"Shortest episode: {verify.repro.sentence}{replay}\n")
    if verify.returns_alone is not None:
        parts.append(f"{verify.returns_alone.sentence}\n")
    if verify.comparisons:
        parts += ["Whole episodes (level 3):\n", comparisons_table(verify.comparisons).markdown()]
    if unreached := reached_lines(None if verify.rollouts is None else verify.rollouts.reached):
        parts.append("\n".join(f"- {said}" for said in unreached) + "\n")
    if wide := warnings_of(verify.margins or []):
        parts.append("\n".join(f"- {said}" for said in wide) + "\n")
    for level in verify.levels:
        if isinstance(level, TransferLevel):
            parts += ["Trained policies (level 4):\n", groups_table(level).markdown()]
    if verify.adequacy is not None:
        said = adequacy_text(verify.adequacy)
        parts.append(f"{said[0].upper()}{said[1:]}\n")
    return [*parts, f"Computed on {made_with(verify)}.\n"]
