"""Every test of kernels, in every dialect that this machine can be asked for."""

import pytest
from vector.fused.programs import DIALECTS, needs_kernel, speak


@pytest.fixture(autouse=True)
def _kernels():
    needs_kernel()


@pytest.fixture(params=list(DIALECTS))
def dialect(request, monkeypatch):
    speak(monkeypatch, request.param)
    return request.param
