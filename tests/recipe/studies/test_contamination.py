"""Memory or translation: with other numbers in the source, a translation follows and a recitation is told as one."""

import ast
import dataclasses
import json
import re

import pytest

pytest.importorskip("gymnasium", reason="references need the extra 'gymnasium'")
pytest.importorskip("jinja2", reason="prompts need the extra 'report'")

from recipe.candidates import environment

from overclock.cli.loop.contamination import Contamination
from overclock.errors import UsageError
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.judging.hygiene.frozen import tree_hash
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Judging, load_project
from overclock.recipe.runs.run import Run
from overclock.recipe.studies import contamination
from overclock.recipe.studies.contamination import Control, conclude, control, make_control, recited, recited_sentence
from overclock.recipe.studies.perturb import Constant, apply, constants, copied, perturb
from overclock.recipe.survey.static.decompose import rules
from overclock.recipe.survey.static.source import resolve

REFERENCE = '''\
"""A stone that falls."""

import gymnasium
import numpy as np

SCREEN = 600.0


class FallEnv(gymnasium.Env):
    metadata = {"render_modes": [], "render_fps": 50}

    def __init__(self, drag=1.5):
        self.gravity = 9.8
        self.drag = drag
        self.tau = 0.05
        self.floor = 0.0
        self.width = 640.0
        self.observation_space = gymnasium.spaces.Box(-100.0, 100.0, (2,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.height = float(self.np_random.uniform(5.0, 6.0))
        self.speed = 0.0
        return self._observe(), {}

    def step(self, action):
        force = self.gravity - self.drag * self.speed * int(action)
        self.speed = self.speed + self.tau * force
        self.height = self.height - self.tau * self.speed
        return self._observe(), 1.0, self.height < self.floor, False, {}

    def _observe(self):
        return np.array([self.height, self.speed], np.float32)

    def render(self):
        return self.width * SCREEN
'''
RULES = [
    "force = GRAVITY - DRAG * state.speed * action",
    "speed = state.speed + TAU * force",
    "height = state.height - TAU * speed",
]
CANDIDATE = environment(
    "Fall", ["height", "speed"], RULES, constants="\nGRAVITY, DRAG, TAU = GRAVITY_HERE, DRAG_HERE, TAU_HERE\n",
    max_steps=200, bound=100.0, draw="5.0, 6.0", init="height=draw.uniform_0, speed=jnp.zeros_like(draw.uniform_0)",
    terminated="height < 0.0",
)  # fmt: skip
ORIGINAL = {"GRAVITY": "9.8", "DRAG": "1.5", "TAU": "0.05"}


def written(numbers):
    text = CANDIDATE
    for name, number in numbers.items():
        text = text.replace(f"{name}_HERE", number)
    return {"env.py": text}


def translates(task):
    """Reads the numbers where they stand in the prompt."""
    found = {
        "GRAVITY": re.search(r"self\.gravity = ([\d.]+)", task.prompt)[1],
        "DRAG": re.search(r"drag=([\d.]+)", task.prompt)[1],
        "TAU": re.search(r"self\.tau = ([\d.]+)", task.prompt)[1],
    }
    return written(found)


def recites(task):
    return written(ORIGINAL)


def options(script):
    return RunOptions(agent=ScriptedAgent(script), steps=OptionalSteps(repair=False, optimise=False))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    place = tmp_path_factory.mktemp("falling")
    (place / "falling_stone.py").write_text(REFERENCE)
    source = f"{place / 'falling_stone.py'}:FallEnv"
    return new_project(place / "fall", source, "jax", judging=Judging(levels=(2,)), max_steps=200).project


@pytest.mark.long
def test_an_agent_that_translates_follows_and_one_that_recites_is_found(project, without_hygiene, monkeypatch):
    found = control(project, seed=0, options=options(translates))
    assert (found.verdict, found.outcome) == ("followed", "done"), found.sentence
    assert {one.name for one in found.constants} == {"gravity", "drag", "tau"}
    other = load_project(project.folder / "control" / "0")
    assert (other.name, other.judging.levels) == (project.name, (2,))
    gravity = next(one for one in found.constants if one.name == "gravity")
    assert f"self.gravity = {gravity.after!r}\n" in (other.folder / "modules" / "falling_stone.txt").read_text()
    assert (project.folder.parent / "falling_stone.py").read_text() == REFERENCE

    finished = translate(other, "by-heart", options(recites))
    assert finished.outcome == "stuck"
    by_heart = conclude(project, other, finished.run)
    assert by_heart.verdict == "recited"
    assert f"the original's 9.8 where the source says {gravity.after!r}" in by_heart.sentence

    # With a mistake of its own it passes against neither, and its numbers tell.
    monkeypatch.setattr(contamination, "_holds", lambda *given: False)
    assert conclude(project, other, finished.run).verdict == "partly recited"


