"""The report in a real browser, driven over the WebDriver protocol: no complaint in the console, hover,
filter, search and keys work. Skipped where chromium and its driver are not installed."""
import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not DRIVER or not shutil.which("chromium"),
                                reason="chromium and chromedriver are not installed")


class Browser:
    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            "--window-size=1100,1600"]}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += f"/session/{made['sessionId']}"

    def call(self, how, path, body=None):
        request = urllib.request.Request(self.base + path, method=how,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def open(self, path):
        self.call("POST", "/url", {"url": path.as_uri()})

    def ask(self, script):
        return self.call("POST", "/execute/sync", {"script": "return " + script, "args": []})

    def find(self, css):
        return list(self.call("POST", "/element", {"using": "css selector", "value": css}).values())[0]

    def click(self, css):
        self.call("POST", f"/element/{self.find(css)}/click", {})

    def type(self, css, words):
        self.call("POST", f"/element/{self.find(css)}/value", {"text": words})

    def point(self, x, y):
        self.call("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}]}]})

    def complaints(self):
        return self.call("POST", "/se/log", {"type": "browser"})


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="module")
def browser():
    port = free_port()
    driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    found = None
    try:
        for _ in range(100):
            try:
                found = Browser(port)
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
        assert found, "the browser did not start"
        yield found
        found.call("DELETE", "")
    finally:
        driver.kill()
        driver.wait()


@pytest.fixture(scope="module")
def page(browser, ddsc, tmp_path_factory):
    where = tmp_path_factory.mktemp("browser")
    ddsc("generate", "shapes", "-o", where / "shapes.npz", "-q")
    ddsc("cluster", where / "shapes.npz", "-k", "2", "-o", where / "out", "-q")
    browser.open(where / "out" / "report.html")
    return browser


def darkness(browser, selector):
    """Pixels of a canvas that something was drawn on."""
    return browser.ask(f"""(() => {{ const c = document.querySelector('{selector}');
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; }})()""")


def test_nothing_to_complain_of(page):
    assert darkness(page, "#view") > 500 and darkness(page, ".card canvas") > 10
    assert page.ask("document.getElementById('count').textContent") == "40 of 40 items shown"
    assert page.complaints() == []


def test_hover_shows_the_item(page):
    """Sweep over the map until an item answers."""
    box = page.ask("(b => [b.left, b.top, b.width, b.height])(document.getElementById('view')"
                   ".getBoundingClientRect())")
    row, found = 0, ""
    while not found and row < 60:
        for column in range(30):
            page.point(box[0] + box[2] * (column + 0.5) / 30, box[1] + box[3] * (row + 0.5) / 60)
            if not page.ask("document.getElementById('tip').hidden"):
                found = page.ask("document.getElementById('tip').textContent")
                break
        row += 1
    assert "cluster" in found and "class" in found
    assert darkness(page, "#tip canvas") > 10
    assert page.ask("document.getElementById('said').textContent").count("cluster") == 1


def test_filter_search_and_reset(page):
    page.click("button[data-cluster='0']")
    assert page.ask("document.getElementById('count').textContent") == "20 of 40 items shown"
    assert page.ask("document.querySelector(\"button[data-cluster='0']\").ariaPressed") == "false"
    page.click("#reset")
    assert page.ask("document.getElementById('count').textContent") == "40 of 40 items shown"
    page.type("#search", "zzz")
    assert page.ask("document.getElementById('count').textContent") == "0 of 40 items shown"
    page.click("#reset")
    assert page.complaints() == []


def test_keys_go_from_item_to_item(page):
    page.type("#view", "\ue014")  # arrow right
    first = page.ask("document.getElementById('said').textContent")
    page.type("#view", "\ue014")
    second = page.ask("document.getElementById('said').textContent")
    assert first and second and first != second
    page.type("#view", "+++")
    page.type("#view", "\ue00c")  # escape
    assert page.ask("document.getElementById('tip').hidden") and page.complaints() == []


def test_a_picture_leads_to_the_map(page):
    page.click(".card .item")
    wanted = page.ask("document.querySelector('.card .item').textContent.trim().split(' ')[0]")
    assert page.ask("document.getElementById('tip').textContent").startswith(wanted)


def test_screen_is_not_empty(page, tmp_path):
    shot = base64.b64decode(page.call("GET", "/screenshot"))
    (tmp_path / "report.png").write_bytes(shot)
    assert shot.startswith(b"\x89PNG") and len(shot) > 10000


def test_many_items(browser, ddsc, tmp_path):
    """Twenty thousand items stay small and are drawn in well under a second."""
    ddsc("generate", "gaussians", "--items", "2000", "--groups", "10", "--points", "3", "-o",
         tmp_path / "many.npz", "-q")
    ddsc("cluster", tmp_path / "many.npz", "--metric", "lot", "--reference-size", "3", "-k", "10", "-o",
         tmp_path / "out", "-q")
    assert (tmp_path / "out" / "report.html").stat().st_size < 8_000_000
    browser.open(tmp_path / "out" / "report.html")
    assert browser.ask("document.getElementById('count').textContent") == "20,000 of 20,000 items shown"
    assert darkness(browser, "#view") > 5000 and browser.complaints() == []
