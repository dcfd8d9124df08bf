"""Mutants that are no mistakes: a list kept next to the twin, each entry with its reason.

    [[equivalent]]
    function = "CartPole.fallen"
    before = "return (x < -limit) | (x > limit)"
    after = "return (x < -limit) ^ (x > limit)"
    reason = "no number is below -limit and above limit"

They are excluded from the score but examined like the others: an entry that a level kills was not equivalent, and one
that matches no mutant speaks of code that is gone. Both are errors, so the list cannot rot.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from overclock.env.registry import Spec
from overclock.errors import UsageError
from overclock.verify.mutation.mutants import Mutant
from overclock.verify.sides.patched import source_of

FILE = "equivalent_mutants.toml"
KEYS = ("function", "before", "after", "reason")


def twin_folder(spec: Spec) -> Path:
    """Where an environment's twin is written."""
    return Path(source_of(str(spec.twin).partition(":")[0])[1]).parent


def file_of(spec: Spec) -> Path | None:
    """The list of an environment, next to its twin; None where it has none."""
    path = twin_folder(spec) / FILE
    return path if path.is_file() else None


def reasons(mutants: Sequence[Mutant], path: Path | None) -> dict[str, str]:
    """Mutant id -> why it is equivalent."""
    if path is None:
        return {}
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path.name} is not TOML: {error}.") from error
    found: dict[str, str] = {}
    for number, entry in enumerate(entries, start=1):
        if set(entry) != set(KEYS) or not all(isinstance(value, str) and value for value in entry.values()):
            raise UsageError(f"Entry {number} of {path.name} needs exactly {', '.join(KEYS)}, as texts.")
        matching = [mutant for mutant in mutants if _matches(mutant, entry)]
        if not matching:
            raise UsageError(
                f"Entry {number} of {path.name} matches no mutant ({entry['function']}: {entry['after']}); "
                "the code it speaks of has changed: remove or update it."
            )
        found |= {mutant.id: entry["reason"] for mutant in matching}
    return found


def _matches(mutant: Mutant, entry: Mapping[str, str]) -> bool:
    return all(getattr(mutant, key) == entry[key] for key in ("function", "before", "after"))
