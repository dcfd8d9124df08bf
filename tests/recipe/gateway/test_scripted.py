"""The scripted model says, in every dialect, what real agents understand; the golden files were accepted by them."""

import json
import os
from pathlib import Path

import pytest

from overclock.recipe.gateway import Tokens
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn, Use, fitting

GOLDEN = Path(__file__).parent / "golden"
TOKENS = Tokens(input=1000, cached=200, output=100, reasoning=10)
PATH = {"type": "string"}
# What each agent offers: its own names for the same two tools.
OFFERS = {
    "anthropic": {
        "Read": {},
        "Write": {"properties": {"file_path": PATH, "content": PATH}},
        "Bash": {"properties": {"command": PATH}},
    },
    "responses": {"exec_command": {"properties": {"cmd": PATH}}},
    "chat": {
        "write": {"properties": {"filePath": PATH, "content": PATH}},
        "bash": {"properties": {"command": PATH, "description": PATH}, "required": ["command", "description"]},
    },
    "gemini": {
        "write_file": {"properties": {"file_path": PATH, "content": PATH}},
        "run_shell_command": {"properties": {"command": PATH}},
    },
}


def model(turn, folder="/agent/work", **options):
    return ScriptedModel(lambda prompt: turn if "TASK-1" in prompt else None, Path(folder), tokens=TOKENS, **options)


def called(dialect, answer):
    """Name and arguments of the tool call in a whole answer; None if it is a text."""
    if dialect == "anthropic":
        block = answer["content"][0]
        return (block["name"], block["input"]) if block["type"] == "tool_use" else None
    if dialect == "responses":
        item = answer["output"][0]
        return (item["name"], json.loads(item["arguments"])) if item["type"] == "function_call" else None
    if dialect == "chat":
        calls = answer["choices"][0]["message"].get("tool_calls")
        return calls and (calls[0]["function"]["name"], json.loads(calls[0]["function"]["arguments"]))
    part = answer["candidates"][0]["content"]["parts"][0]
    return (part["functionCall"]["name"], part["functionCall"]["args"]) if "functionCall" in part else None


def text_of(dialect, answer):
    return {
        "anthropic": lambda: answer["content"][0]["text"],
        "responses": lambda: answer["output"][0]["content"][0]["text"],
        "chat": lambda: answer["choices"][0]["message"]["content"],
        "gemini": lambda: answer["candidates"][0]["content"]["parts"][0]["text"],
    }[dialect]()


def continued(dialect, body, answer):
    """The request that an agent sends after it did what the answer asked for, or after a person went on."""
    body = json.loads(json.dumps(body))
    made = called(dialect, answer)
    if dialect == "anthropic":
        body["messages"].append({"role": "assistant", "content": answer["content"]})
        result = [{"type": "tool_result", "tool_use_id": answer["content"][0].get("id"), "content": "ok"}]
        body["messages"] += [{"role": "user", "content": result}] if made else []
    elif dialect == "responses":
        item = answer["output"][0]
        body["input"].append(item)
        result = {"type": "function_call_output", "call_id": item.get("call_id"), "output": "ok"}
        body["input"] += [result] if made else []
    elif dialect == "chat":
        message = answer["choices"][0]["message"]
        body["messages"].append(message)
        body["messages"] += [{"role": "tool", "content": "ok"}] if made else []
    else:
        body["contents"].append(answer["candidates"][0]["content"])
        part = {"functionResponse": {"name": "x", "response": {}}}
        body["contents"] += [{"role": "user", "parts": [part]}] if made else []
    return body


def say(dialect, body, text):
    """The same conversation with one more prompt."""
    body = json.loads(json.dumps(body))
    if dialect == "gemini":
        body["contents"].append({"role": "user", "parts": [{"text": text}]})
    elif dialect == "responses":
        body["input"].append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
    else:
        body["messages"].append({"role": "user", "content": text})
    return body


