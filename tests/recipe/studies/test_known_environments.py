"""The known environments: the list, what is said about one, and that none of them ends the others."""

import hashlib
import json
import math
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("gymnasium", reason="the known environments are Gymnasium's, or in its form")

from level_results import episodes, module, module_comparison, properties, rollouts, scenarios

from overclock.errors import UsageError
from overclock.recipe.agents.builtin_agent import contract_of_program, program_of
from overclock.recipe.contract.cases import RecordedCases
from overclock.recipe.contract.file import ContractFile, StateField
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.loop.translate import Finished
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import AgentChoice
from overclock.recipe.project.twin import walk
from overclock.recipe.references.branch_coverage import reference_branches
from overclock.recipe.studies.known_environments import Known, chosen, known, translate_known
from overclock.recipe.studies.known_facts import code_lines, facts, largest_error, source_lines
from overclock.results import encode
from overclock.verify.rollout.result import Branches
from overclock.verify.sides.process import CouldNotVerifyError

NOTHING = rollouts()


def test_every_name_is_there_once_and_an_unknown_one_is_refused():
    names = [one.name for one in known()]
    assert len(names) == len(set(names)) >= 18
    assert [one.name for one in chosen(["taxi", "acrobot"])] == ["taxi", "acrobot"]
    assert chosen([]) == known()
    with pytest.raises(UsageError, match="no known environment 'tetris'; there are cartpole,"):
        chosen(["tetris"])


def test_what_cannot_be_translated_is_a_row_like_any_other(tmp_path, monkeypatch):
    row = translate_known(Known("gone", "NoSuchEnvironment-v0"), tmp_path, RunOptions())
    assert row["outcome"] == "refused"
    assert "NoSuchEnvironment" in row["sentence"]
    assert not list(tmp_path.iterdir())


def test_a_row_says_where_its_run_is_seen_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = Finished("stuck", "No.", tmp_path / "k" / "runs" / "1", Path("/elsewhere/report.html"), {}, None)
    monkeypatch.setattr(
        "overclock.recipe.studies.known_environments.new_project",
        lambda *_, **__: SimpleNamespace(project=None, program=None),
    )
    monkeypatch.setattr("overclock.recipe.studies.known_environments.translate", lambda *_, **__: ended)
    row = translate_known(Known("pond", "Pond-v0", package="ponds==1"), Path("k"), RunOptions())
    assert (row["run"], row["page"], row["package"]) == ("k/runs/1", "/elsewhere/report.html", "ponds==1")


@pytest.mark.parametrize("broken", ["new_project", "translate", "facts"])
def test_an_error_of_ours_or_of_an_environment_ends_no_other_row(tmp_path, monkeypatch, broken):
    ended = Finished("done", "Holds.", tmp_path, tmp_path, {}, tmp_path / "env.py")
    monkeypatch.setattr(
        "overclock.recipe.studies.known_environments.new_project",
        lambda *_, **__: SimpleNamespace(project=None, program=None),
    )
    monkeypatch.setattr("overclock.recipe.studies.known_environments.translate", lambda *_, **__: ended)
    monkeypatch.setattr(f"overclock.recipe.studies.known_environments.{broken}", lambda *_, **__: {}["nothing"])
    row = translate_known(Known("pond", "Pond-v0"), tmp_path, RunOptions())
    assert (row["outcome"], row["sentence"]) == ("broken", "KeyError: 'nothing'")


