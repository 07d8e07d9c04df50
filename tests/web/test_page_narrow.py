"""The page on narrow screens: whatever words sessions hold, no view scrolls sideways."""

import time
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import pytest

from chromium import Chromium, chromium, needs_chromium
from lengths import long
from page_client import PageClient, page_of
from page_store import filled_home
from patience import until
from whet.changes.apply import try_out
from whet.changes.pending import propose
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, Proof, Scope
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.store.analyses import refresh
from whet.store.attempts import keep_attempt
from whet.store.home import Home
from whet.store.listing import Filters, list_sessions
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.session_facts import state_of_sessions
from whet.store.sessions import keep
from whet.trials.attempts import Arm, Attempt, Measures
from whet.web.site import VIEWS

pytestmark = [long, needs_chromium]

WORD = "Donaudampfschifffahrtsgesellschaftskapitaen" * 2
PATH = f"/srv/{'a-very-long-folder-name' * 2}/{'x' * 60}"
COMMAND = f"./{WORD} --{'option' * 9}={PATH}"
NAME = "n" + "o" * 60
WIDTHS = (320, 400, 768)


def session_of(number: int) -> Transcript:
    """A command of one long word that fails, what the person says to it, and another that works."""
    steps: list[Message] = [
        Message(Role.USER, (Text(f"Fix {WORD}. Never use {WORD}; always run {COMMAND}."),), Trust.USER)
    ]
    for place, (command, fails) in enumerate(((COMMAND, True), (COMMAND, True), (f"{COMMAND}2", False))):
        call = ToolCall(f"c{place}", f"mcp__{WORD}", msgspec.json.encode({"command": command}).decode())
        said = f"error: {WORD}: cannot open {PATH}" if fails else "done"
        steps.append(Message(Role.AGENT, (Text(WORD), call), Trust.AGENT))
        steps.append(Message(Role.TOOL, (ToolResult(call.id, (Text(said),), error=fails),), Trust.TOOL))
    return Transcript("codex", f"long-{number}", tuple(steps), title=WORD, model=WORD, folder=PATH)


def long_words(home: Home) -> str:
    """Put long words wherever a view shows words of sessions, people or files; the id of a session of them."""
    told = Patch(Form.RULE, Action.ADD, NAME, f"Run {COMMAND}.", Scope(project=PATH), trust=Trust.OPERATOR)
    with opened(home) as database:
        for number in range(4):
            keep(database, prepare(session_of(number)), Provenance(f"{PATH}/{number}", 1.0, 2.0))
        refresh(database, progress=lambda _: None, processors=1)
        found = next(each.id for each in list_sessions(database, Filters(), limit=99) if each.folder == PATH)
        try_out(home, database, told, actor=Actor.PERSON, now=time.time())
        proofs = (Proof(found, 2, "tool_failure", WORD),)
        text = f"Open `{PATH}/{WORD}.txt`."
        asked = Patch(
            Form.RULE, Action.ADD, f"{NAME}2", text, Scope(project=PATH), PatchOrigin(said=WORD), Trust.TOOL, proofs
        )
        propose(home, database, asked, actor=Actor.AGENT, now=time.time())
        keep_attempt(database, "long", Attempt(WORD, Arm.BASE, 0, Measures(passed=True), trial="t-1"), now=1.0)
    return found


class NarrowPage(NamedTuple):
    """A page full of long words in a browser, and a session of it."""

    page: PageClient
    window: Chromium
    session: str


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NarrowPage]:
    home = filled_home(tmp_path_factory.mktemp("narrow"))
    session = long_words(home)
    with page_of(home) as page, chromium() as window:
        with opened(home) as database:
            page.server.cache.lessons.wait(state_of_sessions(database))
        window.go(page.server.address)
        until(lambda: "Overview" in window.text)
        yield NarrowPage(page, window, session)


SESSION = "SESSION"
PATHS = ("/", *(f"/{view.name}" for view in VIEWS[1:]), SESSION, f"/rule/rule%3A{NAME}", "/trial/t-1", "/rule/none")
# What is wider than the screen and does not scroll by itself, to say what is wrong.
WIDE = """
    for (const each of document.querySelectorAll("details")) each.open = true;
    const {scrollWidth} = document.documentElement;
    const isWide = (each) => !each.closest(".scroll") && each.getBoundingClientRect().right > innerWidth + 1;
    const wide = [...document.querySelectorAll("main *, header *")].filter(isWide);
    const names = wide.slice(0, 5).map((each) => `${each.tagName}.${each.getAttribute("class")}`);
    return scrollWidth > innerWidth ? [scrollWidth, ...names] : [];
"""


@pytest.mark.parametrize("path", PATHS)
def test_no_view_scrolls_sideways_whatever_it_shows(narrow: NarrowPage, path: str) -> None:
    where = f"/session/{narrow.session}" if path == SESSION else path
    for width in WIDTHS:
        narrow.window.resize(width)
        narrow.window.go(f"http://127.0.0.1:{narrow.page.port}{narrow.page.base}{where}?temporary=1")
        assert narrow.window.run(WIDE) == [], f"at {width} px"
