"""The codec: rich state becomes arrays and comes back, and what does not fit is refused."""

import collections
import dataclasses
import enum

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.recording.codec import InstanceCodec, decode, encode, prefixes
from overclock.recording.shape_json import KEEP, codec_from_json, codec_to_json
from overclock.recording.shapes import (
    DEQUE,
    DICT,
    LIST,
    NONE,
    Array,
    Choice,
    Exactly,
    Fixed,
    Many,
    Maybe,
    Number,
    Record,
    leaves,
    of_python,
)

INT, FLOAT, FLAG = Number("int64", True), Number("float64", True), Number("bool", True)


class Side(enum.Enum):
    LEFT = 0
    RIGHT = 1


class Card:
    def __init__(self, rank, suit="hearts"):
        self.rank, self.suit, self.back = rank, suit, object()


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float


CARD = Record(f"{__name__}:Card", (("rank", INT), ("suit", Choice(("hearts", "spades"))), ("back", Exactly(KEEP))))
VALUES = [
    (INT, 3),
    (FLAG, True),
    (FLOAT, float("nan")),
    (Number("float32"), np.float32(0.1)),
    (Array("int8", (2, 2)), np.array([[1, 2], [3, 4]], np.int8)),
    (Maybe(FLOAT), None),
    (Maybe(FLOAT), 0.5),
    (Fixed((INT, Fixed((FLOAT, FLAG)))), (1, (2.0, False))),
    (Fixed((INT, INT), LIST), [1, 2]),
    (Many(INT, 4), []),
    (Many(INT, 4), [7, 8]),
    (Many(Maybe(Fixed((INT, INT))), 3), [None, (1, 2)]),
    (Many(Array("float64", (2,)), 3, DEQUE), collections.deque([np.array([1.0, 2.0])])),
    (Record(DICT, (("a", INT), ((0, 1), FLOAT))), {"a": 1, (0, 1): 2.5}),
    (Choice(("up", "down", None)), "down"),
    (Choice((Side.LEFT, Side.RIGHT)), Side.RIGHT),
    (NONE, None),
]


@pytest.mark.parametrize(("shape", "value"), VALUES, ids=lambda one: str(one)[:40])
def test_a_value_comes_back_with_its_types(shape, value):
    arrays = encode(shape, value, "it")
    assert [(name, str(one.dtype), one.shape) for name, one in arrays.items()] == [
        (leaf.name, leaf.dtype, leaf.shape) for leaf in leaves(shape, "it")
    ]
    back = decode(shape, arrays, name="it")
    assert repr(back) == repr(value)
    assert of_python(back) == of_python(value)


def test_what_is_not_there_is_zero():
    arrays = encode(Many(Maybe(FLOAT), 3), [None, 2.5], "x")
    assert arrays["x_length"] == 2
    assert arrays["x_present"].tolist() == [False, True, False]
    assert arrays["x"].tolist() == [0.0, 2.5, 0.0]


@pytest.mark.parametrize(
    ("shape", "value", "says"),
    [
        (Many(INT, 2), [1, 2, 3], "has 3 items and its codec has room for 2"),
        (INT, 2.5, "holds an int"),
        (INT, None, "None"),
        (Number("int8"), 300, "300"),
        (Number("float32"), 0.1, "float32"),
        (Array("int64", (2,)), np.zeros(3, int), "array"),
        (Fixed((INT, INT)), (1,), "tuple of 2"),
        (Many(INT, 2), (1,), "list"),
        (Record(DICT, (("a", INT),)), {"b": 1}, "without 'a'"),
        (CARD, Point(1.0, 2.0), "Card"),
        (Choice(("up", "down")), "left", "one of 2"),
        (NONE, 3, "None"),
    ],
)  # fmt: skip
def test_what_a_shape_does_not_hold_is_refused(shape, value, says):
    with pytest.raises(UsageError, match="'it'") as error:
        encode(shape, value, "it")
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("shape", "arrays", "says"),
    [
        (Many(INT, 2), {"it_length": 3, "it": [1, 2]}, "3 items"),
        (Many(INT, 2), {"it_length": -1, "it": [1, 2]}, "-1 items"),
        (Choice(("up", "down")), {"it": -1}, "number -1 of 2"),
        (Exactly(KEEP), {}, "constant that the codec does not know"),
    ],
)  # fmt: skip
def test_arrays_that_mean_no_value_are_refused(shape, arrays, says):
    with pytest.raises(UsageError, match=says):
        decode(shape, {name: np.array(value) for name, value in arrays.items()}, name="it")


