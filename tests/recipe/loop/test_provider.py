"""A task that no call of a model was answered for was refused by the provider, whatever its agent says about it."""

import pytest

from overclock.recipe.agents.base import Work
from overclock.recipe.gateway import Gateway, Prices
from overclock.recipe.gateway.backend import Answer, UnansweredError
from overclock.recipe.loop.provider import unanswered
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.recorder import JournalRecorder

httpx = pytest.importorskip("httpx", reason="calls over HTTP need the extra agents")
BODY = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "do it"}]}


class Failing:
    """A provider that answers with these statuses, one after the other; 0 is none that can be reached."""

    secrets = ()

    def __init__(self, *statuses):
        self.statuses = list(statuses)

    def answer(self, call):
        status = self.statuses.pop(0)
        if not status:
            raise UnansweredError("Cannot reach http://models: refused.", paid=False)
        error = b'{"error": {"type": "api_error", "message": "Internal server error"}}'
        return Answer(status, "application/json", iter([error if status >= 400 else b"{}"]))

    def close(self):
        pass


def ended(tmp_path, *statuses, work=Work("finished", "It ended by itself.")):
    with Journal(tmp_path / "journal.sqlite") as journal:
        prompt = journal.store(b"do it")
        journal.append("task sent", task="1", purpose="translate", level=1, module=None, iteration=0, prompt=prompt)
        with Gateway(Failing(*statuses), prices=Prices((), None), recorder=JournalRecorder(journal)) as gateway:
            for _ in statuses:
                httpx.post(f"{gateway.base_url('anthropic')}/v1/messages", json=BODY, trust_env=False)
        return unanswered(work, "1", journal)


def test_errors_of_the_provider_are_named_with_their_number(tmp_path):
    work = ended(tmp_path, 500, 500, 503)
    assert (work.ended, work.status) == ("refused", 500)
    assert work.reason == "The model's provider fails: it answered 500 to 2 of 3 calls (Internal server error)"


def test_one_that_cannot_be_reached_is_named_as_well(tmp_path):
    work = ended(tmp_path, 0)
    assert work.ended == "refused"
    assert "502 to the only call (Cannot reach http://models: refused.)" in work.reason


@pytest.mark.parametrize("statuses", [(), (200, 500), (500, 200), (500, 400)])
def test_an_agent_that_was_answered_or_asked_wrongly_is_judged_by_its_work(tmp_path, statuses):
    assert ended(tmp_path, *statuses).ended == "finished"
