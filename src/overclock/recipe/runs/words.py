"""A run in words, for the terminal and the page: amounts, times, one line per event."""

from typing import TYPE_CHECKING

from overclock.recipe.runs.cost import NOT_REPORTED, Cost
from overclock.recipe.runs.groups import Group
from overclock.recipe.runs.status import LevelTests, RunStatus, RunTime, short
from overclock.recipe.runs.vocabulary import Event

if TYPE_CHECKING:
    from overclock.recipe.runs.report import RunReport, Sandboxes


def status_lines(status: RunStatus) -> list[tuple[str, str]]:
    """What to show of a status, as pairs of a name and a text."""
    cost = status.cost
    pairs = [
        ("project", _project(status)),
        ("agent", agent_words(status)),
        ("phase", phase_words(status)),
        ("level", None if status.level is None else level_words(status.level)),
        ("iteration", _iteration(status)),
        ("side by side", _side_by_side(status.side_by_side)),
        ("tests", "; ".join(f"{level_words(test.level)} {tests_words(test)}" for test in status.tests)),
        ("tokens", tokens_words(cost)),
        ("cost", dollars_words(cost, status.budget_dollars)),
        ("time", _time(status.time)),
        ("outcome", _outcome(status)),
        ("waits for", status.waits_for),
    ]
    return [(name, one_line(text)) for name, text in pairs if text]


def event_line(event: Event) -> str | None:
    """An event in one line; None for those that are too many to be read."""
    text = _event(event)
    return None if text is None else one_line(text)


def one_line(text: str) -> str:
    """Without line breaks and without what would command a terminal: an agent may have written it."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _event(event: Event) -> str | None:
    facts = event.facts
    match event.kind:
        case "run started":
            return f"run started: {facts['project']} to {facts['target']}, agent {facts['agent']}"
        case "phase started":
            return f"phase {facts['phase']}, {facts['name']}" + (f": {facts['module']}" if facts["module"] else "")
        case "task sent":
            return f"task {facts['task']} sent: {facts['purpose']}"
        case "candidate chosen":
            return f"candidate {facts['number']} of {len(facts['candidates'])} kept: {facts['why']}"
        case "task ended":
            return f"task {facts['task']} {facts['ended']} after {seconds_words(facts['seconds'])}: {facts['reason']}"
        case "candidate frozen":
            return f"candidate {short(facts['candidate'])} frozen: {facts['lines']:,} lines"
        case "judged":
            test = LevelTests(
                facts["level"], facts["verdict"], facts["tests_passed"], facts["tests_total"], facts["candidate"]
            )
            failure = f": {facts['failure']['sentence']}" if facts["failure"] else ""
            return f"{level_words(facts['level'])}: {tests_words(test)}{failure}"
        case "test added":
            return f"test added to {level_words(facts['level'])}: {facts['name']} ({facts['why']})"
        case "help asked":
            return f"help asked: {facts['sentence']} {facts['how']}"
        case "help given":
            return f"help given: {facts['note']}"
        case "optimisation":
            return f"optimisation {'kept' if facts['kept'] else 'not kept'}: {facts['why']}"
        case "measured":
            best = max(facts["sps"].values(), default=0)
            return f"measured: up to {best:,.0f} steps per second on {facts['device']}"
        case "run ended":
            return f"run ended, {facts['outcome']}: {facts['sentence']}"
        case _:
            return None


def agent_words(report: "RunStatus | RunReport") -> str | None:
    """The agent, and how many candidates it makes at a time."""
    several = (report.candidates or 1) > 1
    return f"{report.agent}, {report.candidates} candidates side by side" if several else report.agent


def sandbox_words(sandbox: "Sandboxes") -> dict[str, str]:
    """What held the candidates back, and what the agent; they have different rights."""
    return {
        "candidate": sandbox.candidate or "not recorded",
        "agent": sandbox.agent or "none needed, it starts no program",
    }


def phase_words(status: RunStatus) -> str | None:
    """The phase of a run and its module."""
    if status.phase is None:
        return None
    return f"{status.phase}, {status.phase_name}" + (f": {status.module}" if status.module else "")


def level_words(level: int | str) -> str:
    """A level as it is called: "level 1", "hygiene", "held-out"."""
    return "hygiene" if level == 0 else f"level {level}" if isinstance(level, int) else level


def tests_words(test: LevelTests) -> str:
    """A verdict with its tests, where they were counted."""
    if test.total is None or test.passed is None:
        return test.verdict
    return f"{test.verdict}, {test.passed:,} of {test.total:,}"


def tokens_words(cost: Cost) -> str:
    """Tokens, by whom they were counted, and what is missing in the number; "" where no model was asked."""
    if cost.nothing_used:
        return ""
    if cost.tokens is None:
        return cost.basis if cost.basis == "shared" else NOT_REPORTED
    return f"{_at_least(cost)}{cost.tokens:,} ({cost.basis})"


def dollars_words(cost: Cost, budget: float | None = None) -> str:
    """Dollars, and the budget where there is one; "" where no model was asked."""
    if cost.nothing_used:
        return ""
    of = "" if budget is None else f" of ${budget:,.2f}"
    if cost.dollars is None:
        if cost.basis in ("shared", NOT_REPORTED):
            return f"{cost.basis}{of}"
        return f"the model's price is not known{of}"
    notes = [cost.basis]
    if cost.calls_never_closed:
        notes.append(f"{counted(cost.calls_never_closed, 'call')} without an end at the most it can cost")
    if cost.refused_calls:
        notes.append(f"{counted(cost.refused_calls, 'call')} refused")
    return f"{_at_least(cost)}{amount(cost.dollars)}{of} ({', '.join(notes)})"


def amount(dollars: float) -> str:
    """Dollars with the digits that small amounts need."""
    return f"${dollars:,.2f}" if dollars == 0 or dollars >= 1 else f"${dollars:.4f}"


def seconds_words(seconds: float) -> str:
    """A duration in seconds, minutes or hours."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def counted(number: int, thing: str) -> str:
    """A number of things, with a plural where it is needed."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _at_least(cost: Cost) -> str:
    return "at least " if cost.tasks_not_reported else ""


def _outcome(status: RunStatus) -> str | None:
    """How it ended, and why; what it waits for has a line of its own."""
    repeated = status.outcome is None or status.sentence == status.waits_for
    return status.outcome if repeated else f"{status.outcome}: {status.sentence}"


def _project(status: RunStatus) -> str | None:
    if status.project is None:
        return None
    return f"{status.project}: {status.reference} to {status.target}"


def _iteration(status: RunStatus) -> str | None:
    if status.iteration is None:
        return None
    allowed = status.iterations_allowed
    return f"{status.iteration}" + ("" if allowed is None else f" of {allowed} per level")


def _side_by_side(group: Group | None) -> str | None:
    if group is None:
        return None
    of = f"of {group.candidates}"
    return f"{group.ended} {of} have ended" if group.kept is None else f"number {group.kept} {of} was kept"


def _time(time: RunTime) -> str | None:
    if time.elapsed_s is None:
        return None
    return (
        f"{seconds_words(time.elapsed_s)} (agent {seconds_words(time.agent_s)}, verifier {seconds_words(time.judge_s)})"
    )
