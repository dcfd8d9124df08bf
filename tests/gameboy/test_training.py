"""PPO learns our games in the batch: clearly more than chance collects."""

import numpy as np
import pytest

from overclock.gameboy.vector import GameBoyPaddle

pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")


def returns(batch, act, steps):
    """Of every episode that ended within so many steps."""
    total, found = np.zeros(batch.num_envs), []
    obs = batch.reset(list(range(1000, 1000 + batch.num_envs)))
    for _ in range(steps):
        out = batch.step(act(obs))
        obs, total = out.obs, total + out.reward
        over = out.terminated | out.truncated
        found += total[over].tolist()
        total[over] = 0
    return np.array(found)


def test_following_the_ball_collects_more_than_chance():
    batch, numbers = GameBoyPaddle(16, seed=0), np.random.default_rng(0)
    by_chance = returns(batch, lambda obs: numbers.integers(0, 3, 16), 300)

    def follow(obs):
        ball, paddle = obs[:, 0] * 255, obs[:, 4] * 255 + 12
        return np.where(ball > paddle + 8, 1, np.where(ball < paddle - 8, 2, 0))

    # Those that end early are the worst of a player who does not lose: what is still under way counts, too.
    followed = GameBoyPaddle(16, seed=0)
    score = np.zeros(16)
    obs = followed.reset(list(range(16)))
    for _ in range(300):
        out = followed.step(follow(obs))
        obs, score = out.obs, score + out.reward
    assert len(by_chance) > 16
    assert by_chance.mean() < 0
    assert score.mean() > by_chance.mean() + 5


@pytest.mark.long
def test_ppo_learns_the_paddle():
    from overclock.train.host.training import train_on_host
    from overclock.train.ppo import PPOConfig

    config = PPOConfig(
        total_steps=131_072, num_envs=32, num_steps=64, learning_rate=2.5e-3, gamma=0.97, entropy_coefficient=0.01,
        normalise_observations=True,
    )  # fmt: skip
    curve = train_on_host(GameBoyPaddle(32, seed=0), config).curve.metrics["return"][:, 0]
    numbers = np.random.default_rng(0)
    by_chance = returns(GameBoyPaddle(32, seed=1), lambda obs: numbers.integers(0, 3, 32), 400).mean()
    assert np.mean(curve[-8:]) > by_chance + 2
