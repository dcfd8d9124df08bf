"""Reads what five coding agents print when they are done.

Whatever is missing, misspelt or of another type makes the usage None ("not reported"), never a number that was not
printed. Dollars that an agent could only guess are None too.
"""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from overclock.recipe.agents.output_fields import (
    UnreadableError,
    count,
    counted,
    dollars,
    json_lines,
    json_object,
    json_value,
    status_in,
    usage_of,
    word,
    words,
)  # fmt: skip
from overclock.recipe.gateway.dialects.fields import Json
from overclock.recipe.gateway.usage import Usage

NO_WORDS = "an error without words"
REFUSING = (401, 402, 403)  # the key is wrong, the budget is spent, the model is not allowed


@dataclasses.dataclass(frozen=True)
class Output:
    """What an agent printed about its call. Its profile says whether counts are of the call or of the session."""

    text: str = ""
    usage: Usage | None = None
    session: str | None = None
    error: str = ""  # why it could not do its work, in its words
    status: int | None = None  # the HTTP status behind the error, where it says so
    capped: str = ""  # the limit of its own at which it stopped


def read_output(dialect: str, stdout: str, stderr: str) -> Output:
    """Read an agent's output; `Output(text=stdout)` where it is not in the dialect."""
    try:
        said = DIALECTS[dialect](stdout, stderr)
    except UnreadableError:
        return Output(text=stdout.strip())
    return dataclasses.replace(said, status=status_in(said.error)) if said.error and said.status is None else said


def _text(stdout: str, stderr: str) -> Output:
    return Output(text=stdout.strip())


def _gemini(stdout: str, stderr: str) -> Output:
    """One object; an error goes to stderr and leaves stdout empty."""
    answer = json_object(stdout, required=False) or json_object(stderr)
    error = answer.get("error")
    if isinstance(error, dict):
        code = error.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else None
        return Output(session=word(answer, "session_id"), error=words(error.get("message")) or NO_WORDS, status=status)
    usage = usage_of(lambda: _gemini_usage(answer["stats"]["models"]))
    return Output(words(answer.get("response")), usage, word(answer, "session_id"))


def _gemini_usage(models: Json) -> Usage:
    calls = prompt = cached = output = thoughts = 0
    for model in models.values():
        tokens = model["tokens"]
        calls += count(model["api"]["totalRequests"])
        prompt += count(tokens["prompt"]) + count(tokens.get("tool", 0))
        cached += count(tokens["cached"])
        thoughts += count(tokens["thoughts"])
        output += count(tokens["candidates"]) + count(tokens["thoughts"])
    return counted(calls, prompt, cached, output_tokens=output, reasoning_tokens=thoughts)


def _claude(stdout: str, stderr: str) -> Output:
    """One object of type `result`; after an API error its subtype still says "success"."""
    answer = json_object(stdout)
    if answer.get("type") != "result":
        raise UnreadableError
    subtype, text = words(answer.get("subtype")), words(answer.get("result"))
    capped = subtype.removeprefix("error_") if subtype.startswith("error_max_") else ""
    failed = answer.get("is_error") is True and not capped
    status = answer.get("api_error_status")
    return Output(
        text=text,
        usage=usage_of(lambda: _claude_usage(answer)),
        session=word(answer, "session_id"),
        error=(text or subtype or NO_WORDS) if failed else "",
        status=status if failed and isinstance(status, int) else None,
        capped=capped,
    )


def _claude_usage(answer: Json) -> Usage:
    tokens = answer["usage"]
    read, written = count(tokens["cache_read_input_tokens"]), count(tokens["cache_creation_input_tokens"])
    models = answer.get("modelUsage", {}).values()
    guessed = any(model.get("costBasis") == "unknown" for model in models)
    return counted(
        calls=count(answer["num_turns"]),
        input_tokens=count(tokens["input_tokens"]) + read + written,
        cached_tokens=read,
        cache_write_tokens=written,
        output_tokens=count(tokens["output_tokens"]),
        dollars=None if guessed else dollars(answer.get("total_cost_usd")),
    )


