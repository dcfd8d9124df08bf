"""A model over HTTP with our own tools: both protocols, refusals, repetitions, and clocks."""

import dataclasses
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("httpx", reason="talking to a model directly needs the extra 'agents'")

from overclock.errors import MissingError, UsageError
from overclock.recipe.agents import Endpoint
from overclock.recipe.agents.api import ApiAgent
from overclock.recipe.agents.parallel import side_by_side
from overclock.recipe.agents.transport import FIRST_PAUSE, LONGEST_PAUSE, RETRIES
from overclock.recipe.gateway import Gateway, Tokens
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn

TOKENS = Tokens(input=1000, cached=200, output=100)


class Model:
    """A server that gives prepared answers (status, content, headers) one after the other, the last one for ever."""

    def __init__(self):
        self.answers, self.requests, model = [], [], self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                model.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                status, content, headers = model.answers[min(len(model.requests), len(model.answers)) - 1]
                payload = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {"content-length": str(len(payload)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = Endpoint(f"http://127.0.0.1:{self.server.server_port}", "placeholder")

    def answer(self, content, status=200, **headers):
        self.answers.append((status, content, headers))


@pytest.fixture
def model():
    model = Model()
    thread = threading.Thread(target=model.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield model
    model.server.shutdown()
    model.server.server_close()
    thread.join()


def openai(text="", calls=(), usage=True):
    tool_calls = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text or None, **({"tool_calls": tool_calls} if calls else {})}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls" if calls else "stop"}]}
    tokens = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
    return {**body, "usage": tokens} if usage else body


def anthropic(text="", calls=()):
    blocks = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "tool_use", "id": f"t{i}", "name": n, "input": a} for i, (n, a) in enumerate(calls)]
    tokens = {"input_tokens": 7, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 3, "output_tokens": 5}
    return {"content": blocks, "stop_reason": "tool_use" if calls else "end_turn", "usage": tokens}


def arguments(**values):
    return json.dumps(values)


def test_an_openai_model_reads_writes_replaces_lists_and_ends(model, task, tmp_path):
    (task.folder / "notes.md").write_text("gravity is 9.8")
    model.answer(openai(calls=[("list_files", ""), ("read_file", arguments(path="notes.md"))]))
    model.answer(openai(calls=[("write_file", arguments(path="src/env.py", content="G = 9.81\n"))]))
    model.answer(openai(calls=[("replace_text", arguments(path="src/env.py", old="9.81", new="9.8"))]))
    model.answer(openai("All done."))
    work = ApiAgent("openai", "m-1", logs=tmp_path / "logs").work(task, model.endpoint)
    assert (work.ended, work.text) == ("finished", "All done.")
    assert (task.folder / "src/env.py").read_text() == "G = 9.8\n"
    usage = work.usage
    assert (usage.calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (4, 400, 160, 40)
    assert (usage.dollars, usage.basis) == (None, "self-reported")
    path, headers, first = model.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer placeholder"
    assert first["model"] == "m-1"
    assert first["messages"] == [{"role": "user", "content": task.prompt}]
    names = {tool["function"]["name"] for tool in first["tools"]}
    assert names == {"list_files", "read_file", "write_file", "replace_text"}
    told = [message["content"] for message in model.requests[1][2]["messages"] if message["role"] == "tool"]
    assert told == ["notes.md", "gravity is 9.8"]
    conversation = json.loads((tmp_path / "logs/physics%2F1.conversation.json").read_text())
    assert conversation[0]["content"] == task.prompt
    assert conversation[-1]["content"] == "All done."


def test_an_anthropic_model_uses_the_same_tools(model, task):
    model.answer(anthropic("Writing.", [("write_file", {"path": "env.py", "content": "x"})]))
    model.answer(anthropic(calls=[("read_file", {"path": "gone.py"})]))
    model.answer(anthropic("Done."))
    work = ApiAgent("anthropic", "claude-x").work(task, model.endpoint)
    assert (work.ended, work.text) == ("finished", "Done.")
    assert (task.folder / "env.py").read_text() == "x"
    usage = work.usage
    assert (usage.calls, usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens) == (3, 180, 150, 9)
    path, headers, first = model.requests[0]
    assert (path, headers["x-api-key"]) == ("/v1/messages", "placeholder")
    assert headers["anthropic-version"]
    assert first["max_tokens"] > 0
    results = model.requests[2][2]["messages"][-1]["content"]
    assert results[0]["tool_use_id"] == "t0"
    assert results[0]["is_error"] is True


def test_the_check_is_a_tool_where_the_caller_gives_one(model, task):
    model.answer(openai(calls=[("check", "{}")]))
    model.answer(openai("Then I stop."))
    seen = []

    def check(asked):
        seen.append(asked.id)
        return "L1 dynamics: x differs"

    ApiAgent("openai", "m", check=check).work(task, model.endpoint)
    assert seen == [task.id]
    assert model.requests[1][2]["messages"][-1]["content"] == "L1 dynamics: x differs"


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("format_disk", "{}", "There is no tool 'format_disk'"),
        ("check", "{}", "There is no tool 'check'"),  # not offered
        ("read_file", "{not json", "takes a JSON object"),
        ("read_file", "[1]", "takes a JSON object"),
        ("write_file", arguments(path="a.py"), "path, content"),
        ("read_file", arguments(path="../secret"), "not a path inside"),
        ("replace_text", arguments(path="env.py", old="a", new="b"), "occurs 2 times"),
        ("replace_text", arguments(path="env.py", old="", new="b"), "occurs 0 times"),
    ],
)
def test_a_tool_used_wrongly_is_a_sentence_for_the_model(model, task, name, given, said):
    (task.folder / "env.py").write_text("a a")
    model.answer(openai(calls=[(name, given)]))
    model.answer(openai("I see."))
    assert ApiAgent("openai", "m").work(task, model.endpoint).ended == "finished"
    assert said in model.requests[1][2]["messages"][-1]["content"]
    assert (task.folder / "env.py").read_text() == "a a"


