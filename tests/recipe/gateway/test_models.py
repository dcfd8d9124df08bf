"""What a run does about its model: it holds the budget, says what is wrong with a key, and repeats recorded answers."""

import dataclasses

import pytest
from recipe.scripted_run import small_project

from overclock.errors import MissingError, UsageError
from overclock.recipe.agents.base import Work
from overclock.recipe.gateway import Tokens
from overclock.recipe.gateway.backend import Answer
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn
from overclock.recipe.judging.hygiene.frozen import tree_hash
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import resume, translate
from overclock.recipe.loop.workers import require_workers
from overclock.recipe.project.project import Changes
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import Run

CAP = 0.05


@pytest.fixture
def endless(tmp_path):
    """A project, and a model that never stops; a call costs a cent."""
    pytest.importorskip("httpx", reason="a model is asked over HTTP")
    project = small_project(tmp_path / "pond", dollars=CAP, agent_seconds=60)
    (tmp_path / "prices.toml").write_text("[models]\nendless = {input=0, output=10, max_output=1000}")
    turn = Turn([{"env.py": "x = 1\n"}], fault="loop")
    model = ScriptedModel(lambda prompt: turn, tmp_path, Tokens(input=0, output=1000))
    return project, RunOptions(backend=model, prices=tmp_path / "prices.toml"), Changes("api:openai:endless")


class NobodyAnswers:
    """A model that must not be asked."""

    secrets = ()

    def __init__(self):
        self.asked = []

    def answer(self, call):
        self.asked.append(call)
        return Answer.whole({}, 400)

    def close(self):
        pass


class SaysNothing:
    """An agent that goes on until it is refused, and does not say why it was."""

    name = "scripted"

    def work(self, task, endpoint):
        import httpx

        asked = {"model": "endless", "max_tokens": 1000, "messages": []}
        address, headers = f"{endpoint.base_url}/v1/messages", {"x-api-key": endpoint.api_key}
        while httpx.post(address, json=asked, headers=headers, trust_env=False).status_code == 200:
            pass
        return Work("refused", "It gave up.")


def test_a_model_that_never_stops_is_cut_at_the_cap_and_the_spend_is_shown(endless):
    project, options, changes = endless
    ended = translate(project, "1", options, changes)
    assert ended.outcome == "out of budget"
    assert ended.cost.dollars == pytest.approx(CAP, rel=1e-9)
    assert (ended.cost.basis, ended.cost.calls, ended.cost.refused_calls) == ("metered", 5, 1)
    assert "$0.0500 are spent of $0.05" in ended.sentence
    assert "budget" in ended.sentence


def test_a_resumed_run_keeps_what_was_spent(endless):
    project, options, changes = endless
    run = translate(project, "1", options, changes).run
    again = resume(project, run, options)
    assert (again.outcome, again.cost.calls) == ("out of budget", 5)
    richer = resume(project, run, options, changes=Changes(budget=0.08))
    assert (richer.outcome, richer.cost.calls) == ("out of budget", 8)
    assert richer.cost.dollars == pytest.approx(0.08, rel=1e-9)
    assert resume(project, run, options).cost.calls == 8  # the raised budget holds from now on


def test_a_model_without_a_price_is_not_asked_under_a_budget(endless):
    project, options, _ = endless
    ended = translate(project, "1", options, Changes("api:openai:home-grown"))
    assert ended.outcome == "out of budget"
    assert "has no price" in ended.sentence


def test_a_key_that_is_not_accepted_stops_the_run_and_is_not_called_a_spent_budget(endless, tmp_path):
    project, options, changes = endless
    refusing = ScriptedModel(lambda prompt: Turn(fault="unauthorized"), tmp_path, Tokens(input=0, output=1000))
    ended = translate(project, "1", dataclasses.replace(options, backend=refusing), changes)
    assert ended.outcome == "stopped"
    assert "401" in ended.sentence
    assert "this key is not valid" in ended.sentence
    assert resume(project, ended.run, options).outcome == "out of budget"  # with a key, the same task is sent again


