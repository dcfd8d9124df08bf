"""Candidates made side by side, as the report and the status show them."""

from recipe.scripted_run import TRANSLATE, env, needs_git, three_candidates

from overclock.recipe.runs.groups import Group
from overclock.recipe.runs.page import markdown
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.status import status, status_of
from overclock.recipe.runs.words import event_line, status_lines

pytestmark = needs_git
GOOD = env("speed=100")


def test_the_report_tells_which_was_kept_and_why(tmp_path):
    story = three_candidates(
        tmp_path, [env("1=fail"), env("2=fail"), env("0=fail")], tasks={"repair-1-level-2": [GOOD, {}, {}]}
    )
    assert story.go() == "done"
    found = story.report()
    assert found["candidates"] == 3
    first, second = found["choices"]
    assert (first["task"], first["number"], first["of"]) == ("001-translate-rules", 2, 3)
    assert first["why"] == "It passes 2 of 5 levels, and no other as many."
    assert second["number"] == 1
    rows = {row["task"]: row for row in found["iterations"]}
    for name in TRANSLATE:  # each began with nothing
        assert rows[name]["diff"].startswith("--- /dev/null\n+++ b/env.py")
    assert "-2=fail\n+speed=100\n" in rows["002-repair-1-level-2.1"]["diff"]
    assert rows["002-repair-1-level-2.2"]["diff"] == ""
    caught = {entry["task"]: entry for entry in found["caught"]}
    assert caught[TRANSLATE[1]]["repaired_by"]["task"] == "002-repair-1-level-2.1"
    assert (caught[TRANSLATE[0]]["repaired_by"], caught[TRANSLATE[0]]["kept"]) == (None, False)
    kept = {choice["candidate"] for choice in found["choices"]}
    assert {point["candidate"] for point in found["curve"]} == kept
    with Run.open(story.run) as run:
        assert "| 001-translate-rules | 2 of 3 |" in markdown(run_report(run))


def test_the_status_shows_how_many_have_ended_and_which_was_kept(tmp_path):
    story = three_candidates(tmp_path, [env("1=fail"), GOOD, env("2=fail")])
    story.go()
    events = story.events()
    last = max(event.number for event in events if event.kind == "task sent")
    during = status_of(events[:last], True, 0.0)
    assert during.side_by_side == Group("001-translate-rules", candidates=3, ended=0, kept=None)
    assert during.waits_for == f"The agent (scripted), at task {', '.join(TRANSLATE)}: translate."
    assert dict(status_lines(during))["side by side"] == "0 of 3 have ended"
    with Run.open(story.run) as run:
        after = status(run.journal)
    lines = dict(status_lines(after))
    assert lines["side by side"] == "number 2 of 3 was kept"
    assert lines["agent"] == "scripted, 3 candidates side by side"
    assert {test.verdict for test in after.tests} == {"pass"}  # those of the two others do not count
    (chosen,) = story.events("candidate chosen")
    assert after.candidate == chosen.facts["candidate"]
    assert event_line(chosen) == "candidate 2 of 3 kept: It passes 5 of 5 levels, and no other as many."
