"""What five coding agents print is read into one form; what they do not say is never made up."""

import json
from pathlib import Path

import pytest

from overclock.recipe.agents.outputs import DIALECTS, read_output
from overclock.recipe.gateway.usage import Usage

GOLDEN = Path(__file__).with_name("golden")
COUNTED = ("input_tokens", "output_tokens", "prompt", "candidates", "input", "total", "usage")
PARTS = ("part", "tokens")
FILES = {
    "gemini": "gemini.json",
    "claude": "claude.json",
    "codex": "codex.jsonl",
    "qwen": "qwen.json",
    "opencode": "opencode.jsonl",
}


def golden(name):
    return (GOLDEN / name).read_text()


def counts(calls, inputs, cached, written, outputs, reasoning, dollars=None):
    return Usage(calls, inputs, cached, written, outputs, reasoning, dollars, "self-reported")


@pytest.mark.parametrize(
    ("dialect", "text", "session", "usage"),
    [
        # Two models; the prompt counts its cached part, what tools put in counts as prompt, thoughts count as output.
        ("gemini", "I wrote env.py.", "5f0c7c1e-3f3e-4d9a-9f5e-0d1a2b3c4d5e", counts(3, 2105, 300, 0, 89, 25)),
        # Its input leaves both kinds of cached tokens out.
        (
            "claude",
            "Done: wrote env.py.",
            "0c8f0a52-7c3c-4be1-9b57-1f0ef2a3b4c5",
            counts(2, 2020, 1500, 500, 80, 0, 0.012),
        ),
        ("codex", "Done: wrote the file.", "019a8f3c-0000-7000-8000-00000000c0de", counts(1, 2000, 1200, 100, 64, 16)),
        # Three requests for two turns: one is hidden.
        ("qwen", "Done.", "b3a1f0d2-1111-4222-8333-444455556666", counts(3, 3000, 700, 0, 90, 0)),
        # Two steps, added up.
        ("opencode", "I wrote env.py.", "ses_4f00", counts(2, 2100, 1150, 50, 70, 20, 0.003)),
    ],
)
def test_a_finished_call(dialect, text, session, usage):
    said = read_output(dialect, golden(FILES[dialect]), "")
    assert (said.text, said.session, said.usage, said.error) == (text, session, usage, "")


@pytest.mark.parametrize(
    ("dialect", "stdout", "stderr"),
    [
        ("gemini", "", golden("gemini_refused.stderr")),
        ("claude", golden("claude_refused.json"), ""),
        ("codex", golden("codex_refused.jsonl"), ""),
        ("qwen", golden("qwen_refused.json"), ""),
        ("opencode", golden("opencode_refused.jsonl"), ""),
    ],
)
def test_a_spent_budget_is_recognised_in_every_dialect_and_reports_no_usage(dialect, stdout, stderr):
    said = read_output(dialect, stdout, stderr)
    assert said.status == 402
    assert "budget of this run is spent" in said.error
    assert said.usage is None


def test_a_limit_of_its_own_is_not_an_error_and_a_guessed_price_is_no_price():
    said = read_output("claude", golden("claude_capped.json"), "")
    assert (said.capped, said.error) == ("max_turns", "")
    assert said.usage == counts(10, 200, 0, 0, 90, 0, None)


def test_opencode_without_a_configured_price_has_no_dollars():
    lines = golden("opencode.jsonl").replace('"cost":0.002', '"cost":0').replace('"cost":0.001', '"cost":0')
    said = read_output("opencode", lines, "")
    assert said.usage is not None
    assert said.usage.dollars is None


@pytest.mark.parametrize("dialect", FILES)
@pytest.mark.parametrize(
    "output", ["", "plain words", "{}", "[]", "[1, 2]", '{"type": 7}', "[" * 100_000, "\x00\ufffd{"]
)
def test_output_in_no_dialect_has_no_usage(dialect, output):
    said = read_output(dialect, output, "")
    assert said.usage is None
    assert said.error == ""


def places(value, path=()):
    """Every place inside a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inner:
        yield from places(entry, (*path, key))


def changed(value, path, new):
    """The value with another one at a place; `new=KeyError` takes the place away."""
    if not path:
        return new
    copy = value.copy()
    if len(path) == 1 and new is KeyError:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("dialect", FILES)
def test_no_damage_to_the_output_raises_or_makes_the_usage_smaller(dialect):
    """A missing or misspelt count may make the usage unknown; it must never be read as less than was used."""
    lines = golden(FILES[dialect]).splitlines() if FILES[dialect].endswith("jsonl") else [golden(FILES[dialect])]
    full = read_output(dialect, "\n".join(lines), "").usage
    tried = 0
    for number, line in enumerate(lines):
        start = min(i for i in (line.find("{"), line.find("[")) if i >= 0)
        value = json.loads(line[start:])
        for path in list(places(value))[1:]:
            for new in (KeyError, None, "many", -1, True, [], {}):
                damaged = [*lines]
                damaged[number] = json.dumps(changed(value, path, new))
                usage = read_output(dialect, "\n".join(damaged), "").usage
                tried += 1
                if usage is not None and (path[-1] in COUNTED or (path[-1] in PARTS and "step_finish" in line)):
                    assert usage.input_tokens >= full.input_tokens, (path, new)
                    assert usage.output_tokens >= full.output_tokens, (path, new)
    assert tried > 100


def test_a_program_of_no_dialect_is_quoted():
    assert read_output("text", " all done \n", "").text == "all done"
    assert read_output("text", "x", "").usage is None
    assert set(DIALECTS) == {"text", *FILES}
