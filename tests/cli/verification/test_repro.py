"""`overclock repro`: replays a folder, says what it saw, and exits by the documented codes."""

import json
import shutil
from pathlib import Path

import pytest
from verify.subjects_shrink import twin

from overclock import cli
from overclock.verify.repro.episode import Episode
from overclock.verify.repro.files import write_repro
from overclock.verify.repro.shrink import shrink


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    planted = twin().planted("door")
    shrunk = shrink(planted, Episode(3, (1, 1, 3)), "per_step", "float64")
    return write_repro(tmp_path_factory.mktemp("repro"), shrunk, planted, "door")


def test_a_bug_that_is_there_still_diverges(folder, capsys):
    assert cli.main(["repro", str(folder), "--plant", "door"]) == 1
    out, err = capsys.readouterr()
    assert "still diverges: reward is" in out
    assert "DIFFERENT" in out
    assert "(given state)" in out
    assert err == ""


def test_a_bug_that_is_gone_no_longer_diverges(folder, capsys):
    assert cli.main(["repro", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "no longer diverges: reward was different after 1 action." in out
    assert "DIFFERENT" not in out
    assert "--plant door plants it again" in out


def test_json_is_one_object(folder, capsys):
    assert cli.main(["repro", str(folder), "--plant", "door", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "overclock.replay/1"
    assert report["verdict"] == "still diverges"
    assert report["recorded"] == {"field": "reward", "step": 1, "plant": "door"}
    assert report["finding"]["field"] == "reward"
    assert any(row["different"] for row in report["steps"])


def test_a_changed_reference_is_exit_code_4(folder, tmp_path, capsys):
    other = tmp_path / "repro"
    shutil.copytree(folder, other)
    file = other / "repro.json"
    file.write_text(file.read_text().replace('"reward": 0.0', '"reward": 5.0'))
    assert cli.main(["repro", str(other)]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: could not verify: the reference changed: after 1 action reward used to be 5.0 and is")
    assert err.count("\n") == 1


@pytest.mark.parametrize("content", [None, "{", "[]", '{"schema": "overclock.repro/1"}'])
def test_a_bad_folder_is_one_sentence(content, tmp_path, capsys):
    if content is not None:
        (tmp_path / "repro.json").write_text(content)
    assert cli.main(["repro", str(tmp_path if content else tmp_path / "nowhere"), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["exit_code"] == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_an_unknown_bug_or_twin_is_one_sentence(folder, tmp_path, capsys):
    assert cli.main(["repro", str(folder), "--plant", "dor"]) == 2
    assert "no bug called 'dor' to plant; there are: both, door" in capsys.readouterr().err
    file = tmp_path / "repro.json"
    file.write_text((folder / "repro.json").read_text().replace("verify.subjects_shrink:twin", "cartpol"))
    assert cli.main(["repro", str(tmp_path)]) == 2
    assert "did you mean 'cartpole'?" in capsys.readouterr().err
    file.write_text(file.read_text().replace('"cartpol"', '"nowhere.at_all:twin"'))
    assert cli.main(["repro", str(tmp_path)]) == 2
    assert "error: The twin 'nowhere.at_all:twin' cannot be loaded: " in capsys.readouterr().err
