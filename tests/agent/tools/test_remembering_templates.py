"""The agent's tool for templates: it obeys names and trust like everything else."""

import json

import pytest
from msgspec.structs import replace

from agent.tools.rooms import Room, ask_for
from conversations import call, conversation, user
from samples_of_templates import TEMPLATE
from whet.agent.tools.toolbox import PlainToolbox
from whet.changes.pending import approve
from whet.ledger.entries import Actor
from whet.own.examples.templates import written
from whet.sessions.transcripts import RecordedCheck, ToolResult
from whet.sessions.trust import Trust
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.store.template_files import usable

TOOLS = ("list_beds", "count_seeds", "water_bed", "search_notes", "weigh_crop", "plan_rows")


@pytest.fixture
def box(room: Room) -> PlainToolbox:
    """The agent's tools, in a home with six sessions of its own that went well."""
    room.home.database_path.unlink()
    with opened(room.home) as database:
        for number, tool in enumerate(TOOLS):
            request = user(f"Please look after bed {number} of the garden.")
            done = call(tool, {"bed": f"bed {number}"}, "3 found")
            told = conversation(request, done, native_id=f"s{number}", source="whet")
            passed = replace(told, checks=(RecordedCheck("success", passed=True),))
            keep(database, prepare(passed), Provenance("x", 0.0, 0.0))
    return room.box(sets=("templates", "files"))


def approve_all(room: Room) -> None:
    with opened(room.home) as database:
        for waiting in ledger_of(room.home, database).state().pending:
            approve(room.home, database, waiting.number, actor=Actor.PERSON, now=1.0)


def said(box: PlainToolbox, **arguments: object) -> ToolResult:
    return ask_for(box, "warm_session", **arguments).result


def test_a_template_is_built_and_once_approved_listed_and_loaded(box: PlainToolbox, room: Room) -> None:
    assert "no templates yet" in said(box, action="list").text
    assert "waits for a person" in said(box, action="build", name="garden").text
    assert usable(room.home.folder) == ()
    approve_all(room)
    assert "garden (" in said(box, action="list").text
    loaded = json.loads(said(box, action="load", name="garden").text)
    assert [line["role"] for line in loaded][:3] == ["user", "assistant", "tool"]
    assert "belongs to a person" in said(box, action="delete", name="garden").text


@pytest.mark.parametrize("action", ["build", "load", "delete"])
@pytest.mark.parametrize("name", ["", "../settings", "../../person/.bashrc", "Garden", "a/b", "x" * 99])
def test_no_name_leads_out_of_the_folder(box: PlainToolbox, room: Room, action: str, name: str) -> None:
    before = (room.home.folder / "settings.toml").read_text()
    result = said(box, action=action, name=name)
    assert result.error
    assert "not a valid template name" in result.text
    assert (room.home.folder / "settings.toml").read_text() == before


def test_a_persons_template_is_not_the_agents_to_delete(box: PlainToolbox, room: Room) -> None:
    folder = room.home.folder / "templates"
    folder.mkdir()
    (folder / "garden-work.json").write_text(written(TEMPLATE))
    assert said(box, action="delete", name="garden-work").error
    assert usable(room.home.folder) == (TEMPLATE,)


def test_it_builds_and_loads_within_the_limits_that_it_is_given(box: PlainToolbox, room: Room) -> None:
    assert "waits for a person" in said(box, action="build", name="garden", max_examples=3).text
    approve_all(room)
    assert len(usable(room.home.folder)[0].examples) == 3
    loaded = json.loads(said(box, action="load", name="garden", max_examples=2).text)
    assert sum(line["role"] == "tool" for line in loaded) == 2
    assert "0 of 0 sessions" in said(box, action="build", name="long", min_messages=100).text
    assert "of 1 sessions" in said(box, action="build", name="few", max_sessions=1).text


def test_too_few_sessions_are_said(box: PlainToolbox) -> None:
    result = said(box, action="build", name="garden", source="nobody")
    assert result.error
    assert "0 of 0 sessions" in result.text


def test_its_own_answers_are_believed_as_the_agents(box: PlainToolbox) -> None:
    assert ask_for(box, "warm_session", action="list").trust is Trust.AGENT
