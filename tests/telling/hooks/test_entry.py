"""`whet hook` is quick, tells what holds, keeps what ended, and never makes its host fail."""

import json
import shutil
from pathlib import Path

import pytest

from command import COMMAND, Whet, loaded
from telling.hooks.events_of_hosts import call, context, end_of, spooled, start_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def project(folder: Path, name: str) -> Path:
    """A repository with a remote, by which its project is named."""
    (folder / name / ".git").mkdir(parents=True)
    (folder / name / ".git" / "config").write_text(f'[remote "origin"]\nurl = https://example.org/{name}.git\n')
    return folder / name


def test_the_end_of_a_session_leaves_one_small_file(whet: Whet, home: Path, tmp_path: Path) -> None:
    record = tmp_path / "s1.jsonl"
    for _ in range(3):  # a host that reports every turn
        done = call(whet, "session-end", end_of("s1", tmp_path, record))
        assert (done.code, done.out, done.err) == (0, "", "")
    [kept] = spooled(home)
    del kept["at"]
    assert kept == {
        "event": "session-end", "agent": "claude-code", "session": "s1", "path": str(record), "folder": str(tmp_path),
    }  # fmt: skip
    assert [file.name for file in (home / "spool").iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("body", "agent"),
    [
        ({"session_id": "1", "transcript_path": "/p/.claude/projects/x/1.jsonl"}, "claude-code"),
        ({"session_id": "1", "transcript_path": "/p/.codex/sessions/2026/rollout-1.jsonl"}, "codex"),
        ({"session_id": "1", "transcript_path": "/p/.gemini/tmp/x/chats/1.json", "timestamp": "2026"}, "gemini"),
        ({"sessionID": "ses_1", "directory": "/src"}, "opencode"),
    ],
)
def test_hosts_are_told_apart_by_what_they_write(whet: Whet, home: Path, body: dict[str, str], agent: str) -> None:
    assert call(whet, "session-end", body).code == 0
    assert [each["agent"] for each in spooled(home)] == [agent]


def test_opencode_names_no_record_so_its_database_is_meant(whet: Whet, home: Path, tmp_path: Path) -> None:
    body = json.dumps({"sessionID": "ses_1", "directory": "/src"})
    whet("hook", "session-end", "--agent", "opencode", stdin=body, variables={"XDG_DATA_HOME": str(tmp_path)})
    assert [each["path"] for each in spooled(home)] == [str(tmp_path / "opencode" / "opencode.db")]


@pytest.mark.parametrize("body", ["", "not JSON", "[]", "{}", '{"session_id": 3}', "\xff{", '{"session_id": "a\\nb"}'])
@pytest.mark.parametrize("event", ["session-start", "session-end"])
def test_a_host_that_says_nothing_useful_is_not_made_to_fail(whet: Whet, home: Path, event: str, body: str) -> None:
    done = call(whet, event, body)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert event in (home / "hooks" / "log.txt").read_text()


@pytest.mark.parametrize("arguments", [(), ("session-middle",), ("session-end", "--agent", "nobody"), ("a", "b")])
def test_a_wrong_command_line_does_not_make_the_host_fail(whet: Whet, home: Path, arguments: tuple[str, ...]) -> None:
    assert whet("hook", *arguments, stdin='{"session_id": "1"}').code == 0
    assert (home / "hooks" / "log.txt").exists()
    assert not (home / "spool").exists()


