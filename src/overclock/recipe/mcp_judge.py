"""The judge of an MCP session: that of `overclock translate`, and speed at the batches that somebody asks for."""

import tempfile
from pathlib import Path

from overclock.recipe.hygiene.frozen import Frozen, remove, unpack
from overclock.recipe.judge import Judge
from overclock.recipe.project_twin import apart
from overclock.recipe.speed import measure, speed_spec


class SessionJudge(Judge):
    """The judge of `overclock translate`, with a choice of batches."""

    def bench(self, frozen: Frozen, batches: tuple[int, ...]) -> dict[str, float]:
        """Steps per second at these batches, timed from outside."""
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "candidate"
            unpack(frozen, folder)
            try:
                spec = apart(self.project, speed_spec(folder), folder, self.sandbox)
                return measure(spec, self.project.limits.timeout, batches)
            finally:
                remove(folder)
