"""An approved rule of a project: whoever approves it learns who is told it, and each command named next works."""

import json
import re
import time
from pathlib import Path

import pytest

from command import Whet
from whet.changes.pending import propose
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, Scope
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.opening import opened
from whet.telling.hooks.installing import install_hooks

TEXT = "Run the tests with `./dev test`."


@pytest.fixture
def shop(tmp_path: Path, whet: Whet, examples: Path) -> Path:
    """A project with a session of Claude Code's in it, and a rule that waits."""
    folder = tmp_path / "my shop"
    folder.mkdir()
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    session = next((examples / "claude-code" / "-home-noor-shop").glob("*.jsonl"))
    (sessions / session.name).write_text(session.read_text().replace("/home/noor/shop", str(folder)))
    assert whet("import", str(sessions)).code == 0
    home = Home(tmp_path / "home")
    patch = Patch(Form.RULE, Action.ADD, "tests", TEXT, Scope(project=str(folder)), trust=Trust.TOOL)
    with opened(home) as database:
        propose(home, database, patch, actor=Actor.POLICY, now=time.time())
    return folder


def approve(whet: Whet) -> str:
    number = str(whet("lessons", "--waiting", "--json").json["waiting"][0]["id"])
    done = whet("lessons", "approve", number, "--yes")
    assert done.code == 0, done.err
    return " ".join(done.out.split())


def test_who_approves_a_rule_of_a_project_is_led_to_the_file_that_holds_it(whet: Whet, shop: Path) -> None:
    command = f"whet sync add claude-code --project '{shop}'"
    assert f"No agent is told it yet. Run `{command}` and `whet sync`" in approve(whet)
    assert whet("sync", "add", "claude-code").code == 0
    shown = " ".join(whet("sync").out.split())
    assert "claude-code: unchanged" in shown
    assert "1 active rule holds for projects without a target here." in shown
    assert command in shown
    assert whet("sync", "--json").json["untold"] == [{"project": str(shop), "rules": 1, "command": command}]
    assert whet("sync", "add", "claude-code", "--project", str(shop)).code == 0
    shown = " ".join(whet("sync").out.split())
    assert f"claude-code:{shop}: written {shop / 'CLAUDE.md'}" in shown
    assert "without a target" not in shown
    assert TEXT in (shop / "CLAUDE.md").read_text()


def test_hooks_tell_it_where_they_are(whet: Whet, shop: Path) -> None:
    body = {"session_id": "s", "cwd": str(shop), "hook_event_name": "SessionStart", "source": "startup"}
    assert whet("hook", "session-start", "--agent", "claude-code", stdin=json.dumps(body)).code == 0
    shown = approve(whet)
    assert re.search(r"Told at the start of each session in .*my shop: claude-code\.", shown)
    assert "whet sync add" not in shown
    assert "Told at the start of each session there: claude-code." in " ".join(whet("sync").out.split())


@pytest.mark.usefixtures("shop")
def test_hooks_that_were_not_seen_calling_yet_count_as_telling_it(whet: Whet, person: Path) -> None:
    for config in (".claude", ".codex"):
        (person / config).mkdir()
    home = Home(person.parent / "home")
    install_hooks("claude-code", person / ".claude", home)
    install_hooks("codex", person / ".codex", home)
    shown = approve(whet)
    assert re.search(r"Told from the next session in .*my shop on: claude-code \(its hook is installed", shown)
    assert "codex is not told yet: start `codex` once and trust" in shown
    assert "whet setup" not in shown
    synced = " ".join(whet("sync").out.split())
    assert "Told from the next session there on: claude-code" in synced
    assert "whet setup" not in synced


@pytest.mark.usefixtures("shop")
def test_hooks_of_another_home_tell_nothing_of_this_one(whet: Whet, person: Path) -> None:
    (person / ".claude").mkdir()
    install_hooks("claude-code", person / ".claude", Home(person / ".whet"))
    assert "No agent is told it yet." in approve(whet)