def test_a_model_that_never_stops_is_cut_at_its_turns(model, task):
    model.answer(openai(calls=[("list_files", "{}")]))
    work = ApiAgent("openai", "m", max_turns=5).work(task, model.endpoint)
    assert (work.ended, len(model.requests), work.usage.calls) == ("finished", 5, 5)
    assert "5 turns" in work.reason


def test_a_spent_budget_is_a_refusal_and_is_not_asked_twice(model, task):
    model.answer(openai(calls=[("write_file", arguments(path="a", content="b"))]))
    model.answer({"type": "error", "error": {"message": "The budget of $10 is spent."}}, status=402)
    work = ApiAgent("openai", "m").work(task, model.endpoint)
    assert work.ended == "refused"
    assert "The budget of $10 is spent." in work.reason
    assert len(model.requests) == 2
    assert work.usage.calls == 1  # what was answered before is still counted


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_busy_model_is_asked_again_with_longer_and_longer_pauses(model, task, status):
    pauses = []
    model.answer({"error": "busy"}, status=status)
    model.answer({"error": "busy"}, status=status)
    model.answer(openai("Here I am."))
    work = ApiAgent("openai", "m", pause=pauses.append).work(task, model.endpoint)
    assert work.ended == "finished"
    assert pauses == [FIRST_PAUSE, 2 * FIRST_PAUSE]


def test_a_model_that_stays_busy_is_given_up(model, task):
    pauses = []
    model.answer({"error": "busy"}, status=503)
    work = ApiAgent("openai", "m", pause=pauses.append).work(task, model.endpoint)
    assert (work.ended, work.usage) == ("crashed", None)
    assert "503" in work.reason
    assert len(model.requests) == RETRIES + 1
    assert len(pauses) == RETRIES


def test_the_model_says_how_long_to_wait_within_reason(model, task):
    pauses = []
    model.answer({}, status=429, **{"retry-after": "7"})
    model.answer({}, status=429, **{"retry-after": "36000"})
    model.answer(openai("Yes."))
    ApiAgent("openai", "m", pause=pauses.append).work(dataclasses.replace(task, wall_seconds=1e6), model.endpoint)
    assert pauses == [7.0, LONGEST_PAUSE]


def test_a_pause_never_passes_the_wall_clock(model, task):
    model.answer({}, status=429, **{"retry-after": "25"})
    work = ApiAgent("openai", "m").work(dataclasses.replace(task, wall_seconds=20.0), model.endpoint)
    assert work.ended == "timeout"


def test_a_model_that_answers_by_drops_is_stopped_at_the_wall_clock(task):
    gone = threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.end_headers()
            try:
                while not gone.wait(0.02):
                    self.wfile.write(b" ")
                    self.wfile.flush()
            except OSError:
                gone.set()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}", "k")
        work = ApiAgent("openai", "m").work(dataclasses.replace(task, wall_seconds=0.3), endpoint)
    finally:
        gone.set()
        server.shutdown()
        server.server_close()
        thread.join()
    assert (work.ended, work.usage) == ("timeout", None)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": 3}]}'])
