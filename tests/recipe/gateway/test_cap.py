"""The cap is hard: no call goes out that could pass it, not even beside others; what is spent survives a restart."""

import concurrent.futures
import contextlib
import json
import threading

import pytest

from overclock.errors import UsageError
from overclock.recipe.gateway import Prices, Tokens
from overclock.recipe.gateway.budget import Meter, RefusedError
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn
from overclock.recipe.gateway.usage import Usage, total


@pytest.fixture
def prices(tmp_path):
    """One dollar per thousand output tokens; prompts are free, so that the sums are plain."""
    path = tmp_path / "prices.toml"
    path.write_text("[models]\npriced = {input=0, output=1000, max_output=100000}")
    return Prices.load(path)


def scripted(tmp_path, output=1000, **options):
    return ScriptedModel(
        lambda prompt: Turn(text="Hello."), tmp_path, tokens=Tokens(input=10, output=output), **options
    )


def refusal(response):
    assert response.status_code == 402
    error = response.json()["error"]
    assert response.json()["type"] == "error"
    assert error["code"] == 402
    return error["type"], error["message"]


def test_a_call_that_could_pass_the_cap_is_refused_and_a_smaller_one_is_not(
    tmp_path, prices, open_gateway, send, dialect
):
    gateway = open_gateway(scripted(tmp_path), prices=prices, cap=2.5)
    assert send(gateway, dialect, model="priced", most=2000).status_code == 200
    assert gateway.spent().dollars == pytest.approx(1.0, rel=1e-12)
    reason, message = refusal(send(gateway, dialect, model="priced", most=2000))
    assert reason == "budget_exceeded"
    assert "$2.50" in message
    assert "$1.0000 are spent" in message
    assert "up to $2.0000" in message
    assert send(gateway, dialect, model="priced", most=1000).status_code == 200


def test_once_the_cap_is_reached_everything_is_refused(tmp_path, prices, open_gateway, send, dialect, client):
    gateway = open_gateway(scripted(tmp_path), prices=prices, cap=1.0)
    assert send(gateway, dialect, model="priced", most=1000).status_code == 200
    assert "is spent" in refusal(send(gateway, dialect, model="priced", most=1))[1]
    counting = gateway.base_url("gemini") + "/v1beta/models/priced:countTokens"
    assert client.post(counting, json={}).status_code == 402


def test_sixteen_calls_at_once_never_pass_the_cap(tmp_path, prices, open_gateway, send, heard):
    # Each can cost 1.0 and costs 0.25; the cap pays for nine one after the other, but only for three at once.
    arrived, four_at_once = [], threading.Barrier(4)

    class Watched(ScriptedModel):
        def answer(self, call):
            with contextlib.suppress(threading.BrokenBarrierError):
                four_at_once.wait(0.3)  # holds the first three back, for a fourth that must not come
            arrived.append(gateway.reserved() + gateway.spent().dollars)
            return super().answer(call)

    model = Watched(lambda prompt: Turn(text="Hello."), tmp_path, tokens=Tokens(input=10, output=250))
    gateway = open_gateway(model, prices=prices, cap=3.2, recorder=heard)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        dialects = ["anthropic", "responses", "chat", "gemini"] * 4
        codes = list(pool.map(lambda name: send(gateway, name, model="priced", most=1000).status_code, dialects))
    # A call is let through while spent + 1.0 <= 3.2, which is nine times: after eight, 2.0 are spent; after nine, 2.25.
    assert sorted(codes) == [200] * 9 + [402] * 7
    assert max(arrived) <= 3.2
    assert four_at_once.broken
    assert gateway.spent().dollars == pytest.approx(2.25, rel=1e-12)
    assert gateway.reserved() == 0
    assert total(exchange.usage for exchange in heard.closed()) == gateway.spent()


def test_a_model_without_a_price_is_refused_under_a_cap_and_told_how_to_get_one(open_gateway, send, dialect, canned):
    backend = canned(b"{}")
    gateway = open_gateway(backend, cap=1.0)
    reason, message = refusal(send(gateway, dialect, model="home-grown"))
    assert reason == "price_unknown"
    assert '"home-grown" = { input = ..., output = ... }' in message
    assert backend.calls == []


def test_without_a_cap_a_model_without_a_price_costs_an_unknown_amount(tmp_path, open_gateway, send, dialect):
    gateway = open_gateway(scripted(tmp_path))
    assert send(gateway, dialect, model="home-grown").status_code == 200
    assert gateway.spent().dollars is None
    assert gateway.spent().output_tokens == 1000


