"""The tree of processes is found both ways, and processes that end meanwhile are no trouble."""

import os
import subprocess

import pytest

from overclock.recipe.sandbox import process_tree


@pytest.fixture
def family():
    """A shell with a child."""
    process = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
    child = int(process.stdout.readline())
    yield process.pid, child
    for pid in (child, process.pid):
        os.kill(pid, 9)
    process.communicate()


@pytest.mark.parametrize("lists", [True, False])
def test_descendants_are_found_with_and_without_lists_of_children(family, lists, monkeypatch):
    if lists and not process_tree._lists_children():
        pytest.skip("this kernel keeps no lists of children")
    monkeypatch.setattr(process_tree, "_lists_children", lambda: lists)
    shell, child = family
    assert process_tree.descendants(shell) == [child]
    assert {shell, child} <= set(process_tree.descendants(os.getpid()))


def test_a_load_is_counted(family):
    load = process_tree.measure(family)
    assert load.tasks == 2
    assert load.memory_bytes > 0


def test_a_process_that_is_gone_has_no_children_and_weighs_nothing():
    process = subprocess.Popen(["true"])
    process.wait()
    assert process_tree.descendants(process.pid) == []
    assert process_tree.measure([process.pid]) == process_tree.Load()
