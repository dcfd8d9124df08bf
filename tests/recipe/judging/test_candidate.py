"""A candidate's folder as the performance side of a twin: how it is imported, patched and refused."""

import os
import py_compile
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import overclock
from overclock.errors import UsageError
from overclock.recipe.judging.candidate import CandidateSubject, candidate_spec, load_candidate, made_by
from overclock.recipe.judging.one_lane import AnotherProgramError
from overclock.recipe.redteam import blind_spots
from overclock.recipe.redteam.cheats import edited, honest_files
from overclock.verify.sides.patched import Patch
from overclock.verify.sides.process import ProcessSubject


@pytest.fixture
def folder(tmp_path):
    for name, text in honest_files().items():
        (tmp_path / name).write_text(text)
    return tmp_path


def one_step(subject):
    subject.reset(np.ones(2, np.bool_), np.zeros(2, np.int64), {"uniform_0": np.full((2, 4), 0.01)})
    return subject.step(np.array([0, 1], np.int32), {"uniform_0": np.full(2, 0.5)})


def test_it_is_imported_under_a_private_name_and_nothing_else_sees_it(folder):
    before = list(sys.path)
    env, params = load_candidate(folder)
    package, _, module = type(env).__module__.rpartition(".")
    assert (module, params.gravity) == ("env", 9.8)
    assert package.startswith("overclock_candidate_")
    assert sys.path == before
    assert "physics" not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        __import__("physics")
    assert load_candidate(folder)[0] == env  # imported once


def test_files_beside_it_may_be_imported_by_their_plain_names(folder):
    text = honest_files()["env.py"]
    for name in ("physics", "records"):
        text = text.replace(f"from .{name}", f"from {name}")
    (folder / "rules").mkdir()
    (folder / "rules" / "more.py").write_text("import physics\nWIDTH = physics.jnp.float32(2)\n")
    (folder / "env.py").write_text(f"import rules.more\n{text}\nassert rules.more.WIDTH == 2\n")
    env, _ = load_candidate(folder)
    state_type = type(env).__orig_bases__[0].__args__[0]  # the class that physics.py imported by `from .records`
    assert state_type.__module__ == f"{type(env).__module__.removesuffix('.env')}.records"


def test_compiled_files_are_neither_read_nor_written(folder):
    file, good = folder / "records.py", honest_files()["records.py"]
    file.write_text("1 / 0".ljust(len(good)))
    compiled = py_compile.compile(str(file))
    seconds = file.stat().st_mtime
    file.write_text(good)
    os.utime(file, (seconds, seconds))  # with its age and size, Python itself would believe the compiled file
    load_candidate(folder)
    assert [str(path) for path in folder.glob("__pycache__/*")] == [compiled]


def test_it_steps_as_a_subject_in_its_own_process(folder):
    with ProcessSubject(candidate_spec(folder), 2, "the candidate") as subject:
        apart = one_step(subject)
    here = one_step(CandidateSubject(2, str(folder)))
    assert set(apart.state) == {"x", "x_dot", "theta", "theta_dot", "steps"}
    for name, values in here.state.items():
        np.testing.assert_allclose(apart.state[name], values, rtol=1e-6)
    assert apart.outputs["reward"].tolist() == [1.0, 1.0]


def test_the_worker_that_is_judged_is_the_one_that_can_be_timed(folder):
    subject = CandidateSubject(2, str(folder))
    before = one_step(subject)
    assert "run" in subject.describe()["calls"]
    total = subject.run(batch=3, steps=256)
    assert 3 * 256 * 0.9 < total < 3 * 256 * 1.1  # a reward of 1 per step, and observations close to zero
    assert subject.run(batch=3, steps=64) != subject.run(batch=3, steps=64)  # its lanes go on
    after = one_step(subject)  # with lanes of their own
    assert {name: values.tolist() for name, values in after.state.items()} == {
        name: values.tolist() for name, values in before.state.items()
    }


def test_patches_and_parameters_change_it(folder):
    plain = one_step(CandidateSubject(2, str(folder)))
    patch = {"module": "records", "old": "gravity: float = 9.8", "new": "gravity: float = 20.0"}
    patched = one_step(CandidateSubject(2, str(folder), patches=[patch]))
    given = one_step(CandidateSubject(2, str(folder), params={"gravity": 20.0}))
    assert patched.state["theta_dot"].tolist() == given.state["theta_dot"].tolist()
    assert patched.state["theta_dot"].tolist() != plain.state["theta_dot"].tolist()
    with pytest.raises(UsageError, match="stands 0 times"):
        made_by(folder, [Patch("env", "not there", "")])


def test_its_code_sees_one_lane_however_many_there_are(folder):
    for name, text in edited("env.py", blind_spots.IN_LARGE_BATCHES).items():
        (folder / name).write_text(text)
    begins = np.zeros(2000, np.int64), {"uniform_0": np.full((2000, 4), 0.01)}
    subject = CandidateSubject(2000, str(folder))  # it would stand still at this size if it saw it
    before = subject.reset(np.ones(2000, np.bool_), *begins)
    after = subject.step(np.ones(2000, np.int32), {"uniform_0": np.full(2000, 0.5)})
    assert (after.state["x"] != before.state["x"]).all()
    env, params = load_candidate(folder)  # and as users load it
    venv = overclock.vectorize(env, 2000)
    _, state = venv.reset(jax.random.key(0), params)
    assert (np.asarray(venv.step(state, jnp.ones(2000, int), params)[1].lanes.rules.x) != state.lanes.rules.x).all()


def test_a_rule_that_is_another_program_when_it_is_traced_again_is_refused(folder):
    forgetful = "        SEEN.append(1)\n        params = params.replace(gravity=9.8 + len(SEEN) // 2)\n"
    text = honest_files()["env.py"].replace(blind_spots.MOVE, forgetful + blind_spots.MOVE)
    (folder / "env.py").write_text(f"SEEN = []\n{text}")
    subject = CandidateSubject(2, str(folder))
    one_step(subject)
    jax.clear_caches()
    with pytest.raises(AnotherProgramError, match="`transition` is another program when it is traced again"):
        one_step(subject)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "defines no function make"),
        ("def make():\n    return 1", r"must return \(env, params\), it returned a int"),
        ("def make():\n    return 1, 2", "returned a int where Environment belongs"),
        ("from .records import CartPoleParams as P\ndef make():\n    return P(), P()", "Params where Environment"),
    ],
)
def test_what_is_no_candidate_is_told_so(folder, text, said):
    (folder / "env.py").write_text(text)
    with pytest.raises(UsageError, match=said):
        load_candidate(folder)


def test_a_folder_without_env_is_no_candidate(tmp_path):
    with pytest.raises(UsageError, match=r"it has no env\.py"):
        load_candidate(tmp_path)
