"""The page at the end of a run: self-contained, honest about failure, readable in a real browser and on a phone."""

import json
import re
import shutil
import subprocess

import pytest

pytest.importorskip("jinja2", reason="the page needs the extra 'report'")
pytest.importorskip("matplotlib", reason="the page needs the extra 'report'")

from overclock.report.page import html, markdown, write_report

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
BROWSER_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
]  # fmt: skip
PHONE_WIDTH = 500  # the narrowest window headless Chromium opens


def field(name, error, tolerance=0.0):
    reason = "because <floats> round" if tolerance else ""
    return {
        "name": name, "compared": 10, "largest_error": error, "tolerance": tolerance, "reason": reason,
        "passed": error <= tolerance,
    }  # fmt: skip


def verified(passed=True):
    divergence = {
        "field": "state.x", "episode_seed": 7, "step": 3, "reference": 0.25, "performance": 0.5, "error": 0.25,
        "tolerance": 0.0, "state_before": {"x": 0.125}, "action": 1,
    }  # fmt: skip
    comparison = {
        "mode": "per_step", "precision": "float64", "actions": "uniform", "passed": passed, "episodes": 2,
        "steps": 10, "terminated": 2, "truncated": 0, "excused_flags": 0, "beyond_horizon": 0,
        "divergence_bound": 0.7764, "fields": [field("state.x", 0.0 if passed else 0.25), field("obs", 1e-9, 1e-6)],
        "first_divergence": None if passed else divergence,
    }  # fmt: skip
    verdict = "pass" if passed else "fail"
    level = {"level": 3, "name": "rollout", "verdict": verdict, "comparisons": [comparison]}
    return {
        "schema": "overclock.verify/1", "env": "cartpole-v1", "reference": "gymnasium:CartPole-v1",
        "verdict": verdict, "levels": [level],
        "seed": 0, "command": "overclock verify cartpole-v1", "date": "2026-11-15T00:00:00+00:00",
        "versions": {"python": "3.11", "jax": "0.10.2"},
    }  # fmt: skip


@pytest.fixture(scope="module")
def measured():
    from overclock.bench import BenchConfig, measure

    return measure(BenchConfig(batch=(2, 4), steps=16, repeats=5, warmup=1))


def test_the_page_fetches_nothing(measured):
    page = html(verified(), measured)
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']+""", page)
    assert "<svg" in page
    assert "gymnasium:CartPole-v1" in page


def test_text_from_reports_is_escaped(measured):
    assert "because &lt;floats&gt; round" in html(verified(), measured)


def test_a_failure_leads_with_it_and_shows_both_values():
    page = html(verified(passed=False), None)
    assert '<span class="pill fail">fail</span>' in page
    assert "first divergence: state.x at step 3" in page
    assert "reference 0.25, performance 0.5" in page
    assert "Different from gymnasium:CartPole-v1." in markdown(verified(passed=False), None)


def test_the_three_files_say_the_same(tmp_path, measured):
    page = write_report(tmp_path / "run", verified(), measured)
    assert sorted(path.name for path in page.parent.iterdir()) == ["report.html", "report.json", "report.md"]
    numbers = json.loads((page.parent / "report.json").read_text())
    assert numbers["verify"] == verified()
    assert numbers["bench"]["schema"] == "overclock.bench/1"
    assert "equal" in (page.parent / "report.md").read_text()


def test_a_failed_write_keeps_the_old_report_whole(tmp_path, monkeypatch):
    page = write_report(tmp_path / "run", verified(), None)
    before = page.read_text()
    monkeypatch.setattr("overclock.report.page.markdown", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(tmp_path / "run", verified(passed=False), None)
    assert page.read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.skipif(BROWSER is None, reason="no Chromium to look at the page with")
@pytest.mark.parametrize("width", [1200, PHONE_WIDTH])
def test_a_real_browser_renders_it_without_errors_or_sideways_scrolling(tmp_path, measured, width):
    probe = "<script>document.title = [document.documentElement.scrollWidth, innerWidth].join(' ');</script></body>"
    page = tmp_path / "page.html"
    page.write_text(html(verified(passed=False), measured).replace("</body>", probe))
    done = subprocess.run(
        [
            str(BROWSER), *BROWSER_FLAGS, f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900",
            "--enable-logging=stderr", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr
    found = re.search(r"<title>(\d+) (\d+)</title>", done.stdout)
    assert found is not None
    content, window = map(int, found.groups())
    assert content <= window
