"""Tests the sections of the report about cells in a browser: 14 to 200 coordinates, both color schemes, 400 px."""
import json
import pathlib
import sys

import numpy as np
import pytest
import scipy.optimize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from browser import MISSING, REASON, browser_started

pytestmark = pytest.mark.skipif(MISSING, reason=REASON)
ARROW_RIGHT, ENTER, ESCAPE = "\ue014", "\ue007", "\ue00c"


@pytest.fixture(scope="module")
def browser():
    with browser_started() as found:
        yield found


def write_cells(path, n_items, n_cells, n_coordinates, seed=1):
    random = np.random.default_rng(seed)
    center = random.normal(0, 3, (4, n_coordinates))
    with open(path, "w") as file:
        file.write("id," + ",".join(f"marker{c} <b>&" for c in range(n_coordinates)) + "\n")
        for i in range(n_items):
            share = np.array([.4, .3, .2, .1]) if i % 2 else np.array([.1, .2, .3, .4])
            for kind in random.choice(4, n_cells, p=share):
                x = center[kind] + random.normal(size=n_coordinates)
                file.write(f"item{i}," + ",".join(f"{v:.3f}" for v in x) + "\n")


@pytest.mark.parametrize("size", [(16, 80, 14), (24, 20, 210), (2100, 6, 5)])
def test_sizes(browser, ddsc, tmp_path, size):
    """No set overflows the page or causes errors in the console, in both color schemes and on a narrow screen."""
    write_cells(tmp_path / "cells.csv", *size)
    ddsc("cluster", tmp_path / "cells.csv", "--metric", "mmd", "-k", 2, "-o", tmp_path / "r", "-q")
    for width, scheme in ((1100, "light"), (400, "dark")):
        browser.screen(width, 1000, scheme)
        browser.open(tmp_path / "r" / "report.html")
        browser.settle()
        assert browser.ask("document.documentElement.scrollWidth <= innerWidth"), (size, width)
        assert browser.ask("document.querySelectorAll('#marker-heat tbody tr').length") == min(size[2], 200)
        assert browser.ask("document.querySelectorAll('#densities figure').length") == min(size[2], 24)
        assert browser.ask("document.querySelector('#mix').width > 300")
    assert browser.complaints() == []
    if size[2] > 200:
        assert "of 210" in browser.text("main")
        assert browser.ask("[...document.querySelectorAll('#marker-heat tbody tr')].filter(r => !r.hidden).length") == 40
        browser.click("#marker-heat button")
        assert browser.ask("[...document.querySelectorAll('#marker-heat tbody tr')].filter(r => !r.hidden).length") == 200
    if size[0] > 2000:
        assert "2000 evenly spaced items" in browser.text("main")


def test_keys(browser, ddsc, tmp_path):
    """The composition can be read and sorted with the keyboard, and a flow is a diagram and a table."""
    write_cells(tmp_path / "cells.csv", 16, 100, 8)
    ddsc("cluster", tmp_path / "cells.csv", "--metric", "mmd", "-k", 3, "-o", tmp_path / "r", "-q")
    browser.screen(1100, 1000)
    browser.open(tmp_path / "r" / "report.html")
    browser.settle()
    browser.ask("(document.querySelector('#mix').focus(), 1)")
    browser.press(ARROW_RIGHT)
    first = browser.text("#mix-said")
    assert first.startswith("item") and "S1" in first and "%" in first
    browser.press(ARROW_RIGHT)
    assert browser.text("#mix-said") != first
    browser.press(ENTER)
    assert browser.ask("document.querySelector('#drawer').open")
    browser.press(ESCAPE)
    browser.click("#mix-states li:last-child button")
    assert browser.ask("document.querySelector('#mix-states li:last-child button').getAttribute('aria-pressed')") == "true"
    assert browser.ask("document.activeElement.dataset.state") is not None
    assert browser.ask("document.querySelectorAll('#flow-pair option').length") == 2
    before = browser.text("#flow-table")
    assert "stays in its state" in before and browser.ask("document.querySelectorAll('#flow path').length") > 3
    browser.set("#flow-pair", "1", "change")
    assert browser.text("#flow-table") != before
    assert "marker0 <b>&" in browser.text("#marker-heat")
    assert browser.complaints() == []


def test_two_items(browser, ddsc, tmp_path):
    """The transport between two items is an optimal plan for their shares, and the drawer links to it."""
    write_cells(tmp_path / "cells.csv", 16, 100, 8)
    ddsc("cluster", tmp_path / "cells.csv", "--metric", "mmd", "-k", 2, "-o", tmp_path / "r", "-q")
    browser.screen(1100, 1000)
    browser.open(tmp_path / "r" / "report.html")
    browser.settle()
    told = json.loads((tmp_path / "r" / "result.json").read_text())["cells"]["states"]
    assert len(told["items"]) == browser.ask("document.querySelectorAll('#pair-from option').length") == 16
    distances = np.array([row["distances"] for row in told["list"]])
    k = len(distances)
    assert np.allclose(distances, distances.T) and k == 4
    sides = np.vstack([np.repeat(np.eye(k), k, 1), np.tile(np.eye(k), k)])
    for a, b in ((0, 15), (3, 8), (5, 5)):
        browser.set("#pair-from", str(a), "change")
        browser.set("#pair-to", str(b), "change")
        shares = [np.array(told["items"][i]["shares"]) / sum(told["items"][i]["shares"]) for i in (a, b)]
        best = scipy.optimize.linprog(distances.ravel(), A_eq=sides, b_eq=np.concatenate(shares)).fun
        mass = np.array(browser.ask(f"planBetween({shares[0].tolist()}, {shares[1].tolist()}, cells.states.distances)"))
        assert np.allclose(mass.sum(1), shares[0]) and np.allclose(mass.sum(0), shares[1]) and mass.min() >= 0
        assert (mass * distances).sum() == pytest.approx(best, abs=1e-4)
        rows = browser.ask("document.querySelectorAll('#pair-table table:first-child tbody tr').length")
        assert rows == 1 + ((mass - np.diag(np.diag(mass))) >= .001).sum()
    browser.click("#items tbody tr:first-child button")
    name = browser.text("#drawer-name")
    browser.click("#drawer ol li button:not(.item)")
    assert not browser.ask("document.querySelector('#drawer').open")
    assert browser.ask("(s => s.options[s.value].textContent)(document.querySelector('#pair-from'))") == name
    assert browser.complaints() == []


def test_color_by_number(browser, ddsc, tmp_path):
    """The map is colored by a column of numbers, with a legend of its ranges."""
    write_cells(tmp_path / "cells.csv", 16, 60, 6)
    (tmp_path / "about.csv").write_text("id,age\n" + "".join(f"item{i},{20 + 3 * i}\n" for i in range(16)))
    ddsc("cluster", tmp_path / "cells.csv", "--meta", tmp_path / "about.csv", "-k", 2, "-o", tmp_path / "r", "-q")
    browser.open(tmp_path / "r" / "report.html")
    browser.settle()
    browser.ask("""(s => { s.value = [...s.options].find(o => o.textContent === 'age').value;
        s.dispatchEvent(new Event('change')); return 1; })(document.querySelector('#by'))""")
    browser.settle()
    assert "20 to" in browser.text("#legend") and browser.complaints() == []
