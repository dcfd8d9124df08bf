"""A reference that moved on: what changed is found, and only that is translated again, with every test as guard."""

import dataclasses
import json
import re

import pytest

pytest.importorskip("gymnasium", reason="references need the extra 'gymnasium'")
pytest.importorskip("jinja2", reason="prompts need the extra 'report'")

from recipe.candidates import environment

from overclock.cli.loop.update import Update
from overclock.errors import UsageError
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.contract.file import Closeness, ContractFile, DrawField, StateField
from overclock.recipe.contract.thresholds import Limits
from overclock.recipe.judging.hygiene.frozen import tree_hash
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.project import update
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Judging, ModulePlan, load_project
from overclock.recipe.project.update import compare, find_update, last_verified, run_update, update_report
from overclock.recipe.project.update_scenarios import Guard
from overclock.recipe.references.changes import contract_differences, merged, same_rules
from overclock.recipe.references.surveyor import Surveyed
from overclock.recipe.runs.run import Run
from overclock.verify.interaction.scenario import load_scenarios

# Modules have a hundred lines at least; a long docstring makes them so without making rules.
LONG = "\n".join(f"    {number}" for number in range(110))
WIND = f'''\
"""The wind."""

GUST = 0.25


def blow(position, direction):
    """Where the wind takes a leaf.

{LONG}
    """
    return position + GUST if direction == 1 else position - GUST
'''
WORLD = f'''\
"""A leaf in the wind."""

import gymnasium
import numpy as np

from drifting_leaf.wind import blow


class LeafEnv(gymnasium.Env):
    """A leaf.

{LONG}
    """

    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(-10.0, 10.0, (1,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(-1.0, 1.0))
        return np.array([self.x], np.float32), {{}}

    def step(self, action):
        self.x = blow(self.x, int(action))
        return np.array([self.x], np.float32), 1.0, abs(self.x) > 2.0, False, {{}}
'''
JAX_WIND = """\
import jax.numpy as jnp

GUST = 0.25


def blow(position, direction):
    return jnp.where(direction == 1, position + GUST, position - GUST)
"""
JAX_WORLD = environment(
    "Leaf", ["x"], ["x = blow(state.x, action)"], constants="from wind import blow\n", max_steps=30, bound=10.0,
    draw="-1.0, 1.0", init="x=draw.uniform_0", terminated="jnp.abs(x) > 2.0",
)  # fmt: skip
VERIFIED = {"wind.py": JAX_WIND.encode(), "env.py": JAX_WORLD.encode()}
LEVELS = (2,)
FIELD = StateField("x", "x", "float64", low=-1.0, high=1.0)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project, its package, and a run of it that is done."""
    place = tmp_path_factory.mktemp("leaf")
    package = place / "drifting_leaf"
    package.mkdir()
    for name, text in {"__init__": "", "wind": WIND, "world": WORLD}.items():
        (package / f"{name}.py").write_text(text)
    judging = Judging(levels=LEVELS)
    source = f"{package / 'world.py'}:LeafEnv"
    project = new_project(place / "leaf", source, "jax", judging=judging, max_steps=30).project
    done_run(project, "first", VERIFIED)
    return project, package


def done_run(project, name, files, outcome="done", levels=LEVELS):
    """A run as the loop leaves it, with one more scenario that a failure added."""
    with Run.create(project.folder / "runs" / name, {"project": project.name}) as run:
        journal = run.journal
        facts = {"reference": "", "target": "jax", "agent": "", "budget_dollars": None, "limits": {}, "versions": {}}
        journal.append("run started", project=project.name, levels=list(levels), **facts)
        stored = {path: journal.store(content) for path, content in files.items()}
        journal.append("candidate frozen", candidate=tree_hash(files), files=stored, task="1", lines=1)
        journal.append("run ended", outcome=outcome, sentence="")
        added = (project.scenarios / "random-0.json").read_text().replace('"random-0"', '"added-by-a-failure"')
        (run.folder / "scenarios").mkdir()
        (run.folder / "scenarios" / "added-by-a-failure.json").write_text(added)


@pytest.mark.long
def test_only_the_changed_module_is_translated_again_and_every_test_guards_it(made, without_hygiene):
    project, package = made
    assert [module.name for module in project.modules] == ["wind", "world"]
    (package / "wind.py").write_text(WIND.replace("GUST = 0.25", "GUST = 0.5  # stronger now"))
    (package / "world.py").write_text(WORLD.replace('"""A leaf in the wind."""', '"""A leaf, in the wind."""'))

    for name in ("overclock.toml", "contract.toml"):
        (project.folder / name).write_text("# A person's remark.\n" + (project.folder / name).read_text())

    found = find_update(project)
    assert (found.changed, found.new, found.gone, found.contract) == (("wind",), (), (), ())
    assert [(module.name, module.what) for module in update_report(found).modules] == [
        ("wind", "translated again"),
        ("world", "kept"),
    ]
    assert "added-by-a-failure" in found.guard.stale
    assert "the file expects" in found.guard.stale["steady-first"]
    before = {path.name: path.read_bytes() for path in project.scenarios.iterdir()}
    with pytest.raises(UsageError, match="--accept"):
        run_update(found)
    assert {path.name: path.read_bytes() for path in project.scenarios.iterdir()} == before

    tasks = []

    def script(task):
        tasks.append(task)
        assert (task.folder / "env.py").read_bytes() == VERIFIED["env.py"]
        return {"wind.py": JAX_WIND.replace("0.25", "0.5")}

    options = RunOptions(agent=ScriptedAgent(script), steps=OptionalSteps(optimise=False))
    finished = run_update(found, accept=True, run_id="second", options=options)
    assert finished.outcome == "done", finished.sentence
    assert [(task.purpose, task.id) for task in tasks] == [("translate", "001-translate-wind")]
    assert "-GUST = 0.25\n+GUST = 0.5  # stronger now" in tasks[0].prompt

    # All scenarios are the project's now, as the reference plays them now; the episode may end earlier.
    played = {one.name: one for one in load_scenarios(str(project.scenarios))}
    assert "added-by-a-failure" in played
    assert abs(played["steady-last"].steps[0].expect["state.x"] - played["steady-last"].setup.expect["state.x"]) == 0.5
    assert not any(step.expect["terminated"] for one in played.values() for step in one.steps[:-1])
    assert "GUST = 0.5" in (project.folder / "modules" / "wind.txt").read_text()
    for name in ("overclock.toml", "contract.toml"):
        assert (project.folder / name).read_text().startswith("# A person's remark.\n")
    newest = last_verified(load_project(project.folder))
    assert (newest.folder.name, newest.files["wind.py"]) == ("second", JAX_WIND.replace("0.25", "0.5").encode())


def surveyed(project, verified, **changes):
    """What a survey of the reference would say after some of its modules' texts changed."""
    texts = {**verified.texts, **changes}
    texts = {name: text for name, text in texts.items() if text is not None}
    modules = tuple(ModulePlan(name, ("leaf.py",), (), 1) for name in texts)
    return Surveyed(project.reference, project.contract, modules, texts, {})


