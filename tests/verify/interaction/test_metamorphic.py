"""Checks without a reference: sound environments pass them, each kind of unsoundness fails the check made for it."""

import dataclasses

import games
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.env import Box, Discrete, Environment, Params, Struct
from overclock.results import encode
from overclock.vector.resets import Fresh
from overclock.vector.vectorize import vectorize
from overclock.verify.interaction import metamorphic
from overclock.verify.interaction.checking import contract_name, distances, scales
from overclock.verify.interaction.metamorphic import LANES, SelfChecks, check_itself, travel
from overclock.verify.interaction.metamorphic_rules import ENVIRONMENT_RULES, RULES, judge_checks
from overclock.verify.tolerance import Tolerance


@pytest.mark.usefixtures("few_optimisations")
def test_a_game_of_two_players_with_dice_passes():
    results = check_itself(games.Pig())
    assert [result.name for result in results if not result.passed] == []
    assert [result.name for result in results] == list(RULES)
    for result in results:
        assert result.compared > 0
        assert result.reason
        assert result.tolerance == 0 or "programs" in result.reason


class WalkState(Struct):
    position: jax.Array


@dataclasses.dataclass(frozen=True)
class Walk(Environment[WalkState, Params]):
    """A walk on a line; `noise` is what a subclass adds to every step."""

    def default_params(self):
        return Params()

    def observation_space(self, params):
        return Box(-np.inf, np.inf, ())

    def action_space(self, params):
        return Discrete(2)

    def draw_reset(self, rng, params):
        return rng.uniform(0, dtype=jnp.float32)

    def init(self, draw, params):
        return WalkState(position=draw)

    def transition(self, state, action, draw, params):
        position = state.position + 1.0 + self.noise(state.position)
        return WalkState(position=position.astype(jnp.float32)), position.astype(jnp.float32), position > 10

    def observe(self, state, params):
        return state.position

    def noise(self, position):
        return jnp.float32(0)


calls = np.zeros((), np.float32)


class Remembering(Walk):
    """Counts its steps on the host, outside the state."""

    def noise(self, position):
        def count(position):
            calls[...] += 1
            return np.full_like(position, calls * 1e-3)

        return jax.pure_callback(count, jax.ShapeDtypeStruct((), jnp.float32), position, vmap_method="expand_dims")


class Peeking(Walk):
    """Looks at its neighbours: the whole batch moves with its first lane."""

    def noise(self, position):
        def look(position):
            return np.broadcast_to(position.ravel()[0] % 1, position.shape).astype(np.float32)

        return jax.pure_callback(look, jax.ShapeDtypeStruct((), jnp.float32), position, vmap_method="expand_dims")


class Counting(Walk):
    """Knows how large its batch is."""

    def noise(self, position):
        def size(position):
            return np.full(position.shape, position.size, np.float32)

        return jax.pure_callback(size, jax.ShapeDtypeStruct((), jnp.float32), position, vmap_method="expand_dims")


class Pretending(Walk):
    """Behaves differently when it is being compiled."""

    def noise(self, position):
        return jnp.float32(isinstance(position, jax.core.Tracer))


def failing(env, *checks):
    batch, params = vectorize(env, LANES), env.default_params()
    journey = travel(batch, params, 0)
    return {check.__name__ for check in checks if not check(batch, params, 0, journey).passed}


@pytest.mark.parametrize(
    ("env", "checks"),
    [
        (Remembering(), (metamorphic.same_seed_twice, metamorphic.save_and_restore, metamorphic.scan_and_steps)),
        (Peeking(), (metamorphic.permuted_batch, metamorphic.batch_and_single)),
        (Counting(), (metamorphic.batch_sizes, metamorphic.batch_and_single)),
        (Pretending(), (metamorphic.jit_and_eager,)),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Walk) else "",
)
def test_an_unsound_environment_fails_the_checks_made_for_it(env, checks):
    assert failing(env, *checks) == {check.__name__ for check in checks}


def test_the_same_walk_without_noise_passes_all_of_them():
    assert failing(Walk(), *metamorphic.CHECKS.values()) == set()


def test_a_wrong_automatic_reset_is_found(monkeypatch):
    plain = Fresh.supply

    def neighbours(self, env, store, rng, ended, params, axes):
        fresh, store = plain(self, env, store, rng, ended, params, axes)
        return jax.tree.map(lambda leaf: jnp.roll(leaf, 1, axis=0), fresh), store

    monkeypatch.setattr(Fresh, "supply", neighbours)
    jax.clear_caches()
    try:
        assert failing(Walk(), metamorphic.automatic_and_manual_reset) == {"automatic_and_manual_reset"}
    finally:
        jax.clear_caches()


