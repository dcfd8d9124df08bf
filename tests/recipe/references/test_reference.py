"""The reference's side of a contract with codec and sites: state, observations, rewards and actions as arrays."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="needs gymnasium")

import gymnasium
from recipe import blackjack, nested_spaces

from overclock.errors import UsageError
from overclock.recipe.contract.codec import codec_fields, draw_field
from overclock.recipe.contract.file import Closeness, ContractFile, write_contract
from overclock.recipe.references.reference import make_env, reference
from overclock.recording.shapes import LIST, Array, Fixed, Many, Number
from overclock.recording.sites import install as site_install
from overclock.recording.sites.recorder import Site
from overclock.verify.rollout.actions import uniform

ALL = np.ones(2, np.bool_)
DRAW = "self.np_random.uniform"
pytestmark = pytest.mark.filterwarnings("ignore:.*reward returned by")  # several rewards at once


@pytest.fixture(autouse=True)
def hooks(monkeypatch):
    """Subjects leave their hooks in; a test process goes on."""
    undo = []
    monkeypatch.setattr("overclock.recipe.references.reference.install", lambda: undo.append(site_install.install()))
    yield
    for one in undo:
        one()


def fleet(folder, count=2):
    shapes = {"boats": Fixed((Number("float64", True),) * 2, LIST), "sails": Array("int64", (2,))}
    lines = Path(nested_spaces.__file__).read_text().splitlines()
    ((line, column),) = ((number, text.find(DRAW)) for number, text in enumerate(lines, 1) if DRAW in text)
    bounds = (("low", -1.0), ("high", 1.0))
    site = Site("start", "recipe/nested_spaces.py", line, column, "uniform", "value", (), count, bounds)
    contract = ContractFile(
        codec_fields(shapes),
        (draw_field(site),),
        precisions={"float64": Closeness()},
        codec="state.json",
        shapes=shapes,
    )
    write_contract(contract, folder)
    return reference(2, {"entry_point": "recipe.nested_spaces:Fleet"}, str(folder / "contract.toml"))


def test_everything_is_one_array_in_the_order_of_its_space(tmp_path):
    subject = fleet(tmp_path)
    first = subject.reset(ALL, np.array([3, 4]))
    assert first.draws["start"].shape == (2, 2)
    assert first.draws["start"].tolist() == np.stack([first.state["boats_0"], first.state["boats_1"]], 1).tolist()
    assert first.outputs["obs"].shape == (2, 5)
    np.testing.assert_array_equal(first.outputs["obs"][:, :2], first.draws["start"].astype(np.float32))
    second = subject.step(np.array([[2, 1], [0, 0]]))
    np.testing.assert_array_equal(second.state["boats_0"], first.state["boats_0"] + [1.0, -1.0])
    assert second.state["sails"].tolist() == [[0, 1], [0, 0]]
    assert second.draws == {}


def test_several_rewards_pass_as_they_are(tmp_path):
    subject = fleet(tmp_path)
    subject.reset(ALL, np.array([3, 4]))
    reward = subject.step(np.array([[2, 1], [0, 0]])).outputs["reward"]
    assert (reward.shape, str(reward.dtype)) == ((2, 2), "float32")
    assert reward[:, 1].tolist() == [-1.0, -1.0]


def test_several_choices_are_a_box_of_whole_numbers_and_each_is_played(tmp_path):
    subject = fleet(tmp_path)
    described = subject.describe()
    assert (described["kind"], described["low"].tolist(), described["high"].tolist()) == ("box", [0, 0], [2, 1])
    act, generator = uniform(described), np.random.default_rng(0)
    shown = subject.reset(ALL, np.array([3, 4]))
    played = np.concatenate([act(generator, shown) for _ in range(40)])
    assert {tuple(row) for row in played.tolist()} == {(a, b) for a in range(3) for b in range(2)}


def test_a_step_that_draws_unexpectedly_is_said(tmp_path):
    with pytest.raises(UsageError, match="more than 1 times"):
        fleet(tmp_path, count=1).reset(ALL, np.array([3, 4]))


def test_lists_are_read_and_written_and_a_reference_never_overflows(tmp_path):
    write_contract(blackjack.contract(), tmp_path)
    make = {"id": "Blackjack-v1", "arguments": {"sab": False}}
    subject = reference(2, make, str(tmp_path / "contract.toml"))
    first = subject.reset(ALL, np.array([1, 2]))
    assert first.state["player_length"].tolist() == [2, 2]
    assert not first.state["overflow"].any()
    deck = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10])
    np.testing.assert_array_equal(first.state["dealer"][:, :2], deck[first.draws["card"]][:, :2])
    second = subject.step(np.array([1, 1]))
    assert second.state["player_length"].tolist() == [3, 3]
    subject.set_state(first.state)
    hands = [env.unwrapped.player for env in subject.instances]
    assert [len(hand) for hand in hands] == [2, 2]
    again = subject.step(np.array([1, 0]))
    assert again.state["player_length"].tolist() == [3, 2]


def test_level_4_trains_on_the_same_observations():
    env = make_env(flat=True, id="Blackjack-v1", arguments={"sab": False})
    obs, _ = env.reset(seed=3)
    assert env.observation_space.contains(obs)
    assert (env.observation_space.shape, obs.tolist()[0]) == ((3,), sum(env.unwrapped.player))
    assert isinstance(make_env(flat=True, id="CartPole-v1").observation_space, gymnasium.spaces.Box)
    assert isinstance(make_env(id="Blackjack-v1").observation_space, gymnasium.spaces.Tuple)


def test_a_list_that_outgrows_its_codec_is_said(tmp_path):
    shapes = {name: Many(Number("int64", True), 2) for name in ("player", "dealer")}
    known = blackjack.contract()
    small = ContractFile(
        codec_fields(shapes), known.reset_draws, known.step_draws, precisions=known.precisions, codec="state.json",
        shapes=shapes,
    )  # fmt: skip
    write_contract(small, tmp_path)
    subject = reference(1, {"id": "Blackjack-v1"}, str(tmp_path / "contract.toml"))
    subject.reset(ALL[:1], np.array([1]))
    with pytest.raises(UsageError, match="'player' has 3 items and its codec has room for 2"):
        subject.step(np.array([1]))
