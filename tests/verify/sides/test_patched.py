"""Changed modules take effect everywhere, or are refused."""

import subprocess
import sys

import pytest

from overclock.errors import UsageError
from overclock.verify.sides.patched import Patch, load_patched


def test_a_module_that_is_imported_already_is_refused():
    """Others keep the names they took from it: the change would be there and mean nothing."""
    with pytest.raises(UsageError, match=r"overclock\.verify\.sides\.patched was imported before it could be changed"):
        load_patched([Patch("overclock.verify.sides.patched", "linecache.cache[", "linecache.cash[")])


def test_whoever_imports_a_changed_module_afterwards_gets_the_change():
    program = """
from overclock.verify.sides.patched import Patch, load_patched
load_patched([Patch("overclock.cores", "return len", "return 77 + len")])
from overclock.vector.fused.c_compiler import cores
print(cores() > 77)
load_patched([Patch("overclock.cores", "return len", "return 77 + len")])  # as it is already
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
