"""What passes through: every form of request, streams without delay, no secrets in the record, nothing unmetered."""

import gzip
import json
import queue

import pytest

from overclock.errors import UsageError
from overclock.recipe.gateway.gateway import Gateway

SECRET = "sk-very-secret-0123456789"
CHAT_END = [
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    b'data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}\n\n',
    b"data: [DONE]\n\n",
]
CHAT_WORD = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'


def test_answers_come_back_as_the_provider_gave_them(proxied, client, send, dialect, canned):
    backend = canned(b'{"it": "is this, \xc3\xa9"}', status=418, content_type="application/json; charset=utf-8")
    response = send(proxied(backend, dialect), dialect)
    assert (response.status_code, response.content) == (418, backend.pieces[0])
    assert response.headers["content-type"] == backend.content_type


def test_requests_reach_the_provider_as_they_were(proxied, client, dialect, canned, first_request):
    backend = canned(b"{}")
    gateway = proxied(backend, dialect)
    path, body = first_request(dialect, "é", stream=dialect == "gemini")
    raw = json.dumps(body, indent=3).encode()
    address = gateway.base_url(dialect) + path
    client.post(address, content=raw, headers={"x-api-key": SECRET, "anthropic-beta": "a,b", "user-agent": "cli"})
    (call,) = backend.calls
    assert json.loads(call.body) == body
    assert f"{call.path}?{call.query}".rstrip("?") == call.dialect.prefix + path
    assert {call.headers[name] for name in ("x-api-key", "anthropic-beta", "user-agent")} == {SECRET, "a,b", "cli"}


def test_of_a_name_that_comes_twice_the_provider_sees_what_was_metered(proxied, client, canned):
    backend = canned(b"{}")
    gateway = proxied(backend, "chat", cap=10.0)
    raw = b'{"model": "gpt-5", "max_tokens": 90000, "messages": [], "max_tokens": 5}'
    assert client.post(gateway.base_url("chat") + "/chat/completions", content=raw).status_code == 200
    assert backend.calls[0].body == b'{"model": "gpt-5", "max_tokens": 5, "messages": []}'


@pytest.mark.parametrize("form", ["plain", "gzip", "chunked", "gzip and chunked"])
def test_bodies_are_read_in_every_form(proxied, client, canned, first_request, form):
    backend = canned(b"{}")
    gateway = proxied(backend, "chat")
    path, body = first_request("chat", "x" * 100_000)
    content = raw = json.dumps(body).encode()
    if "gzip" in form:
        content = gzip.compress(raw)
    if "chunked" in form:
        content = iter([content[:10], content[10:70], content[70:]])
    headers = {"content-encoding": "gzip"} if "gzip" in form else {}
    assert client.post(gateway.base_url("chat") + path, content=content, headers=headers).status_code == 200
    assert backend.calls[0].body == raw


@pytest.mark.parametrize(
    ("path", "content", "headers", "status", "says"),
    [
        ("/chat/completions", b"{", {}, 400, "not JSON"),
        ("/chat/completions", b"[]", {}, 400, "not a JSON object"),
        ("/chat/completions", b"not packed", {"content-encoding": "gzip"}, 400, "unpacked"),
        ("/chat/completions", gzip.compress(b"{}" * 99, mtime=0)[:-9], {"content-encoding": "gzip"}, 413, "breaks off"),
        ("/chat/completions", b"x", {"content-encoding": "zstd"}, 415, "zstd"),
        ("/embeddings", b"{}", {}, 404, "only calls that it can meter"),
        ("/messages/batches", b"{}", {}, 404, "only calls that it can meter"),
    ],
)
def test_what_cannot_be_metered_is_not_forwarded(open_gateway, client, canned, path, content, headers, status, says):
    backend = canned(b"{}")
    response = client.post(open_gateway(backend).base_url("chat") + path, content=content, headers=headers)
    assert response.status_code == status
    assert says in response.json()["error"]["message"]
    assert backend.calls == []


def test_agents_get_lists_of_models_and_no_websocket(open_gateway, client, canned):
    base = open_gateway(canned(b"{}")).base_url("responses")
    assert client.get(base + "/models").json() == {"data": [], "models": []}
    assert client.head(base).status_code == 200
    upgrade = {"connection": "Upgrade", "upgrade": "websocket"}
    assert client.get(base + "/responses", headers=upgrade).status_code == 426


