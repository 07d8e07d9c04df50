"""whet migrate hermes: a whole Hermes home in one go, and again."""

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from command import Whet
from whet.cli.commands.migrate import FROM_HERMES
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened

SKILL = "---\nname: {0}\ndescription: How to do {0}. Use it before a release.\n---\n\n# {0}\n\nRead the log first.\n"
CONFIG = """
model:
  default: qwen3-coder
  provider: custom
  base_url: http://127.0.0.1:9000/v1
  api_key: sk-proj-abcdefghijklmnopqrstuvwxyz0123456789
  context_length: 131072
agent:
  tool_use_enforcement: true
mcp_servers:
  files:
    command: npx
    args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv"]
    env: {FILES_TOKEN: ghp_abcdefghijklmnopqrstuvwxyz0123456789}
    timeout: 120
  web:
    url: https://mcp.example.org/mcp
    headers: {Authorization: Bearer abcdefghijklmnop}
"""
SECRETS = ("sk-proj-abcdefghijkl", "ghp_abcdefghijkl", "Bearer abcdefghijklmnop", "tvly-0123456789")
JOB = {
    "id": "j1",
    "name": "Morning news",
    "prompt": "Summarise the news.",
    "schedule": {"kind": "cron", "expr": "0 7 * * *"},
}
TEMPLATE = {
    "name": "file work",
    "type": "file",
    "tool_examples": [
        {"tool_name": "read_file", "arguments": {"path": f"{name}.txt"}, "result": "ok", "success": True}
        for name in "abc"
    ],
}


@pytest.fixture
def hermes(person: Path) -> Path:
    """A Hermes home with one of everything."""
    home = person / ".hermes"
    texts = {
        "SOUL.md": "You are Ada's careful assistant.\n",
        "memories/MEMORY.md": "The staging server is rebuilt every Monday.\n§\nThe build needs Node 22.",
        "memories/USER.md": "Ada prefers tables.",
        "skills/devops/release-notes/SKILL.md": SKILL.format("release-notes"),
        "skills/devops/release-notes/references/style.md": "Short lines.\n",
        "skills/log-reading/SKILL.md": SKILL.format("log-reading"),
        "skills/.hub/lock.json": json.dumps({"installed": {"from-afar": {"source": "hub"}}}),
        "skills/from-afar/SKILL.md": SKILL.format("from-afar"),
        "skills/broken/SKILL.md": "no front matter",
        "cron/jobs.json": json.dumps({"jobs": [JOB]}),
        "session-templates/file-work.json": json.dumps(TEMPLATE),
        "config.yaml": CONFIG,
        ".env": "TAVILY_API_KEY=tvly-0123456789\nexport OTHER_KEY=x\n",
    }
    for name, text in texts.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return home


def names(records: list[dict[str, str]], kind: str) -> list[str]:
    return sorted(each["name"] for each in records if each["kind"] == kind)


def test_a_hermes_home_is_taken_over_in_one_go(whet: Whet, hermes: Path, tmp_path: Path) -> None:
    report = whet("migrate", "hermes", str(hermes), "--yes", "--json").json
    taken = report["taken"]
    assert names(taken, "skill") == ["from-afar", "log-reading", "release-notes"]
    assert len(names(taken, "note")) == 3
    assert names(taken, "job") == ["morning-news"]
    assert names(taken, "identity") == ["SOUL.md"]
    assert names(taken, "setting") == ["MCP server files", "enforcement", "model"]
    assert len(names(taken, "template")) == 1
    assert {each["name"] for each in taken if each["waits"]} >= {"from-afar", "morning-news"}
    assert {each["name"] for each in report["left"]} == {"broken", "MCP server web"}
    assert all(each["reason"] for each in report["left"])
    assert set(report["variables"]) == {"HERMES_API_KEY", "FILES_TOKEN", "TAVILY_API_KEY", "OTHER_KEY"}
    home = tmp_path / "home"
    assert (home / "SOUL.md").read_text() == "You are Ada's careful assistant.\n"
    assert (home / "skills/release-notes/references/style.md").read_text() == "Short lines.\n"
    assert whet("config", "model").out.strip() == "hermes:qwen3-coder"
    assert whet("config", "prompt.enforcement").out.strip() == '["always"]'
    assert "Node 22" in whet("memory").out