def test_a_home_that_cannot_be_written_does_not_make_the_host_fail(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file stands here")
    for event in ("session-start", "session-end"):
        assert call(whet, event, end_of("1", tmp_path, tmp_path / "1.jsonl")).code == 0


def test_the_log_stays_small(whet: Whet, home: Path) -> None:
    (home / "hooks").mkdir(parents=True)
    (home / "hooks" / "log.txt").write_text("x" * 300_000)
    call(whet, "session-end", "{}")
    assert (home / "hooks" / "log.txt").stat().st_size < 2_000


def test_the_end_of_a_session_needs_no_database_and_no_library(tmp_path: Path) -> None:
    found = loaded(str(COMMAND), "hook", "session-end", home=tmp_path)
    assert not [
        name
        for name in found
        if name.startswith(("whet.store", "whet.agent.", "whet.formats", "msgspec", "apsw", "click"))
    ]


def test_a_session_is_told_the_rules_of_its_project_and_of_no_other(whet: Whet, tmp_path: Path) -> None:
    shop, bank = project(tmp_path, "shop"), project(tmp_path, "bank")
    whet("rules", "add", "everywhere", "Answer briefly.")
    whet("rules", "add", "in-shop", "Run ./dev test.", "--project", str(shop))
    told = {each: context(call(whet, "session-start", start_of("1", each))) for each in (shop, bank)}
    assert "- Answer briefly." in told[shop]
    assert "- Answer briefly." in told[bank]
    assert "- Run ./dev test." in told[shop]
    assert "- Run ./dev test." not in told[bank]


def test_what_changes_in_the_ledger_is_told_to_the_next_session(whet: Whet, tmp_path: Path) -> None:
    whet("rules", "add", "brief", "Answer briefly.")
    assert "briefly" in context(call(whet, "session-start", start_of("1", tmp_path)))
    whet("rules", "add", "tables", "Answer in a table.")
    assert "table" in context(call(whet, "session-start", start_of("2", tmp_path)))
    whet("rules", "remove", "tables")
    whet("rules", "remove", "brief")
    assert context(call(whet, "session-start", start_of("3", tmp_path))) == ""


def test_without_a_store_nothing_is_told_and_none_is_made(whet: Whet, home: Path, tmp_path: Path) -> None:
    assert context(call(whet, "session-start", start_of("1", tmp_path))) == ""
    assert not (home / "whet.db").exists()


def test_what_stands_in_the_agents_file_is_not_told_twice(whet: Whet, tmp_path: Path) -> None:
    shop = project(tmp_path, "shop")
    whet("rules", "add", "brief", "Answer briefly.")
    whet("sync", "add", "claude-code", "--project", str(shop))
    whet("sync")
    assert "Answer briefly." in (shop / "CLAUDE.md").read_text()
    whet("rules", "add", "tables", "Answer in a table.")
    (shop / "src").mkdir()
    told = context(call(whet, "session-start", start_of("1", shop / "src"), "--agent", "claude-code"))
    assert "table" in told
    assert "briefly" not in told
    other = context(call(whet, "session-start", start_of("1", shop), "--agent", "codex"))
    assert "briefly" in other, "Codex reads another file"


def test_a_resumed_session_keeps_what_it_was_told_when_it_began(whet: Whet, tmp_path: Path) -> None:
    whet("rules", "add", "brief", "Answer briefly.")
    for source, is_told in (("startup", True), ("resume", False), ("clear", True), ("compact", True)):
        told = context(call(whet, "session-start", {**start_of("1", tmp_path), "source": source}))
        assert bool(told) is is_told, source


@pytest.fixture
def record(examples: Path, tmp_path: Path) -> Path:
    source = next(path for path in sorted(examples.rglob("*.jsonl")) if '"sessionId"' in path.read_text())
    return Path(shutil.copy(source, tmp_path / "s1.jsonl"))


def test_the_worker_takes_in_what_hooks_left_and_analyses_it(whet: Whet, record: Path, tmp_path: Path) -> None:
    call(whet, "session-end", end_of("s1", tmp_path, record))
    done = whet("worker", "--until-idle")
    assert done.code == 0, done.err
    assert spooled(tmp_path / "home") == []
    [session] = whet("sessions", "--json").json["sessions"]
    assert session["source"] == "claude-code"
    [work] = [each for each in whet("worker", "list", "--json").json["work"] if each["kind"] == "arrivals"]
    assert work["summary"] == "1 sessions from 1 files, 0 could not be read"


def test_any_import_takes_in_what_hooks_left(whet: Whet, record: Path, tmp_path: Path) -> None:
    call(whet, "session-end", end_of("s1", tmp_path, record))
    assert whet("import", "--dry-run", "--json").json["imported"] == 0
    assert len(spooled(tmp_path / "home")) == 1, "a dry run takes nothing"
    assert whet("import", "--json").json["imported"] == 1
    assert whet("import", "--json").json["imported"] == 0


def test_what_an_import_cannot_read_is_said_again_until_it_can(whet: Whet, tmp_path: Path) -> None:
    call(whet, "session-end", end_of("s1", tmp_path, tmp_path / "gone.jsonl"))
    for _ in range(2):
        [skipped] = whet("import", "--json").json["skipped"]
        assert (Path(skipped["path"]).name, skipped["reason"]) == ("gone.jsonl", "No such file or directory")


def test_the_worker_brings_what_hooks_tell_up_to_date(whet: Whet, tmp_path: Path) -> None:
    whet("rules", "add", "brief", "Answer briefly.")
    assert context(call(whet, "session-start", start_of("1", tmp_path)))
    (tmp_path / "home" / "hooks" / "rules.json").write_text('{"frame": "", "budget": 0, "rules": []}')
    assert whet("worker", "--until-idle").code == 0
    assert "briefly" in context(call(whet, "session-start", start_of("2", tmp_path)))
