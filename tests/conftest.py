"""What every test may rely on."""

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from quick_compile import compiled_quickly

# The longest files, of many seconds each. They are handed out first: one that begins last leaves all other cores idle.
LONGEST = (
    "translate/test_traps.py", "test_documents.py", "test_tutorial.py", "recipe/judging/test_judge.py",
    "verify/test_engine.py", "gameboy/test_against_pyboy.py", "verify/rollout/test_lockstep.py",
    "vector/fused/test_arrays.py", "envs/pong/test_reference.py", "verify/property/test_level.py",
    "verify/repro/test_shrink.py", "env/test_contract.py", "planar/test_control_steps.py",
    "recipe/contract/test_draw_modules.py", "vector/fused/test_elementwise.py", "envs/robots/test_twins.py",
    "envs/pong/test_rust_twins.py", "train/networks/test_network.py", "verify/interaction/test_level.py",
    "recipe/export/test_package.py", "cli/loop/test_translate.py", "recipe/redteam/test_redteam.py",
    "vector/test_lanes.py", "vector/fused/test_environments.py", "train/test_ppo.py", "vector/test_resets.py",
    "train/test_evaluate.py", "train/test_probes.py", "verify/transfer/test_level.py",
)  # fmt: skip

# A shell that starts the tests in the background lets them ignore Ctrl-C, and so would every program they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """What one test compiles, no other compiles again, in whichever process; the next run of the tests begins anew."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:  # workers have their controller's
        folder = tempfile.mkdtemp(prefix="overclock-tests-")
        os.environ["JAX_COMPILATION_CACHE_DIR"] = folder
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.fixture(autouse=True, scope="module")
def _left_as_found(tmp_path_factory):
    """What one file of tests leaves in the process is no other's: modules from its folders, recording generators.

    A reference makes Gymnasium record for good, in what is usually a process of its own.
    """
    path, seeding = list(sys.path), "gymnasium.utils.seeding"
    plain = sys.modules[seeding].np_random if seeding in sys.modules else None
    yield
    sys.path[:] = path
    ours = str(tmp_path_factory.getbasetemp())
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(ours):
            del sys.modules[name]
    recording = sys.modules.get("overclock.verify.sides.recording_generator")
    if recording is not None:
        sys.modules[seeding].np_random = plain or recording._plain_np_random


@pytest.fixture(scope="module")
def few_optimisations():
    """JAX compiles quickly, also in programs that are started: for large programs that run for milliseconds."""
    with compiled_quickly():
        yield


def pytest_collection_modifyitems(items):
    """The longest files first, the others as they are."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
