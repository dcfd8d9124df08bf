"""Usage is read out of answers as the providers send them, whole or in pieces of any size."""

import json

import pytest

from overclock.recipe.gateway.dialects import DIALECTS
from overclock.recipe.gateway.reader import Reader
from overclock.recipe.gateway.tokens import Tokens

# As documented by the providers: Anthropic counts the cache apart and repeats the sum so far; OpenAI and Gemini count
# it inside; Gemini counts thoughts apart.
WHOLE = {
    "anthropic": {
        "type": "message",
        "usage": {
            "input_tokens": 21,
            "cache_read_input_tokens": 188,
            "cache_creation_input_tokens": 90,
            "cache_creation": {"ephemeral_5m_input_tokens": 50, "ephemeral_1h_input_tokens": 40},
            "output_tokens": 393,
        },
    },
    "responses": {
        "object": "response",
        "status": "completed",
        "usage": {
            "input_tokens": 299,
            "input_tokens_details": {"cached_tokens": 188},
            "output_tokens": 393,
            "output_tokens_details": {"reasoning_tokens": 64},
            "total_tokens": 692,
        },
    },
    "chat": {
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}],
        "usage": {
            "prompt_tokens": 299,
            "completion_tokens": 393,
            "total_tokens": 692,
            "prompt_tokens_details": {"cached_tokens": 188, "audio_tokens": None},
            "completion_tokens_details": {"reasoning_tokens": 64},
        },
    },
    "gemini": {
        "candidates": [{"content": {"parts": [{"text": "Hi"}], "role": "model"}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 290,
            "toolUsePromptTokenCount": 9,
            "cachedContentTokenCount": 188,
            "candidatesTokenCount": 329,
            "thoughtsTokenCount": 64,
            "totalTokenCount": 692,
        },
    },
}
STREAMED = {
    "anthropic": [
        ("message_start", {"type": "message_start", "message": {"usage": {
            "input_tokens": 21, "cache_read_input_tokens": 188, "cache_creation_input_tokens": 90,
            "cache_creation": {"ephemeral_1h_input_tokens": 40}, "output_tokens": 1}}}),
        ("ping", {"type": "ping"}),
        ("content_block_delta", {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "usage: é"}}),
        ("message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                           "usage": {"input_tokens": 0, "output_tokens": 393}}),
        ("message_stop", {"type": "message_stop"}),
    ],
    "responses": [
        ("response.created", {"type": "response.created", "response": {"status": "in_progress", "usage": None}}),
        ("response.output_text.delta", {"type": "response.output_text.delta", "delta": "Hi"}),
        ("response.completed", {"type": "response.completed", "response": WHOLE["responses"]}),
    ],
    "chat": [
        (None, {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}], "usage": None}),
        (None, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None}),
        (None, {"choices": [], "usage": WHOLE["chat"]["usage"]}),
        (None, "[DONE]"),
    ],
    "gemini": [
        (None, {"candidates": [{"content": {"parts": [{"text": "H"}]}}],
                "usageMetadata": {"promptTokenCount": 290, "cachedContentTokenCount": 188, "totalTokenCount": 290}}),
        (None, WHOLE["gemini"]),
    ],
}  # fmt: skip
EXPECTED = {
    "anthropic": Tokens(input=299, cached=188, cache_write=90, cache_write_hour=40, output=393),
    "responses": Tokens(input=299, cached=188, output=393, reasoning=64),
    "chat": Tokens(input=299, cached=188, output=393, reasoning=64),
    "gemini": Tokens(input=299, cached=188, output=393, reasoning=64),
}


def stream(dialect, newline="\n"):
    lines = []
    for name, data in STREAMED[dialect]:
        lines += [f"event: {name}"] if name else [": a comment"]
        lines += [f"data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}", ""]
    return newline.join([*lines, ""]).encode()


def test_a_whole_answer(dialect):
    reader = Reader(DIALECTS[dialect], "application/json; charset=utf-8")
    reader.feed(json.dumps(WHOLE[dialect]).encode())
    assert reader.tokens is None
    reader.end()
    assert (reader.tokens, reader.finished) == (EXPECTED[dialect], True)


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_stream_in_pieces_of_any_size(dialect, size, newline):
    reader, body = Reader(DIALECTS[dialect], "text/event-stream"), stream(dialect, newline)
    for start in range(0, len(body), size):
        reader.feed(body[start : start + size])
    reader.end()
    assert (reader.tokens, reader.finished) == (EXPECTED[dialect], True)


def test_the_end_is_seen_before_the_last_event_and_not_before_the_answer_is_complete(dialect):
    reader, finished = Reader(DIALECTS[dialect], "text/event-stream"), []
    for event in stream(dialect).split(b"\n\n")[:-1]:
        reader.feed(event + b"\n\n")
        finished.append(reader.finished)
    assert (
        finished
        == {
            "anthropic": [False, False, False, True, True],
            "responses": [False, False, True],
            "chat": [False, True, True, True],
            "gemini": [False, True],
        }[dialect]
    )


def test_a_stream_that_breaks_off_is_not_finished(dialect):
    reader = Reader(DIALECTS[dialect], "text/event-stream")
    reader.feed(stream(dialect).split(b"\n\n")[0])
    reader.end()
    assert not reader.finished


def test_a_gemini_stream_as_a_json_array():
    reader = Reader(DIALECTS["gemini"], "application/json")
    reader.feed(json.dumps([data for _, data in STREAMED["gemini"]]).encode())
    reader.end()
    assert reader.tokens == EXPECTED["gemini"]


def test_an_answer_without_usage_has_none(dialect):
    for body in (b"", b"<html>", b"[1]", b'{"error": {}}'):
        reader = Reader(DIALECTS[dialect], "application/json")
        reader.feed(body)
        reader.end()
        assert reader.tokens is None
