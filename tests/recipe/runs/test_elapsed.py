"""The working time of a run: what lies between a stop and a resume does not count."""

from overclock.recipe.runs.elapsed import seconds_left, worked_seconds
from overclock.recipe.runs.vocabulary import Event


def event(number, time, kind):
    return Event(number, time, kind, {})


EVENTS = [
    event(1, 100.0, "run started"), event(2, 130.0, "run ended"), event(3, 900.0, "run started"),
    event(4, 905.0, "task sent"),
]  # fmt: skip


def test_only_the_time_inside_sessions_counts():
    assert worked_seconds(EVENTS, under_way=False) == 35.0
    assert worked_seconds([]) == 0.0


def test_what_is_left_is_never_negative_and_nothing_without_a_limit():
    assert seconds_left(20.0, EVENTS) == 0.0
    assert seconds_left(None, EVENTS) is None
