"""The verifier's worker processes inside a sandbox: the pipe works as before, the reference is out of reach."""

import dataclasses
import time
import uuid
from pathlib import Path

import pytest
from recipe.cartpole_candidates import CORRECT

from overclock.envs.cartpole.twin import twin
from overclock.recipe.judging.candidate import candidate_spec
from overclock.recipe.sandbox import sandboxed
from overclock.verify.mutation.worker import worker_spec
from overclock.verify.property.runner import runner
from overclock.verify.rollout.actions import uniform
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

SPY = '''
import importlib, os, time

class Spy:
    """A candidate's subject that does other things than it should."""

    def __init__(self, num_envs, package="json", mark=""):
        self._package = package

    def describe(self):
        try:
            importlib.import_module(self._package)
            found = True
        except (ImportError, PermissionError):
            found = False
        return {"calls": ["bomb", "daemon"], "found": found, "key": os.environ.get("OPENAI_API_KEY")}

    def bomb(self):
        for _ in range(200):
            try:
                if os.fork() == 0:
                    break
            except OSError:  # a bomb does not mind
                pass
        time.sleep(20)

    def daemon(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)
        os.wait()
'''


@pytest.fixture
def candidate(tmp_path) -> Path:
    (tmp_path / "spy.py").write_text(SPY)
    return tmp_path


def spy(sandbox, candidate, options=(), **rights) -> ProcessSubject:
    spec = SubjectSpec("spy:Spy", tuple(dict(options).items())).with_environment(PYTHONPATH=str(candidate))
    return ProcessSubject(sandboxed(spec, candidate, sandbox=sandbox.name, **rights), 1, "the candidate", 60.0)


def apart_from_us(candidate, **options):
    """The twin of CartPole with its performance side in a sandbox."""
    both = twin()
    return dataclasses.replace(both, performance=sandboxed(both.performance, candidate, **options))


SHADOW = "raise RuntimeError('a file of the candidate was imported')\n"


@pytest.mark.parametrize("sandbox", ["best", "none"])
def test_a_candidate_s_own_numpy_or_json_is_never_imported_by_the_worker(tmp_path, sandbox):
    for name, text in {"env": CORRECT, "numpy": SHADOW, "json": SHADOW, "threading": SHADOW}.items():
        (tmp_path / f"{name}.py").write_text(text)
    spec = sandboxed(candidate_spec(tmp_path), tmp_path, sandbox=sandbox)
    with ProcessSubject(spec, 2, "the candidate", 60.0) as subject:
        assert subject.description


def test_level_3_of_cartpole_passes_without_the_reference_in_reach(sandbox, candidate):
    pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")
    hidden = ["gymnasium", "gymnax", "envpool"]
    apart = apart_from_us(candidate, sandbox=sandbox.name, hidden_packages=hidden)
    result = compare_rollouts(apart, 4, "free_running", "float64", "uniform", uniform, num_lanes=4)
    assert result.passed, result.first_divergence
    assert result.episodes == 4
    with spy(sandbox, candidate, {"package": "gymnasium"}, hidden_packages=hidden) as subject:
        assert subject.description["found"] is (sandbox.title == "UNSANDBOXED")


def test_a_mistake_is_found_inside_as_outside(candidate):
    pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")
    apart = apart_from_us(candidate).planted("gravity")
    assert not compare_rollouts(apart, 4, "free_running", "float64", "uniform", uniform, num_lanes=4).passed


def test_our_keys_are_not_passed_on(sandbox, candidate, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with spy(sandbox, candidate) as subject:
        assert subject.description == {"calls": ["bomb", "daemon"], "found": True, "key": None}


def test_a_bombing_candidate_ends_as_a_sentence(sandbox, candidate):
    reason = "its process ended during `bomb`.*more than 60 processes and threads"
    with spy(sandbox, candidate, processes=60) as subject, pytest.raises(CouldNotVerifyError, match=reason):
        subject.ask("bomb")


def test_nothing_is_left_when_the_verifier_closes(sandbox, candidate):
    mark = f"mark-{uuid.uuid4()}"
    with spy(sandbox, candidate, {"mark": mark}) as subject:
        subject.ask("daemon")
        assert _living(mark)
    until = time.monotonic() + 20
    while _living(mark) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _living(mark)


def _living(mark: str) -> bool:
    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(place.read_bytes())
        except OSError:  # it just ended
            continue
    return any(mark.encode() in line for line in lines)


def test_every_kind_of_performance_process_keeps_the_launcher(candidate):
    apart = apart_from_us(candidate, sandbox="none")
    spec = apart.performance
    kinds = [
        spec.with_environment(X="1"),
        apart.planted("gravity").performance,
        runner(spec, "package:MODULES"),
        worker_spec(apart, [], "recording.pickle", "float64"),
    ]
    assert [kind.launcher for kind in kinds] == [spec.launcher] * 4
    assert kinds[-1].files == ("recording.pickle",)
    assert {spec, dataclasses.replace(spec)} == {spec}  # still a key of dictionaries
    assert apart.reference == twin().reference


def test_training_on_the_performance_side_keeps_the_launcher(candidate):
    pytest.importorskip("flax", reason="level 4 needs overclock[train]")
    from overclock.envs.cartpole.transfer import PLAN
    from overclock.verify.transfer.training import performance_trainer

    apart = apart_from_us(candidate, sandbox="none")
    assert performance_trainer(apart, PLAN).launcher == apart.performance.launcher
