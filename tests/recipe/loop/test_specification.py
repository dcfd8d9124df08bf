"""From written rules to JAX: the reference is checked before it is one, a person approves it, then it is translated."""

import pytest

pytest.importorskip("gymnasium", reason="references need the extra 'gymnasium'")
pytest.importorskip("jinja2", reason="prompts need the extra 'report'")

from overclock.errors import UsageError
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.contract.file import Closeness, ContractFile, StateField, format_contract
from overclock.recipe.judging.judge import Judge
from overclock.recipe.judging.verdict import Verdict
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.specification_loop import SpecificationJudge
from overclock.recipe.loop.translate import resume, translate
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Judging, load_project
from overclock.recipe.references.play_check import play
from overclock.recipe.references.static_check import check_reference, time_limit
from overclock.recipe.runs.run import Run

RULES = """\
# Dice race

One runner stands on field 0 of a track.
Each turn the player chooses a gait and then a die with six sides is rolled.
- Gait 0, careful: the runner moves three fields, whatever the die shows.
- Gait 1, bold: the runner moves as many fields as the die shows, but a one sends it back to field 0.
The runner who stands on field 12 or beyond has won; it stops on field 12.
A turn costs one point. Winning brings ten points instead.
After 30 turns the race is called off.
The player sees the field.
"""

REFERENCE = '''\
"""Dice race."""

import gymnasium
import numpy as np

GOAL, SIDES, CAREFUL = 12, 6, 3
MAX_STEPS = 30  # After 30 turns the race is called off.


class DiceRace(gymnasium.Env):
    """One runner on a track."""

    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(0.0, float(GOAL), (1,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.field = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.field = 0
        return self.observe(), {}

    def step(self, action):
        die = int(self.np_random.integers(1, SIDES + 1))
        self.field = self.run(int(action), die)
        won = self.field == GOAL
        return self.observe(), 10.0 if won else -1.0, won, False, {}

    def run(self, gait, die):
        if gait == 0:
            return min(self.field + CAREFUL, GOAL)
        return 0 if die == 1 else min(self.field + die, GOAL)

    def observe(self):
        return np.array([self.field], np.float32)
'''
CRASHES = REFERENCE.replace("min(self.field + CAREFUL, GOAL)", "[3, 4, 5, 6, 7, 8, 9, 10, 11][self.field]")
STRAY_LUCK = REFERENCE.replace("import gymnasium\n", "import random\n\nimport gymnasium\n", 1).replace(
    "int(self.np_random.integers(1, SIDES + 1))", "random.randint(1, SIDES)"
)
CANDIDATE = '''\
"""Dice race in JAX."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Int

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct

GOAL, SIDES, CAREFUL = 12, 6, 3


class RaceParams(Params):
    max_steps: int | None = 30


class RaceState(Struct):
    field: Int[Array, ""]


class RaceDraw(Struct):
    integers_0: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class DiceRace(Environment[RaceState, RaceParams]):
    def default_params(self):
        return RaceParams()

    def observation_space(self, params):
        return Box(0.0, float(GOAL), (1,))

    def action_space(self, params):
        return Discrete(2)

    def draw_step(self, rng: Rng, state, params):
        return RaceDraw(integers_0=1 + rng.integers(0, SIDES))

    def init(self, draw, params):
        return RaceState(field=jnp.int32(0))

    def transition(self, state, action, draw, params):
        bold = jnp.where(draw.integers_0 == 1, 0, jnp.minimum(state.field + draw.integers_0, GOAL))
        careful = jnp.minimum(state.field + CAREFUL, GOAL)
        field = jnp.where(action == 0, careful, bold).astype(jnp.int32)
        won = field == GOAL
        return RaceState(field=field), jnp.where(won, 10.0, -1.0).astype(jnp.float32), won

    def observe(self, state, params):
        return state.field.astype(jnp.float32)[None]


def make():
    return DiceRace(), RaceParams()
'''
QUICK = Judging(levels=(1, 2, 3), episodes=4, held_out=4)
QUESTION = "May a runner stand on field 0 for ever? Taken: yes."


def folder_with(tmp_path, text):
    place = tmp_path / "reference"
    place.mkdir()
    (place / "reference_env.py").write_text(text)
    return place


@pytest.fixture
def project(tmp_path):
    (tmp_path / "race.md").write_text(RULES)
    return new_project(tmp_path / "race", str(tmp_path / "race.md"), "jax", judging=QUICK).project


