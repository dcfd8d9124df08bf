"""The published JSON Schemas are those of the dataclasses, and real results are as they say."""

import json
from pathlib import Path

import jsonschema
import pytest
from level_results import (
    divergence,
    episodes,
    module,
    module_comparison,
    properties,
    rollouts,
    scenarios,
    walk,
    wrong_case,
)
from schema_checks import as_json, require_valid, require_valid_part

from overclock.errors import UsageError
from overclock.results import decode
from overclock.schemas import SCHEMAS, content, file_name, json_schema
from overclock.verify.result import NotRun, VerifyReport

FOLDER = Path(__file__).parents[1] / "docs/schemas"
DATA = Path(__file__).parent / "report/data"


def test_every_schema_is_published_as_it_is_today():
    published = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert published == {file_name(name): content(name) for name in SCHEMAS}, (
        "run: python -m overclock.schemas docs/schemas"
    )


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one(name):
    jsonschema.Draft202012Validator.check_schema(json_schema(name))


def test_every_schema_is_linked_from_the_page_of_the_commands():
    page = (FOLDER.parent / "cli.md").read_text(encoding="utf-8")
    assert [name for name in SCHEMAS if f"(schemas/{file_name(name)})" not in page] == []


@pytest.mark.parametrize("file", ["passed.json", "failed.json"])
def test_kept_reports_are_as_their_schema_says_and_read_back_alike(file):
    kept = json.loads((DATA / file).read_text())
    require_valid(kept, "overclock.verify/1")
    assert as_json(decode(VerifyReport, kept)) == kept


def test_a_report_with_another_key_or_a_wrong_type_is_refused():
    kept = json.loads((DATA / "failed.json").read_text())
    for wrong in ({"seed": "0"}, {"verdict": "perhaps"}, {"levels": [{"level": 1}]}):
        with pytest.raises(jsonschema.ValidationError):
            require_valid({**kept, **wrong}, "overclock.verify/1", strict=False)
    require_valid({**kept, "more": 1}, "overclock.verify/1", strict=False)  # fields may be added
    with pytest.raises(jsonschema.ValidationError):
        require_valid({**kept, "more": 1}, "overclock.verify/1")


def test_results_of_every_level_come_back_from_json():
    failing = module("a", module_comparison(1.0, first_failure=wrong_case()))
    found = [
        properties(failing, verdict="fail"), scenarios("one"),
        rollouts(episodes(first=divergence()), exhaustive=walk()),
        NotRun(level=4, name="transfer", reason="level 1 failed"),
    ]  # fmt: skip
    for result in found:
        require_valid_part(result)


def test_what_is_no_result_is_refused():
    with pytest.raises(UsageError, match="VerifyReport has no 'env'"):
        decode(VerifyReport, {"schema": "overclock.verify/1"})
