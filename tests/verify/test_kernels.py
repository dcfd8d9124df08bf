"""The judge on kernels: what plays at full speed is compared with the reference as the rules under XLA are."""

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")

from level_results import properties, verify_report

from overclock.bench.config import XLA, C
from overclock.bench.results import Ratio
from overclock.c_compiler import c_compiler_fault
from overclock.cli import main
from overclock.entry_point import EntryPoint
from overclock.envs.cartpole.env import CartPole
from overclock.envs.cartpole.twin import twin
from overclock.errors import UsageError
from overclock.report.summary import sentences
from overclock.results import decode
from overclock.vector.fused import elementwise
from overclock.verify.interaction.metamorphic import SelfChecks
from overclock.verify.interaction.metamorphic_rules import RULES
from overclock.verify.property.runner import ModuleRunner
from overclock.verify.repro.replay import Replay, twin_of
from overclock.verify.repro.repro import SCHEMA, load_repro, parse_repro
from overclock.verify.result import VerifyReport
from overclock.verify.rollout.actions import uniform
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.text import performance_name

pytestmark = pytest.mark.skipif(bool(c_compiler_fault()), reason=c_compiler_fault())
SPEEDS = {XLA: 2.0, C: 50.0}
NOTHING = verify_report(properties())
TESTS = str(Path(__file__).parents[1])


class Miscompiled(JaxSubject):
    """A performance side whose kernels take every product for a sum; its rules are right."""

    def __init__(self, num_envs, env_id, backend="xla"):
        elementwise.FORMULAS["mul"] = elementwise.FORMULAS["add"]
        super().__init__(num_envs, env_id, backend=backend)


def miscompiled():
    made = dataclasses.replace(twin().performance, entry_point="verify.test_kernels:Miscompiled")
    return dataclasses.replace(twin(), performance=made.with_environment(PYTHONPATH=TESTS))


def compared(side, precision="float64"):
    return compare_rollouts(side, 16, "free_running", precision, "uniform", uniform)


def test_cartpoles_c_kernel_is_gymnasiums_to_the_last_bit():
    """XLA fuses products and sums into one rounding, which neither NumPy nor a kernel does."""
    result = compared(twin().on("c"))
    assert result.passed, result.first_divergence
    assert {field.largest_error for field in result.fields.values()} == {0.0}


def test_it_is_the_kernel_that_is_compared():
    assert compared(miscompiled()).passed
    result = compared(miscompiled().on("c"))
    assert not result.passed
    assert result.first_divergence.field == "state.x"


def test_a_planted_bug_is_in_the_kernel_too():
    assert not compared(twin().on("c").planted("polemass-plus"), "float32").passed
    assert not compared(twin().planted("polemass-plus").on("c"), "float32").passed


def test_xla_is_what_a_twin_has_unless_told():
    assert twin().backend is None
    assert twin().on("xla").backend == "xla"
    assert twin().on("xla").on("c").backend == "c"
    environments = {side: dict(twin().on(side).performance_in("float32").environment) for side in ("c", "cuda")}
    assert environments["c"]["JAX_PLATFORMS"] == "cpu"
    assert environments["cuda"]["JAX_PLATFORMS"] == "cuda,cpu"


def test_a_side_that_is_not_written_in_jax_has_no_kernel():
    foreign = dataclasses.replace(twin().performance, kernels=False)
    with pytest.raises(UsageError, match=r"^The performance side of cartpole-v1 is no environment of JAX rules"):
        dataclasses.replace(twin(), performance=foreign).on("c")


@pytest.mark.filterwarnings("ignore:No data was collected")
def test_level_1_says_which_module_has_no_kernel():
    pytest.importorskip("coverage", reason="level 1 measures code coverage")
    side = twin().on("c").performance
    runner = ModuleRunner(1, side.subject.as_json(), EntryPoint.of(twin().modules).as_json())
    limits = {name: np.array([value]) for name, value in (("low", -0.05), ("high", 0.05))}
    sample = runner.run("distribution", limits, 1)
    observed = runner.run("observe", {name: np.ones(3) for name in ("x", "x_dot", "theta", "theta_dot")}, 3)
    runner.coverage()  # ends the measurement
    assert sample["by_xla"].startswith("A fused kernel has no room for arrays of ")
    assert observed["by_xla"] is None
    assert observed["outputs"]["obs"].tolist() == np.ones((3, 4)).tolist()


