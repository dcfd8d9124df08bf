"""Pong's picture shows its state, and its scripted player returns the ball."""

import jax
import numpy as np
import pytest

import overclock
from overclock.envs.pong import render as drawing
from overclock.envs.pong.env import PongDraw
from overclock.errors import UsageError
from overclock.vector import vectorize


@pytest.fixture(scope="module")
def pong():
    return overclock.make("pong")


def picture(pong, **changes):
    env, params = pong
    begun = env.init(PongDraw(serve=np.int32(1)), params)
    return drawing.render(env, begun.replace(**{name: np.float32(value) for name, value in changes.items()}), params)


def box_of(frame, colour):
    """Left, top, right and bottom of the pixels that have exactly a colour."""
    rows, columns = np.nonzero(np.all(frame == colour, axis=-1))
    assert rows.size
    return columns.min(), rows.min(), columns.max() + 1, rows.max() + 1


def test_the_picture_has_pufferlibs_size_and_ground(pong):
    frame = picture(pong)
    assert (frame.shape, frame.dtype) == ((640, 620, 3), np.uint8)
    assert tuple(frame[300, 300]) == drawing.BACKGROUND


def test_paddles_are_beside_the_field_and_higher_values_are_higher_up(pong):
    frame = picture(pong, paddle_yl=0, paddle_yr=400)
    assert box_of(frame, drawing.OPPONENT) == (40, 570, 60, 640)
    assert box_of(frame, drawing.PLAYER) == (560, 170, 580, 240)


def test_the_ball_is_where_the_state_says(pong):
    left, top, right, bottom = box_of(picture(pong, ball_x=200, ball_y=100), drawing.BALL)
    assert (left + right) / 2 == pytest.approx(60 + 200 + 16, abs=1)
    assert (top + bottom) / 2 == pytest.approx(640 - 100 - 16, abs=1)


def test_scores_are_shown(pong):
    env, params = pong
    begun = env.init(PongDraw(serve=np.int32(1)), params)
    frames = [drawing.render(env, begun.replace(score_r=np.int32(score)), params) for score in (1, 8)]
    assert np.array_equal(frames[0][:, :310], frames[1][:, :310])
    assert not np.array_equal(frames[0][:50, 310:], frames[1][:50, 310:])


def test_a_batch_is_refused(pong):
    _, begun = vectorize(pong[0], 2).reset(jax.random.key(0))
    with pytest.raises(UsageError, match="pick one of the batch"):
        drawing.render(pong[0], begun.lanes)


def test_the_scripted_player_wins_points_and_random_play_loses_them():
    env, _ = overclock.make("pong", frameskip=8)
    batch = vectorize(env, 64)

    def play(act):
        obs, begun = batch.reset(jax.random.key(1))
        total = 0.0
        stepped = jax.jit(batch.step)
        for number in range(200):
            transition = stepped(begun, act(np.asarray(obs), number))
            obs, begun = transition[0], transition[1]
            total += float(np.asarray(transition[2]).sum())
        return total / 64

    generator = np.random.default_rng(0)
    random = play(lambda obs, _: generator.integers(0, 3, len(obs)).astype(np.int32))
    assert play(lambda obs, _: drawing.follow(obs)) > 0 > random
