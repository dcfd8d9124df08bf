"""Rules that a class only calls: named lines of another language become modules, and a change of them is noticed."""

from pathlib import Path

import pytest

from overclock.errors import UsageError
from overclock.recipe.loop.briefing import Briefing, module_file
from overclock.recipe.loop.readiness import require_ready
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Judging, checkable, load_project
from overclock.recipe.references.changes import same_rules
from overclock.recipe.references.surveyor import reference_text, survey, survey_spec
from overclock.recipe.survey.static.decompose import plan
from overclock.recipe.survey.static.source import resolve

RULES = """
#define PUSH 0.5f
float drift(float x, int action) {
    return x + (action == 1 ? PUSH : -PUSH);
}
void draw_window(void) { }
bool over(float x) {
    return x > 3 || x < -3;
}
"""
# In a test Python stands in for the library that a real class would load.
CLASS = """
import gymnasium
import numpy as np


def drift(x, action):
    return np.float32(x + (0.5 if action == 1 else -0.5))


class PondEnv(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = np.float32(self.np_random.uniform(-1.0, 1.0))
        return np.array([self.x], np.float32), {}

    def step(self, action):
        self.x = drift(self.x, int(action))
        return np.array([self.x], np.float32), 1.0, bool(abs(self.x) > 3.0), False, {}
"""


@pytest.fixture
def pond(write):
    """The C file of a pond and its class; returns the class's file."""
    write("pond.c", RULES)
    return write("pond.py", CLASS)


def sources(pond: Path) -> list[str]:
    c = pond.with_suffix(".c")
    return [f"moving={c}:1-4", f"ending={c}:6-8"]


def test_named_lines_are_modules_that_come_before_the_class(pond):
    moving, ending, cls = plan(resolve(str(pond), sources=sources(pond)))
    assert [moving.name, ending.name, cls.name] == ["moving", "ending", "pond"]
    assert (moving.depends_on, ending.depends_on, cls.depends_on) == ((), ("moving",), ("moving", "ending"))
    assert ending.text.startswith("// pond.c, lines 6 to 8\nbool over(float x) {\n")
    assert "draw_window" not in moving.text + ending.text + cls.text


def test_a_function_of_the_class_s_file_with_the_name_of_a_listed_one_is_judged_with_it(pond):
    moving, ending, cls = plan(resolve(str(pond), sources=sources(pond)))
    assert moving.functions == ("pond:drift",)
    assert "def drift(x, action):" in moving.text
    assert ending.functions == ()
    assert "def drift" not in cls.text


def test_lines_of_one_name_are_one_module(pond):
    c = pond.with_suffix(".c")
    module, _ = plan(resolve(str(pond), sources=[f"rules={c}:6-8", f"rules={c}:2-4"]))
    assert module.text.index("bool over") < module.text.index("float drift")
    assert module.files == (str(c), str(pond))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("pond.c", "names no source; write NAME=FILE"),
        ("rules=lake.c", "cannot be read"),
        ("rules=pond.c:3-99", "names lines that are not there; the file has 8"),
        ("rules=pond.c:x-y", "names its lines by 'x-y'; write FIRST-LAST"),
        ("rules=pond.c:0-2", "names lines that are not there"),
    ],
)
def test_a_source_that_is_not_there_is_said_in_one_sentence(pond, written, said, monkeypatch):
    monkeypatch.chdir(pond.parent)
    with pytest.raises(UsageError, match=said):
        plan(resolve(str(pond), sources=[written]))


def test_a_specification_calls_no_other_sources(write):
    with pytest.raises(UsageError, match="no Python class that could call other sources"):
        resolve(str(write("rules.md", "Walk.")), sources=["rules=pond.c"])


def test_a_project_keeps_its_sources_shows_them_as_c_and_is_refused_when_they_change(pond, tmp_path):
    made = new_project(
        tmp_path / "project", str(pond), "jax", judging=Judging(levels=(1, 2, 3)), max_steps=9, sources=sources(pond)
    )
    project = load_project(made.project.folder)
    assert list(project.reference.sources) == sources(pond)
    assert checkable(project.modules[0]) == ["pond:drift"]
    prompt = Briefing(project, project.scenarios).translate("task", project.modules[0])
    assert "```c\n// pond.c, lines 1 to 4\n#define PUSH 0.5f" in prompt
    assert "`drift: the same name, arguments and results`" in prompt
    require_ready(project, project.scenarios)
    again = survey(survey_spec(reference_text(project.reference), {}, 9, project.reference.sources))
    assert again.texts["moving"] == module_file(project.folder, "moving").read_text()
    pond.with_suffix(".c").write_text(RULES.lstrip().replace("0.5f", "0.25f"))
    with pytest.raises(UsageError, match=r"has changed since .* was written \(moving\)"):
        require_ready(project, project.scenarios)


def test_a_line_for_the_preprocessor_is_a_rule_and_no_comment():
    assert not same_rules("#define PUSH 1\nint x;", "#define PUSH 2\nint x;")
    assert same_rules("# pushed\nint x;", "int x;")


def test_a_function_belongs_to_the_lines_that_it_is_written_in_not_to_those_that_call_it(write):
    c = write("pond.c", RULES.strip() + "\nvoid frame(float* x) { *x = drift(*x, 1); }\n")
    pond = write("pond.py", CLASS)
    calls, written = f"calls={c}:9-9", f"written={c}:1-8"
    for order in ((calls, written), (written, calls)):
        modules = {module.name: module.functions for module in plan(resolve(f"{pond}:PondEnv", sources=order))}
        assert [name.rpartition(":")[2] for name in modules["written"]] == ["drift"], modules
        assert not modules["calls"]