def test_the_command_keeps_kernels_apart_and_its_repro_is_about_the_kernel(tmp_path, monkeypatch, capsys):
    pytest.importorskip("jinja2", reason="the page needs the extra 'report'")
    pytest.importorskip("matplotlib", reason="the page needs the extra 'report'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("overclock.verify.engine.returns_alone", lambda *_, **__: None)  # trains; not looked at here
    words = ["verify", "cartpole", "--only", "3", "--episodes", "4", "--plant", "polemass-plus", "--backend", "c"]
    assert main(words) == 1
    assert "cartpole-v1 as a C kernel against gymnasium:CartPole-v1" in capsys.readouterr().out
    folder = tmp_path / "runs" / "verify-cartpole-v1-c-plant-polemass-plus"
    report = decode(VerifyReport, json.loads((folder / "report.json").read_text())["verify"])
    assert report.backend == "c"
    assert report.command.endswith("--only 3 --plant polemass-plus --backend c")
    assert performance_name(report) == "cartpole-v1 as a C kernel"
    assert "<code>overclock mutate cartpole-v1</code>" in (folder / "report.html").read_text()
    [ready] = (folder / "repro" / "1").glob("test_*.py")
    assert '"backend": "c"' in ready.read_text()
    assert " comparison of cartpole-v1 as a C kernel failed" in (folder / "repro" / "1" / "prompt.md").read_text()
    repro = load_repro(folder / "repro" / "1")
    assert twin_of(repro).backend == "c"
    assert Replay(repro, None, ()).sentence.startswith("cartpole-v1 as a C kernel no longer diverges: ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--backend", "cuda"], "backend='cuda' needs an NVIDIA GPU that JAX finds (`pip install 'overclock[cuda]'`)."),
        (["--backend", "c", "--write-tests", "tests"], "--write-tests writes tests of the rules under XLA"),
    ],
)
def test_what_a_kernel_cannot_do_here_is_refused_before_any_work(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if "cuda" in words and jax.default_backend() == "gpu":
        pytest.skip("there is a GPU")
    work = []
    monkeypatch.setattr("overclock.verify.engine.check_reference", lambda *_, **__: work.append("begun"))
    assert main(["verify", "cartpole", "--level", "1", *words]) == 2
    assert sentence in capsys.readouterr().err
    assert not work


def test_a_repro_of_an_unknown_backend_is_refused():
    known = {"schema": SCHEMA, "precision": "float64", "mode": "per_step", "setup": {}, "actions": [], "draws": []}
    with pytest.raises(UsageError, match="its backend fortran is unknown"):
        parse_repro(json.dumps({**known, "backend": "fortran"}))


def test_the_page_tells_the_speed_of_what_was_judged():
    rows = [Ratio(name, "gymnasium", 8, ratio, ratio, ratio) for name, ratio in SPEEDS.items()]
    machine = SimpleNamespace(device="cpu", platform="cpu", cpu="this", cores=2)
    bench = SimpleNamespace(ratios=rows, machine=machine)
    said = {
        name: sentences(None if name is None else dataclasses.replace(NOTHING, backend=name), bench)[-1]
        for name in (None, "c")
    }
    assert said[None].endswith(": 2.0x gymnasium.")
    assert said["c"].endswith(": 50x gymnasium.")


@pytest.mark.parametrize("name", RULES)
def test_the_self_checks_of_level_2_hold_for_a_kernel(name, checks_of_a_kernel):
    assert checks_of_a_kernel.run(name).passed


@pytest.fixture(scope="module")
def checks_of_a_kernel():
    return SelfChecks(CartPole(), backend="c")
