"""Only the person who started the page can look at it, and only their own page can change anything."""

import http.client
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from page_client import PageClient, page_of
from patience import PATIENCE_SECONDS
from whet.changes.pending import pending, propose
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, PatchOrigin
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.store import analyses, sessions
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.web.gate import COOKIE
from whet.web.server import expect_loopback

VIEWS = ("/", "/trouble", "/sessions", "/lessons", "/lessons", "/lessons", "/static/page.css")
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
PATCH = Patch(
    Form.RULE, Action.ADD, "tidy", "Remove unused imports.", origin=PatchOrigin(said=SCRIPT), trust=Trust.EXTERNAL
)
NOW = 2_000_000_000.0


@pytest.fixture
def place(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def page(place: Home) -> Iterator[PageClient]:
    with page_of(place) as client:
        yield client


@pytest.mark.parametrize("path", VIEWS)
def test_nothing_is_shown_without_the_cookie(page: PageClient, path: str) -> None:
    answer = page.ask(path)
    assert answer.status == 401
    assert "whet page" in answer.text


@pytest.mark.parametrize("path", VIEWS)
def test_nothing_is_shown_outside_the_secret_path(page: PageClient, path: str) -> None:
    inside = page.enter()
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE_SECONDS)
    for address in (path, f"/guessed{path}", f"{page.base}x{path}", page.base):
        connection.request("GET", address, headers={"Cookie": f"{COOKIE}={inside.cookie}"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 401
    connection.close()


def test_cookies_of_other_ports_are_looked_over(page: PageClient) -> None:
    inside = page.enter()
    crowd = {"Cookie": f"{COOKIE}=theirs; other=1; {COOKIE}={inside.cookie}; {COOKIE}=theirs"}
    assert inside.ask("/", headers=crowd).status == 200
    assert inside.ask("/", headers={"Cookie": f"{COOKIE}=theirs"}).status == 401


@pytest.mark.parametrize("path", VIEWS)
def test_a_foreign_host_reaches_nothing(page: PageClient, path: str) -> None:
    inside = page.enter()
    for host in ("evil.example", f"evil.example:{page.port}", "127.0.0.1", f"127.0.0.1.evil.example:{page.port}", ""):
        assert inside.ask(path, headers={"Host": host}).status == 421


def test_a_foreign_host_cannot_spend_the_token(page: PageClient) -> None:
    path = page.server.address.partition(str(page.port))[2]
    assert page.ask(path, headers={"Host": "evil.example"}).status == 421
    page.enter()


def test_the_token_opens_the_page_once(page: PageClient) -> None:
    path = page.server.address.partition(str(page.port))[2]
    inside = page.enter()
    assert page.ask(path).status == 401
    assert inside.ask("/").status == 200
    assert page.server.keys.token == ""


@pytest.mark.parametrize("token", ["", "wrong", "ü", "%ff"])
def test_a_wrong_token_opens_nothing(page: PageClient, token: str) -> None:
    answer = page.ask(f"/?token={token}" if token.isascii() else "/?token=%C3%BC")
    assert answer.status == 401
    assert "set-cookie" not in answer.headers


def test_the_cookie_is_kept_from_scripts_and_other_sites(page: PageClient) -> None:
    cookie = page.ask(page.server.address.partition(str(page.port))[2]).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert f"path={page.base.lower()};" in f"{cookie};"
    assert page.server.keys.token not in cookie or not page.server.keys.token


def test_every_answer_carries_a_strict_policy(page: PageClient) -> None:
    for client in (page, page.enter()):
        headers = client.ask("/").headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_a_page_elsewhere_cannot_read_ours(page: PageClient) -> None:
    inside = page.enter()
    assert inside.ask("/", headers={"Origin": "http://evil.example"}).status == 403
    assert inside.ask("/", headers={"Origin": "null"}).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_elsewhere_cannot_load_ours_as_a_part_of_it(page: PageClient, site: str) -> None:
    inside = page.enter()
    assert inside.ask("/static/page.js", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "script"}).status == 403
    assert inside.ask("/", headers={"Sec-Fetch-Site": "same-origin"}).status == 200
    assert inside.ask("/", headers={"Sec-Fetch-Site": "none"}).status == 200


@pytest.mark.parametrize("name", ["Host", "Origin"])
def test_a_header_that_is_said_twice_is_believed_neither_time(page: PageClient, name: str) -> None:
    inside = page.enter()
    own = f"127.0.0.1:{page.port}"
    values = {"Host": [own], "Origin": [f"http://{own}"], "Cookie": [f"{COOKIE}={inside.cookie}"]}
    values[name].append("evil.example")
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE_SECONDS)
    connection.putrequest("GET", f"{page.base}/", skip_host=True)
    for header, given in values.items():
        for value in given:
            connection.putheader(header, value)
    connection.endheaders()
    assert connection.getresponse().status in (400, 403, 421)
    connection.close()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/waiting/", 404),
        ("/static/../server.py", 404),
        ("/static/..%2fserver.py", 404),
        ("//evil.example/", 404),
        (f"/sessions?start={'9' * 3000}", 200),
        (f"/sessions?canary={'9' * 300}", 200),
        (f"/session/none?start={'9' * 3000}", 404),
        ("/sessions?start=%C2%B2&canary=%D9%A3&week=%00%ff&group=__class__", 200),
        ("/sessions?rule=%3Cscript%3E&fared=__class__", 200),
        ("/sessions?canary=1%27%20OR%201=1&arm=%00&situation=%3Cscript%3E", 200),
        ("/sessions?examples=../../../../etc/passwd", 200),
        (f"/sessions?project={'x' * 5000}", 414),
    ],
)
def test_odd_addresses_lead_nowhere_and_break_nothing(page: PageClient, path: str, status: int) -> None:
    answer = page.enter().ask(path)
    assert answer.status == status
    assert "location" not in answer.headers


