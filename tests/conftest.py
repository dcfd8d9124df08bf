"""What every test may rely on."""

import signal
import sys

import pytest

# A shell that starts the tests in the background lets them ignore Ctrl-C, and so would every program they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="module")
def _gymnasiums_own_generators():
    """A reference makes Gymnasium record in its own process for good; here, one file's must not be another's."""
    name = "gymnasium.utils.seeding"
    before = sys.modules[name].np_random if name in sys.modules else None
    yield
    if name in sys.modules:
        if before is None:
            recording = sys.modules.get("overclock.verify.recording_generator")
            before = recording._plain_np_random if recording else sys.modules[name].np_random
        sys.modules[name].np_random = before
