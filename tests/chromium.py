"""A real browser: Debian's chromium, driven by its own driver over HTTP; what it logs and asks for is kept."""

import base64
import contextlib
import http.client
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
STARTS = 3
ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
needs_chromium = pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="chromium and chromedriver are not installed: `make browser` installs them on Debian",
)


class Chromium(NamedTuple):
    """One window of a browser."""

    port: int
    session: str

    def ask(self, method: str, path: str, **body: object) -> Any:
        return _ask(self.port, method, f"/session/{self.session}{path}", **body)

    def go(self, address: str) -> None:
        self.ask("POST", "/url", url=address)

    @property
    def address(self) -> str:
        return str(self.ask("GET", "/url"))

    def find(self, selector: str) -> str:
        found = self.ask("POST", "/element", using="css selector", value=selector)
        return str(found[ELEMENT])

    def press(self, selector: str) -> None:
        self.ask("POST", f"/element/{self.find(selector)}/click")

    def run(self, script: str) -> Any:
        return self.ask("POST", "/execute/sync", script=script, args=[])

    @property
    def text(self) -> str:
        return str(self.run("return document.body ? document.body.innerText : ''"))

    def errors(self) -> list[str]:
        """What the console complained of since this was last asked."""
        found = self.ask("POST", "/se/log", type="browser")
        return [entry["message"] for entry in found if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """The addresses that were asked for since this was last asked."""
        found = (json.loads(entry["message"])["message"] for entry in self.ask("POST", "/se/log", type="performance"))
        return [each["params"]["request"]["url"] for each in found if each["method"] == "Network.requestWillBeSent"]

    def resize(self, width: int, height: int = 900) -> None:
        """Show the page as on a screen of this size; a window itself cannot be as narrow as a telephone."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("POST", "/goog/cdp/execute", cmd="Emulation.setDeviceMetricsOverride", params=size)

    def picture(self) -> bytes:
        return base64.b64decode(self.ask("GET", "/screenshot"))


@contextlib.contextmanager
def chromium(*, width: int = 1100, height: int = 900, dark: bool = False) -> Iterator[Chromium]:
    """A browser with a profile of its own."""
    with tempfile.TemporaryDirectory(prefix="whet-browser-", ignore_cleanup_errors=True) as profile:
        arguments = [*ARGUMENTS, f"--window-size={width},{height}", f"--user-data-dir={profile}"]

        driver, port = _driver()
        try:
            options = {"args": arguments, "binary": shutil.which("chromium")}
            logs = {"browser": "ALL", "performance": "ALL"}
            asked = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": logs}}
            session = _ask(port, "POST", "/session", capabilities=asked)["sessionId"]
            window = Chromium(port, session)
            if dark:
                window.ask("POST", "/goog/cdp/execute", cmd="Emulation.setEmulatedMedia", params={
                    "features": [{"name": "prefers-color-scheme", "value": "dark"}]
                })  # fmt: skip
            try:
                yield window
            finally:
                window.ask("DELETE", "")
        finally:
            _end(driver)


def _driver() -> tuple[subprocess.Popen[str], int]:
    """A driver and its port. It ends at once where another program was quicker to take the port that it chose."""
    for _ in range(STARTS):
        driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        assert driver.stdout is not None
        for line in driver.stdout:
            if found := re.search(r"successfully on port (\d+)", line):
                return driver, int(found[1])
        _end(driver)
    raise AssertionError(f"chromedriver did not start, {STARTS} times")


def _end(driver: subprocess.Popen[str]) -> None:
    driver.terminate()
    driver.wait()
    assert driver.stdout is not None
    driver.stdout.close()


def _ask(port: int, method: str, path: str, **body: object) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, json.dumps(body) if method == "POST" else None)
        answer = json.loads(connection.getresponse().read())["value"]
    finally:
        connection.close()
    if isinstance(answer, dict) and "error" in answer:
        raise AssertionError(f"{answer['error']}: {answer.get('message', '')[:500]}")
    return answer
