"""A repro: the shortest episode that shows a divergence, as a folder that one command replays.

`repro/<n>/` holds repro.json (schema overclock.repro/1), a pytest file that fails until the bug is gone, a level 2
scenario, and prompt.md, the facts for whoever repairs it. docs/repro.md explains the fields.
"""

import dataclasses
import json
import math
import shlex
from pathlib import Path
from typing import Any, get_args

import numpy as np

from overclock.backends import Backend
from overclock.errors import UsageError
from overclock.verify.contract import Precision, Twin
from overclock.verify.interaction.playback import lane_values
from overclock.verify.repro.arena import Moment
from overclock.verify.repro.episode import Episode
from overclock.verify.repro.shrink import Shrunk
from overclock.verify.rollout.lockstep import Mode
from overclock.versions import versions

SCHEMA = "overclock.repro/1"
FILE = "repro.json"


@dataclasses.dataclass(frozen=True)
class Repro:
    """What a repro.json says, as far as replaying needs it."""

    twin: str  # an environment's id, or 'package.module:function' that builds the twin
    precision: Precision
    mode: Mode
    episode: Episode
    field: str
    step: int
    expected: tuple[dict[str, Any], ...]  # what the reference showed after the reset and after every action
    plant: str | None = None
    backend: Backend | None = None


def describe(
    shrunk: Shrunk, twin: Twin, folder: Path, plant: str | None = None, level: int = 3, target: str | None = None
) -> dict[str, Any]:
    """The content of repro.json. `target` is what finds the twin again (twins.py); its name where that is an id."""
    short, found = shrunk.shortest, shrunk.original
    before = shrunk.moments[-2] if short.finding.step else None
    setup: dict[str, Any] = {"seed": short.episode.seed}
    if short.episode.state is None or short.episode.draws:  # the draws of a reset that a state replaces do not matter
        setup["draws"] = lane_values(shrunk.moments[0].reference.draws, 0)
    if short.episode.state is not None:
        setup["state"] = short.episode.state
    command = f"overclock repro {shlex.quote(str(folder))}" + (f" --plant {shlex.quote(plant)}" if plant else "")
    return {
        "schema": SCHEMA,
        "twin": target or twin.name,
        "plant": plant,
        "backend": twin.backend,
        "precision": shrunk.precision,
        "mode": short.mode,
        "setup": setup,
        "actions": list(short.episode.actions),
        "draws": [lane_values(moment.reference.draws, 0) for moment in shrunk.moments[1:]],
        **dataclasses.asdict(short.finding),
        "also_wrong": [finding.field for finding in shrunk.moments[-1].findings[1:]],
        "last_matching": None if before is None else _states(before),
        "expected": [shown(moment, twin) for moment in shrunk.moments],
        "found": {
            "level": level,
            "mode": found.mode,
            "seed": found.episode.seed,
            **dataclasses.asdict(found.finding),
            "last_matching": None if shrunk.last_matching is None else _states(shrunk.last_matching),
            "actions": list(found.episode.actions),
        },
        "minimal": shrunk.minimal,
        "tried": shrunk.tried,
        "versions": versions(),
        "command": command,
    }


def load_repro(folder: Path) -> Repro:
    """The repro in a folder, or one sentence on what is wrong with it."""
    if not folder.is_dir():
        raise UsageError(f"There is no folder '{folder}'; a repro is a folder with a {FILE}.")
    try:
        text = (folder / FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"'{folder}' is no repro: its {FILE} cannot be read.") from error
    return parse_repro(text, str(folder / FILE))


def parse_repro(text: str, name: str = FILE) -> Repro:
    """A repro from the text of its file."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        setup, actions, draws = data["setup"], data["actions"], data["draws"]
        if not isinstance(actions, list) or any(np.asarray(action).dtype.kind not in "biuf" for action in actions):
            raise ValueError("its actions are not a list of numbers")
        if data["precision"] not in get_args(Precision) or data["mode"] not in get_args(Mode):
            raise ValueError(f"its precision {data['precision']} or its mode {data['mode']} is unknown")
        if data.get("backend") not in (None, *get_args(Backend)):
            raise ValueError(f"its backend {data['backend']} is unknown")
        if not isinstance(setup, dict) or not isinstance(draws, list):
            raise ValueError("its setup is not an object or its draws are not a list")
        first_draws = setup.get("draws", {})
        if not all(isinstance(part, dict) for part in (first_draws, setup.get("state", {}), *draws)):
            raise ValueError("its draws or its state are not objects")
        if len(data["expected"]) != len(actions) + 1 or len(draws) != len(actions):
            raise ValueError("its expected values and draws do not fit its actions")
        episode = Episode(int(setup["seed"]), tuple(actions), (first_draws, *draws), setup.get("state"))
        return Repro(
            twin=str(data["twin"]),
            precision=data["precision"],
            mode=data["mode"],
            episode=episode,
            field=str(data["field"]),
            step=int(data["step"]),
            expected=tuple(dict(shown) for shown in data["expected"]),
            plant=data.get("plant"),
            backend=data.get("backend"),
        )
    except KeyError as error:
        raise UsageError(f"'{name}' is no repro: it says nothing about {error}.") from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"'{name}' is no repro: {error}.") from error


def shown(moment: Moment, twin: Twin) -> dict[str, Any]:
    """What the reference shows of the contract's fields at a moment."""
    values = {field.name: field.of(moment.reference) for field in twin.contracts[twin.strictest].fields}
    return {name: value[0].tolist() for name, value in values.items() if value is not None}


def _states(moment: Moment) -> dict[str, dict[str, Any]]:
    return {side: lane_values(getattr(moment, side).state, 0) for side in ("reference", "performance")}


def format_repro(content: dict[str, Any]) -> str:
    """The text of a repro.json: one line per field; NaN and infinities as strings, which NumPy reads back."""
    lines = (f"  {json.dumps(key)}: {json.dumps(strict(value), allow_nan=False)}" for key, value in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def strict(value: Any) -> Any:
    """A value that JSON can hold: NaN and infinities become strings."""
    if isinstance(value, dict):
        return {key: strict(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [strict(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