def test_a_restart_goes_on_from_what_was_spent(tmp_path, prices, open_gateway, send, heard):
    first = open_gateway(scripted(tmp_path), prices=prices, cap=2.5, recorder=heard)
    send(first, "chat", model="priced", most=1000)
    second = open_gateway(scripted(tmp_path), prices=prices, cap=2.5, recorder=heard, spent=first.spent())
    assert send(second, "chat", model="priced", most=1000).status_code == 200
    assert "$2.0000 are spent" in refusal(send(second, "chat", model="priced", most=1000))[1]
    assert second.spent().calls == 2


def test_calls_are_limited_too(tmp_path, open_gateway, send):
    gateway = open_gateway(scripted(tmp_path), max_calls=3, spent=Usage(calls=1))
    assert [send(gateway, "chat").status_code for _ in range(3)] == [200, 200, 402]
    assert refusal(send(gateway, "chat"))[0] == "calls_exceeded"


def test_failing_calls_cost_nothing_but_count_as_calls(open_gateway, send, dialect, canned):
    gateway = open_gateway(canned(b'{"error": {}}', status=500), cap=100.0)
    assert send(gateway, dialect).status_code == 500
    assert gateway.spent() == Usage(calls=1)


def test_an_answer_without_usage_costs_its_reservation(prices, open_gateway, send, dialect, canned, heard):
    gateway = open_gateway(canned(b'{"id": "x"}'), prices=prices, cap=100.0, recorder=heard)
    send(gateway, dialect, model="priced", most=3000)
    assert gateway.spent().dollars == pytest.approx(3.0, rel=1e-12)
    assert heard.closed()[0].charged == "reservation"


def test_a_stream_that_breaks_off_costs_its_reservation(prices, open_gateway, client, first_request, canned):
    backend = canned(b"data: {}\n\n", content_type="text/event-stream", cut=True)
    gateway = open_gateway(backend, prices=prices, cap=100.0)
    path, body = first_request("chat", model="priced", most=3000, stream=True)
    with pytest.raises(pytest.importorskip("httpx").RemoteProtocolError):
        client.post(gateway.base_url("chat") + path, json=body)
    assert gateway.spent().dollars == pytest.approx(3.0, rel=1e-12)


def test_a_request_without_a_limit_gets_one_under_a_cap_where_that_is_safe(
    tmp_path, prices, proxied, send, dialect, canned
):
    """Anthropic's requests always have one; Chat servers disagree about its name, so the model's own maximum counts."""
    upstream = canned(b"{}")
    gateway = proxied(upstream, dialect, prices=prices, cap=500.0, max_output=5000)
    send(gateway, dialect, model="priced")
    seen = upstream.calls[0]
    expected = {"anthropic": 100, "responses": 5000, "chat": None, "gemini": 5000}[dialect]
    assert seen.dialect.max_output(seen.json) == expected
    assert gateway.spent().dollars == pytest.approx((expected or 100_000) / 1000, rel=1e-12)


def test_a_longer_prompt_reserves_more_and_numbers_most_of_all(tmp_path, open_gateway, send, heard, first_request):
    path = tmp_path / "prices.toml"
    path.write_text("[models]\nm = {input=1000, output=0}")
    gateway = open_gateway(scripted(tmp_path), prices=Prices.load(path), cap=1e6, recorder=heard)
    for text in ("", "x" * 3000, "7" * 3000):
        send(gateway, "chat", text, model="m")
    empty, words, numbers = (exchange.reserved for exchange in heard.closed())
    assert words - empty == pytest.approx(1.0, abs=2e-3)  # a thousand tokens; rounding up moves it by one or two
    assert numbers - empty == pytest.approx(3.0, abs=2e-3)


@pytest.mark.parametrize(
    ("options", "says"), [({"cap": -1}, "cap"), ({"cap": float("nan")}, "cap"), ({"max_calls": -1}, "calls")]
)
def test_wrong_limits_are_explained(options, says):
    with pytest.raises(UsageError, match=says):
        Meter(**options)


def test_a_cap_cannot_continue_from_an_unknown_amount():
    with pytest.raises(UsageError, match="price"):
        Meter(cap=1.0, spent=Usage(calls=1, dollars=None))


def test_who_waits_for_a_turn_is_woken_when_the_gateway_closes():
    meter = Meter(cap=1.0)
    meter.reserve(1.0, "m")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(meter.reserve, 1.0, "m")
        meter.close()
        with pytest.raises(RefusedError, match="closed"):
            waiting.result()


def test_refused_calls_are_recorded_and_cost_nothing(prices, open_gateway, send, canned, heard):
    gateway = open_gateway(canned(b"{}"), prices=prices, cap=0.0, recorder=heard)
    send(gateway, "chat", model="priced")
    (exchange,) = heard.exchanges
    assert (exchange.stage, exchange.status, exchange.charged, exchange.usage) == ("closed", 402, "nothing", Usage())
    assert json.loads(exchange.response)["error"]["type"] == "budget_exceeded"