@pytest.fixture
def copied(made, tmp_path, monkeypatch):
    """The project at its beginning, with a guard that has nothing to say."""
    project, _ = made
    for part in ("modules", "scenarios"):
        (tmp_path / part).mkdir()
        for path in (project.folder / part).iterdir():
            (tmp_path / part / path.name).write_bytes(path.read_bytes())
    for name, text in {"wind": WIND, "world": WORLD}.items():
        (tmp_path / "modules" / f"{name}.txt").write_text(text)
    for name in ("overclock.toml", "contract.toml"):
        (tmp_path / name).write_bytes((project.folder / name).read_bytes())
    monkeypatch.setattr(update, "guard", lambda project, *folders: Guard((), {}))
    return load_project(tmp_path)


def test_modules_that_come_and_go_are_found(copied):
    done_run(copied, "first", VERIFIED)
    verified = last_verified(copied)
    same = compare(copied, verified, surveyed(copied, verified))
    assert same.nothing
    with pytest.raises(UsageError, match="Nothing changed"):
        run_update(same)
    gone = compare(copied, verified, surveyed(copied, verified, wind=None))
    assert (gone.gone, gone.changed, gone.new) == (("wind",), (), ())
    # A module after the last one takes its place in env.py, so what was the last one moves to another file.
    more = compare(copied, verified, surveyed(copied, verified, rain="RAIN = 1\n"))
    assert (more.new, more.changed, more.again) == (("rain",), ("world",), ("world", "rain"))


def test_the_command_shows_the_plan_and_asks_before_tests_change(copied, monkeypatch, capsys):
    done_run(copied, "first", VERIFIED)
    verified = last_verified(copied)
    found = compare(copied, verified, surveyed(copied, verified, wind=WIND.replace("0.25", "0.5")))
    stale = dataclasses.replace(found, guard=Guard((), {"steady": "step 1: it is otherwise"}))
    monkeypatch.setattr(update, "find_update", lambda project: stale)
    monkeypatch.setattr(update, "translate", lambda *given: pytest.fail("nothing was accepted"))
    assert Update(project=copied.folder).run() == 3
    shown = capsys.readouterr().out
    assert re.search(r"wind +1 +translated again\nworld +1 +kept", shown)
    assert "the scenario 'steady' is stale: step 1: it is otherwise" in shown
    assert "--accept" in shown
    assert Update(project=copied.folder, dry_run=True, accept=True, json=True).run() == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["schema"], report["outcome"], report["verified"]) == ("overclock.update/1", None, "first")
    assert [module["what"] for module in report["modules"]] == ["translated again", "kept"]


