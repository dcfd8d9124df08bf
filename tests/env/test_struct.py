"""Structs are frozen dataclasses and pytrees at once; static fields are structure, not leaves."""

import dataclasses
import pickle

import jax
import jax.numpy as jnp
import pytest

from overclock.env import Params, Struct, static


class Point(Struct):
    x: float
    y: float = 2.0
    name: str = static(default="origin")


class Named(Point):
    z: float = 3.0


def test_fields_are_leaves_in_order_and_static_fields_are_not():
    assert jax.tree.leaves(Point(1.0)) == [1.0, 2.0]
    assert jax.tree.leaves(Named(1.0)) == [1.0, 2.0, 3.0]


def test_static_fields_decide_the_structure():
    a, b = Point(1.0, name="a"), Point(1.0, name="b")
    assert jax.tree.structure(a) != jax.tree.structure(b)
    assert jax.tree.structure(a) == jax.tree.structure(Point(5.0, name="a"))
    traces = []

    @jax.jit
    def norm(point):
        traces.append(point.name)
        return point.x**2 + point.y**2

    for point in (a, b, a.replace(x=7.0)):
        norm(point)
    assert traces == ["a", "b"]


def test_trees_of_structs_map_and_vmap():
    doubled = jax.tree.map(lambda leaf: leaf * 2, Named(1.0, name="n"))
    assert (doubled.x, doubled.y, doubled.z, doubled.name) == (2.0, 4.0, 6.0, "n")
    batch = Point(x=jnp.arange(3.0), y=jnp.ones(3))
    assert jax.vmap(lambda p: p.x + p.y)(batch).tolist() == [1, 2, 3]


def test_structs_are_frozen_and_replace_makes_a_copy():
    point = Point(1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2.0  # type: ignore[misc]
    moved = point.replace(x=9.0)
    assert (moved.x, point.x, type(moved)) == (9.0, 1.0, Point)
    with pytest.raises(TypeError, match="nowhere"):
        point.replace(nowhere=1)


def test_equality_is_identity():
    point = Point(1.0)
    assert point == point
    assert point != Point(1.0)
    assert len({point, Point(1.0)}) == 2


def test_leaf_names_are_paths():
    paths = [jax.tree_util.keystr(path, simple=True) for path, _ in jax.tree_util.tree_flatten_with_path(Point(1.0))[0]]
    assert paths == ["x", "y"]


def test_structs_can_be_pickled():
    again = pickle.loads(pickle.dumps(Params(max_steps=3)))
    assert again.max_steps == 3


def test_no_time_limit_is_structure_not_a_leaf():
    assert jax.tree.leaves(Params()) == []
    assert jax.tree.leaves(Params(max_steps=5)) == [5]
