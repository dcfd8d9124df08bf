"""The gallery: what became of every environment that the built-in translator is known for, as a page of the documents.

Made from the result of `overclock translate --all-known --json` alone (schema overclock.known/1); scripts/gallery.py
writes it. What is worst stands as plainly on it as what is best.
"""

import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from overclock.bench.tables import rate
from overclock.errors import UsageError
from overclock.report.table import Kind, Table, small
from overclock.results import decode
from overclock.verify.exhaustive.result import WalkResult

SCHEMA = "overclock.known/1"
NONE = "-"  # was not measured
AROUND = 24  # characters that are shown on both sides of a change in a long line
LONG = 90  # characters of a line that is shown whole
COLUMNS: dict[str, Kind] = {
    "environment": "text", "reference": "code", "lines in": "number", "lines out": "number", "levels": "text",
    "largest error": "number", "states": "number", "branches": "number", "mistakes found": "number",
    "original, steps/s": "number", "translation, steps/s": "number", "speed-up": "number", "generation, s": "number",
    "compile, s": "number",
}  # fmt: skip
MEANINGS = """\
- **lines in, lines out**: lines of code without comments, docstrings and blank lines. In: every function of the
  original that was translated, and the constructors beside them; out: the whole generated file.
- **levels**: those of [verification](verification.md) that it passed, judged as any agent's work would be.
- **largest error**: of one step in float64, over all outputs and state fields at levels 1 and 3. Zero is bit for bit.
- **states**: all states and actions, walked through where they are few; *proof* where every number that could be
  drawn is covered as well ([how](verification.md)).
- **branches**: outcomes of conditional jumps in the translated functions of the original that the comparison reached,
  of those that can be reached. The others are listed below, by reason.
- **mistakes found**: planted one at a time in the generated file, by the operators of [adequacy](adequacy.md).
  Statements are drawn first and then a mistake in each, so a table of numbers counts as one. A mistake is found if
  level 1, 2 or 3 finds it; level 3 is 100 recorded episodes of random actions, less than the translation itself has to
  pass. A mistake from which JAX makes the same program (the same expressions of the same inputs, in every precision)
  is none and does not count. Every other survivor does, also where a person could show that nothing depends on it:
  levels ask for values inside of episodes, not for what follows an end, nor for types, which the judge's check of the
  environment contract holds before level 1.
- **steps/s, speed-up**: one instance of the original in a Python loop with its actions drawn beforehand, and the
  translation as a batch with random actions and automatic resets, by turns in the same minutes on the same machine;
  the speed-up is the median of the pairs.
- **generation**: reading the original and writing the file. **compile**: tracing, lowering and XLA's compile of one
  step of a batch of that size, in a new process without a cache.
"""
REASONS = {
    "missed": "nothing shows that they could not be reached",
    "decided": "the constructor's arguments decide them, or they are failing assertions",
    "after the end": "only steps after an episode's end take them",
}

Row = Mapping[str, Any]


def page(report: Mapping[str, Any], listed: Collection[str] = ()) -> str:
    """The page, in Markdown; `listed` names the environments whose generated file is beside it (gallery/NAME.md)."""
    if report.get("schema") != SCHEMA:
        raise UsageError("The gallery is made from the result of `overclock translate --all-known --json`.")
    rows = report["rows"]
    held = [row for row in rows if row["outcome"] == "done"]
    parts = [
        "# Gallery\n",
        f"What the [built-in translator](translator.md) does by itself: {len(held)} of {len(rows)} environments hold "
        "at levels 1, 2 and 3. No model, no key, nothing written by hand.\n",
        f"```console\n$ {report['command']}\n```\n",
        _machine(report),
        Table(COLUMNS, [_cells(row, row["name"] in listed) for row in held]).markdown(),
        *_extremes(held),
        *_not_held(rows),
        *_not_measured(held),
        "## What the columns mean\n",
        MEANINGS,
        *_branches(held),
        *_mutants(held),
    ]
    return "\n".join(parts)


