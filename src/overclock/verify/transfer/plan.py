"""What level 4 is going to do, written down before it does anything: policies, episodes, margins, controls.

A margin chosen after the numbers are known proves nothing. A plan is therefore frozen, has a fingerprint, and the
fingerprint is part of the result. Environments keep theirs beside their twin; others get the defaults.
"""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from overclock.errors import UsageError
from overclock.results import decode
from overclock.verify.contract import Precision
from overclock.verify.sides.subject import SubjectSpec
from overclock.verify.statistics import looks_alpha
from overclock.verify.transfer.result import RegisteredPlan

RANDOM = "random"
TRAINED = "trained"
QUICK_STEPS = 8_192
MIN_EPISODES = 16  # with fewer, visited states could not be told apart by permutation


@dataclasses.dataclass(frozen=True)
class TransferPlan:
    """Everything that decides level 4 besides the twin and the seed."""

    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What differs from `PPOConfig`'s defaults, on both sides alike."""
    strengths: tuple[tuple[str, float], ...] = ((RANDOM, 0.0), ("half-trained", 0.5), (TRAINED, 1.0))
    """Checkpoints of every run that are kept as policies: a name, and the share of the training done by then."""
    seeds: int = 10
    """Runs per side at every look."""
    looks: int = 3
    """How often seeds may be added before an open question stays open (1 to 3); each look has a stricter alpha."""
    episodes: int = 100
    """Per policy and side, with the same randomness on both sides."""
    step_limit: int = 10_000
    """Episodes are cut off here, on both sides alike; for environments without a time limit."""
    margins: Mapping[str, float] | None = None
    """Largest harmless difference of mean returns, by strength. None: max(5 % of what there is to learn, twice the
    A/A noise), measured on the reference alone and fixed before the performance side is evaluated."""
    margin_reason: str = ""
    """Why these margins."""
    reference_env: SubjectSpec | None = None
    """How to build one Gymnasium environment to train on the reference; None: it cannot be trained on."""
    planted: str | None = None
    """The twin's bug that must be seen (the positive control)."""
    unseen: str | None = None
    """A bug of the twin that returns are known not to show; it is run so that the result can say so."""
    kernel: bool = False
    """Whether training steps the performance side by a kernel, where one can be made (`vectorize`'s "auto"): for rules
    so large that stepping them by XLA on a CPU would take longer than learning."""
    precision: Precision = "float32"
    """Of the performance side: what people train with."""
    attempt: int = 1
    """How often chance was asked this question, this time included: who may try again until it says yes must be surer
    each time, so every alpha is divided by it."""

    def __post_init__(self) -> None:
        shares = [share for _, share in self.strengths]
        names = [name for name, _ in self.strengths]
        if shares != sorted(set(shares)) or not shares or shares[0] < 0.0 or shares[-1] > 1.0:
            raise UsageError(f"The strengths need growing shares of the training from 0 to 1, got {shares}.")
        if self.attempt < 1:
            raise UsageError(f"Attempts are counted from 1, got {self.attempt}.")
        if self.seeds < 2 or self.looks not in (1, 2, 3):
            raise UsageError(f"Plan at least 2 seeds and 1 to 3 looks, got {self.seeds} and {self.looks}.")
        if self.episodes < MIN_EPISODES or self.step_limit < 1:
            raise UsageError(f"Plan at least {MIN_EPISODES} episodes of at least 1 step, got {self.episodes}.")
        if self.margins is None:
            if {RANDOM, TRAINED} - set(names):
                raise UsageError(f"The default margin needs strengths called '{RANDOM}' and '{TRAINED}', got {names}.")
            return
        if set(self.margins) != set(names) or not all(0.0 < value < math.inf for value in self.margins.values()):
            raise UsageError(f"Every strength needs a positive margin: {names}, got {dict(self.margins)}.")
        if not self.margin_reason:
            raise UsageError("Margins that are stated need a reason.")

    @property
    def alpha(self) -> float:
        """Of every one-sided test at every look."""
        return looks_alpha(self.looks) / self.attempt

    def quick(self) -> "TransferPlan":
        """A small one that shows the machinery works; too few policies and episodes for a verdict to rely on."""
        training = {**self.training, "total_steps": min(QUICK_STEPS, self.training.get("total_steps", QUICK_STEPS))}
        return dataclasses.replace(self, training=training, seeds=3, looks=1, episodes=20)

    def registered(self, twin: str, seed: int) -> RegisteredPlan:
        """The plan with its fingerprint, which also covers the twin's name and the seed."""
        reference = None if self.reference_env is None else self.reference_env.as_json()
        content = {"twin": twin, "seed": seed, **dataclasses.asdict(self), "reference_env": reference}
        text = json.dumps(content, sort_keys=True)
        return decode(RegisteredPlan, {**json.loads(text), "sha256": hashlib.sha256(text.encode()).hexdigest()})
