"""Three translations of CartPole at once, of which the second is right; everything but the agent is real."""

import json

import pytest
from recipe.cartpole_candidates import CORRECT, COUNTER_SURVIVES_RESET, SIGN_ERROR
from recipe.scripted_run import needs_git

from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import AgentChoice, Judging
from overclock.recipe.runs.run import Run

pytestmark = needs_git
TEXTS = {
    "001-translate-cartpole.1": SIGN_ERROR,
    "001-translate-cartpole.2": CORRECT,
    "001-translate-cartpole.3": COUNTER_SURVIVES_RESET,
}


@pytest.mark.long
def test_the_right_one_of_three_translations_is_kept_and_nothing_is_repaired(tmp_path):
    pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
    project = new_project(
        tmp_path / "cartpole", "gymnasium:CartPole-v1", "jax", AgentChoice("scripted", candidates=3),
        judging=Judging(levels=(1, 2), episodes=2),
    ).project  # fmt: skip
    agent = ScriptedAgent(lambda task: {"env.py": TEXTS[task.id]})
    ended = translate(project, "1", RunOptions(agent=agent, steps=OptionalSteps(optimise=False)))
    assert ended.outcome == "done", ended.sentence
    assert (ended.run / "candidate" / "env.py").read_text() == CORRECT
    report = json.loads((ended.run / "report.json").read_text())
    failed = [(row["task"][-1], row["level_judged"], row["verdict"]) for row in report["iterations"]]
    assert failed == [("1", 1, "fail"), ("2", 2, "pass"), ("3", 2, "fail")]
    assert [choice["number"] for choice in report["choices"]] == [2]
    assert report["final"]["candidate"] == report["choices"][0]["candidate"]
    with Run.open(ended.run) as run:
        assert len(run.journal.events("task sent")) == 3
