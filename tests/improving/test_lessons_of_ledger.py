"""What the ledger alone knows is a lesson too: rules that a person wrote, and what waits or is told to a share."""

import pytest

from whet.changes.apply import apply, try_out
from whet.changes.pending import propose
from whet.improving.learned import LessonScope, decided_anew, lessons_of
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, PatchWriter, Proof, Scope
from whet.lessons.record import LessonSource, LessonStage, id_of
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters

EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)
HAND = PatchOrigin(PatchWriter.PERSON)
GIVEN = Patch(Form.RULE, Action.ADD, "tabs", "Indent with tabs.", Scope(project="shop"), HAND, Trust.OPERATOR)
GONE = Patch(
    Form.RULE, Action.ADD, "learned-1", "Run `./dev test`.", origin=PatchOrigin(PatchWriter.PATTERN, basis="recovery"),
    trust=Trust.AGENT, proofs=(Proof("s1", 3, "recovery", "dev test"), Proof("s2", 1, "recovery", "dev test")),
)  # fmt: skip
WAITS = Patch(Form.RULE, Action.ADD, "learned-2", "Say which file.", trust=Trust.TOOL)


@EMBEDDED
def test_rules_and_what_waits_are_lessons_without_their_sessions(home: Home, database: Database) -> None:
    given = apply(home, database, GIVEN, actor=Actor.PERSON, now=1.0)
    gone = try_out(home, database, GONE, actor=Actor.POLICY, now=2.0, share=0.5)
    waits = propose(home, database, WAITS, actor=Actor.POLICY, now=3.0)
    lessons = lessons_of(home, database)
    assert [(each.rule, each.standing.stage, each.standing.entry) for each in lessons] == [
        (GIVEN.text, LessonStage.ACTIVE, given.number),
        (GONE.text, LessonStage.LIVE, gone.number),
        (WAITS.text, LessonStage.WAITING, waits.number),
    ]
    first, second, _ = lessons
    assert (first.id, first.project) == (id_of("shop", GIVEN.text), "shop")
    assert (first.origin.writer, first.evidence.source) == (PatchWriter.PERSON, LessonSource.GIVEN)
    assert (second.sessions, second.evidence.session_ids) == (2, ("s1", "s2"))
    assert decided_anew(home, database, lessons) == lessons


@EMBEDDED
def test_they_are_of_their_project_and_of_no_choice_of_sessions(home: Home, database: Database) -> None:
    apply(home, database, GIVEN, actor=Actor.PERSON, now=1.0)
    apply(home, database, GONE, actor=Actor.POLICY, now=2.0)
    assert [each.rule for each in lessons_of(home, database, LessonScope(project="sho"))] == [GIVEN.text]
    assert lessons_of(home, database, LessonScope(Filters(since=5.0))) == ()
