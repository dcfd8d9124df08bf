"""Small requests in every dialect, a backend with answers prepared, and a recorder that keeps what it hears."""

import contextlib
import json

import pytest

from overclock.recipe.gateway.backend import Answer, CutError
from overclock.recipe.gateway.dialects import DIALECTS
from overclock.recipe.gateway.exchange import Exchange
from overclock.recipe.gateway.gateway import Gateway

MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "responses": "gpt-5-codex",
    "chat": "gpt-5",
    "gemini": "gemini-3-flash-preview",
}
NO_PARAMETERS = {"type": "object", "properties": {}}


def ask(dialect, prompt="TASK-1: do it", *, stream=False, tools=(), model=None, most=None, **more):
    """Path under the dialect's base URL, and body, of a first request."""
    model = model or MODELS[dialect]
    if dialect == "gemini":
        verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
        declared = [{"name": name, "parametersJsonSchema": schema} for name, schema in dict(tools).items()]
        body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}], **more}
        body |= {"tools": [{"functionDeclarations": declared}]} if declared else {}
        body |= {"generationConfig": {"maxOutputTokens": most}} if most else {}
        return f"/v1beta/models/{model}:{verb}", body
    body = {"model": model, "stream": stream, **more}
    if dialect == "responses":
        declared = [{"type": "function", "name": name, "parameters": schema} for name, schema in dict(tools).items()]
        content = [{"type": "input_text", "text": prompt}]
        body |= {"input": [{"type": "message", "role": "user", "content": content}], "tools": declared}
        return "/responses", body | ({"max_output_tokens": most} if most else {})
    body["messages"] = [{"role": "user", "content": prompt}]
    if dialect == "anthropic":
        declared = [{"name": name, "input_schema": schema} for name, schema in dict(tools).items()]
        return "/v1/messages", body | {"max_tokens": most or 100, "tools": declared}
    declared = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in dict(tools).items()]
    return "/chat/completions", body | {"tools": declared} | ({"max_completion_tokens": most} if most else {})


class Canned:
    """A backend that gives the same answer to every call and remembers the calls."""

    secrets = ()

    def __init__(self, *pieces, content_type="application/json", status=200, cut=False, before=lambda: None):
        self.pieces, self.content_type, self.status, self.cut, self.before = pieces, content_type, status, cut, before
        self.calls = []

    def answer(self, call):
        self.calls.append(call)
        return Answer(self.status, self.content_type, self._chunks())

    def _chunks(self):
        self.before()
        yield from self.pieces
        if self.cut:
            raise CutError("cut")

    def close(self):
        pass


class Heard:
    """A recorder that keeps everything, as JSON would."""

    def __init__(self):
        self.exchanges = []

    def record(self, exchange):
        self.exchanges.append(Exchange.from_dict(json.loads(json.dumps(exchange.as_dict()))))

    def closed(self):
        return [exchange for exchange in self.exchanges if exchange.stage == "closed"]


@pytest.fixture(scope="session")
def client():
    httpx = pytest.importorskip("httpx", reason="calls over HTTP need the extra agents")
    with httpx.Client(verify=False, timeout=30) as client:  # no certificates to load: all of this is on loopback
        yield client


@pytest.fixture
def send(client):
    """Send a first request to a gateway: send(gateway, dialect, prompt, **options of ask)."""

    def post(gateway, dialect, *args, headers=None, **options):
        path, body = ask(dialect, *args, **options)
        return client.post(gateway.base_url(dialect) + path, json=body, headers=headers)

    return post


@pytest.fixture
def first_request():
    return ask


@pytest.fixture
def canned():
    return Canned


@pytest.fixture
def heard():
    return Heard()


@pytest.fixture
def open_gateway():
    """Gateways that are closed at the end of the test."""
    with contextlib.ExitStack() as stack:
        yield lambda backend, **options: stack.enter_context(Gateway(backend, **options))


@pytest.fixture
def proxied(client, open_gateway):
    """A gateway that forwards over HTTP to another one, whose backend stands for the provider."""
    from overclock.recipe.gateway.providers import Providers, Upstream

    def build(backend, dialect, key=None, **options):
        provider = open_gateway(backend)
        return open_gateway(Providers({dialect: Upstream(provider.base_url(dialect), key)}), **options)

    return build


@pytest.fixture(params=list(DIALECTS))
def dialect(request):
    return request.param
