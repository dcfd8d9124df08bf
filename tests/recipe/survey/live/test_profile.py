"""What watching a reference tells: its state, what arrays cannot hold, its draws, whether it can be set."""

from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

from overclock.errors import UsageError
from overclock.recipe.survey.live.draws import summarise
from overclock.recipe.survey.live.profile import Profile, profile
from overclock.recipe.survey.static.source import resolve
from overclock.verify.property.calls import Draw


def seen(text: str, steps: int = 120) -> Profile:
    return profile(resolve(text), steps)


def test_cartpole() -> None:
    found = seen("gymnasium:CartPole-v1")
    (state,) = found.fields
    assert (state.path, state.kind, state.dtype, state.shape) == ("state", "float", "float64", (4,))
    assert (state.changes, state.used, state.restores) == ("step", True, True)
    assert [(one.path, one.what) for one in found.unrepresented] == [("steps_beyond_terminated", "None or a number")]
    assert found.constants["gravity"] == 9.8
    (draw,) = found.reset_draws.calls
    assert (draw.call, draw.shape) == ("uniform(low=-0.05, high=0.05, size=(4,))", (4,))
    assert found.reset_draws.constant
    assert found.step_draws.calls == ()
    assert found.restored.works
    assert found.restored.tried == 4
    assert found.max_steps == 500
    assert found.action_space == spaces.Discrete(2)
    assert found.oddities == ()
    assert min(found.episode_lengths) >= 8


def test_mountain_cars_state_is_one_field_whether_array_or_tuple() -> None:
    found = seen("gymnasium:MountainCar-v0")
    assert [(one.path, one.shape) for one in found.fields] == [("state", (2,))]
    assert found.restored.works
    assert found.episode_lengths == (200,)


def test_pendulum_keeps_something_only_for_its_window() -> None:
    found = seen("gymnasium:Pendulum-v1")
    assert [one.path for one in found.fields] == ["state"]
    assert [(one.path, one.used) for one in found.unrepresented] == [("last_u", False)]
    assert found.observation_space.high.tolist() == [1.0, 1.0, 8.0]
    assert found.action_space.low.tolist() == [-2.0]


@pytest.mark.parametrize(("env_id", "states"), [("FrozenLake-v1", 16), ("Taxi-v4", 500)])
def test_tables_are_not_state_and_a_step_draws_once(env_id: str, states: int) -> None:
    found = seen(f"gymnasium:{env_id}")
    *more, place = found.fields
    assert (place.path, place.kind, place.shape) == ("s", "integer", ())
    # A step may assign it, and does so only for passengers that change their minds.
    assert [one.path for one in more] == (["fickle_step"] if env_id == "Taxi-v4" else [])
    assert place.low >= 0
    assert place.high < states
    assert found.observation_space == spaces.Discrete(states)
    assert [call.call for call in found.step_draws.calls] == ["random()"]
    assert found.step_draws.constant
    assert found.restored.works
    assert found.has_mask == (env_id == "Taxi-v4")


def test_blackjack_draws_a_varying_number_of_cards_into_lists_of_varying_length() -> None:
    found = seen("gymnasium:Blackjack-v1", 300)
    assert found.fields == ()
    odd = {one.path: one for one in found.unrepresented}
    assert odd["player"].what.startswith("a list whose length varies (seen: 2 to ")
    assert odd["player"].used
    assert not odd["dealer_top_card_suit"].used
    assert not found.step_draws.constant
    assert found.step_draws.fewest == 0
    assert found.step_draws.most > 1
    assert not found.restored.works


def test_as_many_draws_of_other_kinds_are_not_the_same_draws() -> None:
    flat, bell = Draw("random", (), {}, np.float64(0.5)), Draw("normal", (0.0, 1.0), {}, np.float64(0.5))
    assert summarise([(flat,), (flat,)]).constant
    found = summarise([(flat,), (bell,)])
    assert not found.constant
    assert [call.call for call in found.calls] == ["random()", "normal(0.0, 1.0)"]
    assert (found.fewest, found.most) == (1, 1)


