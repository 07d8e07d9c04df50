"""The page in a real browser: every view draws, decisions work, and nothing leaves the machine."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import pytest

from chromium import Chromium, chromium, needs_chromium
from command import runner
from lengths import long
from page_client import PageClient, page_of
from page_store import filled_home
from patience import until
from whet.changes.pending import propose
from whet.evidence.verdicts import judge
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, PatchOrigin
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.store.analyses import refresh
from whet.store.attempts import keep_attempt
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, list_sessions
from whet.store.opening import opened
from whet.store.records import keep_progress
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.trials.attempts import Arm, Attempt, Measures
from whet.trials.design import TrialProgress, TrialResult, TrialStop
from whet.web.site import VIEWS

pytestmark = [long, needs_chromium]

SESSION = "/session/67f1f8f31b5a6fb2a48b"
PATHS = ("/", *(f"/{view.name}" for view in VIEWS[1:]), SESSION, "/rule/rule%3Atidy", "/trial/t-1")
PICTURES = ("/", "/trouble", "/trials", SESSION, "/trial/t-1")
AXE = Path(__file__).parents[2] / ".browser" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = """
    const found = await axe.run(document, {resultTypes: ["violations"]});
    return found.violations.filter((each) => ["serious", "critical"].includes(each.impact))
        .map((each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return filled_home(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def page(filled: Home) -> Iterator[PageClient]:
    with page_of(filled) as client:
        yield client


@pytest.fixture(scope="module")
def browser(page: PageClient) -> Iterator[Chromium]:
    with chromium() as window:
        window.go(page.server.address)
        until(lambda: "Overview" in window.text)
        yield window


def at(page: PageClient, path: str) -> str:
    return f"http://127.0.0.1:{page.port}{page.base}{path}"


def rules(home: Home) -> list[str]:
    with opened(home) as database:
        return [rule.name for rule in ledger_of(home, database).state().rules]


@pytest.mark.parametrize("path", PATHS)
def test_a_view_draws_without_a_complaint_and_asks_nobody_else(browser: Chromium, page: PageClient, path: str) -> None:
    browser.errors(), browser.requests()
    browser.go(at(page, path))
    assert browser.run("return document.querySelectorAll('h1').length") == 1
    assert browser.errors() == []
    elsewhere = [each for each in browser.requests() if each.startswith(("http", "ws", "file"))]
    assert all(each.startswith(at(page, "/")) for each in elsewhere)
    if path in PICTURES:
        assert browser.run("return document.querySelector('figure').getBoundingClientRect().height") > 20


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: `make browser` installs it")
@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_nothing_serious(browser: Chromium, page: PageClient, path: str) -> None:
    browser.go(at(page, path))
    browser.run(AXE.read_text())
    assert browser.run(SERIOUS) == []


def test_every_view_can_be_reached_by_the_keyboard(browser: Chromium, page: PageClient) -> None:
    browser.go(at(page, "/"))
    unreached = "return [...document.querySelectorAll('a, button, select, input')].filter((e) => e.tabIndex < 0).length"
    assert browser.run(unreached) == 0
    assert browser.run("return document.querySelector('a').textContent") == "Skip to the content"


def test_what_is_slow_appears_by_itself(browser: Chromium, page: PageClient) -> None:
    browser.go(at(page, "/lessons"))
    until(lambda: "What your sessions teach" in browser.text)
    assert browser.errors() == []


def test_a_running_trial_is_watched(browser: Chromium, page: PageClient, filled: Home) -> None:
    begun = TrialProgress("t-run", TrialResult(judge([]), TrialStop.OPEN), 0, 8, what="rule calm")
    with opened(filled) as database:
        keep_progress(database, "t-run", begun, now=time.time())
    browser.go(at(page, "/trial/t-run"))
    assert "No attempt yet" in browser.text
    with opened(filled) as database:
        made = Attempt("slow-case", Arm.BASE, 1, Measures(passed=True), trial="t-run")
        keep_attempt(database, "run-1", made, now=time.time())
    until(lambda: "slow-case" in browser.text)
    assert "1 of 8 attempts" in browser.text


def test_a_filter_holds_as_soon_as_it_is_chosen(browser: Chromium, page: PageClient) -> None:
    browser.go(at(page, "/trouble"))
    browser.press("select[name=agent] option[value=hermes]")
    until(lambda: "agent=hermes" in browser.address)
    assert browser.run("return document.querySelector('select[name=agent]').value") == "hermes"
    browser.press("input[name=temporary]")
    until(lambda: "agent=hermes&temporary=1" in browser.address)


def test_a_never_is_taken_back_by_one_press(browser: Chromium, page: PageClient, filled: Home) -> None:
    browser.go(at(page, "/lessons"))
    browser.press("form[action$='/never'] button")
    until(lambda: "Never again: rule ask-for-the-number" in browser.text)
    assert "takes this back" in browser.text
    browser.press(".said form button")
    until(lambda: "waits again" in browser.text)
    assert "Do not look it up again in the same way." in browser.text
    assert "ask-for-the-number" not in rules(filled)
    assert browser.errors() == []


def test_approving_and_undoing_by_hand(browser: Chromium, page: PageClient, filled: Home) -> None:
    browser.go(at(page, "/lessons"))
    assert "Do not look it up again in the same way." in browser.text
    assert "ask-for-the-number" not in rules(filled)
    browser.press("form[action$='/approve'] button")
    until(lambda: "is active" in browser.text)
    assert "ask-for-the-number" in rules(filled)
    browser.press(".said form[action$='/revert'] button")
    until(lambda: "was undone" in browser.text)
    assert "ask-for-the-number" not in rules(filled)
    assert browser.errors() == []


HOSTILE = (
    "</script><script>window.pwned=1</script>",
    "[x](javascript:window.pwned=1)",
    "<svg/onload=window.pwned=1>",
    '"><img src=x onerror=window.pwned=1>',
    "</style><style>*{display:none}</style><base href=//evil.example>",
    "</textarea></title><meta http-equiv=refresh content='0;url=http://evil.example'>",
)
FOREIGN = """
    const made = document.querySelectorAll("main :is(script, style, iframe, img, meta), base, [onload], [onerror]");
    const away = [...document.querySelectorAll("a")].filter((each) => !/^[/#]/.test(each.getAttribute("href")));
    return [window.pwned ?? 0, made.length, away.length, getComputedStyle(document.body).display];
"""


def test_markup_in_any_text_of_a_session_stays_text(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with opened(home) as database:
        for number, text in enumerate(HOSTILE):
            call = Message(Role.AGENT, (Text(text), ToolCall("c", text, text)), Trust.AGENT)
            answer = Message(Role.TOOL, (ToolResult("c", (Text(text),), error=True),), Trust.TOOL)
            said = Message(Role.USER, (Text(text),), Trust.USER)
            session = Transcript(
                "codex", str(number), (said, call, answer), title=text, model=text, folder=f"/srv/{text}"
            )
            keep(database, prepare(session), Provenance(f"/{number}", 1.0, 2.0))
        refresh(database, progress=lambda _: None, processors=1)
        ids = [each.id for each in list_sessions(database, Filters(), limit=9)]
        patch = Patch(
            Form.RULE, Action.ADD, "x", " ".join(HOSTILE), origin=PatchOrigin(said=HOSTILE[0]), trust=Trust.EXTERNAL
        )
        propose(home, database, patch, actor=Actor.AGENT, now=time.time())
    with page_of(home) as page, chromium() as window:
        window.go(page.server.address)
        until(lambda: "Overview" in window.text)
        asked = (f"/sessions?{name}={quote(text)}" for text in HOSTILE for name in ("model", "week", "project"))
        for path in ("/", "/trouble", "/lessons", "/sessions", *(f"/session/{id}" for id in ids), *asked):
            window.go(at(page, path))
            assert window.run(FOREIGN) == [0, 0, 0, "block"], path
        assert window.errors() == []
        assert all("127.0.0.1" in each for each in window.requests() if each.startswith("http"))


def test_an_exported_file_opens_by_itself(filled: Home, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert runner(filled.folder, tmp_path)("page", "--export", str(file), "--texts").code == 0
    with chromium() as window:
        window.go(file.as_uri())
        assert "What your sessions teach" in window.text
        assert window.run("return document.querySelectorAll('svg').length") > 5
        assert window.errors() == []
        asked = [each for each in window.requests() if each.startswith(("http", "ws", "file"))]
        assert asked == [file.as_uri()]


def test_another_browser_cannot_use_the_same_address(page: PageClient, browser: Chromium) -> None:
    assert "Overview" in browser.text or browser.address
    with chromium() as stranger:
        stranger.go(at(page, "/"))
        assert "needs the address" in stranger.text


class _Spy(BaseHTTPRequestHandler):
    """What another program on this machine sees of a browser that visits it."""

    seen: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        _Spy.seen.append(str(self.headers.get("Cookie", "")))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"spy")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_another_port_of_this_machine_does_not_get_the_cookie(browser: Chromium, page: PageClient) -> None:
    browser.go(at(page, "/"))
    with HTTPServer(("127.0.0.1", 0), _Spy) as spy:
        threading.Thread(target=spy.serve_forever, daemon=True).start()
        browser.go(f"http://127.0.0.1:{spy.server_port}/")
        until(lambda: "spy" in browser.text)
        spy.shutdown()
    assert _Spy.seen
    assert not any(_Spy.seen)
    browser.go(at(page, "/"))
    assert "Overview" in browser.text


def test_dark_mode_is_dark(filled: Home) -> None:
    with page_of(filled) as page, chromium(dark=True) as window:
        window.go(page.server.address)
        until(lambda: "Overview" in window.text)
        back = "return getComputedStyle(document.body).backgroundColor"
        until(lambda: window.run(back).startswith("rgb("))  # transparent until the style sheet is there
        assert max(int(part) for part in window.run(back).strip("rgb()").split(",")) < 60
        for path in PATHS if AXE.exists() else ():
            window.go(at(page, path))
            window.run(AXE.read_text())
            assert window.run(SERIOUS) == []
