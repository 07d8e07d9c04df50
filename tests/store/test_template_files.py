"""Templates in the home folder, their uses and their worth."""

import pytest
from msgspec.structs import replace

from conversations import conversation, user
from samples_of_templates import RUN, TEMPLATE
from whet.errors import WhetError
from whet.own.examples.templates import TemplateEffect, written
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.recording import TextUse, record_use, template_uses
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.store.template_files import list_templates, load, read_text, record_worth, stored_transcripts, usable, worths


def put(home: Home, name: str, text: str) -> None:
    folder = home.folder / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(text)


def test_templates_are_listed_and_what_cannot_be_read_is_listed_with_its_fault(home: Home) -> None:
    assert list_templates(home.folder) == ()
    put(home, "garden-work", written(TEMPLATE))
    put(home, "torn", "{")
    put(home, "other-name", written(TEMPLATE))
    (home.folder / "templates" / "readme.txt").write_text("x")
    found = {each.name: each.fault for each in list_templates(home.folder)}
    assert found["garden-work"] == ""
    assert "cannot be read" in found["torn"]
    assert "names it 'garden-work'" in found["other-name"]
    assert usable(home.folder) == (TEMPLATE,)
    assert load(home.folder, "garden-work") == TEMPLATE


@pytest.mark.parametrize("name", ["../whet", "a/b", "..", "whet.db", "", "A", "x\0"])
def test_no_name_leads_elsewhere(home: Home, name: str) -> None:
    with pytest.raises(WhetError):
        read_text(home.folder, name)


def test_a_missing_template_is_said_with_those_that_are_there(home: Home) -> None:
    put(home, "garden-work", written(TEMPLATE))
    with pytest.raises(WhetError, match="no template missing") as caught:
        load(home.folder, "missing")
    assert "garden-work" in caught.value.advice


def test_a_link_is_not_followed(home: Home) -> None:
    put(home, "real", written(TEMPLATE))
    (home.folder / "templates" / "linked.json").symlink_to(home.folder / "templates" / "real.json")
    assert [each.name for each in list_templates(home.folder)] == ["real"]
    with pytest.raises(WhetError):
        load(home.folder, "linked")


def test_uses_are_counted_by_session_and_of_the_examples_as_they_were(database: Database) -> None:
    for session, now in (("a", 1.0), ("a", 2.0), ("b", 3.0)):
        record_use(database, TEMPLATE.key, session=session, now=now)
    assert template_uses(database) == {TEMPLATE.key: TextUse(3, 2, 3.0)}
    assert replace(TEMPLATE, examples=(RUN,)).key not in template_uses(database)


def test_what_was_measured_is_kept_and_not_overwritten(database: Database) -> None:
    first = TemplateEffect("k", 0.1, -0.1, 0.3, 40, 1.0)
    second = replace(first, effect=0.2, low=0.1, at=2.0, model="some-model")
    record_worth(database, first)
    record_worth(database, second)
    assert worths(database) == (first, second)


def test_stored_sessions_come_one_by_one_the_newest_first(database: Database) -> None:
    for number in range(230):
        told = conversation(user(f"Task {number}"), native_id=f"s{number}")
        keep(database, prepare(replace(told, ended=float(number))), Provenance("x", 0.0, 0.0))
    found = [one.native_id for one in stored_transcripts(database, Filters(), limit=205)]
    assert found == [f"s{number}" for number in range(229, 24, -1)]
    assert list(stored_transcripts(database, Filters(source="nobody"), limit=10)) == []