def test_mutants_that_cannot_be_asked_leave_the_other_facts(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise CouldNotVerifyError("could not verify: the unchanged environment does not pass level 1.")

    (tmp_path / "env.py").write_text("A = 1\n")
    reports = {1: properties(), 2: scenarios(), 3: NOTHING}
    levels = [{"level": level, "report": encode(report)} for level, report in reports.items()]
    (tmp_path / "report.json").write_text(json.dumps({"volatile": {"verification": levels}}))
    place = "overclock.recipe.studies.known_facts"
    covered = SimpleNamespace(covered=SimpleNamespace(lines=frozenset()))
    for name, value in {"program_of": covered, "_twin": None, "compile_seconds": 1.5, "reference_branches": {}}.items():
        monkeypatch.setattr(f"{place}.{name}", lambda *_, value=value: value)
    monkeypatch.setattr(f"{place}.mutation_score", broken)
    reference = SimpleNamespace(make=dict, path=None, capacities={})
    ended = Finished("done", "Holds.", tmp_path, tmp_path, {}, tmp_path / "env.py")
    found = facts(SimpleNamespace(reference=reference, name="x"), ended, measure=False, mutants=3)
    assert found["mutation_error"].startswith("could not verify")
    assert "mutation" not in found
    monkeypatch.setattr(f"{place}.compile_seconds", broken)
    assert "compile_s" not in (found := facts(SimpleNamespace(reference=reference, name="x"), ended, measure=False))
    assert found["compile_error"].startswith("could not verify")
    monkeypatch.setattr(f"{place}.compile_seconds", lambda *_: 1.5)
    found = facts(SimpleNamespace(reference=reference, name="x"), ended, measure=False)
    assert (found["compile_s"], found["lines_out"]) == (1.5, 1)
    assert found["sha256"] == hashlib.sha256(b"A = 1\n").hexdigest()
    assert "mutation_error" not in facts(SimpleNamespace(reference=reference, name="x"), ended, measure=False)


def test_lines_are_counted_without_comments_docstrings_and_blank_ones(tmp_path):
    text = '"""About."""\n\n# why\ndef f(x):\n    """Double."""\n    y = x + x  # so\n\n    return y\n'
    assert code_lines(text) == 3
    file = tmp_path / "rules.py"
    file.write_text(text + "\n\ndef draw():\n    pass\n")
    assert source_lines(frozenset({(str(file), 6)})) == 3  # of the function that the line belongs to


def test_the_largest_error_is_of_rules_in_float64_and_of_single_steps():
    of_rules = [module_comparison(2e-16, math.nan), module_comparison(1e-7, precision="float32")]
    found = properties(module("transition", *of_rules), module("draw_known", module_comparison(0.05)))
    played = rollouts(episodes(3e-16, math.inf), episodes(1e-9, mode="free_running"))
    assert largest_error(found, played) == 3e-16


POND = """
import gymnasium
import numpy as np


class KnownPond(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(8)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, slow=True):
        self.slow = slow

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.over = 0, False
        return self.at, {}

    def step(self, action):
        assert self.action_space.contains(action)
        if not self.slow:
            self.at += 5
        if self.over:
            self.at = 7
        if action == 1:
            self.at += 1
        if self.at == 100:
            self.at = 0
        self.over = self.at >= 3
        return min(self.at, 7), 1.0, self.over, False, {}
"""


@pytest.fixture(scope="module")
def pond(tmp_path_factory):
    folder = tmp_path_factory.mktemp("known")
    source = folder / "known_pond.py"
    source.write_text(textwrap.dedent(POND))
    return new_project(folder / "pond", f"{source}:KnownPond", "jax", AgentChoice("builtin"), max_steps=50).project


def test_a_limit_that_the_rules_count_themselves_is_the_projects(tmp_path):
    source = tmp_path / "counted_pond.py"
    source.write_text(
        POND.replace("self.over, False, {}", "self.over, self.t >= 9, {}")
        .replace("self.at, self.over = 0, False", "self.at, self.over, self.t = 0, False, 0")
        .replace("if action == 1:", "self.t += 1\n        if action == 1 and self.t > 99:")
        .replace("KnownPond", "CountedPond")
    )
    made = new_project(tmp_path / "counted", f"{source}:CountedPond", "jax", AgentChoice("builtin")).project
    assert made.reference.max_steps == 9


def test_branches_that_no_episode_takes_are_told_apart(pond, monkeypatch):
    covered = program_of(pond.name, pond.reference.make(), pond.reference.path).covered
    searched = reference_branches(pond, covered, NOTHING)
    assert (searched["reached"], searched["reachable"]) == (9, 9)  # a search puts it at 100, and beyond the end
    monkeypatch.setattr(RecordedCases, "step_from_boundary", lambda *_: None)
    found = reference_branches(pond, covered, NOTHING)
    assert [one.partition(" ")[2] for one in found["missed"]] == ["`self.at == 100` is true"]
    assert any("`self.over` is true" in one for one in found["after the end"])
    decided = " ".join(found["decided"])
    assert "self.slow" in decided
    assert "contains" in decided
    assert (found["reached"], found["reachable"]) == (7, 8)
    guided = rollouts(episodes(branches=Branches(found["missed"], [], [])), episodes())
    assert reference_branches(pond, covered, guided)["percent"] == 100.0


def test_few_whole_numbers_are_walked_through_and_nothing_else():
    lake = contract_of_program(program_of("lake", {"id": "FrozenLake-v1"}))
    assert walk(lake)["repeats"] > 1  # its steps are random
    assert walk(ContractFile((StateField("n", "n", "int64", (), 0, 9),)))["repeats"] == 1
    assert walk(contract_of_program(program_of("cart", {"id": "CartPole-v1"}))) is None
    assert walk(ContractFile((StateField("n", "n", "int64", (), 0, 10**6),))) is None
    assert walk(ContractFile((StateField("n", "n", "int64", (3,), 0, 2),))) is None
