"""Can a translation follow the reference's own stream of random numbers? Yes, where the draws of an event are always
the same calls in the same order, from the environment's `np_random`, by methods whose numbers `env/pcg64.py` gives.

`draw_reset` and `draw_step` draw site by site. So every draw must happen whatever the values are, and all draws of one
site before those of the next.
"""

from pathlib import Path

from overclock.translate.ir.nodes import Block, Const, If, Let, Loop
from overclock.translate.ir.sites import DrawSite

# (method, form) that give NumPy's numbers; `choice` and `integers` with arguments of the run time are drawn otherwise.
REPRODUCED = {
    ("random", "unit"), ("uniform", "unit"), ("uniform", "value"), ("integers", "index"), ("choice", "index"),
}  # fmt: skip
LARGEST = 1 << 31


class _UnsureError(Exception):
    """A draw that does not always happen."""

    def __init__(self, site: str) -> None:
        super().__init__(site)
        self.site = site


def refusal(block: Block, sites: list[DrawSite]) -> str:
    """Why the reference's stream cannot be followed, with the place; empty where it can."""
    by_name = {site.name: site for site in sites}
    for site in sites:
        if not site.own:
            return _at(site, "drawn from another generator than np_random, or in another dtype")
        if (site.method, site.form) not in REPRODUCED or site.arguments.get("n", 1) > LARGEST:
            return _at(site, f"numbers of '{site.method}' like this are not reproduced")
    try:
        made = _calls(block)
    except _UnsureError as error:
        return _at(by_name[error.site], "drawn only at times, or an unknown number of times")
    for (name, at), wanted in zip(made, [site.name for site in sites for _ in range(site.count)], strict=False):
        if name != wanted:
            return _at(by_name[name], f"draw {at + 1} of this call comes between those of another")
    if len(made) != sum(site.count for site in sites):
        return _at(sites[-1], "drawn only at times, or an unknown number of times")
    return ""


def _calls(block: Block) -> list[tuple[str, int]]:
    """The draws of a block, in order, as (site, how many came before)."""
    found: list[tuple[str, int]] = []
    for statement in block:
        match statement:
            case Let(_, "draw", (at,), keywords):
                if not isinstance(at, Const):
                    raise _UnsureError(keywords["site"])
                found.append((keywords["site"], int(at.value)))
            case If(_, then, orelse):
                one, other = _calls(then), _calls(orelse)
                if one != other:
                    raise _UnsureError((one or other)[0][0])
                found += one
            case Loop(header=header, body=body):
                for site, _ in (*_calls(header), *_calls(body)):
                    raise _UnsureError(site)
    return found


def _at(site: DrawSite, reason: str) -> str:
    return f"{Path(site.filename).name}:{site.line}: {reason}"
