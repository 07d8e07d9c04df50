"""Templates change through the ledger alone: with provenance and trust, and every change can be undone."""

import pytest
from msgspec.structs import replace

from changes.samples_of_changes import NOW
from samples_of_templates import LOOK, RUN, TEMPLATE
from whet.changes.apply import Refused, undo
from whet.changes.pending import approve
from whet.changes.writing import Author, keep_template, remove_named
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Form, PatchOrigin
from whet.own.examples.templates import Template, written
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.template_files import load, usable


def person(home: Home, database: Database) -> Author:
    return Author(home, database, Actor.PERSON, Trust.OPERATOR, NOW, "session", PatchOrigin(said="because"))


def agent(home: Home, database: Database, trust: Trust = Trust.AGENT) -> Author:
    return Author(home, database, Actor.AGENT, trust, NOW, "session", PatchOrigin(said="because"))


def kept(author: Author, template: Template, *, replace: bool = False) -> Entry:
    """A template that a person has seen and approved."""
    entry = keep_template(author, template, replace=replace)
    return approve(author.home, author.database, entry.number, actor=Actor.PERSON, now=NOW)


def test_a_template_waits_with_its_provenance_and_is_undone(home: Home, database: Database) -> None:
    entry = keep_template(person(home, database), TEMPLATE)
    assert (entry.step, entry.patch.trust) == (Step.PROPOSED, Trust.TOOL)
    assert usable(home.folder) == ()
    approve(home, database, entry.number, actor=Actor.PERSON, now=NOW)
    assert [(proof.session, proof.message) for proof in entry.patch.proofs] == [("s1", 2), ("s2", None)]
    assert load(home.folder, TEMPLATE.name) == TEMPLATE
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert usable(home.folder) == ()


def test_one_that_is_there_is_replaced_only_when_asked(home: Home, database: Database) -> None:
    author = person(home, database)
    kept(author, TEMPLATE)
    other = replace(TEMPLATE, examples=(LOOK,))
    with pytest.raises(WhetError, match="already"):
        keep_template(author, other)
    with pytest.raises(WhetError, match="is unchanged"):
        keep_template(author, TEMPLATE, replace=True)
    kept(author, other, replace=True)
    assert load(home.folder, TEMPLATE.name) == other
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert load(home.folder, TEMPLATE.name) == TEMPLATE


def test_removing_can_be_undone(home: Home, database: Database) -> None:
    kept(person(home, database), TEMPLATE)
    remove_named(person(home, database), Form.TEMPLATE, TEMPLATE.name)
    assert usable(home.folder) == ()
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert usable(home.folder) == (TEMPLATE,)
    with pytest.raises(WhetError, match="no template"):
        remove_named(person(home, database), Form.TEMPLATE, "missing")


def test_an_imported_one_waits_for_a_person_whoever_brings_it(home: Home, database: Database) -> None:
    entry = keep_template(person(home, database), replace(TEMPLATE, made="imported"))
    assert (entry.step, entry.patch.trust) == (Step.PROPOSED, Trust.EXTERNAL)
    assert usable(home.folder) == ()
    approve(home, database, entry.number, actor=Actor.PERSON, now=NOW)
    assert [template.name for template in usable(home.folder)] == [TEMPLATE.name]


def test_what_an_agent_makes_waits_whatever_it_has_read(home: Home, database: Database) -> None:
    assert keep_template(agent(home, database, Trust.EXTERNAL), TEMPLATE).step is Step.PROPOSED
    assert keep_template(agent(home, database), replace(TEMPLATE, name="mine")).step is Step.PROPOSED


def test_an_agent_does_not_change_what_a_person_made_or_approved(home: Home, database: Database) -> None:
    kept(person(home, database), TEMPLATE)
    kept(agent(home, database), replace(TEMPLATE, name="approved"))
    by_hand = replace(TEMPLATE, name="by-hand")
    (home.folder / "templates" / "by-hand.json").write_text(written(by_hand))
    for name in (TEMPLATE.name, "by-hand", "approved"):
        with pytest.raises(WhetError, match="belongs to a person"):
            remove_named(agent(home, database), Form.TEMPLATE, name)
        with pytest.raises(WhetError, match="belongs to a person"):
            keep_template(agent(home, database), replace(TEMPLATE, name=name, examples=(RUN,)), replace=True)
    assert {template.name for template in usable(home.folder)} == {TEMPLATE.name, "by-hand", "approved"}


def test_a_bad_name_or_a_secret_changes_nothing(home: Home, database: Database) -> None:
    with pytest.raises(WhetError, match="not a valid template name"):
        keep_template(person(home, database), replace(TEMPLATE, name="../../etc"))
    leaking = replace(LOOK, intent="Use ghp_0123456789abcdefghijABCDEFGHIJ012345 please.")
    with pytest.raises(Refused, match="secret"):
        keep_template(person(home, database), replace(TEMPLATE, examples=(leaking,)))
    assert usable(home.folder) == ()
    assert ledger_of(home, database).entries() == []