def converse(client, gateway, dialect, path, body):
    """Answers until the model ends its turn, and the conversation then."""
    answers = []
    while True:
        answers.append(client.post(gateway.base_url(dialect) + path, json=body).json())
        made = called(dialect, answers[-1])
        body = continued(dialect, body, answers[-1])
        if not made:
            return answers, body


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", ["text", "tool"])
def test_answers_are_as_agents_know_them(open_gateway, client, first_request, dialect, stream, kind):
    turn = Turn([{"sub/a.py": "x = 'é'\n"}] if kind == "tool" else [], text="All done, é.")
    path, body = first_request(
        dialect, stream=stream, tools=OFFERS[dialect], **({"stream_options": {"include_usage": True}} if stream else {})
    )
    gateway = open_gateway(model(turn))
    response = client.post(gateway.base_url(dialect) + path, json=body)
    golden = GOLDEN / f"{dialect}_{kind}.{'sse' if stream else 'json'}"
    if os.environ.get("OVERCLOCK_WRITE_GOLDEN"):
        golden.write_bytes(response.content)
    assert response.content.decode() == golden.read_text()
    usage = gateway.spent()
    expected = (1000, 200, 100, 0 if dialect == "anthropic" else 10)  # Anthropic does not count thoughts apart
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens) == expected


def test_a_turn_is_worked_off_step_by_step_and_ends_with_its_text(open_gateway, client, first_request, dialect):
    turn = Turn([{"a.py": "A", "b.py": "B"}, "make test"], text="All done.")
    path, body = first_request(dialect, tools=OFFERS[dialect])
    answers, _ = converse(client, open_gateway(model(turn)), dialect, path, body)
    calls = [called(dialect, answer) for answer in answers]
    if dialect == "responses":
        write = "mkdir -p /agent/work && printf %s {} | base64 -d > /agent/work/{}"
        commands = [write.format("QQ==", "a.py"), write.format("Qg==", "b.py"), "make test"]
        assert calls == [*(("exec_command", {"cmd": command}) for command in commands), None]
    else:
        writer, shell = [name for name in OFFERS[dialect] if name != "Read"]
        key = "filePath" if dialect == "chat" else "file_path"
        needed = {"description": "scripted"} if dialect == "chat" else {}
        assert calls == [
            (writer, {key: "/agent/work/a.py", "content": "A"}),
            (writer, {key: "/agent/work/b.py", "content": "B"}),
            (shell, {"command": "make test", **needed}),
            None,
        ]
    assert text_of(dialect, answers[-1]) == "All done."


def test_the_next_prompt_of_a_conversation_begins_a_turn_of_its_own(open_gateway, client, first_request, dialect):
    script = {"TASK-1": Turn(["first"], text="One."), "TASK-2": Turn(["second"], text="Two.")}
    prompts = []

    def choose(prompt):
        prompts.append(prompt)
        return next(turn for mark, turn in script.items() if mark in prompt)

    gateway = open_gateway(ScriptedModel(choose, Path("/agent/work")))
    path, body = first_request(dialect, "TASK-1", tools=OFFERS[dialect])
    _, body = converse(client, gateway, dialect, path, body)
    answers, _ = converse(client, gateway, dialect, path, say(dialect, body, "TASK-2"))
    assert prompts == ["TASK-1", "TASK-1", "TASK-2", "TASK-2"]
    assert "second" in called(dialect, answers[0])[1].values()
    assert text_of(dialect, answers[1]) == "Two."


def test_an_existing_file_is_overwritten_through_the_shell(open_gateway, send, tmp_path):
    """Claude, Qwen and opencode refuse to overwrite a file that the model has not read."""
    (tmp_path / "a.py").write_text("old")
    answer = send(open_gateway(model(Turn([{"a.py": "new"}]), tmp_path)), "anthropic", tools=OFFERS["anthropic"]).json()
    name, arguments = called("anthropic", answer)
    assert name == "Bash"
    os.system(arguments["command"])
    assert (tmp_path / "a.py").read_text() == "new"


def test_any_other_tool_is_found_by_the_end_of_its_name(open_gateway, send, dialect):
    tools = {**OFFERS[dialect], "mcp__overclock__verify": {}}
    answer = send(open_gateway(model(Turn([Use("verify", {"level": 1})]))), dialect, tools=tools).json()
    assert called(dialect, answer) == ("mcp__overclock__verify", {"level": 1})


