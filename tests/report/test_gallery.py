"""The gallery: all figures of the JSON, worst and best alike; the committed page is that of the committed JSON."""

import hashlib
import importlib.util
import json
import re
from pathlib import Path

import pytest
from level_results import walk

from overclock.errors import UsageError
from overclock.report.gallery import changed, listing, page, with_mutants
from overclock.results import encode

ROOT = Path(__file__).parents[2]
RESULT, PAGE, LISTINGS = ROOT / "benchmarks/known.json", ROOT / "docs/gallery.md", ROOT / "docs/gallery"
MUTANTS = ROOT / "benchmarks/known-mutants.json"
SURVIVOR = {"file": "env.py", "line": 59, "operator": "constant", "before": "x = a | 2", "after": "x = a | 4"}
LAKE = {
    "name": "lake", "reference": "Lake-v1", "arguments": {"dry": True}, "outcome": "done", "sentence": "lake holds.",
    "levels": [1, 2, 3], "lines_in": 20, "lines_out": 50, "generation_s": 0.5, "compile_s": 2.25,
    "largest_error": 2e-16, "exhaustive": encode(walk(states=11, actions=4)),
    "branches": {
        "reached": 3, "reachable": 4, "percent": 75.0, "decided": ["lake.py:9 `human` is true"], "after the end": [],
        "missed": ["lake.py:7 `deep` is true"],
    },
    "mutation": {
        "planted": 5, "total": 4, "killed": 3, "score": 0.75, "by_level": {"1": 2, "2": 0, "3": 1}, "crashes": 1,
        "timeouts": 0, "same_program": [{**SURVIVOR, "line": 61}], "survivors": [SURVIVOR],
    },
    "original_sps": 150_000.0, "sps": 60_000_000.0, "batch": 4096, "speed_up": 400.0,
}  # fmt: skip
POND = {**LAKE, "name": "pond", "arguments": {}, "exhaustive": None, "speed_up": 25.0, "compile_s": 9.0}
REPORT = {
    "schema": "overclock.known/1", "held": 2, "rows": [LAKE, POND], "date": "2026-11-16T03:26:48+00:00", "cpu": "A CPU",
    "cores": 2, "versions": {"jax": "0.10.2"}, "command": "overclock translate --all-known --json",
}  # fmt: skip


def cells(text, name):
    (row,) = re.findall(rf"^\| (?:\[)?{name}.*\| .*x \|.*$", text, re.MULTILINE)
    return [cell.strip() for cell in row.strip("|").split(" | ")]


def test_a_row_shows_all_there_is():
    assert cells(page(REPORT), "lake") == [
        "lake", "`Lake-v1` (dry=True)", "20", "50", "1 2 3", "2e-16", "11 x 4, proof", "3 of 4 (75 %)",
        "3 of 4 (75.0 %)", "150 K", "60 M", "400x", "0.5", "2.25",
    ]  # fmt: skip


def test_a_note_about_the_runs_stands_below_them():
    assert "scripts/gallery.py`.\n\nTwo runs.\n" in page({**REPORT, "note": "Two runs."})
    assert "None" not in page(REPORT)


def test_what_was_not_measured_is_a_dash():
    bare = {key: value for key, value in LAKE.items() if key not in ("mutation", "speed_up", "sps", "original_sps")}
    text = page({**REPORT, "rows": [bare]})
    assert "| - | - | - | - | 0.5 | 2.25 |" in text
    assert "nobody found" not in text
    assert "What could not be measured" not in text
    broken = {**{key: value for key, value in LAKE.items() if key != "compile_s"}, "compile_error": "No answer."}
    text = page({**REPORT, "rows": [broken]})
    assert "| 0.5 | - |" in text
    assert "## What could not be measured\n\n- lake: No answer.\n" in text


def test_mistakes_may_be_planted_elsewhere_but_only_in_the_same_files():
    bare = {**{key: value for key, value in LAKE.items() if key != "mutation"}, "sha256": "1"}
    elsewhere = {**REPORT, "rows": [{**LAKE, "sha256": "1"}], "cpu": "Another CPU", "command": "overclock there"}
    elsewhere["versions"] = {"python": "3.12", "jax": "0.11.2"}
    text = page(with_mutants({**REPORT, "rows": [bare]}, elsewhere))
    assert cells(text, "lake")[8] == "3 of 4 (75.0 %)"
    assert "`overclock there`, 2026-11-16, Another CPU" in text
    elsewhere["rows"] = [{**LAKE, "sha256": "2"}]
    with pytest.raises(UsageError, match="different files for 'lake'"):
        with_mutants({**REPORT, "rows": [bare]}, elsewhere)