@pytest.mark.long
def test_a_specification_becomes_a_reference_and_then_jax(project):
    prompts = []

    def script(task):
        prompts.append((task.purpose, task.prompt))
        if task.purpose == "translate":
            assert not list(task.folder.iterdir()), "a translation starts with nothing"
            return {"env.py": CANDIDATE}
        attempt = [CRASHES, STRAY_LUCK, REFERENCE][len(prompts) - 1]
        return {"reference/reference_env.py": attempt, "QUESTIONS.md": QUESTION}

    options = RunOptions(agent=ScriptedAgent(script), steps=OptionalSteps(optimise=False))
    finished = translate(project, "first", options)

    assert [purpose for purpose, _ in prompts] == ["specification", "repair", "repair"]
    assert RULES.strip() in prompts[0][1]
    assert "IndexError: list index out of range (reference_env.py, line" in prompts[1][1]
    assert "`random` must not be imported; draw through self.np_random alone" in prompts[2][1]
    assert RULES.strip() in prompts[2][1]
    # It waits for a person, who is shown the questions; the project is what it was.
    assert finished.outcome == "waiting"
    assert QUESTION in finished.sentence
    assert (finished.run / "candidate" / "reference" / "reference_env.py").read_text() == REFERENCE
    assert "integers" in (finished.run / "review" / "contract.toml").read_text()
    assert load_project(project.folder).reference.kind == "specification"
    assert not (project.folder / "reference").exists()

    finished = resume(load_project(project.folder), finished.run, options)
    assert finished.outcome == "done", finished.sentence
    assert [purpose for purpose, _ in prompts[3:]] == ["translate"]
    assert "def run(self, gait, die):" in prompts[3][1]
    made = load_project(project.folder)
    assert (made.reference.kind, made.reference.source) == ("class", "reference/reference_env.py:DiceRace")
    assert (made.reference.max_steps, made.contract.state[0].read) == (30, "field")
    assert (project.folder / "reference" / "reference_env.py").read_text() == REFERENCE
    assert list(made.scenarios.glob("*.json"))
    with Run.open(finished.run) as run:
        phases = [event.facts["phase"] for event in run.journal.events("phase started")]
        assert phases == [0, 1, 2, 3]
        passed = {event.facts["level"] for event in run.journal.events("judged") if event.facts["verdict"] == "pass"}
        assert passed == {0, 1, 2, 3, "held-out"}


@pytest.fixture
def checks(monkeypatch):
    """Judges that are quick: a reference holds if it says GOOD, a translation always. The texts that were checked."""
    checked = []

    def check(self, folder):
        text = (folder / "reference_env.py").read_text()
        checked.append(text)
        contract = ContractFile((StateField("field", "field", "int64"),), precisions={"float64": Closeness()})
        files = [str(folder / "reference_env.py")]
        module = {"name": "env", "files": files, "functions": [], "lines": 1, "depends_on": []}
        survey = {
            "refused": None, "contract": format_contract(contract), "modules": [module], "texts": {"env": text},
            "scenarios": {},
            "reference": {"source": "", "kind": "class", "cls": "reference_env:Race", "path": str(folder)},
        }  # fmt: skip
        return ([], survey) if "GOOD" in text else (["It is not GOOD."], None)

    monkeypatch.setattr(SpecificationJudge, "_checked", check)
    monkeypatch.setattr(Judge, "judge", lambda self, frozen, level, *given: Verdict(level, "pass", 1, 1))
    return checked


def scripted(tasks, *references):
    left = iter(references)

    def script(task):
        tasks.append(task.purpose)
        if task.purpose == "translate":
            assert not list(task.folder.iterdir()), "a translation starts with nothing"
            return {"env.py": "FAST = 1\n"}
        return {"reference/reference_env.py": next(left)}

    return RunOptions(agent=ScriptedAgent(script), steps=OptionalSteps(optimise=False))


def test_a_reference_that_a_person_corrected_is_checked_again_and_then_approved(project, checks):
    tasks = []
    options = scripted(tasks, "GOOD, misread\n")
    waiting = translate(project, "run", options)
    (waiting.run / "candidate" / "reference" / "reference_env.py").write_text("GOOD, as the author meant it\n")
    finished = resume(load_project(project.folder), waiting.run, options, note="a one is a fall")
    assert (finished.outcome, tasks) == ("done", ["specification", "translate"])
    assert checks == ["GOOD, misread\n", "GOOD, as the author meant it\n"]
    assert (project.folder / "reference" / "reference_env.py").read_text() == "GOOD, as the author meant it\n"
    assert load_project(project.folder).modules[0].files == (str(project.folder / "reference" / "reference_env.py"),)