def test_older_codex_takes_a_list_of_words(open_gateway, send):
    tools = {"shell": {"properties": {"command": {"type": "array"}}}}
    answer = send(open_gateway(model(Turn(["make"]))), "responses", tools=tools).json()
    assert called("responses", answer) == ("shell", {"command": ["bash", "-lc", "make"]})


def test_a_step_that_no_tool_can_do_is_said(open_gateway, send, dialect):
    answer = send(open_gateway(model(Turn(["make"]))), dialect, tools={"Read": {}}).json()
    assert text_of(dialect, answer) == "No tool on offer can do this: Shell(command='make')"


def test_requests_on_the_side_get_a_short_text_or_fitting_json(open_gateway, send, dialect):
    gateway = open_gateway(model(Turn(["make"])))
    assert text_of(dialect, send(gateway, dialect, "a title, please", tools=OFFERS[dialect]).json()) == "OK"
    assert text_of(dialect, send(gateway, dialect, "TASK-1 without tools").json()) == "OK"
    properties = {"model": {"type": "STRING", "enum": ["flash", "pro"]}, "why": {"type": "STRING"}}
    schema = {"type": "OBJECT", "properties": properties, "required": ["model"]}
    wanted = {
        "anthropic": {"output_format": {"type": "json_schema", "schema": schema}},
        "responses": {"text": {"format": {"type": "json_schema", "schema": schema}}},
        "chat": {"response_format": {"json_schema": {"schema": schema}}},
        "gemini": {"generationConfig": {"responseSchema": schema}},
    }[dialect]
    assert json.loads(text_of(dialect, send(gateway, dialect, "route", **wanted).json())) == {"model": "flash"}


def test_fitting_values_have_the_right_types():
    kinds = {"a": "integer", "b": "boolean", "c": "array", "d": ["null", "string"], "e": "object"}
    schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in kinds.items()}}
    assert fitting(schema) == {"a": 0, "b": False, "c": [], "d": None, "e": {}}


def test_counting_tokens_is_free(open_gateway, client, heard):
    gateway = open_gateway(model(Turn()), recorder=heard)
    counted = client.post(gateway.base_url("anthropic") + "/v1/messages/count_tokens?beta=true", json={"model": "m"})
    assert counted.json() == {"input_tokens": 1000}
    counted = client.post(gateway.base_url("gemini") + "/v1beta/models/m:countTokens", json={})
    assert counted.json() == {"totalTokens": 1000}
    assert gateway.spent().calls == 0
    assert [exchange.operation for exchange in heard.closed()] == ["count", "count"]


def test_a_looping_model_never_ends(open_gateway, client, first_request, dialect):
    gateway = open_gateway(model(Turn(["one", "two"], fault="loop")), max_calls=7)
    path, body = first_request(dialect, tools=OFFERS[dialect])
    commands = []
    for _ in range(7):
        answer = client.post(gateway.base_url(dialect) + path, json=body).json()
        commands.append(next(iter(called(dialect, answer)[1].values())))
        body = continued(dialect, body, answer)
    assert commands == ["one", "two", "one", "two", "one", "two", "one"]
    assert client.post(gateway.base_url(dialect) + path, json=body).status_code == 402


@pytest.mark.parametrize(("fault", "status"), [("unauthorized", 401), ("server_error", 500)])
def test_a_failing_model_answers_with_an_error(open_gateway, send, dialect, fault, status):
    response = send(open_gateway(model(Turn(["make"], fault=fault))), dialect, tools=OFFERS[dialect], stream=True)
    assert response.status_code == status
    assert response.json()["error"]["message"].startswith("The script says")


@pytest.mark.parametrize("stream", [False, True])
def test_a_dropping_model_breaks_the_connection(open_gateway, send, dialect, stream):
    httpx = pytest.importorskip("httpx")
    gateway = open_gateway(model(Turn(text="x", fault="drop")))
    with pytest.raises(httpx.RemoteProtocolError):
        send(gateway, dialect, stream=stream)


def test_a_slow_model_pauses_before_every_event(open_gateway, send, dialect):
    pauses = []
    gateway = open_gateway(model(Turn(text="x", fault="slow"), pause=lambda: pauses.append(1)))
    response = send(gateway, dialect, stream=True, **({"stream_options": {"include_usage": True}}))
    assert len(pauses) == response.text.count("\n\n")