def with_mutants(report: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """A report with the planted mistakes of another run, which takes long, for the files that both wrote alike."""
    scored = {row["name"]: row for row in other["rows"] if row.get("mutation")}
    rows = []
    for row in report["rows"]:
        found = scored.get(row["name"])
        if found is not None and found["sha256"] != row.get("sha256"):
            raise UsageError(f"The two runs wrote different files for '{row['name']}'; make both anew.")
        rows.append(row if found is None else {**row, "mutation": found["mutation"]})
    about = {key: other[key] for key in ("command", "date", "cpu", "cores", "versions")}
    return {**report, "rows": rows, "mutants": about}


def listing(name: str, source: str) -> str:
    """The page of one generated file."""
    said = "The file that the built-in translator wrote for the [gallery](../gallery.md), as it is."
    return f"---\norphan: true\n---\n\n# {name}\n\n{said}\n\n```python\n{source.strip()}\n```\n"


def _machine(report: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    packages = dict.fromkeys(row["package"].replace("==", " ") for row in report["rows"] if "package" in row)
    said = (
        f"{report['date'].partition('T')[0]}, {report['cpu']}, {report['cores']} cores, "
        f"{', '.join([versions, *packages])}. The page is made from that command's output by `scripts/gallery.py`.\n"
    )
    if note := report.get("note"):  # of somebody who put rows of several runs together
        said += f"\n{note}\n"
    if planted := report.get("mutants"):
        said += (
            f"\nThe mistakes were planted in the same files by `{planted['command']}`, "
            f"{planted['date'].partition('T')[0]}, {planted['cpu']}, {planted['cores']} cores, Python "
            f"{planted['versions']['python']}, jax {planted['versions']['jax']}.\n"
        )
    return said


def _cells(row: Row, listed: bool) -> list[str]:
    branches, planted = row["branches"], row.get("mutation")
    walked: WalkResult | None = decode(WalkResult | None, row["exhaustive"])
    given = ", ".join(f"{name}={value!r}" for name, value in row["arguments"].items())
    speeds = [NONE] * 3
    if "speed_up" in row:
        speeds = [rate(row["original_sps"]), rate(row["sps"]), f"{row['speed_up']:,.0f}x"]
    return [
        f"[{row['name']}](gallery/{row['name']}.md)" if listed else row["name"],
        f"`{row['reference']}`" + (f" ({given})" if given else ""),
        str(row["lines_in"]),
        str(row["lines_out"]),
        " ".join(map(str, row["levels"])),
        small(row["largest_error"]),
        NONE if walked is None else f"{walked.states:,} x {walked.actions:,}{', proof' * walked.proof}",
        f"{branches['reached']} of {branches['reachable']} ({branches['percent']:g} %)",
        f"{planted['killed']} of {planted['total']} ({_percent(planted)})" if planted else NONE,
        *speeds,
        f"{row['generation_s']:g}",
        f"{row['compile_s']:g}" if "compile_s" in row else NONE,
    ]


def _extremes(held: Sequence[Row]) -> list[str]:
    """The worst of every column, with its name."""
    if not held:
        return []
    slow, compiled = (max(held, key=lambda row: row.get(column, 0.0)) for column in ("generation_s", "compile_s"))
    longest = max(held, key=lambda row: row["lines_out"] / row["lines_in"])
    unseen = min(held, key=lambda row: row["branches"]["percent"])
    said = [
        f"generation {slow['generation_s']:g} s ({slow['name']})",
        f"compile {compiled.get('compile_s', 0.0):g} s ({compiled['name']})",
        f"{longest['lines_out'] / longest['lines_in']:.1f} lines out per line in ({longest['name']})",
        f"{unseen['branches']['percent']:g} % of the branches ({unseen['name']})",
    ]
    if planted := [row for row in held if row.get("mutation")]:
        worst = min(planted, key=lambda row: row["mutation"]["score"] or 0.0)
        said.append(f"{_percent(worst['mutation'])} of the mistakes ({worst['name']})")
    if timed := [row for row in held if "speed_up" in row]:
        slowest = min(timed, key=lambda row: row["speed_up"])
        mean = statistics.geometric_mean(row["speed_up"] for row in timed)
        among = f"geometric mean of all {len(timed)}: {mean:,.0f}x, at batch {slowest['batch']:,}"
        said.append(f"{slowest['speed_up']:,.0f}x the original ({slowest['name']}; {among})")
    return [f"Worst: {', '.join(said)}.\n"]


def _not_measured(held: Sequence[Row]) -> list[str]:
    names = ("compile", "speed")
    failed = [f"- {row['name']}: {row[f'{name}_error']}" for row in held for name in names if f"{name}_error" in row]
    return ["## What could not be measured\n", "\n".join(failed) + "\n"] if failed else []


def _not_held(rows: Sequence[Row]) -> list[str]:
    failed = [f"- {row['name']}: {row['outcome']}. {row['sentence']}" for row in rows if row["outcome"] != "done"]
    return ["## What does not hold\n", "\n".join(failed) + "\n"] if failed else []


def _branches(held: Sequence[Row]) -> list[str]:
    said = ["## Branches that were not reached\n"]
    for reason, told in REASONS.items():
        lines = [
            f"- {row['name']}: {'; '.join(row['branches'][reason])}" for row in held if row["branches"][reason]
        ]  # fmt: skip
        if reason == "missed":
            said.append(f"Counted, because {told}:\n\n" + ("\n".join(lines) or "- none") + "\n")
        elif lines:
            said.append(_folded(f"Not counted: {told}", "\n".join(lines)))
    return said


def _mutants(held: Sequence[Row]) -> list[str]:
    planted = [row for row in held if row.get("mutation")]
    unasked = "".join(f"- {row['name']}: {row['mutation_error']}\n" for row in held if "mutation_error" in row)
    if not planted:
        return [f"## Mistakes that could not be planted\n\n{unasked}"] if unasked else []
    facts = [row["mutation"] for row in planted]
    killed, total, crashed = (sum(one[key] for one in facts) for key in ("killed", "total", "crashes"))
    levels = ", ".join(f"level {level} {sum(one['by_level'][level] for one in facts)}" for level in ("1", "3", "2"))
    said = [
        "## Mistakes that nobody found\n",
        f"{killed} of {total} were found, by levels that are asked in this order until one finds it: {levels}. "
        f"{crashed} of them raise an exception, so any run would have shown them.\n",
        _planted(planted, "survivors") or "None survived.\n",
    ]
    if same := _planted(planted, "same_program"):
        said.append(_folded("Not counted: the same program as before", same))
    return [*said, f"No mistakes could be planted here:\n\n{unasked}"] if unasked else said


def _planted(rows: Sequence[Row], kind: str) -> str:
    """A table of mutants: where, what."""
    columns: dict[str, Kind] = {"environment": "text", "place": "text", "operator": "text", "was": "code", "is": "code"}
    found = [
        [row["name"], f"{one['file']}:{one['line']}", one["operator"], *changed(one["before"], one["after"])]
        for row in rows for one in row["mutation"][kind]
    ]  # fmt: skip
    return Table(columns, found).markdown() if found else ""


def changed(before: str, after: str) -> tuple[str, str]:
    """Two lines as code; of long ones only what differs, and a little around it."""
    if max(len(before), len(after)) <= LONG:
        return f"`{before}`", f"`{after}`"
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    was, now = (_cut(line, start - AROUND, len(line) - end + AROUND) for line in (before, after))
    return f"`{was}`", f"`{now}`"


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _cut(line: str, start: int, end: int) -> str:
    head, tail = ("... " if start > 0 else ""), (" ..." if end < len(line) else "")
    return head + line[max(start, 0) : end].strip() + tail


def _percent(planted: Row) -> str:
    return NONE if planted["score"] is None else f"{100.0 * planted['score']:.1f} %"


def _folded(title: str, inside: str) -> str:
    return f"<details>\n<summary>{title}</summary>\n\n{inside.strip()}\n\n</details>\n"