def test_fields_of_objects_have_paths(mine: Path) -> None:
    found = seen(str(mine))
    assert [one.path for one in found.fields] == ["depth", "lamp.oil"]
    assert found.restored.works
    assert [call.method for call in found.reset_draws.calls] == ["integers"]


ODD = """
    import random

    import gymnasium
    import numpy as np
    from gymnasium import spaces


    class OddEnv(gymnasium.Env):
        observation_space = spaces.Box(0, 1, (1,), np.float32)
        action_space = spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.rng = np.random.default_rng(seed)
            self.x = self.rng.normal()
            self.names = {}
            self.level = 0
            self.path = [(0, 0)]
            self.score = [1, 2.5, True]
            return np.zeros(1, np.float32), {}

        def step(self, action):
            self.level += 1
            self.names[str(self.level)] = action
            self.path.append((self.level, action))
            self.score[0] += 1
            noise = random.random()
            return np.full(1, 2.0, np.float32), np.array([0.5]), self.level > 4, 0, {}
    """


def test_odd_references_are_described_as_what_they_are(write) -> None:
    found = seen(str(write("odd.py", ODD)))
    assert {one.path for one in found.fields} == {"x", "level", "score[0]", "score[1]", "score[2]"}
    odd = {one.path: one.what for one in found.unrepresented}
    assert odd["names"] == "a dict whose keys change"
    assert odd["path"].startswith("a list whose length varies (seen: 1 to 6)")
    assert [call.call for call in found.reset_draws.calls] == ["normal()"]
    assert found.unrecorded == ("random",)
    assert "The reward is ndarray, not a number." in found.oddities
    assert "The flag truncated is int, not bool." in found.oddities
    assert "An observation after step lies outside of the observation space." in found.oddities


def test_a_state_that_is_not_all_in_the_fields_is_noticed(write) -> None:
    file = write(
        "secret.py",
        """
        import gymnasium
        import numpy as np
        from gymnasium import spaces


        class SecretEnv(gymnasium.Env):
            observation_space = spaces.Box(-1e9, 1e9, (1,), np.float64)
            action_space = spaces.Discrete(3)

            def reset(self, *, seed=None, options=None):
                super().reset(seed=seed)
                total = [float(self.np_random.integers(100))]
                self.shown = total[0]

                def add(action):
                    total[0] += action + 1
                    return total[0]

                self.add = add
                return np.array([self.shown]), {}

            def step(self, action):
                self.shown = self.add(action)
                return np.array([self.shown]), 0.0, False, False, {}
        """,
    )
    found = seen(str(file))
    assert not found.restored.works
    assert "shown" in found.restored.wrong
    assert [one.restores for one in found.fields] == [False]


def test_a_file_that_is_called_like_a_module_of_python_is_refused(write) -> None:
    with pytest.raises(
        UsageError, match=r"Python already means '.*random\.py' by the module 'random'; rename the file"
    ):
        seen(str(write("random.py", ODD)))


def test_a_reference_that_fails_is_one_sentence(write) -> None:
    file = write(
        "failing.py",
        """
        import gymnasium
        from gymnasium import spaces


        class FailingEnv(gymnasium.Env):
            observation_space = action_space = spaces.Discrete(2)

            def reset(self, *, seed=None, options=None):
                return 0, {}

            def step(self, action):
                return 1 / 0
        """,
    )
    with pytest.raises(UsageError, match="failed in step 1 of an episode: ZeroDivisionError"):
        seen(str(file))


def test_it_is_said_beforehand_that_float32_plays_other_episodes():
    found = profile(resolve("recording.float_clocks:Up", max_steps=200))
    assert any("of 100 episodes have another length: decide by whole numbers" in said for said in found.oddities)
