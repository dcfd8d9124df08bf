"""Several processes at once: when one fails, the others end, and its own words are what is told."""

import threading

import pytest

from overclock.verify.sides.crew import Crew


class Process:
    """Something that is ended when another task fails."""

    def __init__(self):
        self.ended = threading.Event()

    def close(self):
        self.ended.set()


def test_the_first_failure_is_told_even_where_a_process_that_was_ended_for_it_speaks_first():
    crew, process, complained = Crew(timeout=1.0), Process(), threading.Event()
    crew._working.add(process)

    def fails():
        raise ValueError("the cause")

    def slow_to_tell():
        try:
            crew.together([fails], 1)
        finally:
            complained.wait(10)

    def is_ended():
        process.ended.wait(10)
        try:
            raise RuntimeError("its process ended during `step`")
        finally:
            complained.set()

    with pytest.raises(ValueError, match="the cause"):
        crew.together([slow_to_tell, is_ended], 2)
    assert complained.is_set()


def test_results_come_in_the_order_of_the_tasks():
    assert Crew(timeout=1.0).together([lambda: 1, lambda: 2, lambda: 3], 2) == [1, 2, 3]
