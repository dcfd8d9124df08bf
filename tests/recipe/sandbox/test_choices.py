"""Which sandbox is taken, what is said about it, and which wishes are refused."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from overclock.errors import MissingError, UsageError
from overclock.recipe.sandbox import Rights, Sandbox, agent_rights, best, by_name, candidate_rights, choices, probe
from overclock.recipe.sandbox.landlock import Landlock, _sentence
from overclock.recipe.sandbox.landlock_rules import TCP_ABI, abi
from overclock.recipe.sandbox.plan import Plan


@pytest.fixture
def unknown_machine(monkeypatch):
    """Nothing is known yet about the machine, and nothing learnt here is kept."""
    choices._find.cache_clear()
    yield monkeypatch
    choices._find.cache_clear()


def test_the_strongest_that_works_is_best():
    works = [finding.name for finding in probe() if finding.works]
    assert best().name == works[0]
    assert works[-1] == "none"


def test_a_program_that_does_not_run_is_not_believed(unknown_machine, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    unknown_machine.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    finding = probe()[0]
    assert (finding.name, finding.works) == ("bubblewrap", False)
    assert "Permission denied" in finding.found
    assert best().name != "bubblewrap"
    with pytest.raises(MissingError, match="install bubblewrap"):
        by_name("bubblewrap")


def test_without_any_mechanism_the_last_resort_is_called_unsandboxed(unknown_machine, tmp_path):
    unknown_machine.setenv("PATH", str(tmp_path))
    unknown_machine.setattr("overclock.recipe.sandbox.landlock.abi", lambda: 0)
    assert [finding.works for finding in probe()] == [False, False, True]
    assert best().title == "UNSANDBOXED"
    assert best().sentence.startswith("UNSANDBOXED")


def test_every_sentence_says_what_is_not_held_back():
    for finding in probe():
        assert ("does not hold back" in finding.sentence) == finding.works


def test_landlock_on_the_network_of_the_host_says_what_its_rules_cannot_tell_apart():
    if abi() < TCP_ABI:
        pytest.skip(f"this kernel's Landlock (version {abi()}) has no rules for TCP")
    assert "other machines at the gateway's port" in _sentence(abi(), network=False, filtered=True)
    assert "other machines" not in _sentence(abi(), network=True, filtered=True)


def test_a_wrong_name_is_answered_with_the_right_ones():
    with pytest.raises(UsageError, match="best, bubblewrap, landlock, none"):
        by_name("docker")


@pytest.mark.parametrize("path", [Path("relative"), Path("/no/such/place")])
def test_only_what_exists_can_be_granted(path):
    with pytest.raises(UsageError, match="absolute path"):
        Rights(read=(path,))


def test_landlock_refuses_what_it_cannot_protect(tmp_path):
    (tmp_path / "tests").mkdir()
    sandbox = Landlock("landlock", "Landlock", "", own_network=False, filtered=True)
    with pytest.raises(UsageError, match="install bubblewrap"):
        sandbox.launch(["true"], agent_rights(tmp_path, readable=[tmp_path / "tests"]))


def test_bubblewrap_protects_a_folder_inside_the_work_tree(tmp_path):
    try:
        sandbox = by_name("bubblewrap")
    except MissingError as error:
        pytest.skip(str(error))
    (tmp_path / "tests").mkdir()
    rights = agent_rights(tmp_path, readable=[tmp_path / "tests"])
    command = ["sh", "-c", "touch mine; touch tests/changed"]
    assert sandbox.popen(command, rights, stderr=subprocess.DEVNULL).wait() != 0
    assert (tmp_path / "mine").exists()
    assert not (tmp_path / "tests" / "changed").exists()


def test_a_package_is_hidden_under_every_name_of_its_folder(tmp_path):
    """A second mount through a link would show what is hidden under the first."""
    try:
        sandbox = by_name("bubblewrap")
    except MissingError as error:
        pytest.skip(str(error))
    (tmp_path / "lib" / "hidden_reference").mkdir(parents=True)
    (tmp_path / "lib" / "hidden_reference" / "secret").touch()
    (tmp_path / "lib64").symlink_to("lib")
    rights = candidate_rights(tmp_path / "lib", hidden=[tmp_path / "lib" / "hidden_reference"])
    rights = dataclasses.replace(rights, read=(*rights.read, tmp_path / "lib64"))
    command = ["sh", "-c", f"ls {tmp_path}/lib64/hidden_reference"]
    process = sandbox.popen(command, rights, stdout=subprocess.PIPE, text=True)
    assert process.communicate(timeout=60)[0] == "__init__.py\n"


def test_a_candidate_cannot_decide_what_the_supervisor_imports(sandbox: Sandbox, tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit('the supervisor ran candidate code')")
    process = sandbox.popen(["true"], candidate_rights(tmp_path), cwd=tmp_path)
    assert process.wait(60) == 0


def test_the_environment_holds_what_was_granted_even_if_more_is_passed(sandbox: Sandbox):
    launch = sandbox.launch(["env"], Rights(environment={"PATH": "/usr/bin:/bin", "GRANTED": "1"}))
    shown = subprocess.run(
        launch.argv, env={**launch.environment, "SECRET": "1"}, capture_output=True, text=True, check=True
    ).stdout
    names = {line.partition("=")[0] for line in shown.splitlines()}
    assert names - {"PWD"} == {"PATH", "GRANTED", "HOME", "TMPDIR"}


def test_the_supervisor_starts_without_jax_or_numpy():
    code = "import sys, overclock.recipe.sandbox.supervisor; print({'jax', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_plan_survives_its_journey(tmp_path):
    sandbox = Landlock("landlock", "Landlock", "", own_network=True, filtered=True)
    text = next(part for part in sandbox.launch(["true"], candidate_rights(tmp_path)).argv if part.startswith("{"))
    assert Plan.from_json(text).to_json() == text
    assert Plan.from_json(text).landlock.network is False