def test_two_leaves_of_one_name_are_refused():
    with pytest.raises(UsageError, match="'x_length'"):
        InstanceCodec({"x": Many(Record(DICT, (("length", INT),)), 2)})


def test_private_names_give_way_to_public_ones():
    assert prefixes(["_x", "x", "game.ball_x", "game_ball_x"]) == {
        "_x": "x_2", "x": "x", "game.ball_x": "game_ball_x_2", "game_ball_x": "game_ball_x",
    }  # fmt: skip


def test_attributes_called_like_the_step_counter_the_overflow_flag_or_the_action_are_numbered():
    assert prefixes(["steps", "_steps", "overflow", "action", "x.action"]) == {
        "steps": "steps_2", "_steps": "steps_3", "overflow": "overflow_2", "action": "action_2", "x.action": "x_action",
    }  # fmt: skip


# ---- instances ----


class Table:
    def __init__(self):
        self.card = self.top = Card(1)
        self.cards = self.pile = [self.card, Card(2)]
        self.board = np.zeros((3, 3), np.int8)
        self.row, self.same = self.board[1], self.board
        self.seen = {"count": 0, "by": self}
        self.point = Point(1.0, 2.0)
        self.spare = None


def table_codec():
    board = Array("int8", (3, 3))
    return InstanceCodec(
        {
            "card": CARD,
            "cards": Many(CARD, 3),
            "pile": Many(CARD, 3),
            "board": board,
            "row": Array("int8", (3,)),
            "same": board,
            "seen": Record(DICT, (("count", INT), ("by", Exactly(KEEP)))),
            "point": Record(f"{__name__}:Point", (("x", FLOAT), ("y", FLOAT))),
            "spare": Maybe(CARD),
        }
    )


def test_a_state_is_restored_and_nothing_else_changes():
    table, codec = Table(), table_codec()
    first = codec.read(table)
    card, seen, back = table.card, table.seen, table.card.back
    table.card.rank, table.card.suit, table.board[1, 1], table.spare = 9, "spades", 5, Card(4)
    table.seen["count"] += 1
    table.cards.pop()
    second = codec.read(table)
    assert first["card_rank"] == 1
    assert first["board"].sum() == 0, "a copy"
    codec.write(table, first)
    assert (table.card.rank, table.card.suit, len(table.cards), table.spare) == (1, "hearts", 2, None)
    assert table.card is card
    assert table.card.back is back
    assert table.seen is seen
    assert table.seen == {"count": 0, "by": table}
    codec.write(table, second)
    assert {name: value.tolist() for name, value in codec.read(table).items()} == {
        name: value.tolist() for name, value in second.items()
    }


def test_what_two_paths_share_stays_shared():
    table, codec = Table(), table_codec()
    first = codec.read(table)
    table.card.rank, table.board[1, 1] = 9, 5
    codec.write(table, first)
    assert table.top is table.card is table.cards[0]
    assert table.same is table.board
    assert table.pile is table.cards
    table.board[1] = 7
    assert table.row.tolist() == [7, 7, 7], "a view of the new board"


def test_what_is_shared_now_and_was_not_then_is_taken_apart():
    table, codec = Table(), table_codec()
    apart = codec.read(table)
    table.cards = [table.card, table.card]
    codec.write(table, apart)
    assert [card.rank for card in table.cards] == [1, 2]
    assert table.cards[0] is table.card
    assert table.cards[1] is not table.card


