"""Chromium, driven over the WebDriver protocol."""
import contextlib
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

DRIVER = shutil.which("chromedriver")
MISSING = not DRIVER or not shutil.which("chromium")
REASON = "chromium and chromedriver are not installed (./run setup installs them)"


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
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as refusal:
            raise AssertionError(f"{path}: {refusal.read().decode()[:600]}") from None

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screen(self, width, height, scheme="light", scale=1):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                      mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        self.call("POST", "/url", {"url": path.as_uri()})

    def ask(self, script):
        return self.call("POST", "/execute/sync", {"script": "return " + script, "args": []})

    def settle(self):
        """Wait until everything is drawn: the current frame and the next one."""
        self.call("POST", "/execute/async", {"args": [], "script": "const done = arguments[0];"
                                             "requestAnimationFrame(() => requestAnimationFrame(() => done(1)));"})

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

    def drag(self, start, end):
        move = {"type": "pointerMove", "duration": 50}
        self.call("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
                {**move, "x": round(start[0]), "y": round(start[1])}, {"type": "pointerDown", "button": 0},
                {**move, "x": round(end[0]), "y": round(end[1])}, {"type": "pointerUp", "button": 0}]}]})

    def press(self, *keys):
        """Send keys to the focused element."""
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def text(self, css):
        return self.ask(f"document.querySelector({json.dumps(css)}).textContent")

    def set(self, css, value, event):
        self.ask(f"""(node => {{ node.value = {json.dumps(value)};
            node.dispatchEvent(new Event('{event}')); return 1; }})(document.querySelector({json.dumps(css)}))""")

    def box(self, css):
        """Scroll an element into view and return its left, top, width and height."""
        return self.ask(f"""(node => {{ node.scrollIntoView({{block: 'center'}});
            const b = node.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; }})(
            document.querySelector({json.dumps(css)}))""")

    def complaints(self):
        return self.call("POST", "/se/log", {"type": "browser"})


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def browser_started():
    port = free_port()
    driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = None
    try:
        for _ in range(100):
            try:
                found = Browser(port)
                break
            except (urllib.error.URLError, ConnectionError, AssertionError):
                time.sleep(0.2)
        assert found, "the browser did not start"
        yield found
        found.call("DELETE", "")
    finally:
        driver.kill()
        driver.wait()
