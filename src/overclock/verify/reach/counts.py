"""What a search for branches did, as reports keep it."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class SearchCounts:
    """What a search did, for reports."""

    tries: int
    steps: int  # tries in which the reference took a step without an error
    reached_by_play: list[str]
    reached_from_changed_states: list[str]
    missed: list[str]  # of conditions that were evaluated
    ended_by: str
