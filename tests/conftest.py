"""What every test may rely on."""

import signal
import sys
from pathlib import Path

import pytest

# Files of more than half a minute each. They are handed out first: one that begins last leaves all other cores idle.
LONGEST = (
    "recipe/test_translate.py", "recipe/test_judge.py", "verify/test_engine.py", "verify/test_transfer.py",
    "recipe/test_site_twins.py", "recipe/test_contract_luck.py", "env/test_contract.py", "test_documents.py",
    "cli/test_translate.py", "recipe/test_reference_cells.py", "recipe/test_redteam.py", "recipe/test_export.py",
    "translate/test_traps.py", "train/test_probes.py", "verify/test_rollout.py", "train/test_network.py",
    "train/test_loop.py", "verify/test_mutate.py",
)  # fmt: skip

# A shell that starts the tests in the background lets them ignore Ctrl-C, and so would every program they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
    recording = sys.modules.get("overclock.verify.recording_generator")
    if recording is not None:
        sys.modules[seeding].np_random = plain or recording._plain_np_random


@pytest.fixture(scope="module")
def few_optimisations():
    """JAX compiles quickly, also in programs that are started: for large programs that run for milliseconds."""
    import jax

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
        jax.config.update("jax_disable_most_optimizations", True)
        yield
    jax.config.update("jax_disable_most_optimizations", False)
    jax.clear_caches()  # the next file's programs are compiled as users have them


def pytest_collection_modifyitems(items):
    """The longest files first, the others as they are."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
