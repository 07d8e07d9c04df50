"""`whet hook tool-call`: a command that a rule is about is answered with the rule, once in a session."""

import json
import os
import time
from pathlib import Path

import pytest

from command import Done, Whet, environment, loaded
from telling.hooks.events_of_hosts import call, spooled
from whet.changes.apply import apply
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, RuleSituation, Scope
from whet.sessions.trust import Trust
from whet.store.canary_counts import reminders
from whet.store.home import Home
from whet.store.opening import opened
from whet.telling.hooks.compiling import compile_now

RULE = "Run the tests with ./dev test."
AT_CALL = Scope(at_call=True)
FORMS = RuleSituation("pytest -q", "no database", "./dev test")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def learn(home: Home, tmp_path: Path, scope: Scope = AT_CALL, situation: RuleSituation = FORMS) -> int:
    with opened(home) as database:
        patch = Patch(Form.RULE, Action.ADD, "tests", RULE, scope, trust=Trust.USER, situation=situation)
        entry = apply(home, database, patch, actor=Actor.PERSON, now=time.time())
    compile_now(environment(home.folder, tmp_path / "person"))
    return entry.number


def run(whet: Whet, command: str, *, session: str = "s1", folder: Path = Path("/"), agent: str = "claude-code") -> Done:
    body = {"session_id": session, "cwd": str(folder), "tool_name": "Bash", "tool_input": {"command": command}}
    done = call(whet, "tool-call", body, "--agent", agent)
    assert (done.code, done.err) == (0, "")
    return done


def reminder(done: Done) -> str:
    return str(json.loads(done.out)["hookSpecificOutput"]["additionalContext"]) if done.out else ""


def test_a_rule_is_reminded_of_at_its_calls_once_in_each_session(whet: Whet, home: Home, tmp_path: Path) -> None:
    learn(home, tmp_path)
    for command in ("ls", "./dev test -q", "echo pytest -q", "git commit -m 'pytest -q'"):
        assert reminder(run(whet, command)) == "", command
    assert RULE in reminder(run(whet, "cd shop && DEBUG=1 pytest -q tests\nls"))
    assert reminder(run(whet, "pytest -q")) == ""
    assert RULE in reminder(run(whet, "pytest -q", session="s2"))


def test_it_denies_nothing_and_says_nothing_else(whet: Whet, home: Home, tmp_path: Path) -> None:
    learn(home, tmp_path)
    output = json.loads(run(whet, "pytest -q").out)
    assert list(output) == ["hookSpecificOutput"]
    assert {*output["hookSpecificOutput"]} == {"hookEventName", "additionalContext"}


def test_where_reminders_were_given_is_taken_in(whet: Whet, home: Home, tmp_path: Path) -> None:
    number = learn(home, tmp_path)
    run(whet, "pytest -q")
    [kept] = spooled(home.folder)
    assert (kept["event"], kept["session"], kept["entries"]) == ("tool-call", "s1", [number])
    assert whet("import").code == 0
    assert spooled(home.folder) == []
    with opened(home) as database:
        assert reminders(database) == {("claude-code", "s1", number)}


def test_only_agents_and_projects_of_the_rule_are_reminded(whet: Whet, home: Home, tmp_path: Path) -> None:
    learn(home, tmp_path, Scope(models=("gpt-5",), project="example.org/shop", at_call=True))
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "config").write_text('[remote "origin"]\nurl = https://example.org/shop.git\n')
    assert reminder(run(whet, "pytest -q", agent="codex")) == "", "another project"
    assert reminder(run(whet, "pytest -q", folder=shop)) == "", "another agent's models"
    assert RULE in reminder(run(whet, "pytest -q", folder=shop, agent="codex"))


def test_a_person_who_says_what_not_to_use_is_quoted_where_it_is_used(whet: Whet, home: Home, tmp_path: Path) -> None:
    learn(home, tmp_path, situation=RuleSituation(said="Use pnpm instead of npm."))
    assert reminder(run(whet, "pnpm install")) == ""
    assert RULE in reminder(run(whet, "npm install"))


def test_a_rule_that_is_no_reminder_leaves_no_file_and_undoing_removes_it(
    whet: Whet, home: Home, tmp_path: Path
) -> None:
    compiled = home.folder / "hooks" / "reminders.json"
    assert whet("rules", "add", "brief", "Answer briefly.").code == 0
    compile_now(environment(home.folder, tmp_path / "person"))
    assert not compiled.exists()
    number = learn(home, tmp_path)
    assert compiled.exists()
    assert whet("ledger", "undo", str(number)).code == 0
    assert not compiled.exists()
    assert reminder(run(whet, "pytest -q")) == ""


@pytest.mark.parametrize("body", ["", "{", "{}", '{"reminders": [{}]}', "[]"])
def test_what_cannot_be_read_does_not_hinder_the_call(whet: Whet, home: Home, body: str) -> None:
    (home.folder / "hooks").mkdir(parents=True)
    (home.folder / "hooks" / "reminders.json").write_text(body)
    assert run(whet, "pytest -q").out == ""
    assert "tool-call" in (home.folder / "hooks" / "log.txt").read_text()


@pytest.mark.parametrize("given", [None, "pytest", [], {"command": None}, {"command": ["pytest", "-q"]}, {}])
def test_a_call_without_a_command_is_nobodys(whet: Whet, home: Home, tmp_path: Path, given: object) -> None:
    learn(home, tmp_path)
    done = call(whet, "tool-call", {"session_id": "s1", "tool_input": given})
    assert (done.code, done.out, done.err) == (0, "", "")


def test_marks_of_sessions_long_over_are_removed(whet: Whet, home: Home, tmp_path: Path) -> None:
    learn(home, tmp_path)
    run(whet, "pytest -q")
    [mark] = (home.folder / "hooks" / "reminded").iterdir()
    (home.folder / "spool" / "kept").mkdir(exist_ok=True)
    os.utime(mark, (0, 0))
    whet("import")
    assert not mark.exists()


def test_little_is_loaded_to_look_at_a_call() -> None:
    found = loaded("-c", "import whet.telling.hooks.entry", home=Path("/"))
    assert not {"msgspec", "sqlite3", "click", "socket", "pathlib"} & found
