"""An agent may leave in the middle of a call, and so may the gateway: what was used is paid, nothing waits for ever."""

import contextlib
import json
import queue
import socket
import threading
import urllib.parse

from overclock.recipe.gateway.gateway import Gateway

CHAT_END = [
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    b'data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}\n\n',
    b"data: [DONE]\n\n",
]
CHAT_WORD = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n'


class Closings:
    """A recorder that hands on the calls that were closed."""

    def __init__(self, closed):
        self.closed = closed

    def record(self, exchange):
        if exchange.stage == "closed":
            self.closed.put(exchange)


def test_an_agent_that_hangs_up_still_pays_what_was_used(open_gateway, client, canned, heard, first_request):
    hung_up = threading.Event()

    class Talkative(canned):
        def _chunks(self):
            yield CHAT_WORD
            hung_up.wait(20)
            for _ in range(200):
                yield CHAT_WORD * 100
            yield from CHAT_END

    gateway = open_gateway(Talkative(content_type="text/event-stream"), cap=10.0, recorder=heard)
    path, body = first_request("chat", stream=True)
    with client.stream("POST", gateway.base_url("chat") + path, json=body) as response:
        next(response.iter_bytes())
    hung_up.set()
    gateway.__exit__()
    (exchange,) = heard.closed()
    assert (exchange.charged, exchange.usage.output_tokens) == ("usage", 5)


def test_an_answer_that_nobody_reads_is_broken_off_in_the_end(open_gateway, client, canned, first_request):
    hung_up, closed = threading.Event(), queue.Queue()

    class Endless(canned):
        def _chunks(self):
            yield CHAT_WORD
            hung_up.wait(20)
            while True:
                yield CHAT_WORD * 100

    backend = Endless(content_type="text/event-stream")
    gateway = open_gateway(backend, cap=10.0, recorder=Closings(closed), patience=0.01)
    path, body = first_request("chat", stream=True)
    with client.stream("POST", gateway.base_url("chat") + path, json=body) as response:
        next(response.iter_bytes())
    hung_up.set()
    exchange = closed.get(timeout=20)
    assert (exchange.charged, exchange.usage.dollars) == ("reservation", exchange.reserved)


def test_a_call_whose_agent_left_while_it_waited_is_not_forwarded(open_gateway, send, canned, first_request):
    closed, speak, answering = queue.Queue(), threading.Event(), threading.Event()

    def hang():
        answering.set()
        speak.wait(20)

    backend = canned(b'{"error": {}}', status=500, before=hang)
    gateway = open_gateway(
        backend, cap=0.015, recorder=Closings(closed)
    )  # pays for one answer of 1000 tokens at a time
    first = threading.Thread(target=lambda: send(gateway, "chat", most=1000), daemon=True)
    first.start()
    answering.wait(20)
    path, body = first_request("chat", most=1000)
    address, content = urllib.parse.urlsplit(gateway.base_url("chat") + path), json.dumps(body).encode()
    with socket.create_connection((address.hostname, address.port)) as connection:
        head = f"POST {address.path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(content)}\r\n\r\n"
        connection.sendall(head.encode() + content)
    speak.set()
    first.join(20)
    statuses = {closed.get(timeout=20).status for _ in range(2)}
    assert (statuses, len(backend.calls)) == ({500, 499}, 1)


def test_closing_does_not_wait_forever_and_leaves_the_call_open(client, canned, heard, first_request):
    speak, answering = threading.Event(), threading.Event()

    def hang():
        answering.set()
        speak.wait(20)

    with Gateway(canned(b"{}", before=hang), cap=10.0, recorder=heard, patience=0.01) as gateway:
        path, body = first_request("chat")
        thread = threading.Thread(target=lambda: client.post(gateway.base_url("chat") + path, json=body), daemon=True)
        thread.start()
        answering.wait(20)
    speak.set()
    thread.join(20)
    assert [exchange.stage for exchange in heard.exchanges] == ["opened"]


def test_whoever_interrupts_a_run_does_not_wait_for_a_model_that_thinks(client, canned, heard, first_request):
    asked, answered = threading.Event(), threading.Event()

    class Thinking(canned):
        def _chunks(self):
            asked.set()
            answered.wait(60)
            yield from CHAT_END

    gateway = Gateway(Thinking(content_type="text/event-stream"), cap=10.0, recorder=heard, patience=60.0)
    path, body = first_request("chat", stream=True, most=1000)
    left = threading.Event()

    def ask():
        with contextlib.suppress(Exception):
            client.post(gateway.base_url("chat") + path, json=body)

    def interrupted():
        with contextlib.suppress(KeyboardInterrupt), gateway:
            threading.Thread(target=ask, daemon=True).start()
            asked.wait(20)
            raise KeyboardInterrupt
        left.set()

    threading.Thread(target=interrupted, daemon=True).start()
    try:
        assert left.wait(20)
        assert [exchange.stage for exchange in heard.exchanges] == ["opened"]  # it counts at its reservation
    finally:
        answered.set()