def test_distance_counts_ulps_of_floats_and_forgives_nothing_else():
    one = np.float32(1)
    above = np.nextafter(one, np.float32(2))
    nan = np.float32(np.nan)
    pairs = {
        "equal": (one, one, 0.0),
        "an ulp": (np.array([one, 0.5], np.float32), np.array([above, 0.5], np.float32), 1.0),
        "nan": (nan, nan, 0.0),
        "nan and number": (nan, one, np.inf),
        "infinities": (np.float32(np.inf), np.float32(-np.inf), np.inf),
        "integers": (np.int32(1), np.int32(2), np.inf),
        "flags": (np.True_, np.False_, np.inf),
        "dtypes": (np.float32(1), np.float64(1), np.inf),
        "shapes": (np.zeros(2), np.zeros(3), np.inf),
    }
    for name, (a, b, expected) in pairs.items():
        ((_, error),) = distances({"value": a}, {"value": b}, {})
        assert error == pytest.approx(expected, rel=1e-3), name
    assert list(distances({"a": 1}, {"b": 1}, {})) == [("structure", np.inf)]
    # A small value is measured by the size that its field has elsewhere.
    ((_, error),) = distances({"value": np.float32(1e-7)}, {"value": np.float32(2e-7)}, {"value": 1.0})
    assert error == pytest.approx(1e-7 / np.finfo(np.float32).eps)


# ---- the verdict is not the performance side's to give ----


def reported(**changes):
    """What an honest side reports, with changes to one check."""
    rows = [
        {"name": name, "compared": rule.compared, "largest_error": 0.0, "worst_field": "", "passed": True}
        for name, rule in RULES.items()
    ]
    rows[2].update(changes)
    return rows


def failed(rows):
    return [check.name for check in judge_checks(rows) if not check.passed]


def test_numbers_decide_and_not_what_a_side_says_of_them():
    assert failed(reported()) == []
    assert failed(reported(passed=False)) == []
    for lie in (
        {"largest_error": 9.0, "tolerance": 1e9},
        {"largest_error": np.inf},
        {"largest_error": np.nan},
        {"largest_error": -1.0},
        {"largest_error": None},
        {"compared": 3},
        {"compared": np.nan},
        {"name": "another check"},
    ):
        assert failed(reported(**lie)) == ["permuted batch"], lie


@pytest.mark.parametrize("nothing", [[], None, {}, "all passed", [1, {"name": ["x"]}]])
def test_checks_that_are_not_reported_have_failed(nothing):
    assert failed(nothing) == list(RULES)


def test_every_check_looks_as_often_as_it_must():
    """An honest report is judged as it judges itself: the table has every check and asks for no more looks."""
    checks = SelfChecks(Walk())
    found = [checks.run(name) for name in ENVIRONMENT_RULES]  # the others: test_planted.py
    assert [(one.name, one.compared) for one in found] == [(n, rule.compared) for n, rule in ENVIRONMENT_RULES.items()]
    assert all(check.passed for check in judge_checks([encode(check) for check in found], ENVIRONMENT_RULES))


def straying(**absolute):
    """The tolerances of some fields, as a contract tells them to a side."""
    return {name: Tolerance(value).as_json() for name, value in absolute.items()}


def test_a_large_element_says_nothing_about_the_others():
    one = {"obs": np.array([[1e7, 1.0], [1e7, 2.0]], np.float32)}
    other = {"obs": np.array([[1e7, 1.0], [1e7, 2.001]], np.float32)}
    assert dict(distances(one, other, scales(one)))["obs"] > 4000


def test_an_eighth_of_what_a_contract_lets_a_field_stray_is_eight_units():
    one, other = {"state": np.ones(2, np.float32)}, {"state": np.full(2, 1.001, np.float32)}
    assert dict(distances(one, other, scales(one)))["state"] > 8000
    assert dict(distances(one, other, scales(one, straying(state=0.008))))["state"] == pytest.approx(8, rel=1e-3)
    assert dict(distances(one, other, scales(one, straying(obs=0.008))))["state"] > 8000


def test_a_field_that_may_stray_by_less_than_some_ulp_is_held_to_these():
    one = {"state": np.ones(2, np.float32)}
    assert scales(one, straying(state=1e-9)) == scales(one) == {"state": 1.0}


def test_one_program_run_twice_does_not_stray_whatever_a_contract_allows():
    checks = SelfChecks(Remembering(), strays=straying(**{"state.position": 100.0, "obs": 100.0, "reward": 100.0}))
    assert not checks.run("same seed twice").passed


def test_an_episodes_last_observation_may_stray_as_any():
    one = np.ones(2, np.float32)
    seen = {"obs": one, "info": {"final_observation": one, "other": one}}
    assert scales(seen, straying(obs=0.008)) == {
        "obs": pytest.approx(1048.576), "info.final_observation": pytest.approx(1048.576), "info.other": 1.0,
    }  # fmt: skip


def test_what_a_contract_lets_a_field_stray_holds_under_all_its_names():
    """Walker2d failed on one processor: its velocities stray, and batches call them `lanes.rules.qvel`."""
    one = {"lanes": {"rules": {"qvel": np.ones((1, 2))}}, "info": {"x": np.ones(1), "final_observation": np.ones(1)}}
    other = jax.tree.map(lambda values: values + 1e-9, one)
    told = straying(**{"state.qvel": 8e-9, "info.x": 8e-9, "obs": 8e-9})
    assert max(error for _, error in distances(one, other, scales(one, told))) == pytest.approx(8, rel=1e-3)
    assert {contract_name(name) for name in ("statistics.returns", "info.episode.return")} == {"reward"}
    assert contract_name("store.episodes.rules.x") == contract_name("lanes.rules.x") == "state.x"