def test_a_number_that_no_ledger_has_changes_nothing(page: PageClient, place: Home) -> None:
    proposed(place)
    inside = page.enter()
    form = {"form": page.server.keys.form}
    for path in (f"/waiting/{10**22}/approve", f"/ledger/{10**22}/revert"):
        assert inside.send(path, form).status == 404
    assert in_force(place) == []


def proposed(home: Home) -> int:
    with opened(home) as database:
        return propose(home, database, PATCH, actor=Actor.AGENT, now=time.time()).number


def in_force(home: Home) -> list[str]:
    with opened(home) as database:
        return [rule.text for rule in ledger_of(home, database).state().rules]


def test_a_form_of_another_page_changes_nothing(page: PageClient, place: Home) -> None:
    number = proposed(place)
    inside = page.enter()
    path = f"/waiting/{number}/approve"
    fields = inside.form("/lessons", path)
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert inside.send(path, fields, **headers).status == 403
    body = "&".join(f"{name}={value}" for name, value in fields.items())
    assert inside.ask(path, method="POST", body=body).status == 403  # no Origin at all
    assert inside.send(path, {**fields, "form": "guessed"}).status == 403
    assert inside.send(path, {"patch": fields["patch"]}).status == 403
    assert page.send(path, fields).status == 401  # no cookie
    assert inside.ask(path).status == 405  # a link changes nothing
    assert in_force(place) == []


def test_a_page_that_no_person_opened_only_shows(place: Home) -> None:
    number = proposed(place)
    with page_of(place, may_change=False) as client:
        inside = client.enter()
        assert 'method="post"' not in inside.ask("/lessons").text
        fields = {"form": client.server.keys.form, "patch": PATCH.id}
        assert inside.send(f"/waiting/{number}/approve", fields).status == 403
    assert in_force(place) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org", ""])
def test_another_bind_is_refused(host: str) -> None:
    with pytest.raises(WhetError, match="this machine only"):
        expect_loopback(host)


def hostile(home: Home) -> str:
    """A session in which everything that a stranger can write is a script."""
    call = ToolCall(SCRIPT, SCRIPT, f'{{"command": "{SCRIPT}"}}')
    messages = (
        Message(Role.USER, (Text(SCRIPT),), Trust.USER, at=NOW),
        Message(Role.AGENT, (Text(SCRIPT), call), Trust.AGENT, at=NOW),
        Message(Role.TOOL, (ToolResult(SCRIPT, (Text(f"Error: {SCRIPT}"),), error=True),), Trust.TOOL, at=NOW),
        Message(Role.AGENT, (Text("I give up. \x00\x1b[31m\u202e</main></body>"),), Trust.AGENT, at=NOW),
    )
    transcript = Transcript(
        f"codex{SCRIPT}", SCRIPT, messages, title=SCRIPT, folder=f"/home/{SCRIPT}", branch=SCRIPT, model=SCRIPT
    )
    with opened(home) as database:
        sessions.keep(database, prepare(transcript), Provenance(f"/{SCRIPT}", NOW, NOW))
        analyses.refresh(database, progress=lambda _: None)
    return transcript.id


