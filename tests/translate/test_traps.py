"""Every trap is right or refused with its place: never silently wrong."""

import importlib
import inspect
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="the traps are Gymnasium environments")

from translate.agree import agree
from translate.traps.base import Trap

from overclock.recording.errors import UnsupportedError

FILES = sorted(path.stem for path in (Path(__file__).parent / "traps").glob("*.py") if path.stem != "base")
ROUNDING = 1e-9  # sums in another order and other libraries' functions; what a trap gets wrong is not that small


def traps():
    for file in FILES:
        module = importlib.import_module(f"translate.traps.{file}")
        for name, cls in vars(module).items():
            if inspect.isclass(cls) and issubclass(cls, Trap) and cls.__module__ == module.__name__:
                yield pytest.param(cls, id=f"{file}.{name}")


@pytest.mark.parametrize("trap", traps())
def test_a_trap_is_right_or_refused(trap, tmp_path):
    if not trap.refused:
        agree(trap, tmp_path, tolerance=ROUNDING)
        return
    with pytest.raises(UnsupportedError, match=trap.refused) as refusal:
        agree(trap, tmp_path, tolerance=ROUNDING)
    assert Path(refusal.value.place.file) == Path(inspect.getsourcefile(trap))
    assert refusal.value.place.line > 0
