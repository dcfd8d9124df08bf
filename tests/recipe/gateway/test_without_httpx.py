"""Without httpx, which only calls to a model need, everything else of the closed loop can be used."""

import subprocess
import sys

import pytest

from overclock.errors import MissingError
from overclock.recipe.gateway import Providers, Upstream


def test_a_run_by_a_person_needs_no_httpx():
    program = (
        "import sys; sys.modules['httpx'] = None; import overclock.recipe.loop.translate, overclock.recipe.mcp.session"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_call_to_a_model_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingError, match=r"overclock\[agents\]"):
        Providers({"chat": Upstream("http://127.0.0.1:9")})