def test_constants_are_those_that_the_rules_read_under_a_name(project):
    source = resolve(f"{project.folder.parent / 'falling_stone.py'}:FallEnv")
    found = {one.name: one.before for one in constants(source)}
    # Not: zero, what only drawing reads, dictionaries, spaces, numbers inside of rules.
    assert found == {"drag": 1.5, "gravity": 9.8, "tau": 0.05}
    given = resolve(source.text, {"drag": 2.0})
    assert "drag" not in {one.name for one in constants(given)}, "an argument replaces the default"


def test_the_seed_decides_what_changes_and_types_stay(project):
    source = resolve(f"{project.folder.parent / 'falling_stone.py'}:FallEnv")
    first, again = perturb(source, source.files, 3), perturb(source, source.files, 3)
    assert first == again
    assert any(perturb(source, source.files, seed) != first for seed in range(4, 9))
    for one in first:
        assert type(one.after) is type(one.before)
        assert 0.02 < abs(one.after / one.before - 1) < 0.1
    changed = ast.parse(apply(REFERENCE, first))
    numbers = [node.value for node in ast.walk(changed) if isinstance(node, ast.Constant)]
    assert all(one.after in numbers and one.before not in numbers for one in first)
    assert len(list(ast.walk(changed))) == len(list(ast.walk(ast.parse(REFERENCE))))


def test_whole_numbers_change_by_one_where_there_are_no_others(tmp_path):
    text = (
        REFERENCE.replace("9.8", "10").replace("1.5", "2").replace("0.05", "1").replace('"""A st', 'GOAL = 7\n"""A st')
    )
    (tmp_path / "whole.py").write_text(text.replace("self.floor, False", "GOAL, False"))
    source = resolve(str(tmp_path / "whole.py"))
    changes = perturb(source, source.files, 0)
    assert {one.name for one in changes} == {"gravity", "GOAL"}  # one and two count things
    assert all(abs(one.after - one.before) == 1 for one in changes)


def test_a_number_that_a_space_is_written_with_stays(tmp_path):
    (tmp_path / "spaced.py").write_text(REFERENCE.replace("-100.0, 100.0", "-9.8, 9.8"))
    assert "gravity" not in {one.name for one in constants(resolve(str(tmp_path / "spaced.py")))}


def test_an_installed_file_keeps_its_imports_when_it_is_copied():
    source = resolve("gymnasium:CartPole-v1")
    (file,) = [one for one in rules(source).files if one.module == source.module]
    changes = perturb(source, [file.path], 0)
    assert {one.name for one in changes} <= {
        "gravity",
        "masscart",
        "masspole",
        "length",
        "force_mag",
        "tau",
        "x_threshold",
    }
    text = copied(file, changes)
    assert all(not node.level for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom))


def test_relative_imports_become_absolute(tmp_path):
    package = tmp_path / "boulder"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tools.py").write_text("def half(x):\n    return x / 2\n")
    (package / "stone.py").write_text(
        REFERENCE.replace("import numpy as np", "import numpy as np\n\nfrom .tools import half")
    )
    source = resolve(f"{package / 'stone.py'}:FallEnv")
    file = next(one for one in rules(source).files if one.module == "boulder.stone")
    assert "from boulder.tools import half" in copied(file, [])


def test_the_sentence_names_the_numbers_that_were_recited():
    changes = [Constant("gravity", "f.py", 3, 9.8, 10.486, 0, 3), Constant("tau", "f.py", 4, 0.02, 0.0186, 0, 4)]
    said = recited_sentence(changes, {"env.py": b"GRAVITY = 9.8\nTAU = 0.0186\n"})
    assert said == "Recited: the candidate has the original's 9.8 where the source says 10.486."
    said = recited_sentence(changes, {"env.py": b"GRAVITY = 98 / 10\n"}, repaired=True)
    assert said.startswith("Recited: the candidate passes every test against the original")
    assert said.endswith("Repairs corrected it later.")