def test_an_answer_of_another_form_is_a_crash(model, task, body):
    model.answer(body)
    work = ApiAgent("openai", "m").work(task, model.endpoint)
    assert (work.ended, work.usage) == ("crashed", None)


def test_one_answer_without_usage_makes_the_whole_unknown(model, task):
    model.answer(openai(calls=[("list_files", "{}")]))
    model.answer(openai("Done.", usage=False))
    assert ApiAgent("openai", "m").work(task, model.endpoint).usage is None


def test_a_stopped_agent_asks_no_more(model, task):
    model.answer(openai(calls=[("list_files", "{}")]))
    agent = ApiAgent("openai", "m")
    agent.stop()
    work = agent.work(task, model.endpoint)
    assert (work.ended, model.requests) == ("crashed", [])


def test_half_a_character_in_an_answer_does_not_break_the_conversation(model, task):
    model.answer(openai(calls=[("write_file", r'{"path": "a.py", "content": "\ud800"}')]))
    model.answer(openai("Oh."))
    assert ApiAgent("openai", "m").work(task, model.endpoint).ended == "finished"
    assert not (task.folder / "a.py").exists()


def test_without_a_gateway_the_users_own_key_and_address_are_used(model, task, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingError, match="set OPENAI_API_KEY"):
        ApiAgent("openai", "m").work(task, None)
    monkeypatch.setenv("OPENAI_API_KEY", "own-key")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.endpoint.base_url}/v1/")
    model.answer(openai("Hello."))
    assert ApiAgent("openai", "m").work(task, None).text == "Hello."
    path, headers, _ = model.requests[0]
    assert (path, headers["authorization"]) == ("/v1/chat/completions", "Bearer own-key")


def test_without_httpx_the_extra_is_named(task, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)  # importing it now fails
    with pytest.raises(MissingError, match=r"overclock\[agents\]"):
        ApiAgent("openai", "m").work(task, Endpoint("http://127.0.0.1:1", "k"))


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_it_works_through_the_gateway(protocol, task):
    """Whatever the gateway meters, the agent reports the same tokens about itself."""
    turn = Turn([{"env.py": "x = 1\n"}, {"sub/more.py": "y = 2\n"}], text="All done.")
    model = ScriptedModel(lambda prompt: turn if prompt.startswith("<!--") else None, task.folder, TOKENS)
    with Gateway(model) as gateway:
        endpoint = Endpoint(gateway.base_url("anthropic"), "placeholder")
        work = ApiAgent(protocol, "claude-sonnet-4-5").work(task, endpoint)
        metered = gateway.spent()
    assert (work.ended, work.text) == ("finished", "All done."), work
    assert (task.folder / "sub/more.py").read_text() == "y = 2\n"
    same = ("calls", "input_tokens", "cached_tokens", "output_tokens")
    assert [getattr(work.usage, name) for name in same] == [getattr(metered, name) for name in same]


def test_an_unknown_protocol_is_one_clear_sentence():
    with pytest.raises(UsageError, match="api:openai:MODEL or api:anthropic:MODEL"):
        ApiAgent("smoke-signals", "m")


def test_whoever_stops_agents_side_by_side_does_not_wait_for_their_models(task):
    asked, answered = threading.Barrier(3), threading.Event()

    class Thinking(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.wait(20)
            answered.wait(60)

        def log_message(self, *_):
            pass

    class Stopping(ApiAgent):
        def work(self, task, endpoint):
            asked.wait(20)
            raise KeyboardInterrupt

    server = ThreadingHTTPServer(("127.0.0.1", 0), Thinking)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}", "k")
    tasks = [dataclasses.replace(task, id=f"t.{number}", wall_seconds=600) for number in range(3)]
    agents = [ApiAgent("openai", "m"), ApiAgent("anthropic", "m"), Stopping("openai", "m")]
    ended = threading.Event()

    def interrupted():
        with pytest.raises(KeyboardInterrupt):
            side_by_side(agents, tasks, endpoint, lambda task, work: None)
        ended.set()

    try:
        threading.Thread(target=interrupted, daemon=True).start()
        assert ended.wait(20)  # its model would take longer
    finally:
        answered.set()
        server.shutdown()
        server.server_close()
