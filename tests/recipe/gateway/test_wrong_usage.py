"""A usage that cannot be what a call used is not believed: the call is paid at the worst that it could cost."""

import json
from typing import Any

import pytest

from overclock.recipe.gateway import Prices

PROMPT, ANSWER = 10, 5
RIGHT = {
    "anthropic": {"input_tokens": PROMPT, "output_tokens": ANSWER},
    "responses": {"input_tokens": PROMPT, "output_tokens": ANSWER, "total_tokens": PROMPT + ANSWER},
    "chat": {"prompt_tokens": PROMPT, "completion_tokens": ANSWER, "total_tokens": PROMPT + ANSWER},
    "gemini": {"promptTokenCount": PROMPT, "candidatesTokenCount": ANSWER, "totalTokenCount": PROMPT + ANSWER},
}
NAMES = {name: tuple(usage)[:2] for name, usage in RIGHT.items()}
MOST = 2000  # output tokens of a call: two dollars by the price below


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text("[models]\npriced = {input=0, output=1000, max_output=100000}")
    return Prices.load(path)


def changed(dialect, change):
    """The right usage of a dialect with one thing wrong."""
    prompt, answer = NAMES[dialect]
    usage: dict[str, Any] = dict(RIGHT[dialect])
    match change:
        case "negative":
            usage[answer] = -ANSWER
        case "negative prompt":
            usage[prompt] = -PROMPT
        case "missing":
            del usage[answer]
            usage = {name: value for name, value in usage.items() if not name.startswith("total")}
        case "no prompt":
            del usage[prompt]
        case "not a number":
            usage[answer] = float("nan")
        case "infinite":
            usage[answer] = float("inf")
        case "a fraction":
            usage[answer] = 0.5
        case "a text":
            usage[answer] = "5"
        case "true":
            usage[answer] = True
        case "huge":
            usage[answer] = 10**15
        case "an extra kind":
            usage["thinking_deep_tokens"] = 7
        case "a part above the whole":
            usage |= {"cache_read_input_tokens": -3} if dialect == "anthropic" else {}
            usage |= {"input_tokens_details": {"cached_tokens": 99}} if dialect == "responses" else {}
            usage |= {"prompt_tokens_details": {"cached_tokens": 99}} if dialect == "chat" else {}
            usage |= {"cachedContentTokenCount": 99} if dialect == "gemini" else {}
    return usage


def answer(dialect, usage):
    return json.dumps({"usageMetadata" if dialect == "gemini" else "usage": usage}).encode()


CHANGES = (
    "negative", "negative prompt", "missing", "no prompt", "not a number", "infinite", "a fraction", "a text", "true",
    "huge", "an extra kind", "a part above the whole",
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_usage_is_charged_at_the_worst_case(dialect, change, canned, open_gateway, send, heard, prices):
    gateway = open_gateway(canned(answer(dialect, changed(dialect, change))), prices=prices, cap=100.0, recorder=heard)
    assert send(gateway, dialect, model="priced", most=MOST).status_code == 200
    assert gateway.spent().dollars == pytest.approx(MOST / 1000, rel=1e-12)
    assert gateway.spent().output_tokens == MOST
    closed = heard.exchanges[-1]
    assert (closed.charged, bool(closed.doubt) or change == "huge") == ("reservation", True)


def test_a_right_usage_is_charged_as_it_is(dialect, canned, open_gateway, send, prices):
    gateway = open_gateway(canned(answer(dialect, RIGHT[dialect])), prices=prices, cap=100.0)
    send(gateway, dialect, model="priced", most=MOST)
    assert gateway.spent().dollars == pytest.approx(ANSWER / 1000, rel=1e-12)


def test_a_wrong_count_in_an_event_is_not_forgotten_for_a_right_one_after_it(canned, open_gateway, send, prices):
    events = [
        {"type": "message_start", "message": {"usage": {"input_tokens": -4, "output_tokens": 1}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": RIGHT["anthropic"]},
        {"type": "message_stop"},
    ]
    stream = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    gateway = open_gateway(canned(*stream, content_type="text/event-stream"), prices=prices, cap=100.0)
    send(gateway, "anthropic", model="priced", most=MOST, stream=True)
    assert gateway.spent().dollars == pytest.approx(MOST / 1000, rel=1e-12)


def test_a_cap_of_tokens_holds_for_a_model_without_a_price(dialect, canned, open_gateway, send, prices):
    gateway = open_gateway(canned(answer(dialect, RIGHT[dialect])), prices=prices, cap=10.0, max_tokens=5000)
    assert send(gateway, dialect, model="at-home", most=MOST).status_code == 200
    refused = send(gateway, dialect, model="at-home", most=6000)
    assert refused.status_code == 402
    assert refused.json()["error"]["type"] == "tokens_exceeded"
    assert gateway.spent().output_tokens == ANSWER


def test_after_its_seconds_a_gateway_takes_no_call(canned, open_gateway, send, prices):
    gateway = open_gateway(canned(answer("chat", RIGHT["chat"])), prices=prices, seconds=0.0)
    refused = send(gateway, "chat", model="priced", most=MOST)
    assert (refused.status_code, refused.json()["error"]["type"]) == (402, "time_exceeded")
