"""The three files of a run's report: the same facts, nothing fetched, nothing of an agent's taken for markup."""

import dataclasses
import html.parser
import json
import re
import shutil
import subprocess

import pytest

pytest.importorskip("jinja2", reason="the page needs the extra 'report'")

from level_results import episodes, module, properties, rollouts, scenarios, walk
from recipe.written_journal import JournalWriter, failure, finished_run, write_until_sign_error

from overclock.recipe.gateway.usage import Usage
from overclock.recipe.judging.verdict import ComparedFunction, FunctionsGate, FunctionsLevel
from overclock.recipe.runs import page as run_page
from overclock.recipe.runs.page import html as page_of
from overclock.recipe.runs.page import markdown, write_run_report
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.status import status
from overclock.recipe.runs.words import status_lines
from overclock.results import encode

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = "<script>alert(1)</script> & | \"quoted\" 'too'"


@pytest.fixture
def report(tmp_path):
    finished_run(tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        return run_report(run)


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.links = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "line", "circle", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_fetches_nothing(report):
    text = page_of(report)
    tags = Tags(text)
    assert tags.open == []
    assert tags.links == ["candidate/env.py"]  # beside the page
    assert "script" not in tags.seen
    assert not re.search(r"https?://|@import|url\(", text)
    assert 'name="viewport"' in text


def test_the_page_tells_the_story(report):
    text = page_of(report)
    for words in (
        "cartpole", "done", "All levels pass.", "3,000 (metered)", "$0.7500 of $2.00", "physics.step returns -1",
        "The step counter survives a reset.", "candidate&#39;s sandbox: bubblewrap", "landlock", "test_counter",
        "10,000,000", "<polyline",
        "<del>-    return x - 1</del>", "<ins>+    return x + 1</ins>",
    ):  # fmt: skip
        assert words in text, words
    assert "UNSANDBOXED" not in text


def test_markdown_says_the_same_in_short(report):
    text = markdown(report)
    assert text.startswith("# cartpole: done\n")
    assert "| t2 | repair | physics | finished |" in text
    assert "The step counter survives a reset." in text


def seen_by_levels(tmp_path, *reports):
    """The report of a run whose levels, from 1 on, left these reports."""
    with Run.create(tmp_path / "seen", {}) as run:
        story = JournalWriter(run)
        story.start()
        story.task("t1", 1, "translate")
        candidate = story.freeze("t1", env=b"x = 1\n")
        for number, one in enumerate(reports, 1):
            story.judge(candidate, number, report=encode(one))
        story.end()
        return run_report(run)


PROPERTY = properties(module("physics", recorded=13_000, boundary=22))
SCENARIOS = scenarios("one", "other")
ROLLOUTS = rollouts(episodes(), exhaustive=walk(notes=["the step counter was held at 0"]))


def test_page_and_markdown_say_what_every_level_saw(tmp_path):
    report = seen_by_levels(tmp_path, PROPERTY, SCENARIOS, ROLLOUTS)
    for text in (page_of(report), markdown(report)):
        for words in (
            "1 modules, 13,022 recorded and boundary cases", "2 scenarios, no metamorphic checks",
            "7 episodes, 70 steps",
            "1,200 states x 4 actions: proven in float64 for every reachable state, action and drawn number (the time "
            "limit and how numbers are drawn are not part of it)",
            "About the walk over every state: the step counter was held at 0.",
        ):  # fmt: skip
            assert words in text, words


def test_a_walk_that_is_no_proof_is_not_called_one(tmp_path):
    walked = rollouts(episodes(), exhaustive=walk(proof=False, notes=["steps are random"]))
    text = page_of(seen_by_levels(tmp_path, PROPERTY, SCENARIOS, walked))
    assert "exhaustive: 1200 states x 4 actions, all equal" in text
    assert "About the walk over every state: steps are random." in text
    assert "proven" not in text


def test_functions_judged_before_there_is_an_environment_have_a_line_of_their_own(tmp_path):
    functions = [ComparedFunction(name="physics", comparisons=[])]
    gate = FunctionsGate(passed=True, missing=[])
    part = FunctionsLevel(verdict="pass", modules=functions, first_failure=None, gate=gate, not_checked={})
    assert "1 function of one module" in page_of(seen_by_levels(tmp_path, part))


def test_the_files_are_written_whole(report, tmp_path):
    (tmp_path / "run" / "report.html").write_text("old")
    page = write_run_report(tmp_path / "run", report)
    assert page == tmp_path / "run" / "report.html"
    assert page.read_text() == page_of(report)
    assert (tmp_path / "run" / "report.md").read_text() == markdown(report)
    assert json.loads((tmp_path / "run" / "report.json").read_text()) == encode(report)
    assert not list((tmp_path / "run").glob(".*.part"))


def evil(tmp_path):
    """A run in which everything that an agent or a user names is markup."""
    with Run.create(tmp_path / "evil", {}) as run:
        story = JournalWriter(run)
        named = {"project": EVIL.replace("/", ""), "agent": EVIL, "reference": EVIL, "versions": {EVIL: EVIL}}
        story.start(**named, candidate_sandbox="none")
        story.phase(1, "modules", EVIL)
        story.task(EVIL, 1, EVIL, module=EVIL, ended=EVIL)
        candidate = story.freeze(EVIL, env=EVIL.encode())
        wrong = failure(1, EVIL, module=EVIL, field=EVIL, step=1)
        story.judge(candidate, 1, "fail", 1, 2, failure=wrong)
        story.journal.append("test added", level=1, name=EVIL, why=EVIL, file=story.text(EVIL))
        story.journal.append("measured", candidate=EVIL, sps={1: 2.0}, device=EVIL)
        story.journal.append("help asked", level=1, sentence=EVIL, how=EVIL)
        story.journal.append("help given", note=EVIL)
        story.end("stuck", EVIL)
        return run_report(run)


def test_nothing_that_an_agent_wrote_becomes_markup(tmp_path):
    text = page_of(evil(tmp_path))
    tags = Tags(text)
    assert tags.open == []
    assert "script" not in tags.seen
    assert text.count("&lt;script&gt;") >= 12


def test_an_open_door_is_written_in_large_letters(tmp_path):
    report = evil(tmp_path)
    assert '<div class="card alarm"><p><strong>UNSANDBOXED' in page_of(report)
    assert "**UNSANDBOXED" in markdown(report)


def test_unfinished_and_unmetered_runs_have_a_page(tmp_path):
    with Run.create(tmp_path / "empty", {}) as run:
        assert "The run has not ended." in page_of(run_report(run))
    with Run.create(tmp_path / "run", {}) as run:
        write_until_sign_error(JournalWriter(run, meter=None))
        text = page_of(run_report(run))
    assert "not reported" in text
    assert "$0.0" not in text
    assert "nobody yet" in text


def test_where_no_model_was_asked_nothing_is_said_about_tokens_and_dollars(tmp_path):
    with Run.create(tmp_path / "run", {}) as run:
        story = JournalWriter(run, meter=None)
        story.start(agent="built-in")
        story.task("t1", 1, "translate", told=dataclasses.asdict(Usage(basis="self-reported")))
        story.judge(story.freeze("t1", env=b"x = 1\n"), 1)
        story.end()
        report = run_report(run)
        lines = dict(status_lines(status(run.journal)))
    for text in (page_of(report), markdown(report)):
        assert "1 task; no level caught anything." in text
        for word in ("oken", "$", "dollars", "<polyline"):
            assert word not in text, word
    assert not {"tokens", "cost"} & lines.keys()


def test_a_long_diff_is_cut_on_the_page_and_whole_in_the_numbers(report, monkeypatch):
    monkeypatch.setattr(run_page, "DIFF_LINES", 3)
    text = page_of(report)
    assert "3 more lines are in report.json" in text
    assert "return x + 1" in report.iterations[1].diff


@pytest.mark.skipif(BROWSER is None, reason="no Chromium to look at the page with")
@pytest.mark.parametrize("make", [evil, None])
def test_on_a_phone_nothing_sticks_out(report, tmp_path, make):
    text = page_of(report if make is None else make(tmp_path))
    inner = json.dumps(text).replace("</", "<\\/")
    viewer = f"""<!doctype html><body><script>
    const frame = document.createElement("iframe");
    frame.style.cssText = "width: 360px; height: 900px; border: 0";
    frame.onload = () => {{
      const inside = frame.contentDocument;
      inside.querySelectorAll("summary").forEach(one => one.click());
      const curve = inside.querySelector("figure.curve svg").getBoundingClientRect().height;
      document.title = JSON.stringify([inside.documentElement.scrollWidth, Math.round(curve)]);
    }};
    frame.srcdoc = {inner};
    document.body.append(frame);
    </script></body>"""
    (tmp_path / "viewer.html").write_text(viewer)
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--hide-scrollbars", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
    ]  # fmt: skip
    command = [str(BROWSER), *flags, (tmp_path / "viewer.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    width, curve = json.loads(re.search(r"<title>(.*?)</title>", done.stdout)[1])
    assert width <= 360
    assert curve > 100
