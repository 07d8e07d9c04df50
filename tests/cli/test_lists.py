"""What a person sees of lists: nothing that counts is cut, the same number everywhere, ids that can be given back."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from command import COMMAND, Whet, environment, on_a_terminal
from whet.cli.shown.sessions import project_of_session

ASCII = {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
CUT_NUMBER = re.compile(r"(?<=  )[\d.,]+…|\d{4}-\d\d-\d*…|\d\d:\d?…", re.MULTILINE)


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.usefixtures("imported")
def test_a_narrow_terminal_loses_columns_and_no_digits(tmp_path: Path, columns: int) -> None:
    for command in ("sessions", "report"):
        _, shown = on_a_terminal(tmp_path, "", *command.split(), columns=columns)
        assert not CUT_NUMBER.findall(shown), shown
        assert max(map(len, shown.splitlines())) <= columns
    listed = on_a_terminal(tmp_path, "", "sessions", "--limit", "5", columns=columns)[1]
    assert len(re.findall(r"^[0-9a-f]{8}  ", listed, re.MULTILINE)) == 5
    assert ("lost" in listed, "model" in listed) == (True, False)


def test_a_terminal_without_unicode_gets_ascii_and_no_traceback(whet: Whet, examples: Path, tmp_path: Path) -> None:
    assert whet("import", str(examples), variables=ASCII).code == 0
    session = whet("sessions", "--json").json["sessions"][0]["id"]
    for command in ("report", f"show {session}", "nonsense–"):
        code, shown = on_a_terminal(tmp_path, "", *command.split(), variables=ASCII)
        assert "Traceback" not in shown, shown
        assert shown.isascii()
        assert code == (2 if command == "nonsense–" else 0)


def test_sessions_are_listed_with_project_and_lost_time(whet: Whet, examples: Path) -> None:
    assert whet("import", str(examples / "opencode")).code == 0
    [nights] = whet("sessions", "--json").json["sessions"]
    assert (nights["project"], nights["interventions"]) == ("booking", 1)
    assert 0 < nights["lost_seconds"] <= nights["agent_seconds"]
    assert re.search(r"af7989d3 +opencode +booking +\d+ (?:s|min) +1 ", whet("sessions").out)


@pytest.mark.usefixtures("imported")
def test_sessions_are_sorted_by_what_they_lost(whet: Whet) -> None:
    by_loss = whet("sessions", "--sort", "lost", "--limit", "100", "--json").json["sessions"]
    lost = [each["lost_seconds"] or 0.0 for each in by_loss]
    assert lost == sorted(lost, reverse=True)
    assert {each["id"] for each in by_loss} == {
        each["id"] for each in whet("sessions", "--limit", "100", "--json").json["sessions"]
    }


@pytest.mark.usefixtures("imported")
def test_the_same_number_stands_in_every_command(whet: Whet) -> None:
    report, status = whet("report", "--json").json, whet("status", "--json").json
    assert whet("sessions", "--json").json["total"] == status["sessions"]["all"] == report["sessions"]


def test_sessions_in_temporary_folders_are_left_out_of_every_count_and_every_count_says_so(
    whet: Whet, examples: Path, tmp_path: Path
) -> None:
    assert whet("import", str(examples / "opencode")).code == 0
    counted = whet("sessions", "--json").json["total"]
    call = {"id": "c", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "false"}'}}
    for name in ("one", "two"):
        messages = [
            {"role": "user", "content": f"Fix {name}."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "Error: stuck", "is_error": True},
        ]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"id": name, "model": "m", "folder": "/tmp/play", "messages": messages}))
    assert whet("import", str(tmp_path / "one.json"), str(tmp_path / "two.json")).code == 0
    told = "2 sessions in temporary folders are left out ("
    for command in ("sessions", "report"):
        words = command.split()
        found = whet(*words, "--json").json
        assert found["in_temporary_folders"] == 2, command
        assert told in whet(*words).out, command
        assert told in whet(*words, "--source", "openai").out, "a screen is never empty without a reason"
        assert told not in whet(*words, "--temporary").out, command
        assert told not in whet(*words, "--folder", "/tmp/play").out, "a folder that is asked for is shown"
    assert whet("sessions", "--json").json["total"] == counted == whet("report", "--json").json["sessions"]
    assert whet("sessions", "--all", "--json").json["total"] == counted + 2
    assert "Fix one." in whet("show", "one").out, "an id is always found"
    stands = whet("status", "--json").json["sessions"]
    assert (stands["all"], stands["in_temporary_folders"]) == (counted, 2)
    assert told in whet("status").out
    assert told in whet().out
    taught = whet("lessons", "--json").json
    assert (taught["sessions"], taught["in_temporary_folders"]) == (counted + 2, 2)
    assert f"from {counted + 2} sessions, 2 of them in temporary folders." in whet("lessons").out


@pytest.mark.usefixtures("imported")
def test_one_answer_says_everywhere_whether_it_is_getting_better(whet: Whet) -> None:
    report, status = whet("report", "--json").json, whet("status", "--json").json
    assert report["getting_better"] == status["getting_better"]
    assert status["getting_better"]["answer"] == "Too early to tell"
    for said in (whet("status").out, whet("report").out):
        assert "Is it getting better? Too early to tell" in " ".join(said.split())


@pytest.mark.usefixtures("imported")
def test_every_id_in_a_list_can_be_given_to_a_command(whet: Whet) -> None:
    printed = whet("sessions").out + whet("report").out + whet("search", "the").out
    ids = {*re.findall(r"^([0-9a-f]{8}) ", printed, re.MULTILINE)}
    assert len(ids) > 14
    assert whet("forget", *sorted(ids), "--yes").code == 0


def test_a_folder_of_another_system_is_a_project_too(tmp_path: Path) -> None:
    assert project_of_session("D:\\oh-my-posh") == "oh-my-posh"
    assert project_of_session(str(tmp_path / "gone")) == "gone"
    assert project_of_session("") == ""


def test_a_part_of_a_session_is_judged_by_the_whole(whet: Whet, tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "valve", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Open the valve."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Error: valve stuck", "is_error": True},
    ]
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"id": "greenhouse", "model": "m", "messages": messages}))
    whet("import", str(path))
    assert "✗ valve" in whet("show", "greenhouse", "--to", "2").out
    [exchange] = whet("show", "greenhouse", "--to", "2", "--json").json["exchanges"]
    assert (exchange["asked"], exchange["answered"], exchange["outcome"]) == (1, 2, "failed")
    assert "valve stuck" in whet("show", "greenhouse", "--from", "2").out


@pytest.mark.usefixtures("imported")
def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    for command in ("sessions", "sessions --json", "report"):
        line = f"set -o pipefail; {shlex.quote(str(COMMAND))} {command} | head -c 1 >/dev/null"
        variables = environment(tmp_path / "home", tmp_path)
        done = subprocess.run(["bash", "-c", line], env=variables, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_an_empty_list_is_no_failure(whet: Whet) -> None:
    lists = ("rules", "ledger", "memory", "skills", "jobs", "live", "sync --targets", "sessions --source nope")
    for command in (*lists, "templates --stats", "templates --tag x"):
        assert whet(*command.split()).code == 0, command


def test_a_narrow_ledger_has_room_for_what_changed(whet: Whet, tmp_path: Path) -> None:
    assert on_a_terminal(tmp_path, "", "rules", "add", "tests", "Run the tests with ./dev test.")[0] == 0
    narrow = on_a_terminal(tmp_path, "", "ledger", columns=80)[1]
    assert "add rule tests" in narrow
    assert "Run the tests with ./dev test." in narrow
    assert "on your word, not tried" in whet("ledger").out


def test_a_job_is_on_your_word(tmp_path: Path) -> None:
    added = on_a_terminal(tmp_path, "", "jobs", "add", "every 2h", "Say hello.", columns=200)
    assert added[0] == 0, added[1]
    assert "not tried" not in on_a_terminal(tmp_path, "", "ledger", columns=200)[1]


def test_every_list_of_sessions_is_narrowed_by_a_projects_name(whet: Whet, examples: Path) -> None:
    assert whet("import", str(examples / "claude-code"), str(examples / "codex")).code == 0
    every = whet("sessions", "--limit", "100", "--json").json["sessions"]
    project = next(each["project"] for each in every if each["project"])
    wanted = {each["id"] for each in every if project in each["project"]}
    assert wanted < {each["id"] for each in every}
    assert {each["id"] for each in whet("sessions", "--project", project, "--json").json["sessions"]} == wanted
    assert whet("report", "--project", project, "--json").json["sessions"] == len(wanted)
    assert whet("sessions", "--project", "nowhere-at-all", "--json").json["sessions"] == []


def test_a_removed_target_is_told_and_nothing_that_stays(whet: Whet, tmp_path: Path) -> None:
    assert whet("sync", "add", "claude-code", "--project", str(tmp_path)).code == 0
    told = whet("sync", "remove", "claude-code").out
    assert told.startswith("Removed the target claude-code:")
    assert "unchanged" not in told
    assert "Nothing to write" not in told


def test_tokens_that_were_copied_from_another_session_are_not_listed_again(
    whet: Whet, examples: Path, tmp_path: Path
) -> None:
    first = examples / "claude-code" / "-home-mara-ferry-times" / "3f2b8c1e-6a47-4d0e-9b53-71c5d2e8a904.jsonl"
    (tmp_path / "resumed.jsonl").write_text(first.read_text().replace("3f2b8c1e", "aaaaaaaa"))
    assert whet("import", str(first), str(tmp_path / "resumed.jsonl")).code == 0
    listed = whet("sessions", "--json").json["sessions"]
    tokens = listed[0]["tokens"]
    assert sorted(each["copied_tokens"] for each in listed) == [0, tokens["input"] + tokens["output"]]


def test_every_list_of_what_agents_are_told_is_narrowed_and_sorted_in_the_same_way(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "post").mkdir()
    for name, project in (("b-first", "shop"), ("a-second", "post"), ("c-third", "")):
        where = ("--project", str(tmp_path / project)) if project else ()
        assert whet("rules", "add", name, f"Do {name}.", *where, "--yes").code == 0
    for command, key, column in (("rules", "rules", "rule"), ("ledger", "entries", "what")):

        def names(*options: str, command: str = command, key: str = key) -> list[str]:
            return [each["name"] for each in whet(command, *options, "--json").json[key]]

        assert names("--sort", column) == ["a-second", "b-first", "c-third"]
        assert names("--since", "2020-01-01..2020-02-01") == []
        assert len(names("--since", "1h")) == 3
        assert names("--project", "shop") == ["b-first"]
        assert names("--project", str(tmp_path / "post")) == ["a-second"]
    assert [each["id"] for each in whet("ledger", "--sort", "id", "--json").json["entries"]] == [3, 2, 1]
    for command in ("sessions", "lessons", "rules", "ledger", "live"):
        assert {"--project,", "--since", "--sort"} <= set(whet(command, "--help").out.split())
    for command in ("memory", "skills", "models", "cases", "jobs", "templates"):
        assert whet(command, "--sort", "nonsense").code == 2