def test_words_of_sessions_are_only_ever_text(page: PageClient, place: Home) -> None:
    id = hostile(place)
    proposed(place)
    inside = page.enter()
    seen = 0
    for path in (
        "/",
        "/trouble",
        "/sessions",
        "/lessons",
        "/lessons",
        "/lessons",
        f"/session/{id}",
        "/session/%3Cscript%3E",
    ):
        text = inside.ask(path).text
        seen += "&lt;script&gt;" in text
        assert "<script>" not in text
        assert "<img" not in text
        assert text.count("</main>") == 1
        assert "\x00" not in text
        assert "\u202e" not in text
    assert seen >= 5


@pytest.mark.parametrize("given", ["project", "agent", "kind", "tool", "week", "start", "model"])
def test_words_in_the_address_are_only_ever_text(page: PageClient, given: str) -> None:
    inside = page.enter()
    for path in ("/", "/sessions", "/trouble"):
        answer = inside.ask(f"{path}?{given}=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
        assert answer.status == 200
        assert "<script>" not in answer.text


def test_approving_and_undoing_change_what_is_in_force(page: PageClient, place: Home) -> None:
    number = proposed(place)
    inside = page.enter()
    assert "Remove unused imports." in inside.ask("/lessons").text
    path = f"/waiting/{number}/approve"
    assert "is active" in inside.decide(path, inside.form("/lessons", path))
    assert in_force(place) == ["Remove unused imports."]
    with opened(place) as database:
        entry = ledger_of(place, database).state().rules[0].number
    back = f"/ledger/{entry}/revert"
    assert "was undone" in inside.decide(back, inside.form("/rule/rule%3Atidy", back))
    assert in_force(place) == []


def test_what_was_not_seen_is_not_approved(page: PageClient, place: Home) -> None:
    number = proposed(place)
    inside = page.enter()
    path = f"/waiting/{number}/approve"
    fields = inside.form("/lessons", path)
    assert "no longer pending as you saw it" in inside.decide(path, {**fields, "patch": "another"})
    assert in_force(place) == []


def test_an_edited_text_takes_the_place_of_the_proposed_one(page: PageClient, place: Home) -> None:
    number = proposed(place)
    inside = page.enter()
    path = f"/waiting/{number}/edit"
    fields = inside.form("/lessons", path)
    assert "Your text is empty" in inside.decide(path, {**fields, "text": " "})
    inside.decide(path, {**fields, "text": "Remove imports that nobody uses."})
    assert in_force(place) == ["Remove imports that nobody uses."]
    with opened(place) as database:
        assert pending(place, database, now=NOW) == ()


def test_what_is_never_wanted_cannot_be_proposed_again(page: PageClient, place: Home) -> None:
    number = proposed(place)
    inside = page.enter()
    path = f"/waiting/{number}/never"
    assert "Never again" in inside.decide(path, inside.form("/lessons", path))
    with pytest.raises(WhetError, match=r"refused|never"):
        proposed(place)


@pytest.mark.parametrize("decision", ["approve", "refuse", "never"])
def test_every_decision_offers_the_way_back(page: PageClient, place: Home, decision: str) -> None:
    number = proposed(place)
    inside = page.enter()
    path = f"/waiting/{number}/{decision}"
    answer = inside.send(path, inside.form("/lessons", path))
    there = answer.headers["location"]
    if decision != "approve":
        assert f"whet ledger undo {number + 1}" in inside.ask(there).text
    found = re.search(r'action="([^"]*/(?:reopen|revert))"', inside.ask(there).text)
    assert found is not None
    back = found[1].removeprefix(page.base)
    fields = inside.form(there, back)
    assert "not the one that you saw" in inside.decide(back, {**fields, "patch": "another"})
    assert ("was undone" if decision == "approve" else "waits again") in inside.decide(back, fields)
    with opened(place) as database:
        assert len(pending(place, database, now=time.time())) == (decision != "approve")
    assert in_force(place) == []
    assert "Nothing was changed" in inside.decide(back, fields), "once is enough"


def test_a_refused_change_no_longer_waits(page: PageClient, place: Home) -> None:
    number = proposed(place)
    inside = page.enter()
    path = f"/waiting/{number}/refuse"
    shown = inside.decide(path, inside.form("/lessons", path))
    assert "Refused: rule tidy." in shown
    assert "Waiting for your decision" not in shown
    assert in_force(place) == []


def test_the_menu_has_only_what_is_not_empty(page: PageClient, place: Home) -> None:
    inside = page.enter()
    assert menu_of(inside) == ["Overview"]
    proposed(place)
    assert menu_of(inside) == ["Overview", "Lessons"]


def menu_of(inside: PageClient) -> list[str]:
    [menu] = re.findall(r"<nav.*?</nav>", inside.ask("/").text, re.DOTALL)
    return re.findall(r"<a [^>]*>([A-Za-z ]+)", menu)
