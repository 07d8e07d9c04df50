"""What a newcomer reads at 80 columns: whole words, no contradiction, and where to go next."""

import time
from pathlib import Path

import pytest

from command import Whet, on_a_terminal
from whet.changes.pending import submit
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.opening import opened

LONG = "Before you change a file that others import, list its callers and say which of them the change concerns."


@pytest.fixture
def proposed(tmp_path: Path) -> int:
    """A rule that waits for the person."""
    home = Home(tmp_path / "home")
    patch = Patch(Form.RULE, Action.ADD, "callers", LONG, trust=Trust.TOOL)
    with opened(home) as database:
        return submit(home, database, patch, actor=Actor.POLICY, now=time.time()).number


def test_a_narrow_terminal_shows_the_whole_words_of_a_rule(whet: Whet, tmp_path: Path) -> None:
    assert whet("rules", "add", "callers-of-the-changed-file", LONG).code == 0
    code, shown = on_a_terminal(tmp_path, "", "rules")
    assert code == 0
    assert LONG in " ".join(shown.split())
    assert "callers-of-the-changed-file:" in shown


def test_what_wraps_stays_below_the_beginning_of_its_line(whet: Whet, tmp_path: Path, examples: Path) -> None:
    assert whet("import", str(examples / "claude-code")).code == 0
    _, shown = on_a_terminal(tmp_path, "", "lessons")
    lines = shown.replace("\r", "").splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("   ") and " · rule · " in line)
    assert lines[first + 1].startswith("   ")


def test_what_waits_is_said_once_by_the_status(tmp_path: Path, proposed: int) -> None:
    assert proposed
    _, shown = on_a_terminal(tmp_path, "", "status")
    assert shown.count("approval") == 1


def test_a_rule_that_waits_is_not_said_to_be_missing(whet: Whet, proposed: int) -> None:
    assert f"whet lessons show {proposed}" in whet("rules", "show", "callers").err
    assert "proposed by Whet itself" in " ".join(whet("lessons", "--waiting").out.split())


def test_who_adds_a_rule_learns_who_is_told_it(whet: Whet, person: Path) -> None:
    assert "No agent is told it yet." in whet("rules", "add", "callers", LONG).out
    assert whet("sync", "add", "claude-code").code == 0
    assert whet("sync", "--targets").out.splitlines()[1].split()[1] == "~/.claude/CLAUDE.md"
    assert (
        f"To write it to {person}/.claude/CLAUDE.md, run `whet sync`."
        in whet("rules", "add", "--replace", "callers", "Look.").out
    )


def test_an_error_that_names_its_remedy_is_quoted_once(whet: Whet, examples: Path) -> None:
    assert whet("import", str(examples / "claude-code")).code == 0
    assert "the error says: Use: ./dev test MODULE" not in whet("lessons", "show", "1").out


def test_where_nothing_is_found_the_way_on_is_named(whet: Whet, examples: Path) -> None:
    assert whet("import", str(examples / "claude-code")).code == 0
    assert "`begin*`" in whet("search", "zzzz").out
    assert "run `whet lessons`" in whet("lessons", "--project", "nosuch").out
    assert "To do it, run `whet setup`." in whet("setup", "--dry-run").out
