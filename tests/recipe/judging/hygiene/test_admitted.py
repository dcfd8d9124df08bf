"""What is right is admitted: candidates of all tests, published ones, and what the built-in translator writes."""

from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="references are Gymnasium environments")

from recipe import cartpole_candidates, drifting_boat, windy_walk
from recipe.judging import test_functions

from overclock.errors import UsageError
from overclock.recipe.agents.builtin_agent import program_of
from overclock.recipe.judging.hygiene import Limits, check_source
from overclock.recipe.studies.known_environments import known
from overclock.translate.jax.file import print_jax

STUDIES = Path(__file__).parents[4] / "docs" / "case_studies"
WRITTEN = {
    "cartpole": {"env": cartpole_candidates.CORRECT},
    "ball": {"env": test_functions.WHOLE, "physics": test_functions.RIGHT},
    "boat": {"env": drifting_boat.CANDIDATE},
    "walk": {"env": windy_walk.CANDIDATE},
}
LARGE = Limits(constant_bytes=1 << 18)  # Taxi is a table
QUICK = {"cartpole", "frozen_lake", "blackjack"}


@pytest.mark.parametrize("study", sorted(path.name for path in STUDIES.iterdir() if (path / "candidate").is_dir()))
def test_published_candidates_are_admitted(study):
    assert check_source(STUDIES / study / "candidate") == []


@pytest.mark.parametrize("name", WRITTEN)
def test_candidates_of_the_tests_are_admitted(tmp_path, name):
    for file, text in WRITTEN[name].items():
        (tmp_path / f"{file}.py").write_text(text)
    assert check_source(tmp_path) == []


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.name, marks=() if row.name in QUICK else pytest.mark.long) for row in known()]
)
def test_what_the_translator_writes_is_admitted(row, tmp_path):
    kind = "entry_point" if ":" in row.reference else "id"
    made = {kind: row.reference, "arguments": dict(row.arguments), "max_steps": row.max_steps}
    try:
        program = program_of(row.name, made)
    except UsageError as error:
        pytest.skip(f"{row.package} is not installed ({error})")
    (tmp_path / "env.py").write_text(print_jax(program))
    assert check_source(tmp_path, LARGE) == []
