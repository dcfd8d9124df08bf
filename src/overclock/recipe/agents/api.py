"""An agent made of a model's API: the model is asked over HTTP, with our file tools, until it calls no more of them."""

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from overclock.errors import MissingError, UsageError
from overclock.files import write_whole
from overclock.recipe.agents.base import Ended, Endpoint, Task, Work
from overclock.recipe.agents.output_fields import UnreadableError
from overclock.recipe.agents.protocols import PROTOCOLS, Answer, Message
from overclock.recipe.agents.tools import Tools
from overclock.recipe.agents.transport import Connection, FailedError, OutOfTimeError
from overclock.recipe.gateway.usage import Usage

MAX_TURNS = 60


class ApiAgent:
    """Asks `model` by one of the two protocols; `check(task)` becomes a tool of the model where it is given.

    A conversation ends with its call, so `Task.session` has no meaning here. With `logs`, the whole conversation is
    kept beside the prompts of other agents.
    """

    def __init__(
        self,
        protocol: str,
        model: str,
        *,
        logs: Path | None = None,
        check: Callable[[Task], str] | None = None,
        max_turns: int = MAX_TURNS,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        if protocol not in PROTOCOLS or not model:
            known = " or ".join(f"api:{name}:MODEL" for name in PROTOCOLS)
            raise UsageError(f"There is no agent 'api:{protocol}:{model}'; write {known}.")
        self.name = f"api:{protocol}:{model}"
        self.protocol, self.model = PROTOCOLS[protocol], model
        self.logs, self.check, self.max_turns, self.pause = logs, check, max_turns, pause
        self._stop = threading.Event()

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        started = time.monotonic()
        where = self._direct() if endpoint is None else endpoint
        connection = Connection(
            _root(where.base_url) + self.protocol.path,
            self.protocol.headers(where.api_key),
            started + task.wall_seconds,
            self._stop,
            self.pause,
        )
        messages, answers, status = self.protocol.start(task.prompt), [], None
        try:
            ended, reason = self._converse(task, connection, messages, answers)
        except OutOfTimeError:
            stopped = self._stop.is_set()
            ended: Ended = "crashed" if stopped else "timeout"
            reason = f"{self.name} was stopped {'on request' if stopped else f'after {task.wall_seconds:g} s'}."
            answers.append(None)  # a question without an answer may still have been charged
        except FailedError as error:
            ended, reason, status = "refused" if error.refused else "crashed", str(error), error.status
        finally:
            if self.logs is not None:
                text = json.dumps(messages, indent=1, ensure_ascii=False)
                write_whole(self.logs / f"{task.file_stem}.conversation.json", text.encode(errors="replace"))
        texts = [answer.text for answer in answers if answer is not None and answer.text]
        seconds = time.monotonic() - started
        return Work(ended, reason, texts[-1] if texts else "", _sum(answers), seconds, status=status)

    def stop(self) -> None:
        """End the running call before its next request; may be called from another thread. Later calls end at once."""
        self._stop.set()

    def _converse(
        self, task: Task, connection: Connection, messages: list[Message], answers: list[Answer | None]
    ) -> tuple[Ended, str]:
        check = self.check
        tools = Tools(task.folder, None if check is None else lambda: check(task))
        for _ in range(self.max_turns):
            body = connection.ask(self.protocol.request(self.model, messages, tools.descriptions()))
            try:
                answer = self.protocol.answer(body)
            except UnreadableError:
                answers.append(None)
                return "crashed", "The model's answer has a form that its protocol does not know."
            answers.append(answer)
            messages.append(answer.message)
            if not answer.calls:
                cut = ", though its last answer was cut at its longest length" if answer.cut else ""
                return "finished", f"{self.name} had nothing more to do{cut}."
            messages += self.protocol.results([(c, *tools.call(c.name, c.arguments)) for c in answer.calls])
        return "finished", f"{self.name} stopped at its limit of {self.max_turns} turns."

    def _direct(self) -> Endpoint:
        key = os.environ.get(self.protocol.key_variable)
        if not key:
            raise MissingError(f"The agent '{self.name}' needs an API key; set {self.protocol.key_variable}.")
        return Endpoint(os.environ.get(self.protocol.url_variable) or self.protocol.host, key)


def _root(base_url: str) -> str:
    """The base URL without its version, with and without which users write it."""
    return base_url.rstrip("/").removesuffix("/v1")


def _sum(answers: list[Answer | None]) -> Usage | None:
    """The usage of all answers; None if one of them does not report it, because the sum would be too small."""
    total = Usage(dollars=None, basis="self-reported")
    for answer in answers:
        if answer is None or answer.usage is None:
            return None
        total += answer.usage
    return total if answers else None
