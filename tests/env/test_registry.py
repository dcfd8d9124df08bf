"""Ids carry versions, a bare name is the newest, and mistakes are answered with what was probably meant."""

import dataclasses

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