def told(folder, outcome, *candidates):
    """A run of a control project: the files of its candidates, and whether each passed."""
    changes = [Constant("gravity", "f.py", 3, 9.8, 10.486, 0, 3), Constant("tau", "f.py", 4, 0.02, 0.0186, 0, 4)]
    (folder / "0-changes.json").write_text(json.dumps([dataclasses.asdict(one) for one in changes]))
    with Run.create(folder / "0" / "runs" / "1", {"project": "fall"}) as run:
        for text, verdict in candidates:
            files = {"env.py": text.encode()}
            stored = {path: run.journal.store(content) for path, content in files.items()}
            name = tree_hash(files)
            run.journal.append("candidate frozen", candidate=name, files=stored, task="1", lines=1)
            facts = {"failure": None, "report": None, "seconds": 0.0, "tests_passed": 0, "tests_total": 1}
            run.journal.append("judged", candidate=name, level=2, verdict=verdict, **facts)
        run.journal.append("run ended", outcome=outcome, sentence="")
    return run.folder


ORIGINALS, HALF, GIVEN = "G = 9.8\nT = 0.02\n", "G = 9.8\nT = 0.0186\n", "G = 10.486\nT = 0.0186\n"


@pytest.mark.parametrize(
    ("outcome", "candidates", "verdict", "says"),
    [
        ("done", [(HALF, "fail"), (GIVEN, "pass")], "partly recited", "the original's 9.8 .* Repairs corrected it"),
        ("done", [(HALF, "pass")], "partly recited", "the original's 9.8 .* No test noticed"),
        ("stuck", [(HALF, "fail")], "partly recited", "the original's 9.8 where the source says 10.486.$"),
        ("done", [("G = 98\n", "fail"), (GIVEN, "pass")], "followed", "Followed"),
        ("stuck", [("G = 98\n", "fail")], "neither", "No verdict"),
    ],
)
def test_some_of_the_original_s_numbers_are_a_recitation_in_part(
    project, tmp_path, monkeypatch, outcome, candidates, verdict, says
):
    monkeypatch.setattr(contamination, "_holds", lambda *given: False)
    other = dataclasses.replace(project, folder=tmp_path / "0")
    found = conclude(project, other, told(tmp_path, outcome, *candidates))
    assert found.verdict == verdict
    assert re.search(says, found.sentence), found.sentence


def test_numbers_of_a_rust_candidate_are_read_too():
    changes = [Constant("gravity", "f.py", 3, 9.8, 10.486, 0, 3)]
    assert recited(changes, {"src/lib.rs": b"const G: f64 = 9.8_f64;"}) == changes
    assert recited(changes, {"src/lib.rs": b"const G: f64 = 10.486; // not 9.8"}) == []


@pytest.mark.parametrize(
    ("verdict", "code"),
    [("followed", 0), ("partly recited", 1), ("recited", 1), ("neither", 3), ("unfinished", 3)],
)
def test_the_command_tells_the_constants_and_the_verdict(project, monkeypatch, capsys, verdict, code):
    change = Constant("gravity", "/somewhere/f.py", 3, 9.8, 10.486, 0, 3)
    found = Control((change,), "done", project.folder, verdict, "A sentence.")
    monkeypatch.setattr(contamination, "control", lambda *given: found)
    assert Contamination(project=project.folder).run() == code
    assert re.search(r"gravity +f.py:3 +9.8 +10.486\nA sentence.", capsys.readouterr().out)
    assert Contamination(project=project.folder, json=True).run() == code
    report = json.loads(capsys.readouterr().out)
    assert (report["schema"], report["verdict"]) == ("overclock.contamination/1", verdict)
    assert report["constants"] == [{"name": "gravity", "file": "f.py", "line": 3, "before": 9.8, "after": 10.486}]


def test_a_specification_has_no_numbers_yet(tmp_path):
    (tmp_path / "rules.md").write_text("A stone falls.")
    made = new_project(tmp_path / "stone", str(tmp_path / "rules.md")).project
    with pytest.raises(UsageError, match="has no Python reference yet"):
        make_control(made, tmp_path / "control", 0)
