"""The plugin in the real programs of four hosts: sessions are told, imported, drawn for and never hindered."""

import json
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from command import COMMAND, runner
from lengths import long
from proving.agents import program
from proving.obedient import Mind, Obedient, PlannedCall, obedient
from telling.hooks.hosts import ARGUMENTS, PLUGIN, ROOT, TASK, install
from whet.changes.apply import try_out
from whet.improving.watch import look
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.lineage import is_typed
from whet.sessions.trust import Trust
from whet.store.canary_counts import session_draws, told_entries
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, find, list_sessions
from whet.store.opening import opened
from whet.store.sessions import load
from whet.telling.hooks.installing import has_plugin, install_hooks, remove_hooks
from whet.telling.hooks.starting import unit_of_session
from whet.telling.targets.settings import last_calls
from whet.trials.draws import is_told
from whet.trials.told_rules import key_of

HOSTS = ["claude", "codex", "opencode", "gemini"]
MIND = Mind(rule="./dev test", told="./dev test", untold="echo plain")
SHOP, BANK = "In the shop run ./dev test.", "In the bank run make check."
BROKEN = {
    "exits with 1": "#!/bin/sh\necho nonsense >&2\nexit 1\n",
    "hangs": "#!/bin/sh\nexec sleep 600\n",
    "is missing": "",
}


def project(folder: Path, name: str) -> Path:
    work = folder / name
    work.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    subprocess.run(["git", "remote", "add", "origin", f"https://example.org/{name}.git"], cwd=work, check=True)
    return work


def first_request(server: Obedient) -> str:
    """What the model was first asked with tools in hand; a title for the session may be asked for before."""
    return next(json.dumps(body) for _, body in server.asked if body.get("tools"))


@long
@pytest.mark.parametrize("name", HOSTS)
def test_a_session_is_told_the_rules_of_its_project_and_is_imported_when_it_ends(name: str, tmp_path: Path) -> None:
    whet = runner(tmp_path / "home", tmp_path / "person")
    with obedient(MIND) as server:
        host = install(name, tmp_path, server)
        config = tmp_path / "config" / (".gemini" if name == "gemini" else "")
        assert has_plugin(host.agent, config) is (name != "opencode")
        shop, bank = project(tmp_path, "shop"), project(tmp_path, "bank")
        assert whet("rules", "add", "in-shop", SHOP, "--project", str(shop)).code == 0
        assert whet("rules", "add", "in-bank", BANK, "--project", str(bank)).code == 0
        done = host.run(shop)
        assert done.returncode == 0, done.stderr
        asked = first_request(server)
    assert asked.count(SHOP) == 1
    assert BANK not in asked
    assert whet("import", "--json").code == 0
    [session] = whet("sessions", "--temporary", "--json").json["sessions"]
    assert (session["source"], session["folder"]) == (host.agent, str(shop))
    assert list((tmp_path / "home" / "spool").glob("*.json")) == []
    with opened(Home(tmp_path / "home")) as database:
        transcript = load(database, find(database, session["id"]))
        assert told_entries(database, host.agent, transcript.native_id) == frozenset((1,))
    said = [message.text.strip('"') for message in transcript.messages if is_typed(message)]
    assert said == [TASK], "what a hook told is not taken for the person's words"