def test_no_secret_reaches_the_home(whet: Whet, hermes: Path, tmp_path: Path) -> None:
    done = whet("migrate", "hermes", str(hermes), "--yes")
    held = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    for secret in SECRETS:
        assert secret.encode() not in held
        assert secret not in done.out


def test_a_second_run_takes_only_what_is_new(whet: Whet, hermes: Path) -> None:
    first = whet("migrate", "hermes", str(hermes), "--yes", "--json").json
    again = whet("migrate", "hermes", str(hermes), "--yes", "--json").json
    assert again["taken"] == []
    assert len(again["known"]) == len(first["taken"])
    (hermes / "memories" / "USER.md").write_text("Ada prefers tables.\n§\nAda works in Lisbon.")
    [new] = whet("migrate", "hermes", str(hermes), "--yes", "--json").json["taken"]
    assert (new["kind"], new["name"]) == ("note", "user: Ada works in Lisbon.")


def test_what_was_undone_does_not_come_again(whet: Whet, hermes: Path) -> None:
    whet("migrate", "hermes", str(hermes), "--yes")
    assert "log-reading" in whet("ledger", "undo").out
    assert whet("skills", "show", "log-reading").code == 1
    assert whet("migrate", "hermes", str(hermes), "--yes", "--json").json["taken"] == []


def test_a_dry_run_changes_nothing_and_an_order_is_asked_for(whet: Whet, hermes: Path, tmp_path: Path) -> None:
    report = whet("migrate", "hermes", str(hermes), "--dry-run", "--json").json
    assert len(report["would_take"]) == 12
    assert report["taken"] == []
    assert not (tmp_path / "home" / "SOUL.md").exists()
    refused = whet("migrate", "hermes", str(hermes), stdin="n\n")
    assert refused.code == 130
    assert "release-notes" in refused.out
    assert not (tmp_path / "home" / "SOUL.md").exists()


def test_without_a_terminal_nothing_takes_effect_by_itself(whet: Whet, hermes: Path, tmp_path: Path) -> None:
    report = whet("migrate", "hermes", str(hermes), "--yes", "--json", allowed=False).json
    assert all(each["waits"] for each in report["taken"])
    assert names(report["left"], "identity") == ["SOUL.md"]
    assert not (tmp_path / "home" / "SOUL.md").exists()


def test_what_is_here_already_is_never_replaced(whet: Whet, hermes: Path, tmp_path: Path) -> None:
    whet("config", "model", "ollama:llama3")
    (tmp_path / "home" / "SOUL.md").write_text("Somebody else.\n")
    left = whet("migrate", "hermes", str(hermes), "--yes", "--json").json["left"]
    assert {"SOUL.md", "model"} <= {each["name"] for each in left}
    assert whet("config", "model").out.strip() == "ollama:llama3"


def test_sync_makes_no_second_copy_of_what_hermes_has(whet: Whet, hermes: Path) -> None:
    whet("migrate", "hermes", str(hermes), "--yes")
    whet("sync", "add", "hermes")
    done = whet("sync")
    assert done.code == 0, done.out + done.err
    assert sorted(path.parent.name for path in (hermes / "skills").rglob("SKILL.md")) == [
        "broken",
        "from-afar",
        "log-reading",
        "release-notes",
    ]


def test_a_folder_that_is_not_there_gives_advice(whet: Whet) -> None:
    done = whet("migrate", "hermes", "nowhere")
    assert done.code == 1
    assert "There is no folder" in done.err