def test_a_run_is_repeated_from_the_answers_of_another_one_and_nobody_is_paid(endless, tmp_path):
    project, options, changes = endless
    folder = project.folder.resolve() / "runs" / "1" / "candidate"  # models like to write the whole path
    briefly = ScriptedModel(lambda prompt: Turn([{"env.py": "x = 1\n"}]), folder, Tokens(input=7, output=1000))
    options = dataclasses.replace(options, backend=briefly, sandbox="none", steps=OptionalSteps(repair=False))
    first = translate(project, "1", options, changes)
    assert (first.outcome, first.cost.calls, first.cost.tokens) == ("stuck", 2, 2014)
    assert first.cost.dollars == pytest.approx(0.02)
    again = dataclasses.replace(options, backend=NobodyAnswers(), recorded=first.run)
    second = translate(project, "2", again, changes)
    assert (second.sentence, second.cost.calls, second.cost.tokens) == (first.sentence, 2, 2014)
    assert second.cost.dollars is None  # nothing was paid, and nothing is known of what it would have cost
    with Run.open(first.run) as one, Run.open(second.run) as two:
        for run in (one, two):
            assert run_report(run).iterations[0].candidate == tree_hash({"env.py": b"x = 1\n"})
        assert run_report(two).agent == "api:openai:endless, answered from the run 1"
    waiting = translate(project, "3", RunOptions(sandbox="none"), Changes("manual"))
    with pytest.raises(UsageError, match=r"not for 'claude'; `--agent replay:.*/1`"):
        translate(project, "4", again, Changes("claude"))
    with pytest.raises(UsageError, match="asked no model"):
        translate(project, "4", dataclasses.replace(again, recorded=waiting.run), changes)


def test_a_run_that_answers_from_another_one_asks_no_model_when_it_is_resumed(endless, tmp_path):
    project, options, changes = endless
    first, nobody = translate(project, "1", options, changes), NobodyAnswers()
    again = dataclasses.replace(options, backend=nobody, sandbox="none", recorded=first.run)
    second = translate(project, "2", again, changes)
    assert (second.outcome, second.cost.calls) == ("stuck", 9)  # five were recorded; four got no answer
    resumed = resume(project, second.run, dataclasses.replace(again, recorded=None))
    assert resumed.cost.calls > 9
    assert nobody.asked == []


def test_a_spent_budget_is_known_from_the_gateway_where_the_agent_does_not_say_so(endless):
    project, options, _ = endless
    ended = translate(project, "1", dataclasses.replace(options, agent=SaysNothing()))
    assert ended.outcome == "out of budget"
    assert "$0.0500 are spent of $0.05" in ended.sentence


@pytest.mark.parametrize(
    ("agent", "key"),
    [
        *(("claude", "ANTHROPIC_API_KEY"), ("codex", "OPENAI_API_KEY"), ("gemini", "GEMINI_API_KEY")),
        *(("qwen", "OPENAI_API_KEY"), ("opencode", "OPENAI_API_KEY"), ("mine.toml", "GEMINI_API_KEY")),
        *(("api:openai:gpt-5", "OPENAI_API_KEY"), ("api:anthropic:claude-opus-4-5", "ANTHROPIC_API_KEY")),
    ],
)
def test_a_missing_key_is_said_before_a_run_begins(tmp_path, monkeypatch, agent, key):
    project = small_project(tmp_path / "pond")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text('program = "x"\ninstall = "y"\nargv = []\ndialect = "gemini"\n')
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingError, match=f"set {key}"):
        translate(project, "1", RunOptions(), Changes(agent))
    assert not (project.folder / "runs").exists()
    require_workers(Changes(agent).of(project), RunOptions(upstream="http://127.0.0.1:1"))  # it may need none
    monkeypatch.setenv(key, "k")
    require_workers(Changes(agent).of(project), RunOptions())