def test_a_correction_that_an_agent_had_to_repair_is_shown_again(project, checks):
    tasks = []
    options = scripted(tasks, "GOOD 1\n", "GOOD 2\n")
    waiting = translate(project, "run", options)
    (waiting.run / "candidate" / "reference" / "reference_env.py").write_text("broken by hand\n")
    waiting = resume(load_project(project.folder), waiting.run, options)
    assert (waiting.outcome, tasks) == ("waiting", ["specification", "repair"])
    assert load_project(project.folder).reference.kind == "specification"
    assert resume(load_project(project.folder), waiting.run, options).outcome == "done"
    assert (project.folder / "reference" / "reference_env.py").read_text() == "GOOD 2\n"


def test_a_run_that_goes_on_after_the_approval_repeats_nothing(project, checks):
    tasks = []
    waiting = translate(project, "run", scripted(tasks, "GOOD\n"))

    def lazy(task):
        tasks.append("cut off")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        resume(load_project(project.folder), waiting.run, RunOptions(agent=ScriptedAgent(lazy)))
    assert load_project(project.folder).reference.kind == "class"
    finished = resume(load_project(project.folder), waiting.run, scripted(tasks))
    assert (finished.outcome, tasks) == ("done", ["specification", "cut off", "translate"])
    assert len(checks) == 1


def test_a_new_specification_is_a_project_without_a_reference(project):
    assert (project.reference.kind, [module.name for module in project.modules]) == ("specification", ["specification"])
    assert project.contract.state == ()
    assert (project.folder / "modules" / "specification.txt").read_text() == RULES


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("import random", "`random` must not be imported; draw through self.np_random"),
        ("import os", "`os` must not be imported"),
        ("from gymnasium import make", "`gymnasium.make` must not be used"),
        ("luck = np.random.default_rng(3)", "`numpy.random.default_rng` must not be used; draw through"),
        ("table = np.load('x.npy')", "`numpy.load` reads or writes files"),
        ("text = open('x').read()", "`open` reaches outside of the rules"),
        ("deep = ().__class__.__subclasses__()", "`.__subclasses__` reaches into the interpreter"),
        ("from .other import x", "an import with a leading dot"),
        ("def broken(:", "is not Python"),
    ],
)
def test_what_a_reference_has_no_use_for_is_refused_unread(tmp_path, line, sentence):
    (said,) = check_reference(folder_with(tmp_path, f"import numpy as np\n{line}\n"))
    assert sentence in said
    assert said.startswith("reference_env.py, line 2: ") or "reference_env.py" in said


def test_a_reference_s_file_hides_no_module_of_python(tmp_path):
    place = folder_with(tmp_path, REFERENCE)
    (place / "json.py").write_text("")
    assert check_reference(place) == ["A module called `json` exists already; call the file something else."]


def test_a_plain_reference_may_be_run_and_declares_its_time_limit(tmp_path):
    place = folder_with(tmp_path, REFERENCE)
    assert check_reference(place) == []
    assert time_limit(place) == 30
    (place / "reference_env.py").unlink()
    (said,) = check_reference(place)
    assert said == "There is no file reference/reference_env.py; write the environment's class there."


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "return self.observe(), 10.0 if won else -1.0, won, False, {}",
            "raise KeyError('die')",
            "KeyError: 'die' (reference_env",
        ),
        ("won, False, {}", "won, self.field > 5, {}", "returned truncated; return False there: a time limit is a"),
        ("won = self.field == GOAL", "won = False", "no end after 10000 steps; a time limit is"),
        ("np.array([self.field], np.float32)", "np.array([99.0], np.float32)", "lies outside of Box"),
        ("10.0 if won else -1.0", "float('nan')", "gave the reward nan"),
        ("class DiceRace(gymnasium.Env):", "class DiceRace:", "DiceRace is no gymnasium.Env"),
    ],
)
def test_a_reference_that_does_not_play_is_sent_back(tmp_path, old, new, sentence):
    assert sentence in (played(REFERENCE.replace(old, new), tmp_path) or "")


def test_a_reference_that_plays_has_nothing_wrong(tmp_path):
    assert played(REFERENCE, tmp_path) is None


def played(text, folder):
    names = {}
    exec(compile(text, str(folder / "reference_env.py"), "exec"), names)
    return play(names["DiceRace"](), None, folder)


def test_a_specification_that_is_empty_is_refused(tmp_path):
    (tmp_path / "race.md").write_text(" \n")
    with pytest.raises(UsageError, match="is empty"):
        new_project(tmp_path / "race", str(tmp_path / "race.md"))
