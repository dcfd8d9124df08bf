"""Ids carry versions, a bare name is the newest, and mistakes are answered with what was probably meant."""

import dataclasses

import numpy as np
import pytest

import overclock
from overclock.env import registry
from overclock.env.registry import Spec
from overclock.errors import UnknownEnvironmentError, UsageError


@pytest.fixture(autouse=True)
def undone(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))


def add(*ids: str) -> None:
    for env_id in ids:
        registry.register(Spec(env_id, "probes:Countdown"))


def test_a_bare_name_is_the_newest_version():
    add("probe-v2", "probe-v10", "probe-v1", "probe-two-v3")
    assert registry.spec("probe").id == "probe-v10"
    assert registry.spec("probe-v2").id == "probe-v2"
    assert registry.spec("probe-two").id == "probe-two-v3"
    assert (registry.spec("probe").name, registry.spec("probe").version) == ("probe", 10)


def test_make_gives_the_environment_with_its_options_and_default_params():
    add("probe-v0")
    env, params = registry.make("probe", shortest=9)
    assert (type(env).__name__, env.shortest, params.pace) == ("Countdown", 9, 1)
    env, _ = overclock.make("cartpole-v1", sutton_barto_reward=True)
    assert env.sutton_barto_reward


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("cartpol", "No environment is called 'cartpol'; did you mean 'cartpole'?"),
        ("cart-pole-v1", "No environment is called 'cart-pole-v1'; did you mean 'cartpole'?"),
        ("CartPole-v1", "'CartPole-v1' is not an environment id; did you mean 'cartpole-v1'?"),
        ("cartpole-v1\n", "did you mean 'cartpole-v1'?"),
        ("cartpole-v01", "did you mean"),
        ("cartpole-v7", "'cartpole' has no version 7; registered: 'cartpole-v1'."),
        ("zzzzz", "No environment is called 'zzzzz'; `overclock list` shows every environment."),
        ("", "`overclock list` shows every environment."),
    ],
)
def test_a_wrong_id_says_what_was_probably_meant(wrong, sentence):
    with pytest.raises(UnknownEnvironmentError) as caught:
        registry.make(wrong)
    assert sentence in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("shorttest", "probe-v0 has no option 'shorttest' (did you mean 'shortest')."),
        ("gravity_of_mars", "probe-v0 has no option 'gravity_of_mars' (it has shortest, spread)."),
    ],
)
def test_a_wrong_option_says_which_there_are(option, sentence):
    add("probe-v0")
    with pytest.raises(UsageError) as caught:
        registry.make("probe", **{option: 1})
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("env_id", "parameter", "value"),
    [("probe", "bonus", 2.0), ("walker2d", "forward_reward_weight", 2.0), ("cartpole", "max_steps", 7)],
)
def test_a_parameter_given_as_an_option_says_how_it_is_changed(env_id, parameter, value):
    add("probe-v0")
    with pytest.raises(UsageError) as caught:
        registry.make(env_id, **{parameter: value})
    assert str(caught.value) == (
        f"{registry.full_id(env_id)} has '{parameter}' as a parameter, not as an option; "
        f"use params.replace({parameter}={value})."
    )


@pytest.mark.parametrize("value", [np.ones((3, 3)), list(range(100))], ids=["lines", "long"])
def test_that_remedy_is_one_short_line_whatever_was_given(value):
    with pytest.raises(UsageError, match=r"use params\.replace\(gravity=\.\.\.\)\.$"):
        registry.make("cartpole", gravity=value)


@dataclasses.dataclass(frozen=True)
class Optioned:
    """Options of every type that is checked, and one that is not."""

    flag: bool = False
    count: int = 1
    scale: float = 1.0
    word: str = "a"
    limit: int | None = None
    other: tuple[int, ...] = ()

    def default_params(self):
        return None


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("flag", "no", "true or false"), ("flag", 1, "true or false"), ("flag", None, "true or false"),
        ("count", "abc", "a whole number"), ("count", 1.5, "a whole number"), ("count", True, "a whole number"),
        ("scale", "wide", "a number"), ("scale", False, "a number"), ("word", 8, "a word"),
        ("limit", "none", "a whole number or null"), ("limit", 1.0, "a whole number or null"),
    ],
)  # fmt: skip
def test_an_option_of_another_type_is_refused(option, value, wanted):
    registry.register(Spec("probe-v0", f"{__name__}:Optioned"))
    with pytest.raises(UsageError) as caught:
        registry.make("probe", **{option: value})
    assert str(caught.value) == f"probe-v0 takes {wanted} as its option {option}, got {value!r}."


def test_an_array_that_is_refused_is_named_in_one_line():
    registry.register(Spec("probe-v0", f"{__name__}:Optioned"))
    with pytest.raises(UsageError, match=r"probe-v0 takes a number as its option scale, got an array of float64\.$"):
        registry.make("probe", scale=np.ones((3, 3)))


def test_options_of_the_declared_types_pass_as_numbers_of_python():
    registry.register(Spec("probe-v0", f"{__name__}:Optioned"))
    given = {"flag": np.bool_(True), "count": np.int64(3), "scale": 2, "word": "b", "limit": None, "other": (1, 2)}
    env, _ = registry.make("probe", **given)
    assert env == Optioned(True, 3, 2, "b", None, (1, 2))
    assert [type(value) for value in vars(env).values()][:3] == [bool, int, int]


def test_an_id_is_registered_once():
    add("probe-v0")
    with pytest.raises(UsageError, match="'probe-v0' is registered already"):
        add("probe-v0")


@pytest.mark.parametrize("bad", ["probe", "Probe-v0", "probe v0", "probe-v", "probe-v01", "-v1", "", "probe-v1\n"])
def test_ids_without_a_name_and_a_version_are_refused(bad):
    with pytest.raises(UsageError, match="it needs an id like 'cartpole-v1'"):
        add(bad)


def test_list_is_sorted_and_complete():
    add("zebra-v1", "aardvark-v1")
    ids = [spec.id for spec in overclock.list_envs()]
    assert ids == sorted(ids)
    assert {"zebra-v1", "aardvark-v1", "cartpole-v1"} <= set(ids)


def test_specs_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        overclock.spec("cartpole").id = "other-v1"  # type: ignore[misc]


def test_options_of_a_command_line_are_numbers_flags_and_words():
    given = ["frameskip=8", "scale=0.5", "fast=true", "slow=False", "map_name=8x8"]
    assert registry.parse_options(given) == {
        "frameskip": 8,
        "scale": 0.5,
        "fast": True,
        "slow": False,
        "map_name": "8x8",
    }


@pytest.mark.parametrize("wrong", ["frameskip", "=8", "frameskip=", "a b=1"])
def test_an_option_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError, match="--options takes name=value"):
        registry.parse_options([wrong])
