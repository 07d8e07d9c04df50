"""What a person sees of the commands: answers, errors with advice, exit codes."""

import json
import shutil
from pathlib import Path

import click
import pytest

from command import Whet
from documents import document
from whet.cli.catalogue import CATALOGUE
from whet.cli.group import group

OPENAI = {
    "id": "greenhouse",
    "model": "some-model",
    "messages": [
        {"role": "user", "content": "Water the greenhouse with GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345"},
        {
            "role": "assistant",
            "content": "I open the valve.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "valve", "arguments": '{"open": true}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "Error: valve stuck", "is_error": True},
        {"role": "assistant", "content": "The valve is stuck; please look at it."},
    ],
}


@pytest.fixture
def greenhouse(tmp_path: Path) -> Path:
    path = tmp_path / "greenhouse.json"
    path.write_text(json.dumps(OPENAI))
    return path


def test_the_overview_names_every_command(whet: Whet) -> None:
    done = whet("--help")
    assert done.code == 0
    assert all(f"  {name} " in done.out for name, _, _ in CATALOGUE)


def test_every_command_has_help_with_an_example_and_json() -> None:
    context = click.Context(group, info_name="whet")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        told = command.get_help(click.Context(command, context, name))
        assert "Example: whet " in told
        assert "--json" in told or name in ("mcp", "export"), "these speak to programs only"


def test_every_command_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == document()


def test_an_unknown_command_is_refused(whet: Whet) -> None:
    done = whet("sharpen")
    assert done.code == 2
    assert "sharpen" in done.err


def test_importing_every_example_shows_every_agent(whet: Whet, examples: Path) -> None:
    report = whet("import", str(examples), "--json").json
    assert set(report["sources"]) == {folder.name for folder in examples.iterdir()}
    assert report["imported"] >= len(report["sources"])
    again = whet("import", str(examples), "--json").json
    assert (again["imported"], again["updated"], again["messages"]) == (0, 0, 0)
    assert again["unchanged"] == report["imported"]


def test_a_dry_run_says_what_would_happen_and_changes_nothing(whet: Whet, greenhouse: Path, tmp_path: Path) -> None:
    done = whet("import", str(greenhouse), "--dry-run")
    assert "1 session would be imported" in done.out
    assert not (tmp_path / "home").exists()


def test_import_without_a_path_finds_what_agents_left(whet: Whet, examples: Path, person: Path) -> None:
    nothing = whet("import")
    assert nothing.code == 0
    assert "No agent's sessions were found" in nothing.out
    shutil.copytree(examples / "claude-code", person / ".claude" / "projects")
    done = whet("import")
    assert "Found Claude Code" in done.out
    assert whet("sessions", "--json").json["total"] >= 1


def test_an_event_with_an_impossible_path_fails_no_later_import(whet: Whet) -> None:
    event = {"hook_event_name": "SessionEnd", "session_id": "s", "cwd": "/", "transcript_path": "/" + "a" * 4091}
    whet("hook", "session-end", "--agent", "claude-code", stdin=json.dumps(event))
    for _ in range(2):
        done = whet("import")
        assert (done.code, "File name too long" in done.out) == (0, True)
        assert "a" * 400 not in done.out.replace("\n", "")


def test_import_without_a_path_looks_where_hermes_was_told_to_live(whet: Whet, examples: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "profiles" / "work").mkdir(parents=True)
    for folder in (elsewhere, elsewhere / "profiles" / "work"):
        (folder / "state.db").write_bytes((examples / "hermes" / "state.db").read_bytes())
    done = whet("import", variables={"HERMES_HOME": str(elsewhere)})
    assert f"Found Hermes: 1 file in {elsewhere}/state.db" in " ".join(done.out.split())
    assert "hermes" in whet("sessions").out
    assert "profiles/*/state.db" in done.out.replace("\n", "")


def test_one_import_finds_histories_in_the_folders_that_it_brings_in(
    whet: Whet, examples: Path, person: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(examples / "aider" / ".aider.chat.history.md", work)
    record = {"type": "user", "uuid": "u1", "sessionId": "s1", "cwd": str(work), "timestamp": "2026-03-01T10:00:00Z"}
    sessions = person / ".claude" / "projects" / "work"
    sessions.mkdir(parents=True)
    line = json.dumps({**record, "message": {"role": "user", "content": "Hello."}})
    (sessions / "s1.jsonl").write_text(f"{line}\n")
    would, done = whet("import", "--dry-run", "--json").json, whet("import", "--json").json
    assert would["sources"] == done["sources"]
    assert done["sources"]["claude-code"] == 1
    assert done["sources"]["aider"] == done["imported"] - 1 > 0
    assert done["files"] == 2
    again = whet("import")
    assert "Found Aider: 1 file in the folders where agents worked" in again.out
    assert "0 sessions imported" in again.out


def test_standard_input_is_imported(whet: Whet) -> None:
    report = whet("import", "-", "--json", stdin=json.dumps(OPENAI)).json
    assert report["imported"] == 1


def test_what_was_piped_before_is_known_again(whet: Whet) -> None:
    unnamed = json.dumps({"messages": OPENAI["messages"]})
    whet("import", "-", stdin=unnamed)
    again = whet("import", "-", "--json", stdin=unnamed).json
    assert (again["imported"], again["unchanged"]) == (0, 1)
    assert whet("sessions", "--json").json["sessions"][0]["path"] == "-"


def test_a_grown_file_adds_only_its_new_messages(whet: Whet, greenhouse: Path) -> None:
    whet("import", str(greenhouse))
    longer = {**OPENAI, "messages": [*OPENAI["messages"], {"role": "user", "content": "Done, try again."}]}
    greenhouse.write_text(json.dumps(longer))
    report = whet("import", str(greenhouse), "--json").json
    assert (report["imported"], report["updated"], report["messages"]) == (0, 1, 1)


def test_secrets_never_reach_the_database(whet: Whet, greenhouse: Path, tmp_path: Path) -> None:
    whet("import", str(greenhouse), variables={"VALVE_SECRET": "stuck; please look"})
    stored = b"".join(path.read_bytes() for path in (tmp_path / "home").iterdir())
    assert b"ghp_0123456789abcdefghijABCDEFGHIJ012345" not in stored
    assert b"stuck; please look" not in stored


def test_redaction_can_be_turned_off_and_says_what_it_risks(whet: Whet, greenhouse: Path, tmp_path: Path) -> None:
    done = whet("import", str(greenhouse), "--no-redact")
    assert "Warning" in done.err
    assert b"ghp_0123456789abcdefghijABCDEFGHIJ012345" in (tmp_path / "home" / "whet.db").read_bytes()


def test_a_file_that_is_no_session_is_reported_and_fails(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Buy bread.")
    done = whet("import", "notes.txt", "--json")
    assert done.code == 1
    assert done.json["skipped"][0]["reason"] == "not a session of a known format"
    assert done.json["skipped"][0]["line"] is None


def test_a_path_that_is_not_there_gives_advice_without_a_traceback(whet: Whet) -> None:
    done = whet("import", "/nowhere/at-all.jsonl")
    assert done.code == 1
    assert "There is no file" in done.err
    assert "Traceback" not in done.err


def test_a_session_is_shown_with_the_outcome_of_its_calls(whet: Whet, greenhouse: Path) -> None:
    whet("import", str(greenhouse))
    done = whet("show", "greenhouse")
    assert "✗ valve" in done.out
    assert "valve stuck" in done.out
    record = whet("show", "greenhouse", "--json").json
    assert [exchange["outcome"] for exchange in record["exchanges"]] == ["failed"]
    assert record["session"]["messages"] == 4


def test_terminal_codes_in_a_session_do_not_reach_the_terminal(whet: Whet, tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "\x1b[2J[red]boo[/red] [/]"}
    evil = {"id": "evil", "messages": [{"role": "user", "content": "Hello"}, answer]}
    (tmp_path / "evil.json").write_text(json.dumps(evil))
    whet("import", "evil.json")
    done = whet("show", "evil")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "[red]boo[/red] [/]" in done.out


def test_a_search_shows_where_the_words_stand(whet: Whet, greenhouse: Path) -> None:
    whet("import", str(greenhouse))
    done = whet("search", "valve", "stuck")
    assert "valve" in done.out
    assert done.code == 0
    hits = whet("search", "stuck", "--role", "assistant", "--json").json["hits"]
    assert [hit["message"] for hit in hits] == [3]
    missing = whet("search", "orchid")
    assert missing.code == 1
    assert "Nothing found" in missing.out


def test_calls_and_errors_are_counted(whet: Whet, greenhouse: Path) -> None:
    whet("import", str(greenhouse))
    found = whet("report", "--counts", "--json").json
    assert (found["sessions"], found["messages"]) == (1, 4)
    assert (found["tools"][0]["tool"], found["tools"][0]["error_rate"]) == ("valve", 1.0)
    assert "100.0 %" in whet("report", "--counts").out


@pytest.mark.parametrize("form", ["openai", "atif", "trajectories"])
def test_an_export_can_be_imported_again(whet: Whet, greenhouse: Path, tmp_path: Path, form: str) -> None:
    whet("import", str(greenhouse))
    (tmp_path / "out.jsonl").write_text(whet("export", "greenhouse", "--format", form).out)
    whet("forget", "greenhouse", "--yes")
    report = whet("import", str(tmp_path / "out.jsonl"), "--json").json
    assert (report["imported"], report["skipped"]) == (1, [])
    assert "valve stuck" in whet("show", "greenhouse").out


def test_forgetting_asks_first(whet: Whet, greenhouse: Path) -> None:
    whet("import", str(greenhouse))
    assert whet("forget", "greenhouse", stdin="n\n").code == 130
    assert whet("sessions", "--json").json["total"] == 1
    assert whet("forget", "--source", "openai", "--yes", "--json").json["messages"] == 4
    assert whet("sessions", "--json").json["total"] == 0
    assert whet("import", str(greenhouse), "--json").json["imported"] == 1


def test_a_time_that_is_none_gives_advice(whet: Whet) -> None:
    done = whet("sessions", "--since", "yesterdayish")
    assert done.code == 1
    assert "2026-10-01" in done.err


def test_no_colour_codes_leave_a_pipe(whet: Whet, greenhouse: Path) -> None:
    whet("import", str(greenhouse))
    assert all("\x1b" not in whet(*words).out for words in (("sessions",), ("report",), ("show", "greenhouse")))
