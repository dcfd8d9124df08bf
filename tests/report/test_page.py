"""The page at the end of a run: self-contained, honest about failure and about what it does not show."""

import json
import math
import re
from html import unescape

import pytest

pytest.importorskip("jinja2", reason="the page needs the extra 'report'")
pytest.importorskip("matplotlib", reason="the page needs the extra 'report'")

from report.reading import html, markdown, write_report
from schema_checks import require_valid

from overclock.results import encode

LARGEST = 1_000_000  # bytes; a page that is mailed around


def words(page):
    """What a reader sees, without tags."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)))


def level(report, number):
    return next(one for one in report["levels"] if one["level"] == number)


def row(page, first_cell):
    """The cells of the table row that begins with a text."""
    found = re.search(
        rf'<tr[^>]*><td class="\w+" data-name="[^"]*">{re.escape(first_cell)}</td>.*?</tr>', page, re.DOTALL
    )
    assert found is not None, first_cell
    return found[0]


# ---- the page as a file ----


def test_the_page_fetches_nothing_and_is_small(passed, measured):
    page = html(passed, measured)
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']+""", page)
    assert not re.findall(r"url\((?!#)|@import|<script", page)
    assert len(page) < LARGEST


def test_text_from_reports_is_escaped(passed):
    level(passed, 1)["modules"][0]["name"] = "<b>module</b>"
    level(passed, 2)["scenarios"][0]["why"] = "<script>alert(1)</script>"
    passed["contract"]["float64"][0]["reason"] = "because <floats> round"
    level(passed, 4)["groups"][0]["strength"] = "<i>strong</i>"
    passed["adequacy"]["survivors"][0]["after"] = "x = 1 if a < b else '<u>'"
    page = html(passed, None)
    assert not re.findall(r"<script|<b>|<i>|<u>|<floats>", page)
    assert "because &lt;floats&gt; round" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_three_files_say_the_same(tmp_path, passed, measured):
    page = write_report(tmp_path / "run", passed, measured)
    assert sorted(path.name for path in page.parent.iterdir()) == ["report.html", "report.json", "report.md"]
    numbers = json.loads((page.parent / "report.json").read_text())
    assert numbers["verify"] == passed
    require_valid(numbers, "overclock.report/1")
    assert numbers["bench"]["schema"] == "overclock.bench/1"
    short = (page.parent / "report.md").read_text()
    for fact in ("levels 1 to 4 passed", "fewer than 2.95% of random episodes", "312 of 316", "coverage-guided"):
        assert fact in short
        assert fact in words(page.read_text())


def test_an_infinite_error_is_shown_and_the_json_stays_strict(tmp_path, level_3_failed):
    level(level_3_failed, 3)["comparisons"][0]["fields"][0]["largest_error"] = math.inf
    page = write_report(tmp_path, level_3_failed, None)
    assert "infinite" in page.read_text()

    def refuse(constant):
        raise AssertionError(constant)

    json.loads((tmp_path / "report.json").read_text(), parse_constant=refuse)


