"""A whole run into Rust: a sign error that level 1 catches, its repair, and every level after that."""

import json

import pytest

pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
pytest.importorskip("jinja2", reason="prompts need the extra 'report'")

from recipe.rust import crates

from overclock.errors import MissingError
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.judging.rust import toolchain as rust_toolchain
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Judging


def project(folder):
    judging = Judging(levels=(1, 2), episodes=2)
    return new_project(folder, "gymnasium:CartPole-v1", "rust", judging=judging).project


@pytest.mark.long
def test_a_rust_candidate_is_repaired_until_it_holds(tmp_path, toolchain):
    agent = ScriptedAgent({"translate": [crates.SIGN_ERROR], "repair": [crates.FILES]})
    ended = translate(project(tmp_path / "cartpole"), "1", RunOptions(agent=agent, steps=OptionalSteps(optimise=False)))
    assert ended.outcome == "done", ended.sentence
    report = json.loads((ended.run / "report.json").read_text())
    assert [(row["level_judged"], row["verdict"]) for row in report["iterations"]] == [(1, "fail"), (2, "pass")]
    assert report["caught"][0]["field"] == "state"
    assert (ended.run / "candidate" / "src" / "contract.rs").is_file()


def test_without_a_compiler_nothing_is_begun(tmp_path, monkeypatch, toolchain):
    made = project(tmp_path / "cartpole")
    rust_toolchain.sysroot.cache_clear()
    monkeypatch.setattr(rust_toolchain.shutil, "which", lambda name: None)
    with pytest.raises(MissingError, match="need rustc"):
        translate(made, "1", RunOptions(agent=ScriptedAgent({})))
    assert not (made.folder / "runs").exists()
