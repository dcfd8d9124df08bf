"""A translation of Gymnasium's Blackjack (natural=False, sab=False), written by hand, and the contract that judges it.

Its state has lists that grow, its observation is a tuple, and its cards are drawn at one place of the source as often
as the game needs them.
"""

from overclock.recipe.contract.codec import codec_fields, draw_field
from overclock.recipe.contract.file import Closeness, ContractFile
from overclock.recording.shapes import Many, Number
from overclock.recording.sites.recorder import Site

HAND = 16
FILE = "gymnasium/envs/toy_text/blackjack.py"

CANDIDATE = '''"""Blackjack."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Discrete, Environment, MultiDiscrete, Params, Rng, Struct

DECK = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10])
HAND, DEALT, DEALER_CARDS = 16, 4, 12


class BlackjackState(Struct):
    player_length: Int[Array, ""]
    player: Int[Array, "hand"]
    dealer_length: Int[Array, ""]
    dealer: Int[Array, "hand"]
    overflow: Bool[Array, ""]


class BlackjackReset(Struct):
    card: Int[Array, "dealt"]
    suit: Int[Array, ""]
    face: Int[Array, ""]


class BlackjackStep(Struct):
    card: Int[Array, "cards"]


def usable_ace(hand: Int[Array, "hand"]) -> Bool[Array, ""]:
    return jnp.any(hand == 1) & (jnp.sum(hand) + 10 <= 21)


def sum_hand(hand: Int[Array, "hand"]) -> Int[Array, ""]:
    return jnp.sum(hand) + jnp.where(usable_ace(hand), 10, 0)


def score(hand: Int[Array, "hand"]) -> Int[Array, ""]:
    return jnp.where(sum_hand(hand) > 21, 0, sum_hand(hand))


@dataclasses.dataclass(frozen=True)
class Blackjack(Environment[BlackjackState, Params]):
    def default_params(self) -> Params:
        return Params()

    def observation_space(self, params: Params) -> MultiDiscrete:
        return MultiDiscrete((32, 11, 2))

    def action_space(self, params: Params) -> Discrete:
        return Discrete(2)

    def draw_reset(self, rng: Rng, params: Params) -> BlackjackReset:
        card = jnp.stack([rng.integers(site, 13) for site in range(DEALT)])
        return BlackjackReset(card=card, suit=rng.integers(DEALT, 4), face=rng.integers(DEALT + 1, 3))

    def draw_step(self, rng: Rng, state: BlackjackState, params: Params) -> BlackjackStep:
        return BlackjackStep(card=jnp.stack([rng.integers(site, 13) for site in range(DEALER_CARDS)]))

    def init(self, draw: BlackjackReset, params: Params) -> BlackjackState:
        empty = jnp.zeros(HAND, int)
        card = jnp.asarray(DECK)[draw.card]
        return BlackjackState(
            player_length=jnp.asarray(2, int),
            player=empty.at[:2].set(card[2:]),
            dealer_length=jnp.asarray(2, int),
            dealer=empty.at[:2].set(card[:2]),
            overflow=jnp.asarray(False),
        )

    def transition(
        self, state: BlackjackState, action: Int[Array, ""], draw: BlackjackStep, params: Params
    ) -> tuple[BlackjackState, Float[Array, ""], Bool[Array, ""]]:
        card = jnp.asarray(DECK)[draw.card]
        hit = action == 1
        player = jnp.where(hit, state.player.at[state.player_length].set(card[0], mode="drop"), state.player)

        def below(carry: tuple) -> Bool[Array, ""]:
            dealer, _, taken = carry
            return ~hit & (sum_hand(dealer) < 17) & (taken < DEALER_CARDS)

        def take(carry: tuple) -> tuple:
            dealer, length, taken = carry
            return dealer.at[length].set(card[taken], mode="drop"), length + 1, taken + 1

        dealer, dealer_length, _ = jax.lax.while_loop(below, take, (state.dealer, state.dealer_length, 0))
        player_length = state.player_length + hit
        bust = sum_hand(player) > 21
        compared = (score(player) > score(dealer)) * 1.0 - (score(player) < score(dealer)) * 1.0
        reward = jnp.where(hit, jnp.where(bust, -1.0, 0.0), compared)
        overflow = state.overflow | (player_length > HAND) | (dealer_length > HAND)
        after = BlackjackState(player_length, player, dealer_length, dealer, overflow)
        return after, reward, jnp.where(hit, bust, True)

    def observe(self, state: BlackjackState, params: Params) -> Int[Array, "3"]:
        return jnp.stack([sum_hand(state.player), state.dealer[0], usable_ace(state.player).astype(int)])


def make() -> tuple[Blackjack, Params]:
    return Blackjack(), Params()
'''
NO_ACES = CANDIDATE.replace("jnp.any(hand == 1) & (", "jnp.any(hand == 0) & jnp.all(hand == 1) & (")
assert NO_ACES != CANDIDATE


def contract():
    """What both sides must agree on: hands as lists, cards by the line that draws them."""
    number = Number("int64", True)
    shapes = {"player": Many(number, HAND), "dealer": Many(number, HAND)}
    card = {"file": FILE, "line": 19, "column": 15, "method": "choice", "form": "index", "dtype": "int64"}
    top = {**card, "line": 227, "column": 36}
    face = {**card, "line": 232, "column": 45}
    reset = (
        Site("card", **card, count=4, arguments=(("n", 13),)),
        Site("suit", **top, arguments=(("n", 4),)),
        Site("face", **face, arguments=(("n", 3),)),
    )
    step = (Site("card", **card, count=12, arguments=(("n", 13),)),)
    return ContractFile(
        state=codec_fields(shapes, overflow=True),
        reset_draws=tuple(map(draw_field, reset)),
        step_draws=tuple(map(draw_field, step)),
        precisions={"float64": Closeness()},
        codec="state.json",
        shapes=shapes,
    )
