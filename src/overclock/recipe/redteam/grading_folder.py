"""The folder that a candidate is judged in: the grader's own files, sealed, and the candidate, frozen and unpacked."""

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path

from overclock.recipe.judging.hygiene.frozen import Frozen, Seal, freeze, remove, unchanged, unpack
from overclock.recipe.redteam.cheats import Files

TESTS = {"test_gravity.py": "def test_gravity():\n    assert 9.8 == params().gravity\n"}
ANSWERS = '{"seeds": [20011, 20021, 20023]}\n'


@dataclasses.dataclass(frozen=True)
class GradingFolder:
    """The parts of such a folder; `seal` notices changes of the grader's tests."""

    folder: Path
    candidate: Path
    frozen: Frozen
    seal: Seal

    def damage(self) -> str | None:
        """A sentence on what the candidate changed although it must not; None if it changed nothing."""
        broken = self.seal.broken()
        if broken:
            return f"The grader's files changed while the candidate ran: {', '.join(broken)}."
        if not unchanged(self.frozen, self.candidate):
            return "The candidate's own files changed after it was frozen."
        return None


@contextlib.contextmanager
def grader_files() -> Iterator[Path]:
    """A temporary folder with what a grader keeps: tests and answers."""
    with tempfile.TemporaryDirectory(prefix="overclock-redteam-") as place:
        folder = Path(place).resolve()
        (folder / "tests").mkdir()
        for name, text in TESTS.items():
            (folder / "tests" / name).write_text(text)
        (folder / "answers.json").write_text(ANSWERS)
        yield folder


@contextlib.contextmanager
def frozen_candidate(folder: Path, files: Files) -> Iterator[GradingFolder]:
    """Freeze a candidate in a folder of `grader_files`, unpack it read-only, and seal the grader's tests."""
    draft, candidate = folder / "draft", folder / "candidate"
    draft.mkdir()
    for name, text in files.items():
        (draft / name).write_text(text)
    frozen = freeze(draft)
    unpack(frozen, candidate)
    try:
        yield GradingFolder(folder, candidate, frozen, Seal.of(folder / "tests"))
    finally:
        remove(candidate)