def test_a_stream_arrives_while_the_provider_still_speaks_but_its_end_only_once_recorded(
    proxied, client, canned, heard, first_request
):
    more = queue.Queue()

    class Live(canned):
        def _chunks(self):
            while (piece := more.get(timeout=20)) is not None:
                yield piece

    gateway = proxied(Live(content_type="text/event-stream"), "chat", recorder=heard)
    path, body = first_request("chat", stream=True, stream_options={"include_usage": True})
    more.put(CHAT_WORD)
    with client.stream("POST", gateway.base_url("chat") + path, json=body) as response:
        lines = response.iter_lines()
        assert "Hi" in next(lines)
        assert [exchange.stage for exchange in heard.exchanges] == ["opened"]
        for piece in [*CHAT_END, None]:
            more.put(piece)
        assert "finish_reason" in next(line for line in lines if line)
        assert [exchange.stage for exchange in heard.exchanges] == ["opened", "closed"]
    assert heard.closed()[0].response.encode() == b"".join([CHAT_WORD, *CHAT_END])


@pytest.mark.parametrize("asked", [True, False])
def test_a_chat_stream_always_tells_us_its_usage_and_the_agent_only_if_it_asked(
    proxied, client, canned, first_request, asked
):
    backend = canned(CHAT_WORD, b"".join(CHAT_END), content_type="text/event-stream")
    gateway = proxied(backend, "chat")
    options = {"stream_options": {"include_usage": True}} if asked else {}
    path, body = first_request("chat", stream=True, **options)
    text = client.post(gateway.base_url("chat") + path, json=body).text
    assert backend.calls[0].json["stream_options"] == {"include_usage": True}
    assert ("usage" in text) == asked
    assert text.endswith("data: [DONE]\n\n")
    assert gateway.spent().output_tokens == 5


@pytest.mark.parametrize("where", ["authorization", "x-api-key", "x-goog-api-key", "address"])
def test_keys_are_never_recorded(proxied, client, heard, canned, first_request, where):
    """Not even if the agent prints them into the conversation, or the provider repeats them."""
    backend = canned(json.dumps({"echo": SECRET}).encode())
    gateway = proxied(backend, "gemini", recorder=heard)
    path, body = first_request("gemini", f"my key is {SECRET}")
    headers = {} if where == "address" else {where: f"Bearer {SECRET}" if where == "authorization" else SECRET}
    if where == "address":
        path += f"?key={SECRET}"
    assert SECRET in client.post(gateway.base_url("gemini") + path, json=body, headers=headers).text
    assert backend.calls[0].key == SECRET
    assert SECRET not in backend.calls[0].query
    assert len(heard.exchanges) == 2
    assert SECRET not in json.dumps([exchange.as_dict() for exchange in heard.exchanges])
    assert "my key is [key]" in heard.exchanges[0].request


def test_the_gateways_own_key_replaces_the_agents(proxied, send, dialect, canned, heard):
    backend = canned(json.dumps({"echo": SECRET}).encode())
    gateway = proxied(backend, dialect, key=SECRET, token="token-for-agents", recorder=heard)
    refused = send(gateway, dialect, headers={"x-api-key": "something else"})
    assert (refused.status_code, backend.calls, heard.exchanges) == (401, [], [])
    assert send(gateway, dialect, headers={"x-api-key": "token-for-agents"}).status_code == 200
    header, form = backend.calls[0].dialect.key_header
    assert backend.calls[0].headers[header] == form.format(SECRET)
    assert "token-for-agents" not in backend.calls[0].headers.values()
    assert SECRET not in heard.closed()[0].response


def test_an_unreachable_provider_costs_nothing(open_gateway, send, heard):
    from overclock.recipe.gateway.providers import Providers, Upstream

    gateway = open_gateway(Providers({"chat": Upstream("http://127.0.0.1:1")}), cap=10.0, recorder=heard)
    response = send(gateway, "chat")
    assert response.status_code == 502
    assert "Cannot reach http://127.0.0.1:1" in response.json()["error"]["message"]
    assert gateway.spent().dollars == 0
    assert send(gateway, "anthropic").json()["error"]["message"].startswith("No provider is configured")


def test_what_cannot_be_recorded_is_not_forwarded(open_gateway, send, canned):
    class Full:
        def record(self, exchange):
            raise OSError("no space left")

    backend = canned(b"{}")
    gateway = open_gateway(backend, recorder=Full(), cap=10.0)
    response = send(gateway, "chat")
    assert response.status_code == 500
    assert "no space left" in response.json()["error"]["message"]
    assert backend.calls == []
    assert gateway.reserved() == 0
    assert isinstance(gateway.failure, OSError)


def test_a_long_socket_path_is_explained(tmp_path, canned):
    with pytest.raises(UsageError, match="shorter path"):
        Gateway(canned(b"{}"), unix_socket=tmp_path / ("x" * 200))
