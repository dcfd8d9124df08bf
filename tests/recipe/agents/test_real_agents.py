"""The story of test_translate.py told by real coding agents, in their sandbox, whose model follows a script.

They are looked for on the PATH and in the folder that OVERCLOCK_TEST_CLIS names (also in `node_modules/.bin` below it).
Nothing is charged and no network is needed: the model answers on loopback, through the gateway's socket.
"""

import pytest
from recipe.agents.test_real_clis import installed
from recipe.cartpole_candidates import CORRECT
from recipe.scripted_model import teller

from overclock.recipe.agents.profile import built_in
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import AgentChoice, Judging, Limits
from overclock.recipe.runs.run import Run
from overclock.recipe.sandbox import best

MISSING = "is neither on the PATH nor in the folder that OVERCLOCK_TEST_CLIS names"


@pytest.mark.parametrize("name", built_in())
def test_a_real_agent_translates_is_told_its_mistakes_and_repairs_them(name, tmp_path):
    pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
    program = installed(name)
    if program is None:
        pytest.skip(f"{name} {MISSING}")
    project = new_project(
        tmp_path / "cartpole", "gymnasium:CartPole-v1", "jax", AgentChoice(name),
        Limits(dollars=5.0, iterations=3, agent_seconds=300.0), Judging(levels=(1, 2), episodes=4),
    ).project  # fmt: skip
    model = teller((project.folder / "runs" / "1" / "candidate").resolve())
    ended = translate(project, "1", RunOptions(program=program, backend=model, steps=OptionalSteps(optimise=False)))
    with Run.open(ended.run) as run:
        reasons = [event.facts["reason"] for event in run.journal.events("task ended")]
        (started,) = run.journal.events("run started")
        failed = [e.facts["level"] for e in run.journal.events("judged") if e.facts["verdict"] == "fail"]
    assert ended.outcome == "done", (ended.sentence, reasons)
    assert (len(reasons), failed) == (3, [1, 2])
    assert (ended.run / "candidate" / "env.py").read_text() == CORRECT
    assert started.facts["agent_sandbox"] == best().name
    assert ended.cost["basis"] == "metered"
    assert ended.cost["dollars"] > 0
