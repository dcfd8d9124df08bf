"""A recording answers like the model it was made from, and says where a call departs from it."""

import json

import pytest

from overclock.recipe.gateway import Cassette
from overclock.recipe.gateway.normalise import first_difference, normalised
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.recorder import JournalRecorder, recorded


def echo(prompt):
    return Turn(text=f"you said: {prompt}", fault="drop" if "drop" in prompt else None)


def record(folder, proxied, dialect, send, prompts, **options):
    """Send prompts through a gateway to a scripted model, keeping all in a journal; the answers' bytes and the cost."""
    with Journal(folder / "journal.sqlite") as journal:
        gateway = proxied(ScriptedModel(echo, folder), dialect, recorder=JournalRecorder(journal))
        return [send(gateway, dialect, prompt, **options).content for prompt in prompts], gateway.spent()


def load(folder, **options):
    """The recording that such a journal is."""
    with Journal.reading(folder / "journal.sqlite") as journal:
        return Cassette(recorded(journal), **options)


@pytest.mark.parametrize("stream", [False, True])
def test_a_replay_equals_the_recording_byte_for_byte_and_in_its_cost(
    tmp_path, proxied, open_gateway, send, dialect, stream
):
    prompts = ["one", "two", "three"]
    answers, spent = record(tmp_path, proxied, dialect, send, prompts, stream=stream)
    cassette = load(tmp_path)
    gateway = open_gateway(cassette)
    assert [send(gateway, dialect, prompt, stream=stream).content for prompt in prompts] == answers
    assert gateway.spent() == spent
    assert cassette.unused() == 0


def test_equal_requests_are_found_in_any_order(tmp_path, proxied, open_gateway, send, dialect):
    answers, _ = record(tmp_path, proxied, dialect, send, ["one", "two", "three"])
    gateway = open_gateway(load(tmp_path))
    replayed = [send(gateway, dialect, prompt).content for prompt in ("three", "one", "two")]
    assert replayed == [answers[2], answers[0], answers[1]]


def test_ids_dates_and_the_working_directory_do_not_count(tmp_path, proxied, open_gateway, send):
    prompt = "in {} on {} session {}"
    old = prompt.format("/tmp/old", "2026-01-02T03:04:05Z", "12345678-1234-1234-1234-123456789abc")
    new = prompt.format("/tmp/new", "2027-11-12T13:14:15.5+01:00", "abcdef01-1234-1234-1234-123456789abc")
    answers, _ = record(tmp_path, proxied, "chat", send, ["something else", old])
    gateway = open_gateway(load(tmp_path, moved=("/tmp/old", "/tmp/new")))
    answer = send(gateway, "chat", new, metadata={"user_id": "x"}).content
    assert answer == answers[1].replace(b"/tmp/old", b"/tmp/new")  # an agent works in the new folder
    assert b"/tmp/new" in answer


def test_a_changed_prompt_of_the_same_shape_gets_the_next_answer_in_order(
    tmp_path, proxied, open_gateway, send, dialect
):
    answers, _ = record(tmp_path, proxied, dialect, send, ["one", "two"])
    gateway = open_gateway(load(tmp_path))
    assert [send(gateway, dialect, prompt).content for prompt in ("uno", "due")] == answers


def test_a_call_that_does_not_fit_is_refused_with_the_first_difference(
    tmp_path, proxied, open_gateway, client, first_request, send, dialect
):
    record(tmp_path, proxied, dialect, send, ["one"])
    gateway = open_gateway(load(tmp_path))

    def refusal(response):
        assert response.status_code == 422
        return response.json()["error"]["message"]

    assert "model is 'other', recorded was" in refusal(send(gateway, dialect, "one", model="other"))
    assert "streaming is True, recorded was False" in refusal(send(gateway, dialect, "one", stream=True))
    assert "request.tools" in refusal(send(gateway, dialect, "one", tools={"Write": {}}))
    path, body = first_request(dialect, "one")
    key = {"responses": "input", "gemini": "contents"}.get(dialect, "messages")
    body[key] = body[key] * 2
    message = refusal(client.post(gateway.base_url(dialect) + path, json=body))
    assert f"request.{key} has 2 entries, recorded were 1" in message
    assert send(gateway, dialect, "one").status_code == 200
    assert "all 1 are used" in refusal(send(gateway, dialect, "one"))


def test_another_dialect_does_not_fit(tmp_path, proxied, open_gateway, send):
    record(tmp_path, proxied, "chat", send, ["one"])
    response = send(open_gateway(load(tmp_path)), "gemini", "one")
    assert response.status_code == 422
    assert "dialect is 'gemini', recorded was 'chat'" in response.json()["error"]["message"]


def test_broken_answers_break_again(tmp_path, proxied, open_gateway, send, dialect):
    httpx = pytest.importorskip("httpx")
    with pytest.raises(httpx.RemoteProtocolError):
        record(tmp_path, proxied, dialect, send, ["drop"], stream=True)
    with pytest.raises(httpx.RemoteProtocolError):
        send(open_gateway(load(tmp_path)), dialect, "drop", stream=True)


def test_errors_and_silence_are_replayed(tmp_path, proxied, open_gateway, canned, send, heard):
    gateway = proxied(canned(b'{"error": "busy"}', status=529), "chat", recorder=heard)
    send(gateway, "chat")
    send(gateway, "gemini")  # no provider
    replay = open_gateway(Cassette(heard.closed()))
    again = send(replay, "chat")
    assert (again.status_code, again.json()) == (529, {"error": "busy"})
    assert send(replay, "gemini").status_code == 502


def test_refused_and_killed_calls_are_not_part_of_a_recording(tmp_path, open_gateway, canned, send, heard):
    send(open_gateway(canned(b"{}"), recorder=heard, max_calls=0), "chat")
    send(open_gateway(canned(b"{}"), recorder=heard), "chat")
    refused, opened, closed = heard.exchanges
    for number, told in enumerate([[refused], [opened], [refused, opened], [refused, opened, closed]]):
        with Journal(tmp_path / f"{number}.sqlite") as journal:
            for exchange in told:
                JournalRecorder(journal).record(exchange)
            assert recorded(journal) == ([closed] if closed in told else [])


@pytest.mark.parametrize(
    ("recorded", "asked", "says"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "request.a[1].b is 3, recorded was 2"),
        ({"a": 1}, {}, "request.a is missing"),
        ({}, {"a": 1}, "request.a was not there when recorded"),
        ("x" * 100 + "one", "x" * 100 + "two", f"request is ...'{'x' * 20}two', recorded was ...'{'x' * 20}one'"),
        ({"a": None}, {"a": None}, None),
    ],
)  # fmt: skip
def test_differences_are_named(recorded, asked, says):
    assert first_difference(recorded, asked) == says


def test_what_is_blanked():
    text = "Monday, November 16, 2026 took 3.5ms; 2026-11-16 17:42 and 12345678-1234-1234-1234-123456789abc"
    assert normalised({"metadata": 1, "x": [text]}) == {"x": ["<date> took <time>; <date> and <uuid>"]}
    assert normalised("Chunk ID: d3ff6e\nProcess Group PGID: 9653") == "<chunk>\nProcess Group <process>"
    assert json.dumps(normalised({"n": 1.5, "t": True, "z": None})) == '{"n": 1.5, "t": true, "z": null}'
