"""Descriptions of games: values in RAM, rewards, ends, and one sentence per mistake."""

import pytest

from overclock.errors import UsageError
from overclock.gameboy import Symbol
from overclock.gameboy.description import Condition, Reward, Value, load_description, parse_description
from overclock.gameboy.games import GAMES, folder, game_program

GOOD = """
name = "game"
max_steps = 10
[actions]
buttons = ["none", "a", ["a", "right"]]
[observation]
kind = "gray"
[values]
score = { at = 0xC000, bytes = 2, encoding = "bcd" }
lives = { at = "lives" }
[[rewards]]
value = "score"
weight = 0.5
[[terminated]]
value = "lives"
is = 0
"""
SYMBOLS = {"lives": Symbol(0, 0xC010)}


def memory_of(content):
    return lambda address, count: bytes(content.get(address + i, 0) for i in range(count))


@pytest.mark.parametrize(
    ("options", "content", "number"),
    [
        ({}, [0x12], 0x12),
        ({"size": 2}, [0x34, 0x12], 0x1234),
        ({"size": 2, "order": "big"}, [0x12, 0x34], 0x1234),
        ({"size": 2, "encoding": "bcd"}, [0x34, 0x12], 1234),
        ({"size": 3, "encoding": "bcd", "order": "big"}, [0x01, 0x23, 0x45], 12345),
        ({"size": 3, "encoding": "bits"}, [0xFF, 0x00, 0x11], 10),
        ({"encoding": "signed"}, [0xFE], -2),
        ({"mask": 0x0F}, [0xA7], 7),
    ],
)
def test_a_value_is_read_as_it_is_encoded(options, content, number):
    assert (
        Value("v", (0xC000,), **options).read(memory_of({0xC000 + i: byte for i, byte in enumerate(content)})) == number
    )


def test_a_value_at_several_addresses_is_their_sum():
    assert Value("levels", (0xC000, 0xC005)).read(memory_of({0xC000: 7, 0xC005: 5})) == 12


@pytest.mark.parametrize(
    ("change", "rewards"), [("any", (2.0, -1.0)), ("increase", (2.0, 0.0)), ("decrease", (0.0, -1.0))]
)
def test_a_reward_is_a_weighted_change(change, rewards):
    reward = Reward("score", 0.5, change)
    assert (reward.of(3, 7), reward.of(7, 5)) == rewards


def test_a_condition_compares():
    assert [Condition("v", test, 3).holds(4) for test in ("is", "is_not", "at_least", "at_most")] == [
        False,
        True,
        True,
        False,
    ]


def test_a_description_is_read():
    found = parse_description(GOOD, SYMBOLS)
    assert found.actions.buttons == ((), ("a",), ("a", "right"))
    assert (found.actions.press, found.actions.frames) == (8, 24)
    before, after = (found.read(memory_of({0xC000: score, 0xC010: lives})) for score, lives in ((0x09, 1), (0x12, 0)))
    assert found.reward(before, after) == 1.5
    assert found.terminated(after)
    assert not found.terminated(before)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('name = "game"', "", "text: the file lacks 'name'."),
        ("max_steps = 10", "max_steps = -1", "text: the file has max_steps = -1, which is negative."),
        ("max_steps = 10", "steps = 10", "text: the file has an entry 'steps' that means nothing here."),
        (
            '"a", [',
            '"jump", [',
            "text: [actions] names the button 'jump'; there are right, left, up, down, a, b, select, start, none.",
        ),
        (
            'kind = "gray"',
            'kind = "smell"',
            "text: [observation] has kind = 'smell'; it is one of rgb, gray, gray_2x2, packed_2bit, ram.",
        ),
        ('kind = "gray"', 'kind = "ram"', "text: [observation] lists values if, and only if, its kind is ram."),
        ("0xC000", "0x10000", "text: [values.score] has the address 65536; an address is 0 to 0xFFFF or a symbol."),
        ('"bcd"', '"roman"', "text: [values.score] has encoding = 'roman'; it is one of plain, bcd, bits, signed."),
        ("weight = 0.5", 'weight = "much"', "text: [rewards 1] has weight = 'much', which is not a number."),
        (
            'value = "lives"',
            'value = "live"',
            "text: [terminated 1] names the value 'live'; [values] has score, lives.",
        ),
        ("is = 0", "", "text: [terminated 1] needs exactly one of is, is_not, at_least, at_most."),
    ],
)
def test_a_mistake_is_one_sentence(old, new, sentence):
    assert old in GOOD
    with pytest.raises(UsageError) as caught:
        parse_description(GOOD.replace(old, new), SYMBOLS)
    assert str(caught.value) == sentence


def test_an_unknown_symbol_is_named():
    with pytest.raises(UsageError, match="names the symbol 'lives', which the game does not have"):
        parse_description(GOOD)


@pytest.mark.parametrize("name", GAMES)
def test_our_games_are_described(name):
    found = load_description(str(folder().joinpath(f"{name}.toml")), game_program(name).symbols)
    assert found.name == name
    assert found.rewards
    assert found.ends


def test_the_example_for_a_rom_of_ones_own_is_valid():
    found = load_description(str(folder().joinpath("pokemon_red.toml")))
    money = found.values["money"]
    assert money.read(memory_of({0xD347: 0x00, 0xD348: 0x30, 0xD349: 0x00})) == 3000
    assert found.values["badges"].read(memory_of({0xD356: 0b101})) == 2