def _codex(stdout: str, stderr: str) -> Output:
    """Lines; each completed turn gives the counts of the whole thread so far. Items of type `error` are warnings."""
    text, session, error, usage, turns = "", None, "", None, 0
    for line in json_lines(stdout):
        kind, item = line.get("type"), line.get("item")
        if kind == "thread.started":
            session = word(line, "thread_id")
        elif kind == "item.completed" and isinstance(item, dict) and item.get("type") == "agent_message":
            text = words(item.get("text"))
        elif kind == "turn.completed":
            turns += 1
            usage, error = usage_of(lambda line=line, turns=turns: _codex_usage(line["usage"], turns)), ""
        elif kind == "turn.failed":
            failure = line.get("error")
            error = words(failure.get("message") if isinstance(failure, dict) else failure) or NO_WORDS
        elif kind == "error":
            error = words(line.get("message")) or NO_WORDS
    return Output(text, usage, session, error)


def _codex_usage(tokens: Json, turns: int) -> Usage:
    return counted(
        calls=turns,
        input_tokens=count(tokens["input_tokens"]),
        cached_tokens=count(tokens["cached_input_tokens"]),
        cache_write_tokens=count(tokens.get("cache_write_input_tokens", 0)),
        output_tokens=count(tokens["output_tokens"]),
        reasoning_tokens=count(tokens.get("reasoning_output_tokens", 0)),
    )


def _qwen(stdout: str, stderr: str) -> Output:
    """An array of messages, the last of them of type `result`."""
    messages = json_value(stdout, "[")
    results = [m for m in messages if isinstance(m, dict) and m.get("type") == "result"]
    if not results:
        raise UnreadableError
    answer = results[-1]
    sessions = [found for m in messages if isinstance(m, dict) and (found := word(m, "session_id"))]
    failed, text = answer.get("is_error") is True, words(answer.get("result"))
    error = answer.get("error")
    reason = words(error.get("message") if isinstance(error, dict) else error)
    return Output(
        text=text,
        usage=usage_of(lambda: _qwen_usage(answer)),
        session=sessions[-1] if sessions else None,
        error=(reason or text or words(answer.get("subtype")) or NO_WORDS) if failed else "",
    )


def _qwen_usage(answer: Json) -> Usage:
    tokens, models = answer["usage"], answer.get("stats", {}).get("models", {})
    requests = [count(model["api"]["totalRequests"]) for model in models.values() if "api" in model]
    return counted(
        calls=sum(requests) if requests else count(answer["num_turns"]),
        input_tokens=count(tokens["input_tokens"]),
        cached_tokens=count(tokens.get("cache_read_input_tokens", 0)),
        output_tokens=count(tokens["output_tokens"]),
    )


def _opencode(stdout: str, stderr: str) -> Output:
    """Lines; every step has its own counts. The request that invents a title is in none of them."""
    texts, session, error = [], None, ""
    steps: list[Any] = []
    for line in json_lines(stdout):
        session = word(line, "sessionID") or session
        part, kind = line.get("part"), line.get("type")
        if kind == "text" and isinstance(part, dict):
            texts.append(words(part.get("text")))
        elif kind == "step_finish":
            steps.append(part)
        elif kind == "error":
            failure = line.get("error")
            error = json.dumps(failure) if isinstance(failure, dict) else words(failure) or NO_WORDS
    return Output("\n".join(texts), usage_of(lambda: _opencode_usage(steps)), session, error)


def _opencode_usage(steps: list[Any]) -> Usage:
    total = Usage(basis="self-reported")
    for step in steps:
        tokens = step["tokens"]
        read, written = count(tokens["cache"]["read"]), count(tokens["cache"]["write"])
        prompt = count(tokens["input"]) + read + written
        reasoning = count(tokens.get("reasoning", 0))
        output = count(tokens["output"])
        # Whether `output` contains the reasoning depends on the provider; the total settles it where it is given.
        output = count(tokens["total"]) - prompt if "total" in tokens else output + reasoning
        total += counted(1, prompt, read, written, count(output), reasoning, dollars(step.get("cost")))
    # Without a configured price the cost is written as 0.
    return total if total.dollars else dataclasses.replace(total, dollars=None)


DIALECTS: dict[str, Callable[[str, str], Output]] = {
    "text": _text,
    "gemini": _gemini,
    "claude": _claude,
    "codex": _codex,
    "qwen": _qwen,
    "opencode": _opencode,
}
