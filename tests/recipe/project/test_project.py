"""overclock.toml: what is written is read back, changes of one run, and what is wrong is said in one sentence."""

import dataclasses
import math

import pytest
from recipe.scripted_run import small_project

from overclock.errors import UsageError
from overclock.recipe.project.project import (
    AgentChoice,
    Changes,
    Judging,
    ModulePlan,
    checkable,
    format_project,
    load_project,
)
from overclock.recipe.project.values import safe_name


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "pond", modules=("physics", "rules"), dollars=None)


def test_a_project_is_read_as_it_was_written(project):
    assert project.limits.dollars is None
    assert load_project(project.folder) == project


def test_arguments_and_training_survive(project):
    reference = dataclasses.replace(project.reference, arguments={"size": 4, "map": ["SF", "HG"]}, max_steps=50)
    judging = Judging(training={"total_steps": 64, "hidden": (8, 8)}, seeds=3)
    changed = dataclasses.replace(project, reference=reference, judging=judging, agent=AgentChoice("claude", "m"))
    (project.folder / "overclock.toml").write_text(format_project(changed))
    loaded = load_project(project.folder)
    assert loaded.reference.make() == {
        "entry_point": "pond:Pond", "arguments": {"size": 4, "map": ["SF", "HG"]}, "max_steps": 50,
    }  # fmt: skip
    assert loaded.judging.training == {"total_steps": 64, "hidden": [8, 8]}
    assert loaded.agent == changed.agent


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("overclock.project/1", "overclock.project/9", "schema"),
        ('target = "jax"', 'target = "fortran"', "fortran"),
        ('name = "pond"', "", "does not say 'name'"),
        ("iterations = 50", "iteration = 50", "unknown key 'iteration'"),
        ("levels = [1, 2, 3, 4]", "levels = [7]", "levels 1 to 4"),
        ('name = "rules"', 'name = "physics"', "no two of the same name"),
        ("depends_on = []", 'depends_on = ["rules"]', "before 'rules'"),
        ("[limits]", "[limit]", "unknown part 'limit'"),
        ("[limits]", "[limits", "not usable"),
        ("timeout = 120.0", 'timeout = "long"', "limits.timeout must be a number; it is 'long'"),
        ("timeout = 120.0", "timeout = nan", "limits.timeout must be a number; it is nan"),
        ("timeout = 120.0", "timeout = true", "limits.timeout must be a number; it is True"),
        ("timeout = 120.0", "timeout = 0", "limits.timeout must be more than 0"),
        ("iterations = 50", "iterations = -2", "limits.iterations must be at least 1; it is -2"),
        ("iterations = 50", "iterations = 2.5", "limits.iterations must be a whole number"),
        ('dollars = "unlimited"', "dollars = -3.0", "limits.dollars must be at least 0"),
        ('dollars = "unlimited"', "dollars = inf", "limits.dollars must be a number or 'unlimited'"),
        ("\nepisodes = 100", "\nepisodes = 0", "judging.episodes must be at least 1"),
        ("held_out = 100", "held_out = 0", "judging.held_out must be at least 1"),
        ("seeds = 10", "seeds = 1", "judging.seeds must be at least 2"),
        ("looks = 3", "looks = 4", "judging.looks must be 1 to 3"),
        ("levels = [1, 2, 3, 4]", 'levels = ["1"]', "judging.levels must be a list, each entry a whole number"),
        ("training = {}", "training = 3", "judging.training must be a table"),
        ("candidates = 1", "candidates = 99", "agent.candidates must be 1 to 16"),
        ('name = "pond"', 'name = "../x y"', "A project cannot be called '../x y'"),
        ('name = "rules"', 'name = "../rules"', "A module cannot be called '../rules'"),
        ("[agent]\n", "[agent]\nname = 1\n[other]\n", "agent.name must be a text; it is 1"),
    ],
)
def test_what_is_wrong_is_said(project, old, new, says):
    path = project.folder / "overclock.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError) as error:
        load_project(project.folder)
    assert says in str(error.value)


def test_a_run_lies_in_its_project_and_nowhere_else(project):
    assert project.run_folder("a-1.b_2").parent == project.folder / "runs"
    for name in ("../../evil", "a/b", "..", ".hidden", "-x", "", "a b"):
        with pytest.raises(UsageError, match="A run cannot be called"):
            project.run_folder(name)


def test_a_folder_s_name_becomes_one_that_a_project_can_have():
    assert [safe_name(text) for text in ("my env", "..", "é1", "pond.v2")] == ["my_env", "project", "_1", "pond.v2"]


@pytest.mark.parametrize("dollars", [-1.0, math.nan, math.inf])
def test_a_budget_is_an_amount(project, dollars):
    with pytest.raises(UsageError, match=r"limits\.dollars must be"):
        Changes(budget=dollars).of(project)


def test_a_folder_without_a_project_is_said(tmp_path):
    with pytest.raises(UsageError, match="`overclock new` makes one"):
        load_project(tmp_path)


def test_changes_of_a_run_add_up(project):
    first = Changes("codex", budget=2.0, levels=(3, 1))
    both = Changes(budget=5.0).over(first)
    changed = both.of(project)
    assert (changed.agent.name, changed.limits.dollars, changed.judging.levels) == ("codex", 5.0, (1, 3))
    assert Changes.from_json({"agent": "codex", "model": None, "budget": 2.0, "levels": [3, 1]}) == first
    assert Changes().of(project) == project


def test_another_agent_does_not_get_the_model_of_the_first(project):
    named = dataclasses.replace(project, agent=AgentChoice("codex", "gpt-5"))
    assert Changes("gemini").of(named).agent == AgentChoice("gemini", "")
    assert Changes("codex").of(named).agent == AgentChoice("codex", "gpt-5")


def test_only_public_names_outside_of_classes_can_be_asked_alone():
    names = ("p.m:push", "p.m:_help", "p.m:Body.move", "p.m:GRAVITY")
    assert checkable(ModulePlan("m", ("m.py",), names)) == ["p.m:push", "p.m:GRAVITY"]
