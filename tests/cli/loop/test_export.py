"""`overclock export`, as its users run it."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("gymnasium", reason="references are Gymnasium environments")
pytest.importorskip("jinja2", reason="the report's page needs the extra 'report'")

from recipe.exports import accepted_run
from verify.documented import undocumented

from overclock import cli


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_it_says_what_was_written_and_what_comes_next(tmp_path, capsys):
    accepted_run(tmp_path / "lake")
    assert cli.main(["export", "out", "--name", "fast-pond"]) == 0
    said = capsys.readouterr().out
    assert "fast-pond-v0 from pond.py:Pond, accepted at levels 1, 3" in said
    assert "next: pip install out, then overclock.make('fast-pond-v0')" in said
    assert (tmp_path / "out" / "src" / "fast_pond" / "env.py").is_file()


def test_json_is_one_object_with_every_field(tmp_path, capsys):
    accepted_run(tmp_path / "lake")
    assert cli.main(["export", "out", "--project", "lake", "--run", "first", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "overclock.export/1"
    assert undocumented("export", report.keys() - {"schema"}) == []
    assert (report["id"], report["levels"], report["licence"]) == ("pond_jax-v0", [1, 3], None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["out"], "No run in"),
        (["out", "--project", "nowhere"], "'nowhere' is no project"),
        (["out", "--run", "nothing"], "There is no run 'nothing'"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence_and_leaves_nothing(tmp_path, capsys, words, said):
    assert cli.main(["export", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="builds a wheel, which needs hatchling")
def test_from_a_gymnasium_id_to_a_package_that_pip_installs_trains_and_is_timed(tmp_path):
    def run(*words):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)])},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "overclock", "translate", "CartPole-v1", "--levels", "1", "2", "3")
    written = json.loads(run("-m", "overclock", "export", "out", "--name", "fast-cartpole", "--json"))
    assert written["requirement"].startswith("gymnasium==")
    assert written["licence"] is not None
    run("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", "site", "./out")
    assert "8 passed" in run("-m", "pytest", "-q", "out/tests")
    assert "fast-cartpole-v0" in run("-m", "overclock", "list")
    assert json.loads(run("-m", "overclock", "train", "fast-cartpole", "--steps", "8192", "--json"))["env"] == (
        "fast-cartpole-v0"
    )
    assert json.loads(run("-m", "overclock", "bench", "fast-cartpole", "--batch", "64", "--json"))["results"]
    code = "import gymnasium, overclock; print(gymnasium.make('overclock/fast-cartpole-v0').spec.max_episode_steps)"
    assert run("-c", code).strip() == "500"