def test_a_failed_write_keeps_the_old_report_whole(tmp_path, monkeypatch, passed, failed):
    page = write_report(tmp_path / "run", passed, None)
    before = page.read_text()
    monkeypatch.setattr("overclock.report.page.markdown", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(tmp_path / "run", failed, None)
    assert page.read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_benchmark_alone_has_a_page(measured):
    page = html(None, measured)
    assert "How fast is it?" in page
    assert "What this does not show" not in page


# ---- what it says ----


def test_a_pass_names_levels_bound_speed_and_contract(passed, measured):
    seen = words(html(passed, measured))
    assert "cartpole-v1 equals gymnasium:CartPole-v1 in all that was compared: levels 1 to 4 passed." in seen
    assert "At 95 % confidence fewer than 2.95% of random episodes diverge." in seen
    assert "agrees with itself in 3 runs with the same randomness" in seen
    assert "state.x, state.x_dot, state.theta, state.theta_dot float64 1e-15 1e-12 XLA's sin and cos" in seen
    assert "reward, terminated, truncated, state.steps float64 0 0 equal bit for bit" in seen
    assert "How fast is it?" in seen
    assert "shortest episode" not in seen


def test_level_1_shows_cases_errors_gate_and_coverage(passed):
    page = html(passed, None)
    assert [*re.findall(r"<td[^>]*>([^<]*)</td>", row(page, "dynamics"))][:5] == [
        "dynamics", "2,080", "794", "6,944", "3.6e-15 (x), allowed 1e-15 + 4.4e-16 of the value",
    ]  # fmt: skip
    seen = words(page)
    assert "All 2 public functions of the performance side were run" in seen
    assert "reference 36 of 40 (90 %) 9 of 10 (90 %)" in seen
    assert "performance 27 of 27 (100 %) 2 of 2 (100 %)" in seen


def test_level_1_calls_a_distance_of_distributions_by_its_name(passed):
    fields = level(passed, 1)["modules"][0]["comparisons"][0]["fields"]
    sample = {"compared": 110, "reason": "samples", "passed": True}
    fields.append({**sample, "name": "x", "largest_error": 0.05, "tolerance": 0.082})
    fields.append({**sample, "name": "dependence", "largest_error": 0.062, "tolerance": 0.083})
    page = html(passed, None)
    assert "0; distance of distributions 0.062 (dependence), allowed 0.083" in row(page, "draw")
    assert "draw.dependence (distribution)" in page


def test_a_tolerance_that_is_relative_alone_says_so(passed):
    assert "7.5e-10 (low), allowed 6e-08 of the value" in words(html(passed, None))


def test_coverage_that_a_planted_bug_prevents_says_why(failed):
    seen = words(html(failed, None))
    assert "performance - - not measured: overclock.envs.cartpole.env was changed in memory to plant a bug" in seen


def test_a_function_that_no_case_runs_is_named(passed):
    level(passed, 1).update(verdict="fail")
    level(passed, 1)["gate"].update(passed=False, not_exercised=["env:CartPole.forgotten"])
    passed["verdict"] = "fail"
    seen = words(html(passed, None))
    assert "Not run by any case: env:CartPole.forgotten." in seen
    assert "level 1 (property) failed; not exercised: env:CartPole.forgotten." in seen


def test_a_distribution_that_differs_needs_no_case(failed):
    level(failed, 1)["first_failure"] = {
        "module": "draw", "precision": "float64", "field": "x", "case": None, "error": 0.5, "tolerance": 0.1,
        "compared": 100,
    }  # fmt: skip
    assert "draw.x in float64. distance 0.5, allowed 0.1." in words(html(failed, None))


def test_level_2_shows_scenarios_deviations_and_checks(passed):
    seen = words(html(passed, None))
    assert "2 of 2 scripted scenarios" in seen
    assert "Documented deviation in swings-back . Gymnasium calls steps after termination undefined" in seen
    assert "2 of 2 metamorphic checks hold" in seen


def test_a_scenario_that_fails_says_where(passed):
    passed["verdict"] = level(passed, 2)["verdict"] = level(passed, 2)["scenarios"][0]["verdict"] = "fail"
    level(passed, 2)["scenarios"][0]["first_mismatch"] = {
        "precision": "float32", "mode": "per_step", "step": 4, "field": "state.x", "reference": 1.0,
        "performance": 2.0, "error": 1.0, "tolerance": 0.0, "state_before": {}, "action": 1,
    }  # fmt: skip
    page = html(passed, None)
    assert "state.x after step 4 (float32, per step): reference 1.0, performance 2.0" in words(page)
    assert "<details open><summary>Scenarios" in page


def test_level_3_shows_what_guided_play_reached_and_missed(passed):
    seen = words(html(passed, None))
    assert "Guided play reached 3 of 6 branch outcomes" in seen
    assert "`self.action_space.contains(action)` is false" in seen


@pytest.fixture
def walk(monkeypatch):
    """An exhaustive walk over a frozen lake, both sides in this process."""
    pytest.importorskip("gymnasium", reason="the lake is Gymnasium's")
    from verify import worlds

    from overclock.env import registry
    from overclock.verify.exhaustive.walk import explore

    monkeypatch.setattr(registry, "_registry", dict(registry._registry))

    def walked(params=None, **limits):
        lake = worlds.lake(4, params)
        sides = [registry.load(s.entry_point)(16, **dict(s.options)) for s in (lake.reference, lake.performance)]
        return encode(explore(lake, "float32", *sides, **limits))

    return walked


@pytest.mark.parametrize(("limit", "said"), [(100, "Proof, not a sample."), (5, "more than 5 states; not a proof")])
def test_an_exhaustive_walk_is_called_a_proof_only_if_it_is_one(passed, walk, limit, said):
    walked = level(passed, 3)["exhaustive"] = walk(max_states=limit)
    seen = words(html(passed, None))
    assert said in seen
    assert ("Proven in float32 for every reachable state, action and drawn number (the" in seen) == walked["proof"]
    assert "of any length" not in seen  # the time limit is no part of it
    assert "the step counter was held at 0: the time limit is not part of this" in seen
    assert ("episodes are samples" in seen) != walked["proof"]


def test_what_only_the_exhaustive_walk_finds_is_shown(passed, walk):
    walked = level(passed, 3)["exhaustive"] = walk({"max_steps": 3}, count_steps=True)
    passed["verdict"] = level(passed, 3)["verdict"] = "fail"
    assert walked["verdict"] == "fail"
    seen = words(html(passed, None))
    assert f"level 3 (rollout) failed; {walked['sentence']}." in seen
    assert f"reference {walked['first_mismatch']['reference']}" in seen
    walked["first_mismatch"]["draws"] = {"slips": 0.25}
    assert "drawn slips 0.25" in words(html(passed, None))
    del walked["first_mismatch"]["draws"]  # an older report
    assert "drawn slips" not in words(html(passed, None))


# ---- failure ----


def test_a_failure_leads_with_the_level_and_what_was_not_run(failed):
    page = html(failed, None)
    assert '<span class="pill bad">fail</span>' in page
    seen = words(page)
    cause = "state.x_dot is wrong after 1 action; level 1 blames dynamics.x_dot."
    assert f"differs from gymnasium:CartPole-v1: {cause} Level 1 (property) failed; first failure" in seen
    assert "Levels 2 to 4 were not run. The bug 'polemass-plus' was planted on purpose" in seen
    assert seen.count("Not run: level 1 failed.") == 3
    assert "2,838 of 2,874 cases are wrong" in seen


def test_a_failure_shows_both_states_side_by_side_with_the_difference_marked(failed):
    page = html(failed, None)
    wrong = row(page, "state.x_dot")
    assert 'class="marked"' in wrong
    assert re.findall(r"<td[^>]*>([^<]*)</td>", wrong) == [
        "state.x_dot", "0.0", "0.0", "-0.1951219512195122", "-0.3414634146341463", "differs",
    ]  # fmt: skip
    assert 'class="marked"' in row(page, "obs[1]")
    assert 'class="marked"' not in row(page, "obs[0]")
    assert 'class="marked"' not in row(page, "state.theta_dot")
    assert "overclock repro runs/verify-cartpole-v1/repro/1 --plant polemass-plus" in page


def test_values_that_differ_come_first(failed):
    page = html(failed, None)
    places = [page.index(row(page, field)) for field in ("state.x_dot", "obs[1]", "state.x", "obs[0]")]
    assert places == sorted(places)


def test_what_returns_would_have_said_stands_under_a_heading_that_says_it(failed):
    page = html(failed, None)
    assert "<h2>Returns hide it</h2>" in page
    assert "A returns-only comparison therefore does not see the difference" in page
    for text in (page, markdown(failed, None)):
        assert "A comparison of mean returns with a margin of 3 calls the two equivalent: untrained policies" in text


@pytest.mark.parametrize("verdict", ["different", "inconclusive"])
def test_returns_that_do_not_call_them_equivalent_hide_nothing(failed, verdict):
    failed["returns_alone"]["verdict"] = verdict
    page = html(failed, None)
    assert "<h2>What returns alone say</h2>" in page
    assert "Returns hide it" not in page
    assert "does not see" not in page


def test_a_planted_bug_that_nobody_finds_is_admitted(passed):
    passed["planted"] = "polemass-plus"
    assert "planted on purpose, to see whether it is found. It was not." in words(html(passed, None))


def test_a_difference_at_the_reset_has_no_state_before(failed):
    failed["repro"].update(actions=[], step=0)
    failed["repro"]["states"]["before"] = None
    page = html(failed, None)
    assert "Both sides, after the reset" in page
    assert "reference before" not in page


def test_level_3_alone_fits_and_says_what_is_missing(level_3):
    seen = words(html(level_3, None))
    assert "level 3 passed" in seen
    assert "What levels 1, 2, 4 would have seen" in seen
    assert "| 3 rollout | pass |" in markdown(level_3, None)


def test_what_was_played_and_not_compared_stands_there_with_its_reason(passed):
    rows = level(passed, 3)["comparisons"]
    unheard = "the reason of a comparison that left nothing out"
    for one in rows:
        one.update(beyond_horizon=0, excused_flags=0, cut=0, free_running_reason=unheard, limit_reason=unheard)
    seen = words(html(passed, None))
    assert not re.search("beyond the contract's horizon|margin of a threshold|step limit|left nothing out", seen)
    rows[1].update(beyond_horizon=1200, free_running_reason="it drifts")
    rows[2].update(excused_flags=3, limit_reason="rounding")
    rows[3].update(cut=7)
    seen = words(html(passed, None))
    for said in (
        "1,200 free-running steps beyond the contract's horizon; single steps cover them. The reason: it drifts.",
        "3 flags within the contract's margin of a threshold, which may fall either way. The reason: rounding.",
        "What comes after the contract's step limit: 7 episodes without an end were cut there.",
    ):
        assert said in seen
    assert unheard not in seen
    assert "episodes diverge in what was compared" not in seen  # an older report does not say the horizon
    rows[1]["horizon"] = 16
    precision = rows[1]["precision"]
    bound = f"episodes diverge in what was compared: every step on its own, free running in {precision} for 16 steps"
    assert words(html(passed, None)).count(bound) == 2


def test_only_random_play_shows_a_bound(passed):
    page = html(passed, None)
    cells = {name: re.findall(r"<td[^>]*>([^<]*)</td>", row(page, name)) for name in ("uniform", "coverage-guided")}
    assert (cells["uniform"][7], cells["coverage-guided"][7]) == ("2.95%", "-")


def test_a_fresh_failure_of_level_3_shows_its_divergence_and_its_repro(level_3_failed):
    page = html(level_3_failed, None)
    assert "reward is wrong after" in words(page)
    assert "Level 3 (rollout) failed; first divergence: reward at step" in words(page)
    assert level_3_failed["repro"]["sentence"] in words(page)
    assert level_3_failed["repro"]["command"] in page
    assert 'class="marked"' in row(page, "reward")
    assert f"Replay it: `{level_3_failed['repro']['command']}`" in markdown(level_3_failed, None)


# ---- adequacy ----


def test_adequacy_shows_shares_survivors_and_excuses(passed):
    seen = words(html(passed, None))
    assert "levels 1 to 3 together found 312 of 316 (98.7 %)" in seen
    assert "level 2 alone 258 (81.6 %), 0 by no other" in seen
    assert "- REWARD_DTYPE = jnp.float32 + REWARD_DTYPE = jnp.float16" in seen
    assert "with the default parameters, the only ones that Gymnasium has" in seen
    assert "Out of date" not in seen


def test_adequacy_that_is_out_of_date_says_so(passed):
    passed["adequacy"]["stale"] = ["overclock.envs.cartpole.env", "versions"]
    said = "Out of date: what it depends on has changed since (overclock.envs.cartpole.env, versions)"
    assert said in words(html(passed, None))
    assert "What it depends on has changed since: run it again." in markdown(passed, None)


def test_without_adequacy_the_page_names_the_command(passed):
    passed["adequacy"] = None
    assert "<code>overclock mutate cartpole-v1</code>" in html(passed, None)


# ---- margins of tolerances ----


def test_margins_stand_beside_the_contract_and_wide_ones_stand_out(passed):
    assert "The margin of a tolerance" not in html(passed, None)  # an older report does not say it
    passed["margins"] = [
        {"name": "state.x", "levels": [2, 3], "precision": "float32", "mode": "per_step", "margin": 12.3},
        {"name": "state.v", "levels": [2, 3], "precision": "float32", "mode": "per_step", "margin": 100000.0},
        {"name": "obs", "levels": [3], "precision": "float32", "mode": "per_step", "margin": None},
    ]
    text = html(passed, None)
    warning = "state.v in float32, per step (levels 2 and 3): the tolerance is 100,000 times what was seen"
    assert f"<li>warning: {warning}</li>" in text
    assert all(f">{cell}</td>" in text for cell in ("12", "unused", "100,000 !"))
    assert f"- warning: {warning}\n" in markdown(passed, None)


def test_compared_values_show_their_margins(level_3, passed):
    field = level_3["levels"][0]["comparisons"][0]["fields"][0]
    field |= {"tolerance": 1.0, "relative_tolerance": 0.0, "largest_error": 0.02, "margin": 50.0}
    assert '<td class="number" data-name="margin">50</td>' in html(level_3, None)
    output = passed["levels"][0]["modules"][0]["comparisons"][0]["fields"][0]
    output |= {"tolerance": 1.0, "relative_tolerance": 0.0, "margin": 41.0}
    assert '<td class="number" data-name="margin">41</td>' in html(passed, None)
