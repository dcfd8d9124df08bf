"""Prices: the right row for a name, every kind of token at its own rate, and no price where none is known."""

import datetime

import pytest

from overclock.errors import UsageError
from overclock.recipe.gateway.prices import MAX_OUTPUT, Prices
from overclock.recipe.gateway.tokens import Tokens


def table(tmp_path, text):
    path = tmp_path / "prices.toml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def built_in():
    return Prices.load()


def test_the_table_is_dated(built_in):
    assert isinstance(built_in.date, datetime.date)


@pytest.mark.parametrize(
    "model",
    [
        "gemini-3-flash-preview",
        "gemini-2.5-pro",
        "gemini-2.5-flash",
        "gemini-3-pro-preview",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-20250514",
        "claude-opus-4-1-20250805",
        "claude-opus-4-5",
        "claude-haiku-4-5",
        "claude-sonnet-4-6",
        "gpt-5",
        "gpt-5-mini",
        "gpt-5-codex",
        "gpt-5.1-codex-mini",
        "gpt-5-2025-08-07",
        "gpt-5-latest",
        "gemini-2.5-pro-preview-05-06",
        "gemini-2.5-flash-preview-09-2025",
        "claude-opus-4-5@20251101",
        "openai/gpt-5",
        "qwen3-coder-plus",
        "qwen/qwen3-coder-480b-a35b-instruct",
    ],
)
def test_the_models_people_use_have_a_price(built_in, model):
    price = built_in.find(model)
    assert price is not None
    assert price.dollars(Tokens(input=1000, output=1000)) > 0


@pytest.mark.parametrize(
    "model",
    [
        *("", "fake-1", "gpt-5.99", "gpt-50", "claude-opus-4-99", "my-gpt-5", "gpt", "gpt-5:online", "gpt-5-pro-max"),
        *("o4-mini-deep-research", "gpt-5-search-api", "claude-opus-4-5-fast", "gpt-5.1-realtime"),
    ],
)
def test_another_model_or_version_has_none(built_in, model):
    assert built_in.find(model) is None


def test_the_longest_name_wins(tmp_path):
    prices = Prices.load(
        table(
            tmp_path, '[models]\n"m" = {input=1, output=1}\n"m-big" = {input=2, output=2}\n"m-b" = {input=3, output=3}'
        )
    )
    found = {name: prices.find(name).prices[0].input for name in ("m", "m-latest", "m-big", "m-big-2026-01-01", "m-b")}
    assert found == {"m": 1, "m-latest": 1, "m-big": 2, "m-big-2026-01-01": 2, "m-b": 3}


def test_each_kind_of_token_has_its_own_rate(tmp_path):
    rates = "input=1, cached=0.1, cache_write=2, cache_write_hour=4, output=8"
    price = Prices.load(table(tmp_path, f"[models]\nm = {{{rates}}}")).find("m")
    tokens = Tokens(input=1000, cached=300, cache_write=200, cache_write_hour=50, output=10, reasoning=5)
    assert price.dollars(tokens) == pytest.approx((500 * 1 + 300 * 0.1 + 150 * 2 + 50 * 4 + 10 * 8) / 1e6, rel=1e-12)
    assert price.worst(1000, 10) == pytest.approx((1000 * 4 + 10 * 8) / 1e6, rel=1e-12)


def test_a_long_prompt_makes_the_whole_call_dearer(tmp_path):
    long = "long = [{above=200, input=3, output=5}, {above=100, input=2, output=4}]"
    price = Prices.load(table(tmp_path, f"[models]\nm = {{input=1, output=1, {long}}}")).find("m")
    costs = [price.dollars(Tokens(input=size, output=1)) * 1e6 for size in (0, 100, 101, 201)]
    assert costs == pytest.approx([1, 101, 206, 608], rel=1e-12)


def test_what_a_row_leaves_out_costs_as_much_as_the_prompt(tmp_path):
    price = Prices.load(table(tmp_path, "[models]\nm = {input=2, output=3}")).find("m")
    assert price.dollars(Tokens(input=10, cached=5, cache_write=5)) == pytest.approx(20 / 1e6, rel=1e-12)
    assert price.max_output == MAX_OUTPUT


def test_a_users_row_overrides_the_one_of_the_same_name_and_no_other(tmp_path, built_in):
    prices = Prices.load(table(tmp_path, '[models]\n"gpt-5" = {input=0, output=0}\n"mine" = {input=3, output=3}'))
    assert prices.find("gpt-5-2025-08-07").prices[0].input == 0
    assert prices.find("mine").prices[0].input == 3
    for model in ("gpt-5-pro", "gpt-5-codex", "claude-opus-4-5"):
        assert prices.find(model) == built_in.find(model)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x", "is not TOML"),
        ("a = 1", r"no \[models\]"),
        ("[models]\nm = 3", "must be a table"),
        ("[models]\nm = {input=1}", "no 'output'"),
        ("[models]\nm = {input=-1, output=1}", "not negative"),
        ("[models]\nm = {input=nan, output=1}", "not negative"),
        ("[models]\nm = {input=1, output=1, cache=2}", "unknown key 'cache'"),
        ("[models]\nm = {input=1, output=1, max_output=0}", "positive whole number"),
        ("[models]\nm = {input=1, output=1, long=[{input=1, output=1}]}", "needs 'above'"),
    ],
)
def test_a_wrong_table_is_explained(tmp_path, text, says):
    with pytest.raises(UsageError, match=says):
        Prices.load(table(tmp_path, text))


def test_a_missing_table_is_explained(tmp_path):
    with pytest.raises(UsageError, match="Cannot read"):
        Prices.load(tmp_path / "none.toml")
