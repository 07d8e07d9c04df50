"""Commands within a conversation."""

import pytest

from whet.changes.apply import apply
from whet.cli.chat.slash import COMMANDS, ChatStanding, Reaction, is_command, respond
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.own.runs.run import Spent
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger


@pytest.fixture
def standing(home: Home, database: Database) -> ChatStanding:
    return ChatStanding(home, database, "openai:gpt-5.1", "session-1", Spent(2, 1000, 50, 900, 3.0, 0.0125))


def words(reaction: Reaction) -> str:
    return "\n".join(reaction.lines)


def learn(standing: ChatStanding, name: str, text: str, actor: Actor, now: float) -> None:
    patch = Patch(Form.RULE, Action.ADD, name, text, trust=Trust.USER)
    apply(standing.home, standing.database, patch, actor=actor, now=now)


def test_help_names_every_command(standing: ChatStanding) -> None:
    assert all(f"/{each.name}" in words(respond("/help", standing)) for each in COMMANDS)


def test_an_unknown_command_names_the_nearest(standing: ChatStanding) -> None:
    assert "Did you mean /skills?" in words(respond("/skill", standing))
    assert "/help" in words(respond("/xyz", standing))


@pytest.mark.parametrize(
    ("text", "expected"), [("/help", True), ("/model a:b", True), ("/etc/hosts", False), ("a /help", False)]
)
def test_a_path_is_no_command(text: str, expected: bool) -> None:
    assert is_command(text) is expected


def test_undo_takes_back_what_whet_learned_and_not_what_the_person_wrote(standing: ChatStanding) -> None:
    learn(standing, "tests-first", "Run the tests first.", Actor.POLICY, 1.0)
    learn(standing, "be-brief", "Answer briefly.", Actor.PERSON, 2.0)
    assert "tests-first" in words(respond("/learned", standing))
    assert "be-brief" not in words(respond("/learned", standing))
    assert "Undone: rule tests-first" in words(respond("/undo", standing))
    names = [rule.name for rule in Ledger(standing.database).state().rules]
    assert names == ["be-brief"]
    assert "nothing that can be undone" in words(respond("/undo", standing))


def test_the_newest_change_is_undone_first(standing: ChatStanding) -> None:
    learn(standing, "tests-first", "Run the tests first.", Actor.POLICY, 1.0)
    learn(standing, "be-brief", "Answer briefly.", Actor.POLICY, 2.0)
    assert "be-brief" in words(respond("/undo", standing))
    assert "tests-first" in words(respond("/undo", standing))


def test_what_is_not_there_yet_is_said_so(standing: ChatStanding) -> None:
    assert "No skills yet" in words(respond("/skills", standing))
    assert "No notes yet" in words(respond("/memory", standing))
    assert "No templates yet" in words(respond("/warm", standing))
    assert "nothing yet" in words(respond("/learned", standing))


def test_cost_counts_tokens_and_money(standing: ChatStanding) -> None:
    said = words(respond("/cost", standing))
    assert "1,000 tokens in (90 % cached), 50 out, $0.0125" in said


def test_model_and_quit_are_asked_of_the_conversation(standing: ChatStanding) -> None:
    assert respond("/model local", standing).model == "local"
    assert "openai:gpt-5.1" in words(respond("/model", standing))
    assert respond("/quit", standing).leaves
    assert respond("/exit", standing).leaves
