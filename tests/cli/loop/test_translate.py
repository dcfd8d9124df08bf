"""`overclock translate`, `resume` and `submit`, as their users run them: exit codes, sentences, what is spent."""

import json
import os
import subprocess
import sys

import pytest
from recipe.projects import playable_project

from overclock import cli
from overclock.recipe.gateway import Gateway, Tokens
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn
from overclock.recipe.loop.translate import Finished
from overclock.recipe.runs.cost import Cost


@pytest.fixture
def project(tmp_path):
    pytest.importorskip("gymnasium", reason="the reference is a Gymnasium environment")
    return playable_project(tmp_path / "pond", dollars=1.0, agent_seconds=60)


def overclock(*words, cwd):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "overclock", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def endless(tmp_path):
    """The options that lead to a model which never stops; a call costs a cent."""
    pytest.importorskip("httpx", reason="a model is asked over HTTP")
    (tmp_path / "prices.toml").write_text("[models]\nendless = {input=0, output=10, max_output=1000}")
    turn = Turn([{"env.py": "x = 1\n"}], fault="loop")
    model = ScriptedModel(lambda prompt: turn, tmp_path, Tokens(input=0, output=1000))
    with Gateway(model) as upstream:
        yield ["--upstream", upstream.base_url("anthropic"), "--prices", tmp_path / "prices.toml", "--json"]


@pytest.mark.long
def test_a_model_that_never_stops_is_cut_at_the_budget_and_resume_keeps_the_spent_amount(project, endless, tmp_path):
    start = ["translate", project.folder, "--agent", "api:openai:endless", "--budget", 0.05, "--run-id", "1"]
    done = overclock(*start, *endless, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert (told["schema"], told["outcome"]) == ("overclock.translate/1", "out of budget")
    assert told["cost"]["dollars"] == pytest.approx(0.05, rel=1e-9)
    assert "$0.0500 are spent of $0.05" in told["sentence"]
    again = json.loads(overclock("resume", told["run"], *endless, cwd=tmp_path).stdout)
    assert (again["outcome"], again["cost"]["calls"]) == ("out of budget", 5)
    richer = json.loads(overclock("resume", told["run"], "--budget", 0.07, *endless, cwd=tmp_path).stdout)
    assert richer["cost"]["dollars"] == pytest.approx(0.07, rel=1e-9)
    assert (richer["cost"]["calls"], richer["cost"]["refused_calls"]) == (7, 2)  # the second time nobody was asked


def test_a_person_is_told_what_to_do_and_may_submit(project, tmp_path):
    done = overclock("translate", project.folder, "--run-id", "1", "--sandbox", "none", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    run = project.folder / "runs" / "1"
    assert "cost not reported" in done.stdout
    assert f"overclock submit {run}" in done.stdout
    assert (done.stdout + done.stderr).count("overclock submit") == 1  # once is enough
    prompts = list((run / "agent" / "logs").glob("*.prompt.md"))
    assert len(prompts) == 1
    nothing = overclock("submit", run, "--sandbox", "none", cwd=tmp_path)
    assert (nothing.returncode, "nothing to hand in" in nothing.stderr) == (2, True)
    (run / "candidate" / "physics.py").write_text("x = 1\n")
    again = overclock("submit", run, "--sandbox", "none", "--json", cwd=tmp_path)
    assert again.returncode == 3, again.stderr  # that is no environment, so it is sent back
    assert json.loads(again.stdout)["outcome"] == "waiting"
    assert "There is no env.py" in again.stderr
    once_more = overclock("submit", "pond", "--sandbox", "none", cwd=tmp_path)  # by its project: the newest run
    assert once_more.stderr.count("There is no env.py") == 1  # and not what earlier submissions were told
    status = json.loads(overclock("status", "pond", "--json", cwd=tmp_path).stdout)
    assert f"overclock submit {run}" in status["waits_for"]
    assert len(list((run / "agent" / "logs").glob("*.prompt.md"))) == 3


ODD = """
import gymnasium
import numpy as np


class Odd(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (2,), np.float64)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.x = np.zeros(2)
        return self.x.copy(), {}

    def step(self, action):
        self.x[0] += action
        self.x[1] = len(np.unique(self.x))
        return self.x.copy(), 0.0, bool(self.x[0] > 8), False, {}
"""


def test_what_the_built_in_translator_refuses_goes_to_an_agent_that_is_told_where_it_stopped(tmp_path):
    pytest.importorskip("gymnasium", reason="the reference is a Gymnasium environment")
    (tmp_path / "odd.py").write_text(ODD)
    refused = overclock("translate", "odd.py:Odd", cwd=tmp_path)
    assert refused.returncode == 1
    assert "odd.py:17: np.unique" in refused.stderr
    assert "1 of 3 statements on the way were translated; --fallback AGENT hands it" in refused.stderr
    assert not (tmp_path / "odd").exists(), "nothing is left behind"
    handed = overclock("translate", "odd.py:Odd", "--fallback", "manual", "--run-id", "1", cwd=tmp_path)
    assert handed.returncode == 3, handed.stderr
    (prompt,) = (tmp_path / "odd" / "runs" / "1" / "agent" / "logs").glob("*.prompt.md")
    assert "odd.py:17: np.unique" in prompt.read_text()


def test_what_a_person_has_written_is_not_resumed_away(project, tmp_path):
    overclock("translate", project.folder, "--run-id", "1", "--sandbox", "none", cwd=tmp_path)
    run = project.folder / "runs" / "1"
    (run / "candidate" / "env.py").write_text("x = 1\n")
    refused = overclock("resume", run, "--sandbox", "none", cwd=tmp_path)
    assert refused.returncode == 2
    assert f"overclock submit {run}" in refused.stderr
    assert (run / "candidate" / "env.py").exists()
    assert overclock("resume", run, "--discard", "--sandbox", "none", cwd=tmp_path).returncode == 3
    assert not (run / "candidate" / "env.py").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["translate", "nothing.md"], "nothing.md"),
        (["translate", "."], "it has no overclock.toml"),
        (["translate", "pond", "--levels", "1", "9"], "There are levels 1 to 4"),
        (["translate", "pond", "--agent", "cloud"], "did you mean 'claude'"),
        (["translate", "pond", "--budget", "-1"], "limits.dollars must be at least 0"),
        (["translate", "pond", "--budget", "nan"], "limits.dollars must be a number"),
        (["translate", "pond", "--run-id", "../../evil"], "A run cannot be called '../../evil'"),
        (["translate", "pond/pond.py:Pond"], "go on with it: `overclock translate pond`"),
        (["translate", "yard/lake.py:Lake"], "yard/lake.py:Lake --agent builtin`, then `overclock translate FOLDER`"),
        (["new", "lake", "--reference", "pond/pond.py"], "'lake' is not empty; choose a new folder for the project"),
        (["new", "other", "--reference", "pond/pond.py", "--budget", "inf"], "limits.dollars"),
        (["new", "other", "--reference", "pond/pond.py", "--agent", "bogus"], "No agent is called 'bogus'"),
        (["new", "other", "--reference", "nothing at all"], "or a specification (.md) that this machine has"),
        (["compare", "pond", "--agents", ","], "--agents takes names with commas between them"),
        (["redteam", "--timeout", "-1"], "--timeout must be a number of seconds above 0"),
        (["resume", "nowhere"], "There is no run"),
    ],
)
def test_a_wrong_command_is_one_sentence_and_exit_code_2(project, tmp_path, monkeypatch, capsys, words, says):
    for place in ("lake/mine.txt", "yard/lake.py"):
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).write_text((project.folder / "pond.py").read_text().replace("Pond", "Lake"))
    monkeypatch.chdir(tmp_path)
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert says in said
    assert "Traceback" not in said
    assert not (project.folder / "runs").exists()
    assert not (tmp_path / "other").exists()
    assert [path.name for path in (tmp_path / "lake").iterdir()] == ["mine.txt"]