def test_a_contract_that_differs_sends_the_environment_back_as_well(copied):
    done_run(copied, "first", VERIFIED)
    verified = last_verified(copied)
    other = dataclasses.replace(copied.contract, state=(*copied.contract.state, StateField("y", "y", "int64")))
    found = compare(copied, verified, dataclasses.replace(surveyed(copied, verified), contract=other))
    assert found.contract == ("The state has a new `y`: int64[].",)
    assert (found.again, found.asks) == (("world",), True)


def test_a_time_limit_that_changed_is_no_longer_verified(copied):
    """It is in no module's text: a Gymnasium id brings its own."""
    done_run(copied, "first", VERIFIED)
    verified = last_verified(copied)
    assert verified.max_steps == 30
    shorter = dataclasses.replace(copied.reference, max_steps=20)
    found = compare(copied, verified, dataclasses.replace(surveyed(copied, verified), reference=shorter))
    assert found.contract == ("The time limit was 30 steps and is 20 steps.",)
    assert (found.nothing, found.again, found.asks) == (False, ("world",), True)
    assert found.project.reference.max_steps == 20
    assert found.project.contract == copied.contract


def test_an_update_that_did_not_hold_is_compared_with_the_last_verified_run(copied, monkeypatch):
    done_run(copied, "first", VERIFIED)
    done_run(copied, "stuck", {"env.py": b""}, outcome="stuck")
    done_run(copied, "lax", {"env.py": b""}, levels=(1, 3))
    verified = last_verified(copied)
    assert verified.folder.name == "first"
    started = []
    monkeypatch.setattr(update, "translate", lambda *given: started.append(given[-1]))
    found = compare(copied, verified, surveyed(copied, verified, wind=WIND.replace("0.25", "0.5")))
    run_update(found, run_id="next")
    assert started[0]["again"] == ["wind"]
    assert (copied.folder / "runs" / "next" / "candidate" / "wind.py").read_bytes() == VERIFIED["wind.py"]
    assert "0.5" in (copied.folder / "modules" / "wind.txt").read_text()
    # The run that was started is not done: what was verified is still the old text.
    assert last_verified(load_project(copied.folder)).texts == verified.texts


def test_a_project_that_was_never_verified_cannot_be_updated(copied):
    with pytest.raises(UsageError, match="is done at levels 2 yet; `overclock translate` it first"):
        last_verified(copied)


@pytest.mark.parametrize(
    ("after", "same"),
    [
        ('def f(x):\n    """Told otherwise."""\n    # why\n    return (x +\n        1.5)\n', True),
        ("def f(x):\n    return x + 1.25\n", False),
        ("def f(x):\n    return 1.5 + x\n", False),
        ("def f(y):\n    return y + 1.5\n", False),
    ],
)
def test_comments_docstrings_and_layout_are_no_rules(after, same):
    assert same_rules('def f(x):\n    """Told."""\n    return x + 1.5\n', after) is same


def test_an_excerpt_that_is_no_program_is_compared_line_by_line():
    assert same_rules("class A(\n    # what\n\n    x = 1\n", "class A(\n    x = 1\n")
    assert not same_rules("class A(\n    x = 1\n", "class A(\n    x = 2\n")


def test_a_contract_differs_in_state_and_draws_and_keeps_its_names_and_tolerances():
    close = {"float64": Closeness({"state": 1e-9}, {}, "because")}
    draw = DrawField("luck", "uniform", "-1, 1")
    before = ContractFile((dataclasses.replace(FIELD, name="leaf"),), (draw,), precisions=close)
    assert contract_differences(before, dataclasses.replace(before, precisions={"float64": Closeness()})) == []
    wider = dataclasses.replace(FIELD, shape=(2,))
    after = ContractFile((wider,), (dataclasses.replace(draw, arguments="-2, 2"),))
    assert contract_differences(before, after) == [
        "The state's `x` was float64[] and is float64[2].",
        "A reset drew uniform(-1, 1)[] and draws uniform(-2, 2)[].",
    ]
    kept = merged(before, after)
    assert (kept.state[0].name, kept.state[0].shape, kept.precisions) == ("leaf", (2,), close)


def test_thresholds_are_the_reference_s_own_and_move_with_it():
    def close(limit):
        return {"float32": Closeness({"state": 1e-5}, {}, "because", limits=Limits({limit[0]: limit[1:]}, 1e-5, "it"))}

    before = ContractFile((dataclasses.replace(FIELD, name="leaf"),), precisions=close(("leaf", 2.0)))
    after = ContractFile((FIELD,), precisions=close(("x", 2.5)))
    assert merged(before, after).precisions == close(("leaf", 2.5))
