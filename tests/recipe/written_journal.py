"""A journal written by hand: a sign error that level 1 catches, a counter that level 2 catches, then all pass."""

import dataclasses
import hashlib
import json

from overclock.recipe.gateway.usage import Usage
from overclock.recipe.runs.run import Run

SIGN = b"def step(x):\n    return x - 1\n"
COUNTER = b"def step(x):\n    return x + 1\n"
RIGHT = b"def step(x):\n    return x + 1\n\n\ndef reset():\n    return 0\n"


def about(**changes):
    facts = {
        "project": "houses/cartpole", "reference": "gymnasium:CartPole-v1", "target": "jax", "agent": "scripted",
        "budget_dollars": 2.0, "levels": [1, 2, 3, 4], "limits": {"iterations": 50}, "versions": {"python": "3.11"},
        "candidate_sandbox": "bubblewrap", "agent_sandbox": "landlock",
    }  # fmt: skip
    return facts | changes


def failure(level, sentence, **more):
    return {"level": level, "module": None, "field": None, "step": None, "sentence": sentence, **more}


class JournalWriter:
    """Writes a run's events with what they need; `meter` is how tokens become known."""

    def __init__(self, run, meter="gateway"):
        self.run, self.journal, self.meter = run, run.journal, meter
        self.calls = 0

    def text(self, words):
        return self.journal.store(words.encode())

    def start(self, **changes):
        self.journal.append("run started", **about(**changes))

    def phase(self, number, name, module=None):
        self.journal.append("phase started", phase=number, name=name, module=module)

    def call(self, tokens=1000, dollars=0.25, status=200, close=True, reserved=0.5):
        self.calls += 1
        name = f"call-{self.run.folder.name}-{self.calls}"  # a real gateway's ids differ from run to run
        if status == 200:
            self.journal.append("call opened", call=name, dialect="gemini", model="m", reserved_dollars=reserved)
        if close:
            counted = Usage(calls=1, input_tokens=tokens - 100, output_tokens=100, dollars=dollars)
            usage = dataclasses.asdict(counted if status == 200 else Usage())
            self.journal.append("call closed", call=name, status=status, usage=usage, exchange=self.text(name))

    def task(self, task, level, purpose="repair", iteration=1, module=None, ended="finished", told=None, **more):
        self.journal.append(
            "task sent", task=task, purpose=purpose, level=level, module=module, iteration=iteration,
            prompt=self.text(f"do {task}"),
        )  # fmt: skip
        if self.meter == "gateway":
            self.call()
        elif self.meter == "agent":
            told = dataclasses.asdict(Usage(3, 800, 0, 0, 200, 0, 0.125, basis="self-reported"))
        seconds = more.get("seconds", 2.5)
        self.journal.append(
            "task ended", task=task, ended=ended, reason=more.get("reason", "It stopped."), seconds=seconds,
            usage=told, session=f"session of {self.run.folder.name}", text=self.text("Done."),
        )  # fmt: skip

    def freeze(self, task, **files):
        named = {name.replace("__", "/") + ".py": content for name, content in files.items()}
        names = {path: self.journal.store(content) for path, content in named.items()}
        candidate = hashlib.sha256(json.dumps(names, sort_keys=True).encode()).hexdigest()
        lines = sum(content.count(b"\n") for content in named.values())
        self.journal.append("candidate frozen", candidate=candidate, files=names, task=task, lines=lines)
        return candidate

    def judge(self, candidate, level, verdict="pass", passed=5, total=5, failure=None, report=None, seconds=1.5):
        stored = None if report is None else self.journal.store(json.dumps(report).encode())
        self.journal.append(
            "judged", candidate=candidate, level=level, verdict=verdict, seconds=seconds, tests_passed=passed,
            tests_total=total, failure=failure, report=stored,
        )  # fmt: skip

    def end(self, outcome="done", sentence="All levels pass."):
        self.journal.append("run ended", outcome=outcome, sentence=sentence)


def write_until_sign_error(story):
    """As far as the first failure."""
    story.start()
    story.phase(1, "modules", "physics")
    story.task("t1", 1, "translate", module="physics")
    first = story.freeze("t1", env=SIGN)
    story.judge(first, 0, passed=None, total=None)
    wrong = failure(1, "physics.step returns -1 where the reference returns 1.", module="physics", field="x")
    story.judge(first, 1, "fail", 3, failure=wrong)
    return first


def write_whole_run(story, date="today", seconds=1.5, sps=1e6):
    """All events of a run; dates, seconds and speeds are what a second machine would not repeat."""
    first = write_until_sign_error(story)
    story.task("t2", 1, iteration=2, module="physics", seconds=seconds)
    second = story.freeze("t2", env=COUNTER)
    story.judge(second, 1, seconds=seconds)
    story.phase(2, "integration")
    counter = failure(2, "The step counter survives a reset.", field="steps", step=1)
    story.judge(second, 2, "fail", 1, 2, failure=counter)
    story.journal.append(
        "test added", level=1, name="test_counter", why="level 2 failed", file=story.text("def test(): ...")
    )
    story.task("t3", 2, iteration=1, seconds=seconds)
    third = story.freeze("t3", env=RIGHT)
    story.judge(third, 1, passed=6, total=6)
    story.judge(third, 2, passed=2, total=2)
    story.phase(3, "rollout")
    story.journal.append("seeds drawn", candidate=third, purpose="level 3", seed=1234)
    report = {"schema": "overclock.verify/1", "verdict": "pass", "levels": [], "date": date}
    story.judge(third, 3, passed=10, total=10, report=report, seconds=seconds)
    story.phase(4, "transfer")
    story.judge(third, 4, passed=1, total=1)
    story.judge(third, "held-out", passed=None, total=None)
    story.journal.append("measured", candidate=third, sps={32: sps, 8192: 10 * sps}, device="cpu")
    story.end()
    return first, second, third


def finished_run(folder, meter="gateway", **options):
    """A finished run, closed; with the hashes of its candidates."""
    with Run.create(folder, {"project": "cartpole"}) as run:
        return write_whole_run(JournalWriter(run, meter), **options)
