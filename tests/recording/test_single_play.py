"""References whose episodes float32 cannot reproduce are known before anything is translated."""

import copy

import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

import gymnasium
from recording.float_clocks import KEPT, LOST, Up

from overclock.recording.single_play import lost_in_single


@pytest.mark.parametrize("cls", LOST, ids=lambda cls: cls.__name__)
def test_a_reference_that_decides_by_a_rounded_sum_is_lost_in_float32(cls):
    assert lost_in_single(cls()).startswith("in float32 ")


@pytest.mark.parametrize("cls", KEPT, ids=lambda cls: cls.__name__)
def test_what_float32_holds_or_decides_clearly_is_kept(cls):
    assert lost_in_single(cls()) == ""


def test_the_sentence_counts_episodes_and_repeats_itself():
    said = lost_in_single(Up())
    assert said == lost_in_single(Up())
    assert said.endswith("of 100 episodes have another length")


def test_the_reference_is_left_as_it_was():
    env = Up()
    env.reset(seed=3)
    before = copy.deepcopy(vars(env))
    lost_in_single(env)
    assert (env.t, env.x, env.steps) == (before["t"], before["x"], before["steps"])


def test_the_constants_of_a_limit_may_be_rounded_as_well():
    assert lost_in_single(gymnasium.make("CartPole-v1")) == ""
