"""Tests the report in a browser with the WebDriver protocol: pointer and keyboard, no errors in the console,
accessibility by the rules of axe-core. Skipped if chromium and its driver are not installed."""
import base64
import gzip
import json
import os
import pathlib
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from browser import MISSING, REASON, browser_started

pytestmark = pytest.mark.skipif(MISSING, reason=REASON)


@pytest.fixture(scope="module")
def browser():
    with browser_started() as found:
        yield found


ARROW_RIGHT, ESCAPE, ENTER, TAB, BACKSPACE = "\ue014", "\ue00c", "\ue007", "\ue004", "\ue003"


@pytest.fixture(scope="module")
def page(browser, ddsc, tmp_path_factory):
    """Two clusters of shapes, with pictures and classes; K from 2 to 5."""
    where = tmp_path_factory.mktemp("browser")
    ddsc("generate", "shapes", "-o", where / "shapes.npz", "-q")
    ddsc("cluster", where / "shapes.npz", "-k", "2:5", "-o", where / "out", "-q")
    browser.shapes = where / "out" / "report.html"
    return browser


@pytest.fixture(autouse=True)
def fresh(request):
    """Every test begins with a new page and ends without errors in the console."""
    if "page" not in request.fixturenames:
        yield
        return
    page = request.getfixturevalue("page")
    page.screen(1100, 1000)
    page.open(page.shapes)
    yield
    assert page.complaints() == []


