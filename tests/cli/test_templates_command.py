"""whet templates, as people run it."""

import json
from pathlib import Path

import pytest

from command import Done, Whet

TOOLS = ("list_beds", "count_seeds", "water_bed", "search_notes", "weigh_crop", "plan_rows")


def told(number: int, *, success: bool = True) -> dict[str, object]:
    """A session of three calls that worked."""
    lines: list[dict[str, object]] = [
        {"role": "user", "content": f"Please look after bed {number} of the north garden."}
    ]
    for step in range(3):
        tool = TOOLS[(number + step) % len(TOOLS)]
        call = {
            "id": f"c{step}",
            "type": "function",
            "function": {"name": tool, "arguments": f'{{"bed": "bed {number}"}}'},
        }
        lines.append({"role": "assistant", "content": "", "tool_calls": [call]})
        lines.append({"role": "tool", "tool_call_id": f"c{step}", "content": "3 found: beans", "is_error": False})
    lines.append({"role": "assistant", "content": f"Bed {number} is looked after."})
    return {"id": f"garden-{number}", "messages": lines, "label": {"success": success}}


@pytest.fixture
def garden(whet: Whet, tmp_path: Path) -> None:
    path = tmp_path / "garden.jsonl"
    records = [told(number) for number in range(6)] + [told(9, success=False)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert whet("import", str(path)).code == 0


def approved(whet: Whet, *arguments: str) -> Done:
    """What a command printed that made a template, after a person has approved the template."""
    done = whet("templates", "create", *arguments)
    waiting = [str(each["id"]) for each in whet("lessons", "--waiting", "--json").json["waiting"]]
    assert done.code or whet("lessons", "approve", "--yes", *waiting).code == 0
    return done


@pytest.mark.usefixtures("garden")
def test_a_template_is_mined_listed_shown_and_deleted(whet: Whet, tmp_path: Path) -> None:
    preview = whet("templates", "create", "--name", "north-garden", "--dry-run", "--json").json
    assert preview["left_out"]["session: its own check failed"] == 1
    assert not (tmp_path / "home" / "templates").exists()
    done = approved(whet, "--name", "north-garden", "--tag", "garden")
    assert "Needs a person's approval: template north-garden" in done.out
    (listed,) = whet("templates", "--json").json
    assert (listed["name"], listed["tags"]) == ("north-garden", ["garden"])
    assert 5 <= listed["examples"] <= 10
    assert len(listed["sessions"]) >= 3
    assert "north-garden" in whet("templates", "--tag", "garden").out
    assert whet("templates", "--tag", "kitchen").code == 0
    shown = whet("templates", "show", "north-garden")
    assert "Please look after bed" in shown.out
    assert "beans" not in shown.out
    refused = whet("templates", "delete", "north-garden", stdin="n\n")
    assert (refused.code, "Nothing was done" in refused.err) == (130, True)
    unanswered = whet("templates", "delete", "north-garden")
    assert (unanswered.code, "Nothing was done" in unanswered.err) == (130, True)
    assert whet("templates", "delete", "north-garden", "--yes").code == 0
    assert whet("templates", "--json").json == []
    last = whet("ledger", "--json").json["entries"][0]["id"]
    assert whet("ledger", "undo", str(last)).code == 0
    assert len(whet("templates", "--json").json) == 1


@pytest.mark.usefixtures("garden")
def test_one_session_makes_a_template_and_a_failed_one_none(whet: Whet) -> None:
    made = approved(whet, "garden-1", "--name", "bed-care", "--json").json
    assert made["entries"][0]["name"] == "bed-care"
    assert whet("templates", "create", "garden-1", "--name", "bed-care").code == 1
    assert whet("templates", "create", "garden-2", "--name", "bed-care", "--replace").code == 0
    failed = whet("templates", "create", "garden-9")
    assert failed.code == 1
    assert "its own check failed" in failed.err
    assert whet("templates", "create", "garden-1", "--name", "../evil").code == 1


@pytest.mark.usefixtures("garden")
def test_a_rough_session_without_a_verdict_needs_somebodys_word(whet: Whet, tmp_path: Path) -> None:
    path = tmp_path / "rough.jsonl"
    record = told(20) | {"label": None}
    lines = record["messages"]
    assert isinstance(lines, list)
    path.write_text(json.dumps({**record, "messages": lines[:-1] + 2 * lines[1:]}) + "\n")
    assert whet("import", str(path)).code == 0
    refused = whet("templates", "create", "garden-20", "--name", "bed")
    assert (refused.code, "Sessions left out: " in refused.err) == (1, True)
    assert approved(whet, "garden-20", "--name", "bed", "--went-well").code == 0
    assert "confirmed that the session went well" in whet("templates", "show", "bed").out
    assert whet("templates", "create", "garden-9", "--name", "bad", "--went-well").code == 1


@pytest.mark.usefixtures("garden")
def test_what_would_be_refused_in_the_end_is_refused_before_mining_and_shows_nothing(whet: Whet) -> None:
    assert approved(whet, "--name", "north-garden").code == 0
    for arguments, told in (
        (("create", "--name", "north-garden"), "--replace"),
        (("create", "garden-1", "--name", "north-garden"), "--replace"),
        (("create", "--name", "Bad Name"), "not a valid template name"),
        (("create", "--name", "other", "--tag", "Bad Tag!"), "not a tag"),
        (("create", "--name", "other", "--source", "nobody"), "No sessions match"),
    ):
        done = whet("templates", *arguments)
        assert (done.code, done.out) == (1, "")
        assert told in done.err
    assert whet("templates", "create", "--name", "north-garden", "--dry-run").code == 0
    assert "No template matches" in whet("templates", "--tag", "kitchen").out


@pytest.mark.usefixtures("garden")
def test_the_wire_forms_are_json_that_a_request_begins_with(whet: Whet) -> None:
    approved(whet, "garden-1", "--name", "bed-care")
    openai = whet("templates", "show", "bed-care", "--as", "openai").json
    assert [line["role"] for line in openai][:3] == ["user", "assistant", "tool"]
    assert whet("templates", "show", "bed-care", "--as", "hermes").json == openai
    anthropic = whet("templates", "show", "bed-care", "--as", "anthropic").json
    assert [turn["role"] for turn in anthropic] == ["user", "assistant"] * (len(anthropic) // 2)


@pytest.mark.usefixtures("garden")
def test_choosing_says_by_what_and_none_is_an_exit_code(whet: Whet) -> None:
    approved(whet, "--name", "north-garden")
    choice = whet("templates", "--for", "Look after the garden", "--json").json
    assert (choice["template"], choice["by"]) == ("north-garden", "fit")
    none = whet("templates", "--for", "Translate a poem")
    assert none.code == 1
    assert "None" in none.out


@pytest.mark.usefixtures("garden")
def test_stats_tell_cost_use_and_worth(whet: Whet) -> None:
    assert whet("templates", "--stats").code == 0
    approved(whet, "--name", "north-garden")
    (one,) = whet("templates", "--stats", "--json").json
    assert (one["uses"], one["worth"]) == (0, None)
    assert one["tokens"] > 0
    assert "not measured" in whet("templates", "--stats").out


def test_without_sessions_nothing_is_mined_and_it_fails(whet: Whet) -> None:
    done = whet("templates", "create", "--name", "anything")
    assert done.code == 1
    assert "No sessions match" in done.err
    assert whet("templates", "show", "missing").code == 1
    assert whet("templates").code == 0


@pytest.mark.usefixtures("garden")
def test_an_agents_shell_makes_no_template_without_a_person(whet: Whet) -> None:
    done = whet("templates", "create", "--name", "north-garden", variables={"CLAUDECODE": "1"})
    assert "Needs a person's approval" in done.out
    assert whet("templates", "--json").json == []


def test_a_damaged_file_is_shown_and_not_used(whet: Whet, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "templates"
    folder.mkdir(parents=True)
    (folder / "torn.json").write_text("{")
    assert "✗" in whet("templates").out
    assert "fault" in whet("templates", "--json").json[0]


@pytest.mark.usefixtures("garden")
def test_a_template_is_described_by_whoever_makes_it(whet: Whet) -> None:
    given = ("--description", "Care of one bed.", "--tags", "garden, beds")
    approved(whet, "garden-1", "--name", "bed-care", *given)
    (listed,) = whet("templates", "--json").json
    assert (listed["description"], listed["activity"]) == ("Care of one bed.", "research")
    assert listed["tags"] == ["garden", "beds"]
    assert "1 research." in whet("templates").out
    assert whet("templates", "--tag", "beds,garden").code == 0
    secret = whet("templates", "create", "garden-2", "--description", "Use ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    assert (secret.code, "contains a secret" in secret.err) == (1, True)


@pytest.mark.usefixtures("garden")
def test_mining_keeps_to_one_agent_and_project_and_says_that_nothing_was_measured(whet: Whet, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    records = [
        {**told(number), "id": f"other-{number}", "folder": str(tmp_path / "kitchen")} for number in range(30, 34)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert whet("import", str(path)).code == 0
    done = approved(whet, "--name", "north-garden")
    assert "4 sessions of others left out" in done.err
    assert "has not been measured" in " ".join(done.out.split())
    (listed,) = whet("templates", "--json").json
    sessions = whet("sessions", "--temporary", "--json", "--limit", "50").json["sessions"]
    others = {session["id"] for session in sessions if session["folder"]}
    assert len(others) == 4
    assert not others & set(listed["sessions"])
    approved(whet, "--name", "kitchen-work", "--project", "kitchen")
    [kitchen] = [each for each in whet("templates", "--json").json if each["name"] == "kitchen-work"]
    assert set(kitchen["sessions"]) <= others
    assert whet("templates", "create", "--name", "none", "--project", "cellar").code == 1