@long
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_hooks_without_the_plugin_do_the_same_until_they_are_removed(name: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    whet = runner(home.folder, tmp_path / "person")
    with obedient(MIND) as server:
        host = install(name, tmp_path, server, plugin=False)
        install_hooks(host.agent, tmp_path / "config", home)
        assert whet("rules", "add", "in-shop", SHOP).code == 0
        shop = project(tmp_path, "shop")
        assert host.run(shop).returncode == 0
        assert first_request(server).count(SHOP) == 1
        assert len(list((home.folder / "spool").glob("session-end-*.json"))) == 1
        remove_hooks(host.agent, tmp_path / "config")
        server.asked.clear()
        assert host.run(shop).returncode == 0
        assert SHOP not in first_request(server)


@long
@pytest.mark.parametrize("name", HOSTS)
def test_hooks_find_a_whet_that_is_not_on_the_agents_path(name: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    whet = runner(home.folder, tmp_path / "person")
    config = {"opencode": tmp_path / "config" / "config" / "opencode", "gemini": tmp_path / "config" / ".gemini"}
    with obedient(MIND) as server:
        host = install(name, tmp_path, server, plugin=False, whet=tmp_path / "none")
        install_hooks(host.agent, config.get(name, tmp_path / "config"), home, COMMAND)
        assert whet("rules", "add", "in-shop", SHOP).code == 0
        assert host.run(project(tmp_path, "shop")).returncode == 0
        assert first_request(server).count(SHOP) == 1
    assert set(last_calls(home)) == {host.agent}


@long
def test_codex_calls_no_hook_until_it_is_trusted_and_that_is_known(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    whet = runner(home.folder, tmp_path / "person")
    with obedient(MIND) as server:
        host = install("codex", tmp_path, server)
        assert whet("rules", "add", "in-shop", SHOP).code == 0
        arguments = [each for each in ARGUMENTS["codex"] if each != "--dangerously-bypass-hook-trust"]
        done = subprocess.run(
            [host.path, *arguments, "--", TASK], cwd=project(tmp_path, "shop"), env=host.variables, check=False,
            capture_output=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0
        assert SHOP not in first_request(server)
    shown = " ".join(whet("status", variables={"CODEX_HOME": str(tmp_path / "config")}).out.split())
    assert "codex installed, not yet seen calling: start `codex` once and trust Whet's hooks" in shown


@long
@pytest.mark.parametrize(("name", "options"), [("claude", ("--continue",)), ("codex", ("resume", "--last"))])
def test_a_session_that_is_resumed_is_told_nothing_twice(name: str, options: tuple[str, ...], tmp_path: Path) -> None:
    whet = runner(tmp_path / "home", tmp_path / "person")
    assert whet("rules", "add", "in-shop", SHOP).code == 0
    with obedient(MIND) as server:
        host = install(name, tmp_path, server)
        shop = project(tmp_path, "shop")
        assert host.run(shop).returncode == 0
        server.asked.clear()
        assert host.run(shop, *options).returncode == 0
        assert first_request(server).count(SHOP) == 1


@long
def test_arms_differ_by_session_and_are_on_record(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    patch = Patch(Form.RULE, Action.ADD, "tests", SHOP, trust=Trust.USER)
    with opened(home) as database:
        number = try_out(home, database, patch, actor=Actor.POLICY, now=time.time() - 60).number
        [item] = ledger_of(home, database).state().rules
    chosen = {told: session_with(key_of(item), told) for told in (True, False)}
    shop = project(tmp_path, "shop")
    with obedient(MIND) as server:
        host = install("claude", tmp_path, server)
        for told, session in chosen.items():
            server.asked.clear()
            assert host.run(shop, "--session-id", session).returncode == 0
            assert (SHOP in first_request(server)) is told
    runner(home.folder, tmp_path / "person")("import")
    with opened(home) as database:
        kept = {each.session: each.told for each in session_draws(database, number)}
        [watched] = look(home, database, now=time.time(), settled_seconds=0.0).canaries
    assert kept == {session: told for told, session in chosen.items()}
    assert (watched.counts.sessions, watched.counts.comparison.told, watched.counts.comparison.untold) == (2, 1, 1)


def session_with(canary: str, told: bool) -> str:
    """A session id that draws what is wanted."""
    ids = (str(uuid.UUID(int=number, version=4)) for number in range(1_000))
    return next(each for each in ids if is_told(canary, unit_of_session("claude-code", each), 0.5) is told)


@long
@pytest.mark.parametrize("name", ["opencode", "gemini"])
def test_the_plugin_brings_whets_tools(name: str, tmp_path: Path) -> None:
    """These two wait for servers before the first request; Claude Code's calls are in test_real_commands."""
    with obedient(MIND) as server:
        assert install(name, tmp_path, server).run(project(tmp_path, "shop")).returncode == 0
        assert "lessons_for_task" in first_request(server)


@long
@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("name", HOSTS)
def test_a_broken_whet_does_not_hinder_the_host(name: str, fault: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken-whet"
    if BROKEN[fault]:
        broken.write_text(BROKEN[fault])
        broken.chmod(0o755)
    (tmp_path / "home" / "hooks").mkdir(parents=True)
    (tmp_path / "home" / "hooks" / "reminders.json").write_text("{}")  # so that it is called at the command too
    with obedient(MIND) as server:
        host = install(name, tmp_path, server, whet=broken)
        done = host.run(project(tmp_path, "shop"))
        assert "plain" in json.dumps(server.asked[-1][1]), "it went on with its work"
    assert done.returncode == 0, done.stderr
    assert "Done." in done.stdout


@long
@pytest.mark.parametrize("folder", [ROOT, PLUGIN], ids=["marketplace", "plugin"])
def test_the_plugin_is_valid_to_claude_code(folder: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [program("claude"), "plugin", "validate", "--strict", str(folder)],
        env={"CLAUDE_CONFIG_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@long
def test_the_extension_is_valid_to_gemini(tmp_path: Path) -> None:
    done = subprocess.run(
        [program("gemini"), "extensions", "validate", str(PLUGIN / "gemini")],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@long
def test_a_subagent_of_opencode_is_a_part_of_its_session(tmp_path: Path) -> None:
    """It is told what its session is told, and it neither draws nor ends as a session of its own."""
    home = Home(tmp_path / "home")
    patch = Patch(Form.RULE, Action.ADD, "tests", SHOP, trust=Trust.USER)
    with opened(home) as database:
        number = try_out(home, database, patch, actor=Actor.POLICY, now=time.time() - 60).number
    errand = {"description": "look", "prompt": "Look around.", "subagent_type": "general"}
    with obedient(Mind(plan=(PlannedCall("task", lambda _: errand),))) as server:
        host = install("opencode", tmp_path, server)
        assert host.run(project(tmp_path, "shop")).returncode == 0
        asked = [json.dumps(body) for _, body in server.asked if body.get("tools")]
    assert any("Look around." in each and TASK not in each for each in asked), "the subagent was sent out"
    assert len({SHOP in each for each in asked}) == 1, "both were told, or neither was"
    assert len(list((home.folder / "spool").glob("session-end-*.json"))) == 1
    runner(home.folder, tmp_path / "person")("import")
    with opened(home) as database:
        [draw] = session_draws(database, number)
        sessions = list_sessions(database, Filters(), limit=5)
    [parent] = [each for each in sessions if not each.parent_id]
    [child] = [each for each in sessions if each.parent_id]
    assert (child.parent_id, parent.native_id) == (parent.id, draw.session)
