"""A tolerance as contract.toml says it: a number, which is absolute, or a table of `absolute`, `relative` and `whole`.

x = 1e-9
obs = {absolute = [1e-9, 3e-7], relative = 1.5e-14, whole = [false, true]}
"""

from typing import Any

from overclock.errors import UsageError
from overclock.verify.tolerance import Tolerance, require_tolerances

PARTS = ("absolute", "relative", "whole")


def parse_tolerance(name: str, value: Any) -> Tolerance:
    """The tolerance of the field or group `name`; UsageError says what is wrong with it."""
    if isinstance(value, Tolerance):
        return value
    if _is_number(value):
        value = {"absolute": value}
    if not isinstance(value, dict) or not value.keys() <= {*PARTS}:
        raise UsageError(f"its tolerance of '{name}' is {value}; write a number or {{absolute = 0.0, relative = 1e-6}}")
    absolute, relative, whole = value.get("absolute", 0.0), value.get("relative", 0.0), value.get("whole", False)
    if not all(map(_is_number, absolute if isinstance(absolute, list) else [absolute])):
        raise UsageError(f"its tolerance of '{name}' has absolute = {absolute}, which is no number and no list of them")
    if not _is_number(relative):
        raise UsageError(f"its tolerance of '{name}' has relative = {relative}, which is no number")
    if not all(isinstance(one, bool) for one in (whole if isinstance(whole, list) else [whole])):
        raise UsageError(f"its tolerance of '{name}' has whole = {whole}; write true, false or a list of them")
    found = Tolerance(
        tuple(absolute) if isinstance(absolute, list) else absolute,
        relative,
        tuple(whole) if isinstance(whole, list) else whole,
    )
    require_tolerances(f"'{name}'", found.absolute, found.relative)
    return found


def tolerance_value(tolerance: Tolerance) -> Any:
    """What `parse_tolerance` reads: a number where there is no other part."""
    parts = {part: getattr(tolerance, part) for part in PARTS}
    shown = {part: list(one) if isinstance(one, tuple) else one for part, one in parts.items() if one}
    return tolerance.absolute if not shown or shown == {"absolute": tolerance.absolute} else shown


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
