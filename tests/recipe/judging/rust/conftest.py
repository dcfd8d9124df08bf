"""Rust candidates for the tests; the toolchain is asked for once."""

from pathlib import Path

import pytest
from recipe.rust import crates

from overclock.errors import MissingError
from overclock.recipe.judging.rust.toolchain import sysroot


@pytest.fixture(scope="session")
def toolchain() -> Path:
    """Where rustc is; skips where it is not."""
    try:
        return sysroot()
    except MissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def contract(tmp_path_factory) -> Path:
    """CartPole's contract.toml."""
    path = tmp_path_factory.mktemp("contract") / "contract.toml"
    path.write_text(crates.CONTRACT)
    return path


@pytest.fixture
def candidate(tmp_path):
    """Writes a candidate: the honest one with other or further files."""

    def write(files=crates.FILES, **changes) -> Path:
        more = {f"src/{name}.rs": text for name, text in changes.items()}
        return crates.written(tmp_path / "candidate", {**files, **more})

    return write


@pytest.fixture(scope="session")
def honest(tmp_path_factory) -> Path:
    """The honest candidate."""
    return crates.written(tmp_path_factory.mktemp("honest"), crates.FILES)