def test_in_a_log_every_finished_piece_of_judging_is_a_line_on_stderr(project, tmp_path, monkeypatch, capsys):
    def translate(project, run_id, options, changes, program):
        options.progress("uniform actions, float64", 1, 2)
        options.progress("uniform actions, float64", 2, 2)
        options.say("level 3: the reward differs.")
        free = Cost("self-reported", calls=0, tokens=0, dollars=0.0)
        return Finished("stuck", "It differs.", project.folder, project.folder, free)

    monkeypatch.setattr("overclock.recipe.loop.translate.translate", translate)
    assert cli.main(["translate", str(project.folder)]) == 1
    said = capsys.readouterr()
    assert [line.partition(" s  ")[2] or line for line in said.err.splitlines()] == [
        "uniform actions, float64", "level 3: the reward differs.",
    ]  # fmt: skip
    assert said.out.startswith("stuck: It differs.\n")  # nothing was spent, so nothing is said of it


def test_help_says_what_a_flag_does_when_it_is_given(capsys):
    assert cli.main(["translate", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "[OPTIONS] [SOURCE]" in said
    for words in (
        "left out with --all-known and --known", "--no-repair Send no failure back to the agent: the first one ends",
        "--no-optimise Leave it as it is once it holds", "--no-measure Do not time the known ones",
    ):  # fmt: skip
        assert words in said, words
    assert "(default: True)" not in said
