"""The tree of processes is found both ways, and processes that end meanwhile are no trouble."""

import os
import subprocess

import pytest

from overclock.recipe.sandbox import tree


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
    if lists and not tree._lists_children():
        pytest.skip("this kernel keeps no lists of children")
    monkeypatch.setattr(tree, "_lists_children", lambda: lists)
    shell, child = family
    assert tree.descendants(shell) == [child]
    assert {shell, child} <= set(tree.descendants(os.getpid()))


def test_a_load_is_counted(family):
    load = tree.weigh(family)
    assert load.tasks == 2
    assert load.memory_bytes > 0


def test_a_process_that_is_gone_has_no_children_and_weighs_nothing():
    process = subprocess.Popen(["true"])
    process.wait()
    assert tree.descendants(process.pid) == []
    assert tree.weigh([process.pid]) == tree.Load()