@pytest.fixture(scope="module")
def twelve(ddsc, tmp_path_factory):
    """Twelve clusters of five named items with metadata columns; one cluster has a name."""
    where = tmp_path_factory.mktemp("twelve")
    rng = np.random.default_rng(3)
    lines, about = ["id,height,<weight>,age"], ["id,batch,dose"]
    for i in range(60):
        for point in rng.normal(size=(12, 3)) + 30 * np.array([i % 12 % 4, i % 12 // 4, 0]):
            lines.append(f"item-{i}," + ",".join(f"{v:.4f}" for v in point))
        about.append(f"item-{i},{'<b>north' if i % 2 else 'south'},{i / 7:.3f}")
    (where / "c.csv").write_text("\n".join(lines) + "\n")
    (where / "m.csv").write_text("\n".join(about) + "\n")
    ddsc("cluster", where / "c.csv", "--meta", where / "m.csv", "-m", "mmd", "-k", 12, "-o", where / "out", "-q")
    ddsc("name", where / "out", "3=the <third>", "-q")
    return where / "out" / "report.html"


def darkness(browser, selector):
    """Return the number of drawn pixels of a canvas."""
    browser.settle()
    return browser.ask(f"""(() => {{ const c = document.querySelector('{selector}');
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; }})()""")


def drawn(browser):
    """The map as drawn last."""
    browser.settle()
    return browser.ask("document.getElementById('view').toDataURL()")


def test_answers_come_first(page):
    words = page.text(".answers")
    for question in ("How many clusters?", "What are they?", "Can I trust the result?", "Which items are ambiguous?",
                     "Which items are outliers?", "What should I do next?"):
        assert question in words
    assert "2, of 20 items each" in words and "The clusters are separate" in page.text(".answers")
    assert page.ask("document.querySelector('.answers').compareDocumentPosition(document.getElementById('view'))") == 4
    assert page.ask("document.querySelector('details').open") is False


def test_everything_is_drawn(page):
    assert darkness(page, "#view") > 500 and darkness(page, ".card canvas.picture") > 10
    assert darkness(page, "#heat-view") > 1000 and darkness(page, "#legend canvas") > 10
    assert page.text("#count") == "40 items"
    assert page.ask("[...document.querySelectorAll('#contents a')].map(a => a.textContent)")[:3] == ["Map", "Clusters", "Items"]
    assert page.ask("[...document.querySelectorAll('#contents a')].every(a => document.querySelector(a.hash))")


def test_hover_shows_the_item(page):
    """Move over the map until an item is found."""
    left, top, wide, high = page.box("#view")
    found = ""
    for place in range(2400):
        page.point(left + wide * (place % 40 + 0.5) / 40, top + high * (place // 40 + 0.5) / 60)
        if not page.ask("document.getElementById('tip').hidden"):
            found = page.text("#tip")
            break
    assert "cluster" in found and "class" in found and darkness(page, "#tip canvas") > 10


def test_a_bar_of_the_legend_shows_on_the_map(page):
    before = drawn(page)
    page.click("#legend [data-value='0']")
    assert page.text("#count") == "20 of 40 items selected: cluster 0"
    assert page.ask("document.querySelector(\"#legend [data-value='0']\").ariaPressed") == "true"
    assert drawn(page) != before
    assert page.text("#cluster-0 .picked") == ", 20 selected" and page.text("#cluster-1 .picked") == ", 0 selected"
    page.click("#legend [data-value='1']")
    assert page.text("#count").startswith("40 of 40")
    page.click("#reset")
    assert page.text("#count") == "40 items" and drawn(page) == before


def test_a_frame_on_the_map_shows_everywhere(page):
    """The two clusters are on the left and right; a frame around the left half contains one of them."""
    before = page.text("#items")
    page.click("#frame")
    left, top, wide, high = page.box("#view")
    page.drag((left + 3, top + 3), (left + wide / 2, top + high - 3))
    assert page.text("#count") == "20 of 40 items selected: in the frame"
    sizes = page.ask("[...document.querySelectorAll('#legend .size')].map(e => e.textContent)")
    assert sorted(sizes) == ["0 of 20", "20 of 20"]
    assert sorted(page.ask("[...document.querySelectorAll('#cards .picked')].map(e => e.textContent)")) == [
        ", 0 selected", ", 20 selected"]
    assert page.text("#items") != before and "of 20" in page.text("#items")
    assert sorted(page.ask("[...document.querySelectorAll('#classes button')].map(e => e.textContent)")) == [
        "0 of 20", "20 of 20"]
    page.type("#view", ESCAPE)
    assert page.text("#count") == "40 items"


def test_a_number_of_the_classes_chooses_its_items(page):
    page.click("#classes button")
    assert page.text("#count").startswith("20 of 40 items selected: class")


def test_slider_over_k(page):
    before = drawn(page)
    for k, groups in (("2", 4), ("3", 5), ("0", 2)):
        page.set("#k", k, "input")
        assert page.ask("document.querySelectorAll('#legend li').length") == groups
        assert page.text("#k-words").startswith(f"{groups}")
        assert page.ask("document.getElementById('cards').hidden") == (groups != 2)
        assert page.ask("document.querySelectorAll('#other-cards .card').length") == (0 if groups == 2 else groups)
        assert page.ask("document.querySelectorAll('#classes thead th').length") == groups
        assert (drawn(page) == before) == (groups == 2)
    page.type("#k", ARROW_RIGHT)
    assert page.ask("document.querySelectorAll('#legend li').length") == 3


def test_find_zooms_and_rings(page):
    before = drawn(page)
    page.type("#search", "39")
    assert page.text("#count") == '1 of 40 items selected: with "39"' and drawn(page) != before
    page.type("#search", ENTER)
    assert page.text("#drawer-name") == "39"
    page.press(ESCAPE)
    page.type("#search", "zzz")
    assert page.text("#count").startswith("0 of 40") and page.ask("document.getElementById('tip').hidden")
    page.click("#reset")
    assert drawn(page) == before
    page.type("#search", "39")
    assert drawn(page) != before
    page.type("#search", BACKSPACE + BACKSPACE)  # the view before the search
    assert drawn(page) == before and page.text("#count") == "40 items"


def test_drawer_tells_of_an_item(page):
    page.click("#cluster-0 .item")
    name = page.text("#cluster-0 .item").strip()
    words = page.text("#drawer")
    assert page.text("#drawer-name") == name and "Nearest neighbors" in words and "distance" in words
    assert "ambiguity" in words and "class" in words and darkness(page, "#drawer > canvas") > 10
    assert page.ask("document.querySelectorAll('#drawer ol .item').length") == 5
    page.click("#drawer ol .item")
    assert page.text("#drawer-name") != name
    page.press(ESCAPE)
    assert not page.ask("document.getElementById('drawer').open")
    assert page.ask("document.activeElement.dataset.row") == page.ask(
        "document.querySelector('#cluster-0 .item').dataset.row")


def test_drawer_opens_before_the_map_is_drawn(page):
    """An item may be requested before the first frame is drawn."""
    added = page.devtools("Page.addScriptToEvaluateOnNewDocument", source="window.requestAnimationFrame = () => 0;")
    page.open(page.shapes)
    page.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
    page.ask("(openDrawer(7), map.goTo(3), 1)")
    assert page.text("#drawer-name") == "7"


def test_neighbors_are_those_of_the_graph(page):
    nearest = {}
    for line in (page.shapes.parent / "graph.mtx").read_text().splitlines()[3:]:
        row, column, squared = line.split()
        nearest.setdefault(int(column) - 1, []).append((int(row) - 1, float(squared) ** 0.5))
    page.ask("(openDrawer(7), 1)")
    shown = page.ask("[...document.querySelectorAll('#drawer ol .item')].map(b => Number(b.dataset.row))")
    assert shown == [row for row, _ in nearest[7]][:5]
    assert f"distance {float(f'{nearest[7][0][1]:.3g}'):g}"[:12] in page.text("#drawer ol li").replace("e-", "e-0")


def test_keys_alone_lead_everywhere(page):
    page.press(TAB)
    assert page.ask("document.activeElement.className") == "skip"
    for _ in range(30):
        if page.ask("document.activeElement.id") == "view":
            break
        page.press(TAB)
    assert page.ask("document.activeElement.id") == "view"
    page.press(ARROW_RIGHT)
    first = page.text("#said")
    page.press(ARROW_RIGHT)
    assert first and page.text("#said") not in ("", first)
    page.press("+", "+", "-", "0", ENTER)
    assert page.ask("document.getElementById('drawer').open")
    assert page.ask("document.activeElement.id") == "close"
    page.press(ENTER)
    assert not page.ask("document.getElementById('drawer').open") and page.ask("document.activeElement.id") == "view"
    page.press(ESCAPE)
    assert page.ask("document.getElementById('tip').hidden")


def test_table_is_sorted_by_its_heads(page):
    order = "[...document.querySelectorAll('#items tbody tr')].map(r => Number(r.querySelector('.item').dataset.row))"
    page.click("#items th button")
    assert page.ask(order) == list(range(20)) and page.ask("document.querySelector('#items th').ariaSort") == "ascending"
    page.click("#items th button")
    assert page.ask(order) == list(range(39, 19, -1))
    page.click("#items > p button")
    assert len(page.ask(order)) == 40


def test_columns_named_as_those_of_the_table(browser, ddsc, tmp_path):
    """Metadata columns may be called item, cluster and ambiguity. Each header sorts by its own column."""
    lines, about = ["id,x,y"], ["id,item,cluster,ambiguity"]
    for i in range(12):
        lines += [f"i{i},{100 * (i % 2) + i},{k}" for k in range(3)]
        about.append(f"i{i},{90 - i},{i * 5 % 12},{i * 7 % 12}")
    (tmp_path / "c.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "m.csv").write_text("\n".join(about) + "\n")
    ddsc("cluster", tmp_path / "c.csv", "--meta", tmp_path / "m.csv", "-k", 2, "-o", tmp_path / "out", "-q")
    browser.open(tmp_path / "out" / "report.html")
    heads = browser.ask("[...document.querySelectorAll('#items th button')].map(b => b.textContent)")
    assert heads[0] == "item" and heads[-3:] == ["item", "cluster", "ambiguity"]
    assert browser.ask("document.querySelectorAll('#items th[aria-sort]').length") == 1
    for at in range(len(heads) - 3, len(heads)):
        browser.ask(f"document.querySelectorAll('#items th button')[{at}].click()")
        cells = browser.ask(f"[...document.querySelectorAll('#items tbody tr')].map(r => Number(r.cells[{at}].textContent))")
        assert cells == sorted(cells)
        assert browser.ask("document.querySelectorAll('#items th[aria-sort]').length") == 1
    assert browser.complaints() == []


def test_names_colors_and_columns(browser, twelve):
    """Twelve clusters in twelve colors, some with another shape; names and columns with unusual characters."""
    browser.screen(1100, 1000)
    browser.open(twelve)
    swatches = browser.ask("[...document.querySelectorAll('#legend canvas')].map(c => c.toDataURL())")
    assert len(swatches) == len(set(swatches)) == 12
    colors = browser.ask("clustering().names.map((_, g) => colorOf(clustering(), g))")
    assert len(set(colors)) == 12
    assert len(set(browser.ask("clustering().names.map((_, g) => shapeOf(clustering(), g))"))) == 2
    assert "the <third>" in browser.text("#legend") and "the <third>" in browser.text("#cluster-3 h3")
    assert browser.ask("[...document.querySelectorAll('#by option')].map(o => o.textContent)") == ["cluster", "batch", "dose"]
    before = drawn(browser)
    browser.set("#by", "0", "change")
    names = browser.ask("[...document.querySelectorAll('#legend .value-name')].map(e => e.textContent)")
    assert sorted(names) == ["<b>north", "south"] and drawn(browser) != before
    browser.set("#by", "1", "change")
    assert browser.ask("document.querySelectorAll('#legend li').length") == 8  # numbers: eight shades
    browser.ask("(openDrawer(5), 1)")
    words = browser.text("#drawer")
    assert "<b>north" in words and "0.714" in words and "Farthest from the average item" in words
    assert browser.complaints() == []


def test_cards_show_the_average_item(page):
    """The mean picture of the cluster, and its difference from the others."""
    assert page.ask("document.querySelectorAll('#cards .average canvas').length") == 4
    assert darkness(page, "#cluster-0 .average canvas") > 20
    mean = page.ask("(m => [...m.sum[0]].map(v => v / m.size[0]))(meanPictures(clustering()))")
    data = page.ask("data")
    cells = np.frombuffer(base64.b64decode(data["pictures"]["cells"]), np.uint8)
    drawn_cells = np.stack([cells >> 4, cells & 15], 1).reshape(40, -1)
    label = np.frombuffer(base64.b64decode(data["label"]), "<u2")
    assert np.allclose(mean, drawn_cells[label == 0].mean(axis=0))
    page.set("#k", "1", "input")
    assert page.ask("document.querySelectorAll('#other-cards .average canvas').length") == 6


def test_slider_over_the_tree(browser, twelve):
    """Without a sweep, the slider cuts the tree, and each part of a cut is a union of clusters."""
    browser.screen(1100, 1000)
    browser.open(twelve)
    assert browser.text("#k-words") == "12 (chosen)"
    label = browser.ask("[...label]")
    for at, groups in ((0, 2), (3, 5), (9, 11), (10, 12)):
        browser.set("#k", str(at), "input")
        assert browser.ask("document.querySelectorAll('#legend li').length") == groups
        cut = browser.ask("[...clustering().of]")
        assert len(set(zip(label, cut))) == 12 and set(cut) == set(range(groups))
    tree = json.loads((twelve.parent / "result.json").read_text())["tree"]
    browser.set("#k", "9", "input")  # the first merge alone
    cut = dict(zip(label, browser.ask("[...clustering().of]")))
    assert cut[tree[0]["a"]] == cut[tree[0]["b"]] and len(set(cut.values())) == 11
    assert browser.complaints() == []


def test_the_tree_is_drawn_and_chooses(browser, twelve):
    """Joints are at the heights of result.json. Selecting a joint selects the items below it, with pointer and
    keyboard."""
    browser.open(twelve)
    tree = json.loads((twelve.parent / "result.json").read_text())["tree"]
    told = browser.ask("[...document.querySelectorAll('#tree .joint')].map(j => j.getAttribute('aria-label'))")
    assert [round(float(words.rsplit(" ", 1)[1]), 2) for words in told] == [round(float(f"{m['height']:.3g}") + 1e-9, 2) for m in tree]
    browser.ask("(document.querySelector('#tree .joint').dispatchEvent(new MouseEvent('click')), 1)")
    assert set(browser.ask("[...label].filter((_, i) => isPicked(i))")) == {tree[0]["a"], tree[0]["b"]}
    browser.ask("(document.querySelectorAll('#tree .joint')[10].focus(), 1)")
    browser.press(ENTER)
    assert browser.text("#count").startswith(browser.ask("count(n)") + " of") and browser.complaints() == []


def test_the_wheel_scrolls_until_the_map_was_clicked(page):
    """Scrolling the page must not stop at the map."""
    wheel = "document.getElementById('view').dispatchEvent(new WheelEvent('wheel', {deltaY: -200, cancelable: true%s}))"
    page.ask("(document.activeElement.blur(), 1)")
    before = drawn(page)
    assert page.ask(wheel % "") is True and drawn(page) == before
    assert page.ask(wheel % ", ctrlKey: true") is False and drawn(page) != before
    page.ask("(map.showAll(), document.getElementById('view').focus(), 1)")
    assert page.ask(wheel % "") is False
    page.click("#reset")


def test_no_groups_is_the_first_answer(browser, ddsc, tmp_path):
    rng = np.random.default_rng(1)
    np.savez(tmp_path / "n.npz", points=rng.normal(size=(1600, 10)), weights=np.ones(1600), offsets=np.arange(0, 1601, 8))
    ddsc("cluster", tmp_path / "n.npz", "-k", 3, "-m", "mmd", "-o", tmp_path / "n", "-q")
    browser.open(tmp_path / "n" / "report.html")
    words = browser.text(".answers")
    assert "None that can be separated. 3 were formed anyway" in words and "Do not rely on these clusters" in words


def test_outliers_are_told(browser, ddsc, tmp_path):
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(8, 3)) + 6 * np.eye(3)[i % 3] + (i == 4) * np.array([40, 0, 0]) for i in range(90)]
    np.savez(tmp_path / "p.npz", points=np.concatenate(clouds), weights=np.ones(720), offsets=np.arange(0, 721, 8))
    ddsc("cluster", tmp_path / "p.npz", "-k", "2:4", "--outliers", "-o", tmp_path / "out", "-q")
    browser.open(tmp_path / "out" / "report.html")
    assert "1 is far from all others (ringed on the map) and in no cluster: 4." in browser.text(".answers")
    browser.ask("(openDrawer(4), 1)")
    assert "times as far away" in browser.text("#drawer") and "none" in browser.text("#drawer dd")
    assert browser.text("#count") == "90 items" and browser.complaints() == []
    page = (tmp_path / "out" / "report.html").read_bytes()
    ddsc("report", tmp_path / "out", "-o", tmp_path / "again.html", "-q")
    assert (tmp_path / "again.html").read_bytes() == page


LUMINANCE = """(text => { const f = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = [1, 3, 5].map(i => f(parseInt(text.length < 7 ? text[(i + 1) / 2].repeat(2) : text.slice(i, i + 2), 16) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; })(ink('%s'))"""


def contrast(browser, one, other):
    low, high = sorted(browser.ask(LUMINANCE % name) for name in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_marks(page, scheme):
    """Contrast of 3 for marks and 4.5 for text (WCAG 2.1), in both color schemes."""
    page.screen(1100, 1000, scheme)
    marks = [f"--c{c}" for c in range(20)] + [f"--s{s}" for s in range(8)] + ["--none"]
    assert min(contrast(page, mark, "--paper") for mark in marks) >= 3
    for paper in ("--paper", "--soft"):
        assert min(contrast(page, words, paper) for words in ("--ink", "--faint", "--link", "--good", "--warn", "--bad")) >= 4.5
    assert len(set(page.ask(f"ink('--c{c}')") for c in range(20))) == 20


@pytest.fixture(scope="session")
def axe(source):
    """Return axe-core's script from PyPI, stored in build/, or the file that DDSC_AXE names."""
    path = source / "build" / "axe" / "axe.min.js"
    if os.environ.get("DDSC_AXE"):
        return open(os.environ["DDSC_AXE"]).read()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        got = subprocess.run(["python3", "-m", "pip", "download", "-q", "--no-deps", "--retries", "0", "--timeout", "10",
                              "--require-hashes", "--only-binary=:all:", "-d", path.parent,
                              "-r", source / "tools" / "pip" / "axe.txt"], capture_output=True, text=True)
        assert "DO NOT MATCH THE HASHES" not in got.stderr, got.stderr
        wheels = list(path.parent.glob("*.whl"))
        if got.returncode or not wheels:
            pytest.skip("axe-core cannot be had from PyPI")
        path.write_bytes(zipfile.ZipFile(wheels[0]).read("axe_core_python/axe.min.js"))
    return path.read_text()


@pytest.mark.parametrize("width, scheme", [(1100, "light"), (1100, "dark"), (400, "light")])
def test_axe_finds_nothing(browser, twelve, page, axe, width, scheme):
    """With the drawer and the technical part open, and a selection."""
    for path in (page.shapes, twelve):
        browser.screen(width, 1000, scheme)
        browser.open(path)
        browser.devtools("Runtime.evaluate", expression=axe)  # not restricted by the page's content policy
        browser.ask("(document.querySelector('details').open = true, 1)")
        browser.click("#legend [data-value='0']")
        for drawer in (False, True):
            if drawer:
                browser.ask("(openDrawer(0), 1)")
            found = browser.call("POST", "/execute/async", {"args": [], "script": """const done = arguments[0];
                axe.run(document, {resultTypes: ['violations']}).then(r => done({passed: r.passes.length, wrong: r.violations.map(v =>
                [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + ' ' + n.failureSummary)])}))"""})
            assert found["wrong"] == [] and found["passed"] > 20
        assert browser.complaints() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone(page, twelve, scheme):
    """400 pixels wide: only tables scroll horizontally, and the drawer does not cover the map."""
    for path in (page.shapes, twelve):
        page.screen(400, 800, scheme)
        page.open(path)
        assert page.ask("document.documentElement.scrollWidth") <= 400
        page.ask("(openDrawer(0), 1)")
        left, top, wide, high = page.box("#drawer")
        assert wide >= 380 and top >= 150


def test_prints(page):
    """In print: no controls, the map and the cards, and no superfluous pages."""
    page.devtools("Emulation.setEmulatedMedia", media="print")
    assert page.ask("getComputedStyle(document.querySelector('.controls')).display") == "none"
    paper = base64.b64decode(page.devtools("Page.printToPDF", printBackground=True)["data"])
    assert paper.startswith(b"%PDF") and paper.count(b"/Type /Page\n") <= 6
    page.devtools("Emulation.setEmulatedMedia", media="")


def test_drawer_tells_the_plan_to_the_nearest_document(browser, ddsc, tmp_path):
    """Moved words and unmoved mass, equal to `explain` of two items."""
    rng = np.random.default_rng(4)
    words = [[f"{topic}{k}" for k in range(6)] for topic in ("<sea", "farm")]
    lines = ["label\ttext"] + [f"{i % 2}\t{' '.join(rng.choice(words[i % 2], 9))}" for i in range(30)]
    (tmp_path / "d.tsv").write_text("\n".join(lines) + "\n")
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "d.npz", "-q")
    ddsc("cluster", tmp_path / "d.npz", "-k", 2, "-o", tmp_path / "out", "-q")
    browser.open(tmp_path / "out" / "report.html")
    browser.ask("(openDrawer(3), 1)")
    nearest = browser.ask("idOf(neighborsOf(3)[0].i)")
    said = browser.text("#drawer ol li")
    told = [line.split("%", 1) for line in ddsc("explain", tmp_path / "out", "3", nearest).stdout.splitlines()[1:]]
    flows = [(float(share), *way.split(",")[0].strip().split(" -> ")) for share, way in told]
    stays = sum(share for share, a, b in flows if a == b)
    moved = [share for share, a, b in flows if a != b]
    assert f"leaves {stays:.0f}% of its mass" in said or abs(float(said.split("leaves ")[1].split("%")[0]) - stays) <= 1
    shown = [tuple(part.rsplit(" (", 1)) for part in said.split("flows are ")[1].split(", ")] if moved else []
    assert len(shown) == min(3, len(moved))
    for (way, share), mass in zip(shown, moved):
        assert abs(float(share.rstrip("%)")) - mass) <= 1 and tuple(way.split(" \u2192 ")) in {f[1:] for f in flows}
    assert browser.complaints() == []


def test_links_stay_inside_the_frame_of_a_notebook(page, tmp_path):
    """A page in a srcdoc frame has the notebook's address. A link within the page must not load the notebook."""
    inside = page.shapes.read_text().replace("&", "&amp;").replace('"', "&quot;")
    (tmp_path / "notebook.html").write_text(
        f'<!DOCTYPE html><title>notebook</title><iframe srcdoc="{inside}" sandbox="allow-scripts allow-downloads allow-popups" '
        'width="100%" height="800"></iframe>')
    page.open(tmp_path / "notebook.html")
    page.call("POST", "/frame", {"id": {"element-6066-11e4-a52e-4f735466cecf": page.find("iframe")}})
    assert page.ask("document.getElementById('how').closest('details').open") is False
    page.click('#contents a[href="#how"]')
    page.settle()
    assert page.ask("document.getElementById('how').closest('details').open") is True
    page.click("#contents a")
    page.settle()
    assert page.ask("location.href") == "about:srcdoc" and page.ask("document.querySelectorAll('iframe').length") == 0
    assert page.ask("scrollY + document.documentElement.scrollTop") > 0
    page.call("POST", "/frame", {"id": None})


def test_page_without_a_map(browser, ddsc, three_groups, tmp_path):
    ddsc("cluster", three_groups, "-k", "3", "--method", "kmeans", "-o", tmp_path / "out", "-q")
    browser.open(tmp_path / "out" / "report.html")
    assert "items in each cluster" in browser.text("main") and browser.complaints() == []


def many_items(ddsc, where, groups, items, *words):
    ddsc("generate", "gaussians", "--items", items, "--clusters", groups, "--points", "3", "-o", where / "many.npz", "-q")
    ddsc("cluster", where / "many.npz", "--metric", "lot", "--reference-size", "3", *words, "-o", where / "out", "-q")
    return where / "out" / "report.html"


def test_many_items(browser, ddsc, tmp_path):
    """The page of twenty thousand items is small."""
    path = many_items(ddsc, tmp_path, 10, 2000, "-k", "10")
    assert path.stat().st_size < 8_000_000
    browser.screen(1100, 1000)
    browser.open(path)
    assert browser.text("#count") == "20,000 items"
    assert darkness(browser, "#view") > 5000 and browser.complaints() == []


@pytest.mark.skipif(not os.environ.get("DDSC_DEEP"), reason="DDSC_DEEP is not set")
def test_seventy_thousand_items(browser, ddsc, tmp_path):
    """Less than 20 MB with pictures and a sweep. The time to open the page is printed but not checked."""
    path = many_items(ddsc, tmp_path, 10, 7000, "-k", "8:12")
    size = path.stat().st_size
    assert size < 20_000_000
    browser.screen(1100, 1000)
    began = time.time()
    browser.open(path)
    assert browser.text("#count") == "70,000 items"
    opened = time.time()
    browser.set("#k", "0", "input")
    assert browser.ask("document.querySelectorAll('#legend li').length") == 8
    print(f"70,000 items: {size / 1e6:.1f} MB, open after {opened - began:.1f} s, other K after {time.time() - opened:.1f} s")
    assert darkness(browser, "#view") > 5000 and browser.complaints() == []


def digits(ddsc, data, where):
    mnist = data / "mnist"
    ddsc("cluster", mnist / "t10k-images-idx3-ubyte.gz", "--labels", mnist / "t10k-labels-idx1-ubyte.gz",
         "--subset-per-class", "100", "-m", "lot", "-k", "8:12", "-o", where / "out", "-q")


def documents(ddsc, data, where):
    text = data / "text"
    ddsc("text", text / "bbc.tsv.gz", "--vectors", text / "glove.6B.100d.subset.txt.gz", "--text", "abstract", "-q", "-o",
         where / "bbc.npz")
    ddsc("cluster", where / "bbc.npz", "-m", "mmd", "-k", "5", "-o", where / "out", "-q")


def cells(ddsc, data, where):
    path = data / "cytometry" / "pbmc8-bcrxl.tsv.gz"
    with gzip.open(path, "rt") as lines:
        about = {tuple(line.split("\t")[:3]): None for line in lines}
    (where / "about.tsv").write_text("".join("\t".join(row) + "\n" for row in about))
    ddsc("cluster", path, "--id", "sample", "--label", "condition", "--drop", "patient", "--arcsinh", "5", "-m", "mmd",
         "--meta", where / "about.tsv", "-k", "2", "-o", where / "out", "-q")


@pytest.mark.parametrize("make, word", [(digits, "cluster 0"), (documents, "election"), (cells, "CD20")])
def test_pictures_of_real_reports(browser, ddsc, data_dir, tmp_path, make, word):
    """Checks the contents of the figures. With DDSC_PICTURES=docs, the figures are saved for the documentation."""
    make(ddsc, data_dir, tmp_path)
    browser.screen(1100, 1400, scale=0.75)
    browser.devtools("Emulation.setScrollbarsHidden", hidden=True)
    browser.open(tmp_path / "out" / "report.html")
    assert word in browser.text("#legend") and word in browser.text(".answers") and drawn(browser)
    shot = base64.b64decode(browser.call("GET", "/screenshot"))
    assert shot.startswith(b"\x89PNG") and len(shot) > 20000 and browser.complaints() == []
    browser.devtools("Emulation.setScrollbarsHidden", hidden=False)
    if os.environ.get("DDSC_PICTURES"):
        (pathlib.Path(os.environ["DDSC_PICTURES"]) / f"report-{make.__name__}.png").write_bytes(shot)
