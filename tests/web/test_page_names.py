"""What things are called on the page: by words that people know them by."""

import msgspec

from page_client import page_of
from patience import until
from whet.changes.apply import apply
from whet.ledger.entries import Actor, Item, State
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.listing import Filters, list_sessions
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.web.html import h, words_of
from whet.web.site import PageLinks, known_by
from whet.web.views.lessons import rules

MADE = "learned-0123456789"


def test_a_rule_whose_name_is_a_hash_is_known_by_its_words(home: Home) -> None:
    assert known_by(MADE, "Run `make check`\nbefore you commit.") == "“Run `make check` before you commit.”"
    assert known_by("tidy", "Remove unused imports.") == "tidy"
    assert known_by(MADE, "") == MADE
    patch = Patch(Form.RULE, Action.ADD, MADE, "Run make check.", trust=Trust.OPERATOR)
    with opened(home) as database:
        apply(home, database, patch, actor=Actor.PERSON, now=1.0)
    with page_of(home) as client:
        text = client.enter().ask(f"/rule/rule%3A{MADE}").text
    assert "<h1>“Run make check.”</h1>" in text
    assert "Entry 1: applied by a person" in text


def test_the_list_of_rules_has_their_words_and_no_name_that_was_made_from_them() -> None:
    said = words_of(h("div", rules(PageLinks(), State(items=(Item(Form.RULE, MADE, "Run make check."),)), ())))
    assert "Run make check." in said
    assert MADE not in said


def test_a_session_shows_its_commands_as_lines_and_the_project_of_its_folder(home: Home) -> None:
    command = "cd /srv/shop\nmake check"
    calls = (
        ToolCall("a", "Bash", msgspec.json.encode({"command": command, "timeout": 5, "tags": ["x"]}).decode()),
        ToolCall("b", "Bash", "not json"),
        ToolCall("c", "Look", "{}"),
    )
    steps = (
        Message(Role.USER, (Text("Run it."),), Trust.USER),
        Message(Role.AGENT, calls, Trust.AGENT),
        Message(Role.TOOL, tuple(ToolResult(each.id, (Text("done"),)) for each in calls), Trust.TOOL),
    )
    session = Transcript("codex", "a", steps, folder="D:\\shop\\.claude\\worktrees\\calm-darwin-1")
    with opened(home) as database:
        keep(database, prepare(session), Provenance("/a", 1.0, 2.0))
        [stored] = list_sessions(database, Filters(), limit=9)
    with page_of(home) as client:
        inside = client.enter()
        until(lambda: "1 session" in inside.ask("/sessions").text)
        listed, shown = inside.ask("/sessions").text, inside.ask(f"/session/{stored.id}").text
    assert ">shop</td>" in listed
    assert "<strong>shop</strong>" in shown
    assert "command: cd /srv/shop\nmake check\ntimeout: 5\ntags: [&quot;x&quot;]</pre>" in shown
    assert ">not json</pre>" in shown
    assert "{}" not in shown
