"""The built-in translator into Rust: the whole way to what the judge accepts, and to what it gains."""

import json

import pytest

pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
pytest.importorskip("jinja2", reason="prompts need the extra 'report'")

from overclock.recipe.judging.original_speed import OriginalStepper, beside_original
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import AgentChoice, Judging
from overclock.recipe.project.twin import project_twin


@pytest.mark.long
def test_cartpole_becomes_rust_that_the_judge_accepts_and_that_can_be_timed(tmp_path, toolchain, monkeypatch):
    agent, judging = AgentChoice("builtin"), Judging(levels=(1, 3), episodes=2, held_out=2)
    made = new_project(tmp_path / "cartpole", "gymnasium:CartPole-v1", "rust", agent, judging=judging).project
    ended = translate(made, "1", RunOptions(steps=OptionalSteps(optimise=False)))
    assert ended.outcome == "done", ended.sentence
    assert ended.result == ended.run / "candidate" / "src" / "lib.rs"
    report = json.loads((ended.run / "report.json").read_text())
    assert [(row["level_judged"], row["verdict"]) for row in report["iterations"]] == [("held-out", "pass")]
    text = ended.result.read_text()
    assert "impl Rules for Env" in text
    assert "// not terminated" in text  # a condition of the source

    clock = iter(range(10**6))
    monkeypatch.setattr("overclock.recipe.judging.speed.time.perf_counter", lambda: float(next(clock)))
    found = beside_original(project_twin(made, ended.run / "candidate", made.scenarios), batch=32)
    assert found.gain == 32.0  # every call took one second, and the original has one lane
    assert found.candidate == 32.0 * found.original


@pytest.mark.parametrize("sampled", [False, True])
def test_the_original_is_stepped_and_begins_again(sampled):
    stepper = OriginalStepper(1, {"id": "CartPole-v1"}, contract="", sampled=sampled)
    resets, original = [], stepper._env.reset
    stepper._env.reset = lambda **options: resets.append(options) or original(**options)
    assert stepper.run(batch=1, steps=200) == 200.0
    assert len(resets) > 3  # random play falls after some 20 steps
