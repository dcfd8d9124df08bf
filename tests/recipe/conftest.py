"""What tests of whole runs share."""

import pytest


@pytest.fixture
def without_hygiene(monkeypatch):
    """Hygiene has tests of its own, and compiles everything once more."""
    from overclock.recipe.judging.judge import Judge
    from overclock.recipe.judging.verdict import HYGIENE, Verdict

    judge = Judge.judge

    def judged(self, frozen, level, *given):
        return Verdict(HYGIENE, "pass", 1, 1) if level == HYGIENE else judge(self, frozen, level, *given)

    monkeypatch.setattr(Judge, "judge", judged)


@pytest.fixture(autouse=True)
def not_as_used(request, monkeypatch):
    """The last thing that is asked compiles everything once more; the tests of the judge and of the red team ask it."""
    if not {"judging", "redteam"} & set(request.path.parts):
        monkeypatch.setattr("overclock.recipe.judging.judge.Judge._for_users", lambda *_: iter(()))


@pytest.fixture(autouse=True)
def unready(request, monkeypatch):
    """Most projects here are made up: their references cannot be played before a run. Ask for `ready` otherwise."""
    if "ready" not in request.fixturenames:
        monkeypatch.setattr("overclock.recipe.loop.translate.require_ready", lambda project, scenarios: None)


@pytest.fixture
def ready():
    """A run begins only if its reference can be played."""
