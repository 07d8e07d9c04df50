"""Reminders in the real programs of four hosts: the next request after a call that a rule is about has it, once."""

import json
import time
from pathlib import Path

import pytest

from command import environment, runner
from lengths import long
from proving.obedient import Obedient, Steady, obedient
from telling.hooks.hosts import TASK, install
from whet.changes.apply import apply
from whet.improving.heeded import seen_rules
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, RuleSituation, Scope
from whet.sessions.lineage import is_typed
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, find, list_sessions
from whet.store.opening import opened
from whet.store.sessions import load
from whet.telling.hooks.compiling import compile_now

RULE = "Run the tests with ./dev test."
REMINDER = "Reminder of a rule learned"
SITUATION = RuleSituation("pytest -q", "no database", "./dev test")


def learn(home: Home, person: Path) -> None:
    with opened(home) as database:
        patch = Patch(Form.RULE, Action.ADD, "tests", RULE, Scope(at_call=True), trust=Trust.USER, situation=SITUATION)
        apply(home, database, patch, actor=Actor.PERSON, now=time.time() - 60)
    compile_now(environment(home.folder, person))


def asked(server: Obedient) -> list[str]:
    """What the model was asked, request by request; titles and the like are asked for without tools."""
    return [json.dumps(body) for _, body in server.asked if body.get("tools")]


@long
@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "gemini"])
@pytest.mark.parametrize(("last", "is_followed"), [("pytest -q again", False), ("./dev test", True)])
def test_a_call_that_a_rule_is_about_is_answered_with_the_rule_once(
    name: str, last: str, is_followed: bool, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    work = tmp_path / "work"
    work.mkdir()
    (work / "dev").write_text("#!/bin/sh\necho 3 passed\n")
    (work / "dev").chmod(0o755)
    with obedient(Steady(("echo plain", "pytest -q", last))) as server:
        host = install(name, tmp_path, server)
        learn(home, tmp_path / "person")
        done = host.run(work)
        requests = asked(server)
    assert done.returncode == 0, done.stderr
    assert [each.count(REMINDER) for each in requests] == [0, 0, 1, 1], "before, after another call, after it, later"
    assert requests[-1].count(RULE) == 2, "when the session started, and at the call"
    runner(home.folder, tmp_path / "person")("import")
    with opened(home) as database:
        [stored] = list_sessions(database, Filters(), limit=5)
        [seen] = seen_rules(home, database, ledger_of(home, database).state().rules)["tests"]
        said = [
            message.text.strip('"')
            for message in load(database, find(database, stored.id)).messages
            if is_typed(message)
        ]
    assert said == [TASK], "what a hook told is not taken for the person's words"
    assert (seen.told, seen.is_reminded, seen.session) == (True, True, stored.id)
    if name != "codex":  # which runs nothing where its own walls are missing
        assert seen.followed is is_followed


@long
@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "gemini"])
def test_without_a_reminder_in_force_whet_is_not_called_for_a_command(name: str, tmp_path: Path) -> None:
    """The `whet` of this host leaves a trace of what it is called with."""
    traced = tmp_path / "traced"
    traced.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/called\n')
    traced.chmod(0o755)
    with obedient(Steady(("pytest -q",))) as server:
        host = install(name, tmp_path, server, whet=traced)
        assert host.run(tmp_path).returncode == 0
    called = (tmp_path / "called").read_text()
    assert "hook session-start" in called
    assert "tool-call" not in called
