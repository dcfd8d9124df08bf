"""`overclock doctor` tells the whole picture and survives machines on which everything is broken."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from overclock import cli, doctor
from overclock.results import encode

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


def package_names(requirements):
    return {re.split(r"[\[<>=~! ]", requirement)[0] for requirement in requirements}


@pytest.fixture
def fake_answers(monkeypatch):
    """Replace the programs doctor asks: `answers` maps a part of the command to (works, text); others work, '1.0'."""

    def install(answers):
        def ask(command, timeout=0.0, **environment):
            words = " ".join([*command, *(f"{k}={v}" for k, v in environment.items())])
            hits = [answer for part, answer in answers.items() if part in words]
            jax_answer = (True, '{"backend": "cpu", "devices": [{"platform": "cpu", "kind": "cpu"}], "x64": false}')
            return hits[0] if hits else (jax_answer if "jax" in words else (True, "1.0"))

        monkeypatch.setattr(doctor, "ask", ask)

    return install


def checks_of(report):
    return {check["name"]: check for check in encode(report)["checks"]}


def test_this_machine_is_healthy(capsys):
    assert cli.main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "overclock.doctor/1"
    assert report["ok"]
    assert report["jax"]["devices"]
    for check in report["checks"]:
        assert set(check) == {"group", "name", "status", "found", "needed_for", "remedy"}
        assert check["status"] in doctor.SYMBOLS


def test_missing_things_take_one_line_each_with_purpose_and_remedy(fake_answers, monkeypatch, capsys):
    fake_answers({})
    monkeypatch.setenv("PATH", "")
    assert cli.main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(doctor.examine().checks)
    (node,) = [line for line in lines if "  Node  " in line]
    assert "needed for references written in JavaScript: install Node 20" in node
    (agents,) = [line for line in lines if "coding agents" in line]
    assert "claude, codex, gemini" in agents


def test_a_broken_driver_fails_the_core_and_says_that_the_cpu_works(fake_answers, capsys):
    broken = (False, "RuntimeError: CUDA_ERROR_NO_DEVICE")
    fake_answers({"JAX_PLATFORMS=cpu": (True, "{}"), "jax.devices": broken})
    assert cli.main(["doctor"]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "JAX devices" in line]
    assert "CUDA_ERROR_NO_DEVICE" in line
    assert "JAX_PLATFORMS=cpu, which works" in line


def test_jax_that_cannot_run_at_all_asks_for_a_new_installation(fake_answers):
    fake_answers({"jax.devices": (False, "no answer within 120 s")})
    report = encode(doctor.examine())
    assert not report["ok"]
    assert checks_of(report)["JAX devices"]["remedy"] == "reinstall jax and jaxlib"
    assert report["jax"]["backend"] is None


def test_a_check_that_crashes_becomes_a_line(fake_answers, monkeypatch):
    fake_answers({"jax.devices": (True, "not json")})
    monkeypatch.setattr(doctor.shutil, "which", lambda name: 1 / 0)
    report = encode(doctor.examine())
    assert "JSONDecodeError" in checks_of(report)["JAX devices"]["found"]
    assert "ZeroDivisionError" in checks_of(report)["git"]["found"]


def test_a_compiler_is_asked_to_compile(fake_answers, monkeypatch):
    fake_answers({})
    monkeypatch.setenv("CC", "/nonexistent")
    (compiler,) = [check for check in doctor.examine().checks if check.name == "C compiler"]
    assert (compiler.status, compiler.found) == ("broken", "$CC names '/nonexistent', which is not there")
    assert compiler.line.endswith("which is not there; needed for C kernels and references in C: "
                                          "install gcc or clang, or name yours in the variable CC")  # fmt: skip


def test_an_unwritable_cache_is_reported_and_harmless(fake_answers, monkeypatch, tmp_path):
    fake_answers({})
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OVERCLOCK_COMPILE_CACHE", str(tmp_path / "file" / "cache"))
    report = encode(doctor.examine())
    assert checks_of(report)["compile cache"]["status"] == "broken"
    assert report["ok"]
    monkeypatch.setenv("OVERCLOCK_COMPILE_CACHE", "off")
    assert checks_of(doctor.examine())["compile cache"]["found"].startswith("switched off")


def test_programs_that_hang_fail_or_do_not_exist_are_answered_for():
    assert doctor.ask([sys.executable, "-c", "print('here')"]) == (True, "here")
    assert doctor.ask([sys.executable, "-c", "input()"], timeout=30)[0] is False
    assert doctor.ask([sys.executable, "-c", "import time; time.sleep(99)"], timeout=0.01)[1].startswith("no answer")
    assert doctor.ask([sys.executable, "-c", "import os; os.abort()"]) == (False, "exit code -6")
    assert doctor.ask(["/nowhere/program"]) == (False, "No such file or directory")


def test_the_packages_are_those_of_pyproject():
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    assert package_names(project["dependencies"]) | {"jaxlib"} == set(doctor.CORE_PACKAGES)
    for extra, (_, packages) in doctor.EXTRAS.items():
        assert package_names(project["optional-dependencies"][extra]) == set(packages)


def test_what_make_setup_installs_is_enough_for_the_closed_loop_and_doctor_knows_all_of_it():
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    (first,) = extras["demo"]
    installed = set(first.partition("[")[2].rstrip("]").split(","))
    assert {"gymnasium", "report", "train", "agents", "mcp"} <= installed
    assert installed <= set(doctor.EXTRAS)