@pytest.mark.parametrize(
    ("file", "body"),
    [
        ("config.yaml", b"a: &a [x]\nmcp_servers: {x: {command: ls, args: [*a, *a]}}\n"),
        ("config.yaml", b"since: 2001-99-99\n"),
        ("config.yaml", b"on: !!bool perhaps\n"),
        ("config.yaml", b"model: {context_length: " + b"9" * 5_000 + b"}\n"),
        ("SOUL.md", b"\xff\xfe"),
        ("memories/MEMORY.md", b"\xff\xfe"),
        ("cron/jobs.json", b"{"),
        ("skills/log-reading/SKILL.md", SKILL.format("\u65e5\u672c").encode()),
        ("memories/USER.md", b"long " * 100_000),
    ],
)
def test_what_cannot_be_read_is_named_and_keeps_nothing_else_out(
    whet: Whet, hermes: Path, file: str, body: bytes
) -> None:
    (hermes / file).write_bytes(body)
    done = whet("migrate", "hermes", str(hermes), "--yes", "--json")
    assert (done.code, done.err) == (0, "")
    taken, left = done.json["taken"], done.json["left"]
    assert "release-notes" in names(taken, "skill")
    assert {"identity", "note", "job", "template", "setting", "skill"} == {each["kind"] for each in taken + left}
    assert len(left) >= 2 if file == "config.yaml" else len(left) == 3
    assert all(each["reason"] for each in left)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(whet: Whet, hermes: Path) -> None:
    for name in ("config.yaml", "SOUL.md", ".env", "skills/.hub/lock.json", "skills/log-reading/SKILL.md"):
        (hermes / name).unlink()
        os.mkfifo(hermes / name)
    done = whet("migrate", "hermes", str(hermes), "--yes", "--json")
    assert done.code == 0
    assert len(names(done.json["taken"], "note")) == 3
    # Nobody can tell which skills were downloaded, so all of them wait.
    assert all(each["waits"] for each in done.json["taken"] if each["kind"] == "skill")


def test_a_skill_brings_no_file_along_that_stands_elsewhere(whet: Whet, hermes: Path, tmp_path: Path) -> None:
    private = tmp_path / "private.md"
    private.write_text(SKILL.format("private"))
    (hermes / "skills/log-reading/references").mkdir()
    (hermes / "skills/log-reading/references/guide.md").symlink_to(private)
    (hermes / "skills/other").mkdir()
    (hermes / "skills/other/SKILL.md").symlink_to(private)
    report = whet("migrate", "hermes", str(hermes), "--yes", "--json").json
    [skill] = [each for each in report["taken"] if each["name"] == "log-reading"]
    assert skill["note"] == "without references/guide.md"
    assert "other" in names(report["left"], "skill")
    assert not (tmp_path / "home/skills/log-reading/references").exists()


def test_two_skills_of_one_name_are_told_apart(whet: Whet, hermes: Path) -> None:
    (hermes / "skills/zz/log-reading").mkdir(parents=True)
    (hermes / "skills/zz/log-reading/SKILL.md").write_text(SKILL.format("log-reading") + "Another way.\n")
    report = whet("migrate", "hermes", str(hermes), "--yes", "--json").json
    assert "log-reading" in names(report["taken"], "skill")
    assert "log-reading" in names(report["left"], "skill")


def test_names_that_no_server_has_are_left(whet: Whet, hermes: Path) -> None:
    servers = (
        'mcp_servers:\n  "a\\n[trust]": {command: ls}\n  ../up: {command: ls}\n  fine: {command: ls, args: [[x]]}\n'
    )
    (hermes / "config.yaml").write_text(servers + "agent: {tool_use_enforcement: {a: b}}\n")
    report = whet("migrate", "hermes", str(hermes), "--yes", "--json").json
    assert names(report["taken"], "setting") == []
    assert len(names(report["left"], "setting")) == 4


def test_a_script_of_an_unknown_person_is_a_job_like_others(whet: Whet, hermes: Path) -> None:
    (hermes / "cron/jobs.json").write_text(json.dumps({"jobs": [{**JOB, "script": "~nobody-here/tidy.sh"}]}))
    assert names(whet("migrate", "hermes", str(hermes), "--yes", "--json").json["taken"], "job") == ["morning-news"]


def test_what_a_sudden_stop_kept_out_is_taken_the_next_time(whet: Whet, hermes: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    whet("status")
    patch = Patch(Form.SKILL, Action.ADD, "log-reading", SKILL.format("log-reading"), origin=FROM_HERMES)
    with opened(home) as database:  # announced, and then the process was killed
        ledger = ledger_of(home, database)
        begun = Entry(0, Step.BEGUN, patch, Actor.PERSON, 1.0, after=patch.after, home=ledger.home)
        ledger.append([replace(begun, intends=Step.APPLIED)])
    report = whet("migrate", "hermes", str(hermes), "--yes", "--json").json
    assert "log-reading" in names(report["taken"], "skill")
    assert (home.folder / "skills/log-reading/SKILL.md").exists()
