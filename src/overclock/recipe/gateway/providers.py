"""Forwards calls to the providers' own servers over HTTP."""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from overclock.errors import MissingError, UsageError
from overclock.recipe.gateway.backend import Answer, CutError, UnansweredError
from overclock.recipe.gateway.call import Call
from overclock.recipe.gateway.dialects import DialectName

if TYPE_CHECKING:
    import httpx

OFFICIAL: dict[DialectName, str] = {
    "anthropic": "https://api.anthropic.com",
    "responses": "https://api.openai.com/v1",
    "chat": "https://api.openai.com/v1",
    "gemini": "https://generativelanguage.googleapis.com",
}
CREDENTIALS = {"authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "proxy-authorization"}
HOP_BY_HOP = {
    *("connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding"),
    "upgrade",
}
# Replaced on the way: the body is sent anew, and an answer must be readable to be metered.
NOT_FORWARDED = HOP_BY_HOP | {"host", "content-length", "content-encoding", "accept-encoding", "expect"}
NOT_RETURNED = HOP_BY_HOP | {"content-length", "content-encoding", "content-type", "set-cookie", "date", "server"}
CONNECT_SECONDS = 30.0
READ_SECONDS = 600.0  # between two pieces of an answer: models think long


@dataclasses.dataclass(frozen=True)
class Upstream:
    """A provider's base URL, as an agent would be given it. With a key here, the agent's own one is not passed on."""

    base_url: str
    key: str | None = dataclasses.field(default=None, repr=False)


class Providers:
    """The backend of real runs: one upstream for each dialect that is used."""

    def __init__(self, upstreams: Mapping[DialectName, Upstream]) -> None:
        for name, upstream in upstreams.items():
            if not upstream.base_url.startswith(("http://", "https://")):
                raise UsageError(f"The base URL of {name}, '{upstream.base_url}', must begin with http:// or https://.")
        self._upstreams = dict(upstreams)
        self._httpx = httpx = _imported()
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS, pool=None)
        limits = httpx.Limits(max_connections=None)
        self._client = httpx.Client(timeout=timeout, limits=limits, follow_redirects=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(upstream.key for upstream in self._upstreams.values() if upstream.key)

    def answer(self, call: Call) -> Answer:
        """Answer as soon as the provider begins to; its pieces come as they arrive."""
        upstream, httpx = self._upstreams.get(call.dialect.name), self._httpx
        if upstream is None:
            raise UnansweredError(f"No provider is configured for the dialect '{call.dialect.name}'.", paid=False)
        request = self._client.build_request(
            "POST", _address(upstream, call), headers=_headers(upstream, call), content=call.forwarded()
        )
        try:
            response = self._client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
            raise UnansweredError(f"Cannot reach {upstream.base_url}: {error}.", paid=False) from error
        except httpx.HTTPError as error:
            raise UnansweredError(f"{upstream.base_url} did not answer: {error}.", paid=True) from error
        headers = {name: value for name, value in response.headers.items() if name.lower() not in NOT_RETURNED}
        content_type = response.headers.get("content-type", "")
        return Answer(response.status_code, content_type, self._chunks(response), headers)

    def close(self) -> None:
        self._client.close()

    def _chunks(self, response: "httpx.Response") -> Iterator[bytes]:
        with contextlib.closing(response):
            try:
                yield from response.iter_bytes()
            except self._httpx.HTTPError as error:
                raise CutError(str(error)) from error


def _imported() -> Any:
    """Only where a provider is called: whoever works without a model needs no httpx."""
    try:
        import httpx
    except ImportError as error:
        raise MissingError("Calls to a model need httpx; run: pip install 'overclock[agents]'.") from error
    return httpx


def _address(upstream: Upstream, call: Call) -> str:
    path = call.path.removeprefix(call.dialect.prefix)
    return upstream.base_url.rstrip("/") + path + (f"?{call.query}" if call.query else "")


def _headers(upstream: Upstream, call: Call) -> dict[str, str]:
    left_out = NOT_FORWARDED | CREDENTIALS if upstream.key else NOT_FORWARDED
    headers = {name: value for name, value in call.headers.items() if name not in left_out}
    # A key that came in the address goes on in a header, so that no address of ours ever holds one.
    if key := upstream.key or (None if CREDENTIALS & headers.keys() else call.key):
        name, form = call.dialect.key_header
        headers[name] = form.format(key)
    return {**headers, "accept-encoding": "identity"}