def test_the_worst_is_named():
    text = page(REPORT)
    assert "compile 9 s (pond)" in text
    assert "25x the original (pond; geometric mean of all 2: 100x, at batch 4,096)" in text
    assert "- lake: lake.py:7 `deep` is true" in text
    assert "| lake | env.py:59 | constant | `x = a \\| 2` | `x = a \\| 4` |" in text
    assert "6 of 8 were found" in text
    assert "until one finds it: level 1 4, level 3 2, level 2 0. 2 of them raise" in text


def test_what_does_not_count_is_listed_too():
    text = page(REPORT)
    folded = re.findall(r"<summary>(.*?)</summary>\n\n(.*?)\n\n</details>", text, re.DOTALL)
    told = dict(folded)
    assert "env.py:61" in told["Not counted: the same program as before"]
    assert (
        "`human` is true"
        in told["Not counted: the constructor's arguments decide them, or they are failing assertions"]
    )


def test_who_does_not_hold_is_told_with_the_reason():
    refused = {
        "name": "web",
        "reference": "Web-v0",
        "arguments": {},
        "outcome": "refused",
        "sentence": "web.py:3: a socket",
    }
    text = page({**REPORT, "rows": [LAKE, refused]})
    assert "1 of 2 environments hold" in text
    assert "- web: refused. web.py:3: a socket" in text


def test_where_nothing_could_be_planted_that_is_told():
    failed = {key: value for key, value in POND.items() if key != "mutation"} | {
        "mutation_error": "could not verify: x."
    }
    assert "here:\n\n- pond: could not verify: x.\n" in page({**REPORT, "rows": [LAKE, failed]})
    assert "planted\n\n- pond: could not verify: x.\n" in page({**REPORT, "rows": [failed]})


def test_the_command_the_machine_and_the_versions_are_there():
    text = page({**REPORT, "rows": [{**LAKE, "package": "Lakes==1.0"}]})
    assert "$ overclock translate --all-known --json\n" in text
    assert "2026-11-16, A CPU, 2 cores, jax 0.10.2, Lakes 1.0." in text


def test_generated_files_that_lie_beside_the_page_are_linked():
    text = page(REPORT, {"pond"})
    assert cells(text, "pond")[0] == "[pond](gallery/pond.md)"
    assert cells(text, "lake")[0] == "lake"


def test_of_long_lines_only_the_change_is_shown():
    numbers = [str(number) for number in range(100, 200)]
    before, after = f"T = [{', '.join(numbers)}]", f"T = [{', '.join(numbers).replace('150', '151')}]"
    was, now = changed(before, after)
    assert "150" in was
    assert "149, 151, 151" in now
    assert len(was) < 80
    assert changed("x = 1", "x = 2") == ("`x = 1`", "`x = 2`")


def test_another_report_is_refused():
    with pytest.raises(UsageError, match="--all-known --json"):
        page({"schema": "overclock.bench/1"})


def script():
    spec = importlib.util.spec_from_file_location("gallery_script", ROOT / "scripts/gallery.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_generated_file_is_copied_only_if_the_report_is_about_it(tmp_path):
    source = tmp_path / "candidate" / "env.py"
    source.parent.mkdir()
    source.write_text("A = 1\n")
    row = {"name": "lake", "run": str(tmp_path), "sha256": hashlib.sha256(b"A = 1\n").hexdigest()}
    copy = script().copy
    copy(row, tmp_path / "docs" / "lake.md")
    assert (tmp_path / "docs" / "lake.md").read_text() == listing("lake", "A = 1\n")
    with pytest.raises(SystemExit, match="another translation"):
        copy({**row, "sha256": "0"}, tmp_path / "docs" / "lake.md")


@pytest.mark.skipif(not RESULT.exists(), reason="the gallery's JSON is not part of an installed package")
def test_the_committed_page_is_that_of_the_committed_result():
    report = with_mutants(json.loads(RESULT.read_text()), json.loads(MUTANTS.read_text()))
    names = script().listed(LISTINGS)
    assert PAGE.read_text() == page(report, names), "run scripts/gallery.py as it says"
    hashes = {row["name"]: row.get("sha256") for row in report["rows"]}
    for name in names:
        (source,) = re.findall(r"```python\n(.*?\n)```", (LISTINGS / f"{name}.md").read_text(), re.DOTALL)
        assert hashlib.sha256(source.encode()).hexdigest() == hashes[name], name