def test_arrays_are_new_so_that_constants_are_safe():
    table, codec = Table(), table_codec()
    filled = {**codec.read(table), "board": np.ones((3, 3), np.int8), "same": np.ones((3, 3), np.int8),
              "row": np.ones(3, np.int8)}  # fmt: skip
    constant = table.board
    codec.write(table, filled)
    assert constant.sum() == 0
    assert table.board.sum() == 9


def test_an_array_keeps_its_dtype_where_that_loses_nothing():
    shape = Array("float64", (1,))
    narrow = np.array([0.5], np.float32)
    assert decode(shape, {"x": np.array([0.25])}, narrow, "x").dtype == np.float32
    assert decode(shape, {"x": np.array([0.1])}, narrow, "x").dtype == np.float64


def test_new_objects_are_made_like_those_seen_before():
    table, codec = Table(), table_codec()
    table.spare = Card(4)
    full = codec.read(table)
    back = table.cards[1].back
    table.cards, table.spare = [], None
    codec.write(table, full)
    assert [card.rank for card in table.cards] == [1, 2]
    assert {type(card.back) for card in table.cards} == {type(back)}
    assert table.spare.rank == 4
    assert table.spare is not table.cards[0]


def test_a_longer_list_takes_its_constants_from_the_present_one():
    one = Card(1)
    arrays = encode(Many(CARD, 3), [one, Card(2)], "x")
    made = decode(Many(CARD, 3), arrays, [one], "x")
    assert [card.rank for card in made] == [1, 2]
    assert made[0] is one
    assert made[1].back is one.back


def test_a_list_keeps_its_kind_and_a_deque_its_limit():
    shape, arrays = Many(INT, 3, DEQUE), {"x_length": np.array(2), "x": np.array([1, 2, 0])}
    kept = decode(shape, arrays, collections.deque([5], 3), "x")
    assert (list(kept), kept.maxlen) == ([1, 2], 3)


def test_paths_lead_through_objects():
    class Outer:
        pass

    outer = Outer()
    outer.game = Outer()
    codec = InstanceCodec({"game.ball_x": INT})
    assert not codec.holds(outer)
    with pytest.raises(UsageError, match=r"'game.ball_x'"):
        codec.read(outer)
    outer.game.ball_x = 3
    assert codec.read(outer)["game_ball_x"] == 3
    codec.write(outer, {"game_ball_x": np.array(4)})
    assert outer.game.ball_x == 4


# ---- on paper ----


def test_shapes_are_read_as_they_were_written():
    shapes = {f"v{place}": shape for place, (shape, _) in enumerate(VALUES)}
    again = codec_from_json(codec_to_json(shapes))
    for place, (shape, value) in enumerate(VALUES):
        name = f"v{place}"
        assert leaves(again[name], name) == leaves(shape, name)
        assert repr(decode(again[name], encode(again[name], value))) == repr(value)


def test_constants_that_text_cannot_hold_are_kept_as_they_are():
    shapes = {"card": Record(f"{__name__}:Card", (("rank", INT), ("back", Exactly(object()))))}
    again = codec_from_json(codec_to_json(shapes))
    table = Table()
    back = table.card.back
    codec = InstanceCodec(again)
    codec.write(table, {**codec.read(table), "card_rank": np.array(5)})
    assert (table.card.rank, table.card.back) == (5, back)


def test_a_choice_that_text_cannot_hold_is_refused():
    with pytest.raises(UsageError, match="cannot be written down"):
        codec_to_json({"x": Choice((object(), object()))})


def test_names_are_not_looked_up_before_they_are_needed():
    text = codec_to_json({"side": Choice((Side.LEFT, Side.RIGHT))}).replace(__name__, "no.such.package")
    codec = InstanceCodec(codec_from_json(text))
    assert [leaf.name for leaf in codec.leaves] == ["side"]


def test_a_broken_file_is_said():
    with pytest.raises(UsageError, match="no codec"):
        codec_from_json("{}")
