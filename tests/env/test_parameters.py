"""`params.replace` refuses what would fail somewhere else later, and takes all that may vary in a batch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
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
        ("between", 1.0, "(a number, a number)"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(name, value, wanted):
    with pytest.raises(UsageError) as caught:
        Everything().replace(**{name: value})
    assert str(caught.value) == f"Everything takes {wanted} as its parameter {name}, got {value!r}."


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [("scale", np.array(["a", "b"]), "<U1"), ("scale", np.ones(2, bool), "bool"), ("count", np.ones(2), "float64")],
)
def test_an_array_of_something_else_is_refused(name, value, found):
    with pytest.raises(UsageError, match=f"as its parameter {name}, got an array of {found}."):
        Everything().replace(**{name: value})


@pytest.mark.parametrize("limit", [0, -5, 1 << 31])
def test_a_time_limit_that_cannot_be_counted_to_is_refused(limit):
    with pytest.raises(UsageError, match=f"max_steps must be 1 to .*, or None for no time limit, got {limit}."):
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
        {"between": [0, 2]}, {"between": (jnp.zeros(3), 1.0)}, {"between": jnp.ones(2)}, {"max_steps": None},
        {"max_steps": jnp.int32(4)}, {"table": jnp.ones(4)}, {"table": None}, {"word": "b"}, {"other": "anything"},
    ],
    ids=str,
)  # fmt: skip
def test_values_of_the_declared_types_pass_as_they_are(changes):
    params = Everything().replace(**changes)
    for name, value in changes.items():
        assert getattr(params, name) is value


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
