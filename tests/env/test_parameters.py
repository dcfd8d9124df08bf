"""`params.replace` refuses what would fail somewhere else later, and takes all that may vary in a batch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec
from jaxtyping import Array, Float

import overclock
from overclock.env import Params, static
from overclock.errors import UsageError


class Everything(Params):
    """A parameter of every type that is checked, and two that are not."""

    flag: bool = False
    count: int = 1
    scale: float = 1.0
    between: tuple[float, float] = (0.0, 1.0)
    maybe: tuple[float, float] | None = None
    several: tuple[float, ...] = ()
    beside: tuple[float, object] = (0.0, None)
    table: Float[Array, " n"] | None = None
    word: str = static(default="a")
    other: object = None


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("scale", "a", "a number"), ("scale", None, "a number"), ("scale", True, "a number"),
        ("scale", [1.0, 2.0], "a number"), ("count", 1.5, "a whole number"), ("count", "1", "a whole number"),
        ("flag", 1, "true or false"), ("word", 1, "a word"), ("max_steps", 1.5, "a whole number or null"),
        ("max_steps", "none", "a whole number or null"), ("between", (1.0,), "(a number, a number)"),
        ("between", (1.0, "b"), "(a number, a number)"), ("between", "ab", "(a number, a number)"),
        ("between", 1.0, "(a number, a number)"), ("between", np.float64(1.0), "(a number, a number)"),
        ("between", None, "(a number, a number)"), ("count", None, "a whole number"),
        ("maybe", (1.0,), "(a number, a number) or null"), ("maybe", 1.0, "(a number, a number) or null"),
        ("beside", ("a", None), "(a number, anything)"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(name, value, wanted):
    with pytest.raises(UsageError) as caught:
        Everything().replace(**{name: value})
    assert str(caught.value) == f"Everything takes {wanted} as its parameter {name}, got {value!r}."


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("scale", np.array(["a", "b"]), "<U1"), ("scale", np.ones(2, bool), "bool"), ("count", np.ones(2), "float64"),
        ("between", np.ones(3), "float64"), ("between", np.ones(2, bool), "bool"),
    ],
)  # fmt: skip
def test_an_array_of_something_else_is_refused(name, value, found):
    with pytest.raises(UsageError, match=f"as its parameter {name}, got an array of {found}."):
        Everything().replace(**{name: value})


def test_what_is_refused_is_named_in_one_short_line():
    with pytest.raises(UsageError, match=r"takes a number as its parameter scale, got a list\.$"):
        Everything().replace(scale=[1.0] * 100)


@pytest.mark.parametrize("limit", [0, -5, 1 << 31, 1 << 70])
def test_a_time_limit_that_cannot_be_counted_to_is_refused(limit):
    with pytest.raises(UsageError, match=f"max_steps must be 1 to .*, or None for no time limit, got {limit}."):
        Params().replace(max_steps=limit)


@pytest.mark.parametrize("limit", [np.int64(0), np.int64(2**40), np.array(0), np.array([5, 0, 7])])
def test_so_is_one_of_numpy(limit):
    with pytest.raises(UsageError, match=r"max_steps must be 1 to .*, got (0|1099511627776)\.$"):
        Params().replace(max_steps=limit)


def test_a_name_that_is_no_parameter_says_which_there_are():
    with pytest.raises(UsageError, match=r"Everything has no parameter 'skale' \(did you mean 'scale'\)."):
        Everything().replace(skale=1.0)
    with pytest.raises(UsageError, match=r"Params has no parameter 'gravity' \(it has max_steps\)."):
        Params().replace(gravity=1.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": 2}, {"scale": np.float32(2)}, {"scale": jnp.bfloat16(2)}, {"scale": jnp.arange(3)},
        {"count": np.int64(3)}, {"count": jnp.arange(3)}, {"flag": np.bool_(True)}, {"flag": jnp.ones(2, bool)},
        {"between": jnp.ones(2)}, {"between": jnp.ones((5, 2))}, {"between": jnp.ones((2, 5))}, {"max_steps": None},
        {"max_steps": jnp.int32(4)}, {"max_steps": np.array([4, 5])}, {"maybe": None}, {"table": jnp.ones(4)},
        {"table": None}, {"word": "b"}, {"word": np.str_("b")}, {"other": "anything"}, {"other": [1]},
    ],
    ids=str,
)  # fmt: skip
def test_values_of_the_declared_types_pass_as_they_are(changes):
    params = Everything().replace(**changes)
    for name, value in changes.items():
        assert getattr(params, name) is value


@pytest.mark.parametrize(
    "changes",
    [
        {"between": [0, 2]}, {"between": [jnp.zeros(3), 1.0]}, {"between": (0.0, 2)}, {"maybe": [0.0, 1.0]},
        {"several": [1.0, 2.0, 3.0]},
    ],
    ids=str,
)  # fmt: skip
def test_a_list_becomes_the_tuple_that_is_declared(changes):
    params = Everything().replace(**changes)
    for name, value in changes.items():
        found = getattr(params, name)
        assert type(found) is tuple
        assert all(one is other for one, other in zip(found, value, strict=True))


def test_the_structure_is_the_defaults_whatever_a_tuple_was_given_as():
    params = Everything()
    assert jax.tree.structure(params.replace(between=[0.0, 2.0])) == jax.tree.structure(params)


AXES = jax.tree.map(lambda _: None, Everything(max_steps=5))


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": 0}, {"scale": None}, {"max_steps": 0}, {"between": 0}, {"between": (0, None)}, {"flag": 0},
        {"count": None}, {"scale": PartitionSpec("lanes")}, {"between": PartitionSpec()},
    ],
    ids=str,
)  # fmt: skip
def test_a_tree_of_axes_takes_any_value(changes):
    axes = AXES.replace(**changes)
    for name, value in changes.items():
        assert getattr(axes, name) is value


@pytest.mark.parametrize("leaf", [PartitionSpec(), False, 0, "a label"], ids=repr)
def test_so_does_a_tree_of_anything_that_is_no_parameter(leaf):
    tree = jax.tree.map(lambda _: leaf, Everything(max_steps=5))
    assert tree.replace(scale=None).scale is None


def test_a_tree_of_axes_has_the_names_of_the_parameters():
    with pytest.raises(UsageError, match=r"Everything has no parameter 'skale' \(did you mean 'scale'\)."):
        AXES.replace(skale=0)


def test_types_that_cannot_be_read_refuse_nothing():
    class Unread(Params):
        scale: "of no expression" = 1.0  # pyright: ignore

    assert Unread().replace(scale="a").scale == "a"
    with pytest.raises(UsageError, match="Unread has no parameter 'skale'"):
        Unread().replace(skale=1.0)


def test_types_are_read_once_for_a_class(monkeypatch):
    Everything().replace(scale=2.0)
    read = []
    monkeypatch.setattr("typing.get_type_hints", lambda constructor: read.append(constructor) or {})
    Everything().replace(scale=3.0)
    assert read == []


def test_parameters_are_replaced_while_jax_traces():
    assert jax.jit(lambda scale: Everything().replace(scale=scale).scale * 2)(3.0) == 6
    assert jax.vmap(lambda scale: Everything().replace(scale=scale).scale)(jnp.arange(3.0)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("env_id", [spec.id for spec in overclock.list_envs() if not spec.rules_in_rust])
def test_every_environment_refuses_a_word_for_a_number(env_id):
    _, params = overclock.make(env_id)
    for name, value in vars(params).items():
        if isinstance(value, int | float):
            with pytest.raises(UsageError, match=f"as its parameter {name}, got 'a'."):
                params.replace(**{name: "a"})
