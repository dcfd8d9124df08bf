"""A model that follows a script, in all four dialects: real agents can be driven by it without a network."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from overclock.recipe.gateway.backend import JSON_TYPE, Answer, CutError, error_body
from overclock.recipe.gateway.call import Call
from overclock.recipe.gateway.dialects.base import Entry
from overclock.recipe.gateway.reader import EVENT_STREAM
from overclock.recipe.gateway.scripted.answers import WRITERS, Reply
from overclock.recipe.gateway.scripted.script import Step, Turn, Write, fitting, tool_call
from overclock.recipe.gateway.tokens import Tokens

SHORT_TEXT = "OK"  # for what agents ask on the side: titles, topics, summaries
PAUSE_SECONDS = 1.0


class ScriptedModel:
    """Chooses a turn by the prompt, and its next step by the number of tool results since that prompt.

    Nothing is remembered between calls: the state is the conversation that the agent sends, so that agents may run in
    parallel, be killed and be resumed. `choose` gets the text of everything that was said to the model since it last
    ended a turn, and returns None for what the script does not cover. Paths are relative to `folder`, the agent's
    working directory as the agent sees it. Every answer reports the same `tokens`, so that costs are known beforehand.
    """

    secrets: tuple[str, ...] = ()

    def __init__(
        self,
        choose: Callable[[str], Turn | None],
        folder: Path,
        tokens: Tokens = Tokens(input=1000, output=100),
        pause: Callable[[], None] = lambda: time.sleep(PAUSE_SECONDS),
    ) -> None:
        self._choose, self._folder, self._tokens, self._pause = choose, folder, tokens, pause

    def answer(self, call: Call) -> Answer:
        """Answer one call as the script says, in the format of its provider."""
        if call.operation == "count":
            return Answer(200, JSON_TYPE, iter([_json(WRITERS[call.dialect.name].counted(self._tokens.input))]))
        said = list(call.dialect.conversation(call.json))
        prompt, done = _current(said)
        turn = self._choose(prompt)
        fault = turn.fault if turn else None
        if fault == "unauthorized":
            return _problem(401, "The script says that this key is not valid.")
        if fault == "server_error":
            return _problem(500, "The script says that the server fails.")
        reply = self._reply(call, turn, done, number=1 + sum(entry.kind != "prompt" for entry in said))
        writer = WRITERS[call.dialect.name]
        pieces = list(writer.events(reply)) if call.streams else [_json(writer.answer(reply))]
        if fault == "drop":
            pieces = pieces[: len(pieces) // 2]
        return Answer(200, EVENT_STREAM if call.streams else JSON_TYPE, self._spoken(pieces, fault))

    def close(self) -> None:
        """Do nothing: a script holds no connection."""

    def _reply(self, call: Call, turn: Turn | None, done: int, number: int) -> Reply:
        tools = list(call.dialect.tools(call.json))
        schema = WRITERS[call.dialect.name].wanted_schema(call.json)
        steps = turn.steps() if turn else []
        if schema is not None:
            text = json.dumps(fitting(schema))
        elif turn is None or (steps and not tools):
            text = SHORT_TEXT
        else:
            step = _next_step(turn, steps, done)
            if step is None:
                text = turn.text
            elif made := tool_call(step, tools, self._folder, self._exists(step)):
                return Reply(call.model, self._tokens, number, tool=made[0], arguments=made[1])
            else:
                text = f"No tool on offer can do this: {step}"
        return Reply(call.model, self._tokens, number, text=text)

    def _exists(self, step: Step) -> bool:
        return isinstance(step, Write) and (self._folder / step.path).exists()

    def _spoken(self, pieces: list[bytes], fault: str | None) -> Iterator[bytes]:
        for piece in pieces:
            if fault == "slow":
                self._pause()
            yield piece
        if fault == "drop":
            raise CutError("the script says that the connection breaks")


def _current(said: list[Entry]) -> tuple[str, int]:
    """The prompt that is being worked on, and how many tool results it has led to."""
    start = max((index + 1 for index, entry in enumerate(said) if entry.kind == "final"), default=0)
    prompt = "\n".join(entry.text for entry in said[start:] if entry.kind == "prompt")
    return prompt, sum(entry.kind == "result" for entry in said[start:])


def _next_step(turn: Turn, steps: list[Step], done: int) -> Step | None:
    if turn.fault == "loop" and steps:
        return steps[done % len(steps)]
    return steps[done] if done < len(steps) else None


def _problem(status: int, message: str) -> Answer:
    return Answer(status, JSON_TYPE, iter([error_body(status, "scripted", message)]))


def _json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode()
