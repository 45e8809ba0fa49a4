"""Tests the page of `ddsc diff` and the section of --over in a browser. Skipped without chromium and its driver."""
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from browser import MISSING, REASON, browser_started

pytestmark = pytest.mark.skipif(MISSING, reason=REASON)


@pytest.fixture(scope="module")
def browser():
    with browser_started() as found:
        yield found


@pytest.fixture(scope="module")
def folders(ddsc, tmp_path_factory):
    where = tmp_path_factory.mktemp("changes")
    random = np.random.default_rng(0)
    rows, about = ["id,u,v"], ["id,date"]
    for i in range(60):
        at = [(0, 0), (9, 0), (9, 3)][i % 3]
        rows += [f"<s>{i},{a:.4f},{b:.4f}" for a, b in random.normal(at, .3, (12, 2))]
        about.append(f"<s>{i},2024-{1 + i // 5:02}-03")
    (where / "a.csv").write_text("\n".join(rows) + "\n")
    (where / "about.csv").write_text("\n".join(about) + "\n")
    for k in 2, 3:
        ddsc("cluster", where / "a.csv", "-k", k, "--meta", where / "about.csv", "--over", "date", "-o", where / str(k), "-q")
    ddsc("diff", where / "2", where / "3", "--report", where / "diff.html", "-q")
    return where


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bands_lead_to_their_items(browser, folders, scheme):
    browser.screen(1100, 1000, scheme)
    browser.open(folders / "diff.html")
    bands = "document.querySelectorAll('a.flow')"
    assert browser.ask(f"{bands}.length") == 3
    assert browser.ask(f"[...{bands}].every(a => document.querySelector(a.getAttribute('href')))")
    assert browser.ask(f"({bands}[0].focus(), document.activeElement === {bands}[0])")
    browser.press("\ue007")
    browser.settle()
    assert browser.ask("document.querySelector('tr:target') !== null")
    assert "<s>" in browser.text("tr:target") and browser.ask("document.querySelector('s')") is None
    colors = browser.ask("[...document.querySelectorAll('.flows .mark')].map(m => getComputedStyle(m).fill)")
    assert len(colors) == 5 and len(set(colors)) == 3
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [380, 1100])
def test_periods(browser, folders, width):
    browser.screen(width, 1000)
    browser.open(folders / "3" / "report.html")
    assert browser.ask("document.querySelectorAll('details.period').length") == 3
    assert browser.ask("document.querySelectorAll('svg[aria-label=over] rect').length") == 36
    browser.ask("document.querySelector('details.period summary').focus()")
    browser.press("\ue007")
    browser.settle()
    assert browser.ask("document.querySelector('details.period').open")
    assert browser.ask("document.querySelectorAll('details.period[open] tr').length") == 13
    assert browser.complaints() == []
