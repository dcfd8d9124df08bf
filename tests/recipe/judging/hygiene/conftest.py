"""Candidates for the tests: the honest one, with changes."""

from pathlib import Path

import pytest

from overclock.recipe.redteam.cheats import honest_files


@pytest.fixture
def candidate(tmp_path):
    """Writes the honest candidate with other or further files; None leaves one out."""

    def write(**changes) -> Path:
        files = {**honest_files(), **{name.replace("__", "/") + ".py": text for name, text in changes.items()}}
        folder = tmp_path / "candidate"
        for name, text in files.items():
            if text is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)
        return folder

    return write
