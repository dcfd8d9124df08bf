"""The page in a real browser: it renders without errors, on a desk and on a phone, folded and unfolded."""

import json
import re
import shutil
import subprocess

import pytest

pytest.importorskip("jinja2", reason="the page needs the extra 'report'")
pytest.importorskip("matplotlib", reason="the page needs the extra 'report'")

from report.reading import html

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--enable-logging=stderr", "--window-size=1400,900",
]  # fmt: skip
WIDTHS = (1200, 360)  # a desk, a small phone

# Chromium opens no window as narrow as a phone, so the page is shown in frames of both widths.
VIEWER = """<!doctype html><body><script>
const page = PAGE, seen = [];
for (const width of WIDTHS) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width: ${width}px; height: 900px; border: 0`;
  frame.onload = () => {
    const inside = frame.contentDocument, look = () => inside.documentElement.scrollWidth;
    const folded = look(), details = [...inside.querySelectorAll("details")];
    details.filter(one => !one.open).forEach(one => one.querySelector("summary").click());
    const tall = one => one.getBoundingClientRect().height > 40;
    const drawn = selector => [...inside.querySelectorAll(selector)].filter(tall).length;
    seen.push({
      width, folded, unfolded: look(), details: details.length,
      open: details.filter(one => one.open).length,
      tost: drawn("figure.tost svg"), curves: drawn("figure.curve svg"), throughput: drawn(".paper svg"),
      bars: [...inside.querySelectorAll(".bar span")].map(one => Math.round(one.getBoundingClientRect().width)),
      scripts: inside.scripts.length,
      hidden: [...inside.querySelectorAll(".scroll > table:not(#throughput *)")]
        .filter(one => one.scrollWidth > one.parentNode.clientWidth).length,
      marked: [...inside.querySelectorAll("tr.marked td")].map(one => one.getBoundingClientRect())
        .filter(one => one.left < 0 || one.right > width).length,
    });
    document.title = JSON.stringify(seen);
  };
  frame.srcdoc = page;
  document.body.append(frame);
}
</script></body>"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium to look at the page with")


def look(tmp_path, page):
    """What the page looks like at every width."""
    viewer = VIEWER.replace("WIDTHS", json.dumps(WIDTHS)).replace("PAGE", json.dumps(page).replace("</", "<\\/"))
    (tmp_path / "viewer.html").write_text(viewer)
    done = subprocess.run(
        [
            str(BROWSER), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
            (tmp_path / "viewer.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None
    seen = {one["width"]: one for one in json.loads(title[1])}
    assert sorted(seen) == sorted(WIDTHS)
    for width, one in seen.items():
        assert one["folded"] <= width, "the page scrolls sideways"
        assert one["unfolded"] <= width, "an unfolded page scrolls sideways"
        assert one["open"] == one["details"] > 0
        assert one["scripts"] == 0
        assert one["marked"] == 0, "a value that differs lies outside of the window"
    assert seen[360]["hidden"] == 0, "on a phone a part of a table lies outside of the window"
    return seen


def test_a_pass_shows_all_its_pictures(tmp_path, passed, measured):
    for one in look(tmp_path, html(passed, measured)).values():
        assert (one["tost"], one["curves"], one["throughput"]) == (1, 2, 1)
        assert len(one["bars"]) == 3
        assert one["bars"] == sorted(one["bars"], reverse=True)
        assert one["bars"][-1] > 40


def test_a_failure_fits(tmp_path, failed):
    failed["repro"]["command"] = f"overclock repro {'a-very-long-folder/' * 20}1"
    look(tmp_path, html(failed, None))


def test_level_3_alone_fits(tmp_path, level_3_failed):
    for one in look(tmp_path, html(level_3_failed, None)).values():
        assert (one["tost"], one["curves"], one["throughput"]) == (0, 0, 0)
