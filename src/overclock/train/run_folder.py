"""The folder of a training run: what it is called in there, and whether a run may be begun or continued."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.train.files import read_json
from overclock.train.ppo import Trainer

SCHEMA = "overclock.train.run/1"
SETTINGS, CHECKPOINT = "run.json", "checkpoint.safetensors"


def describe(trainer: Trainer, seeds: Sequence[int]) -> dict[str, Any]:
    """What must be equal for a run to be continued."""
    return {
        "schema": SCHEMA,
        "env": repr(trainer.env),
        "params": repr(trainer.params),
        "config": dataclasses.asdict(trainer.config),
        "seeds": list(seeds),
    }


def check_free_or_same(folder: Path, settings: dict[str, Any], resume: bool) -> None:
    """See that the folder is free, or that it holds this run."""
    if not resume:
        if (folder / SETTINGS).exists() or (folder / CHECKPOINT).exists():
            raise UsageError(
                f"'{folder}' holds a training run; resume it (--resume), replace it (--force), or choose another place."
            )
        return
    before = read_json(folder / SETTINGS, "training run")
    if not settings.keys() <= before.keys() or not isinstance(before["config"], dict):
        raise UsageError(f"'{folder / SETTINGS}' is not a training run, or it is damaged; start it anew (--force).")
    settings = json.loads(json.dumps(settings))
    if before["env"] != settings["env"]:
        raise UsageError(
            f"The run in '{folder}' trains {before['env']}, not {settings['env']}; choose another folder (--output)."
        )
    old, new = ({**run, **run["config"]} for run in (before, settings))
    for name in sorted(new.keys() - {"config"}):
        if old.get(name) != new[name]:
            raise UsageError(
                f"The run in '{folder}' has {name} = {old.get(name)}, not {new[name]}; "
                "a run can only be resumed as it was begun."
            )
    if not (folder / CHECKPOINT).exists():
        raise UsageError(f"The run in '{folder}' has lost its checkpoint; start it anew (--force), or elsewhere.")


def checked_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    """The seeds of a run, if they can be told apart."""
    numbers = tuple(int(seed) for seed in seeds)
    if not numbers or len(set(numbers)) < len(numbers) or not all(0 <= seed < 1 << 32 for seed in numbers):
        raise UsageError(f"Seeds must be different whole numbers from 0 to 2**32 - 1, at least one; got {numbers}.")
    return numbers
