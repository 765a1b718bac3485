"""The HTML report in a browser: it draws, hover texts are text, no other script runs."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lowtide_client.report.steps import LISTED_TENSORS
from lowtide_client.wording import shown_name

from tests.report_pages import (
    HOSTILE,
    Report,
    example,
    hostile_graph,
)

POINT = re.compile(r'class="point[ "]')


@pytest.fixture(scope="module")
def nabu(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("nabu")
    return Report(example("mww_v2_okay_nabu.json"), folder / "report.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("hostile")
    return Report(hostile_graph(), folder / "report.html", "\n".join(HOSTILE))


def drawn_page(path: Path, profile_folder: Path) -> str:
    """The page as Chromium has it after its scripts ran; skips the test where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        pytest.skip("no Chromium found (Debian package: chromium)")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={profile_folder}",
        "--window-size=1400,1800",
        "--virtual-time-budget=20000",
        "--dump-dom",
        path.as_uri(),
    ]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, encoding="utf-8"
    ).stdout


def with_script(report: Report, script: str, path: Path) -> Path:
    """A copy of the page that also runs `script`, at the end; the page itself forbids that."""
    text = re.sub(r"<meta http-equiv[^>]*>", "", report.text, count=1)
    path.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return path


def plot_part(dom: str, plot: str) -> str:
    """The markup of one drawn plot."""
    start = dom.index(f'id="{plot}"')
    return dom[start : dom.index("</figure>", start)]


def test_a_browser_draws_the_plots(nabu: Report, tmp_path: Path) -> None:
    dom = drawn_page(nabu.path, tmp_path / "profile")
    memory = plot_part(dom, "memory")
    lines_and_marks = memory.partition('class="infolayer"')[0]
    assert lines_and_marks.count('class="js-line"') == 3
    assert len(POINT.findall(lines_and_marks)) == 2
    for profile in (nabu.given, nabu.best):
        assert profile.binding_step is not None
        assert f">step {profile.binding_step + 1}</text>" in memory
    for key in ("given", "best"):
        bars = plot_part(dom, f"{key}-lifetimes")
        visible = [storage for storage in nabu.graph.storages if storage.size_bytes]
        assert len(POINT.findall(bars)) == len(visible)


HOVER = """
function hovered(plot, trace, point) {
  return new Promise((resolve) => {
    const layer = plot.querySelector(".hoverlayer");
    const observer = new MutationObserver(() => {
      observer.disconnect();
      resolve(layer.textContent);
    });
    observer.observe(layer, { attributes: true, childList: true, subtree: true });
    Plotly.Fx.hover(plot, [{ curveNumber: trace, pointNumber: point }]);
  });
}
(async () => {
  const list = document.createElement("pre");
  list.id = "said";
  for (const [id, trace] of [["memory", 0], ["memory", 3], ["given-lifetimes", 0]]) {
    const plot = document.getElementById(id);
    for (let point = 0; point < plot.data[trace].customdata.length; point++) {
      list.textContent += await hovered(plot, trace, point) + "\\n";
    }
  }
  document.body.append(list);
})();
"""


def test_hover_texts_show_hostile_names_as_text(hostile: Report, tmp_path: Path) -> None:
    path = with_script(hostile, HOVER, tmp_path / "hover.html")
    dom = drawn_page(path, tmp_path / "profile")
    assert f"<title>{html.escape('Lowtide: ' + HOSTILE[0], quote=False)}</title>" in dom
    plots = dom[dom.index('id="memory"') : dom.index('id="report-data"')]
    assert not re.search(r"<a [^>]*href|<img", plots)
    said = html.unescape(dom.partition('<pre id="said">')[2].partition("</pre>")[0])
    assert "binding step" in said
    for step, op in enumerate(hostile.graph.ops):
        assert f"step {step + 1}: {shown_name(op.name, 48)}" in said
    for number, storage in enumerate(hostile.graph.storages):
        name = shown_name(storage.name, 48)
        assert f"{name}1,048,576 bytes (1.00 MiB)" in said
        assert (f"1,048,576  {name}" in said) == (number < LISTED_TENSORS)
    assert f"{hostile.given.step[-1]:,} bytes (7.00 MiB) while it runs" in said


def test_the_page_lets_no_other_script_run(nabu: Report, tmp_path: Path) -> None:
    path = tmp_path / "injected.html"
    injected = (
        "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    )
    path.write_text(nabu.text.replace("</body>", injected + "</body>"), encoding="utf-8")
    dom = drawn_page(path, tmp_path / "profile")
    assert "<title>Lowtide: mww_v2_okay_nabu</title>" in dom
    assert 'class="js-line"' in dom
