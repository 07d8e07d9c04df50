"""The reasons of old entries: read once into an origin, and told in the same words as before."""

import msgspec
import pytest

from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.origins import (
    PatchBasis,
    PatchOrigin,
    PatchWriter,
    SessionCounts,
    origin_of_old_entry,
    origin_of_old_reason,
)
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.ledger import INSERT, Ledger, chained

GOLDEN = {
    "what worked after a failure in 8 sessions of the project, written from the oldest 2: the other 6 can judge it": (
        PatchOrigin(basis="recovery", counts=SessionCounts(8, written_from=2), place="the project")
    ),
    "said by a person in 1 session of the project; not tried: no model is set": PatchOrigin(
        basis="person", counts=SessionCounts(1), place="the project", untried="no model is set"
    ),
    "steps that worked in the same order in 4 sessions of github.com/ann/shop; not tried": PatchOrigin(
        basis="steps that worked in the same order", counts=SessionCounts(4), place="github.com/ann/shop", untried=""
    ),
    "recovery in 4 sessions of the project": PatchOrigin(
        basis="recovery", counts=SessionCounts(4), place="the project"
    ),
    "retry_loop in 3 of 20 sessions": PatchOrigin(basis="retry_loop", counts=SessionCounts(3, 20)),
    "retry_loop in 3 of 20 sessions; tried: undecided, helped in 2 of 9 cases, +22 points (-5 to +49)": PatchOrigin(
        basis="retry_loop",
        counts=SessionCounts(3, 20),
        said="tried: undecided, helped in 2 of 9 cases, +22 points (-5 to +49)",
    ),
    "told in 8 sessions in its situation, followed in 2 of them": PatchOrigin(
        PatchWriter.POLICY, basis=PatchBasis.TOLD, counts=SessionCounts(8, followed=2)
    ),
    "reminded of in 6 sessions, followed after that in 2 of them": PatchOrigin(
        PatchWriter.POLICY, basis=PatchBasis.REMINDED, counts=SessionCounts(6, followed=2)
    ),
    "room for what 9 sessions show": PatchOrigin(PatchWriter.POLICY, basis=PatchBasis.ROOM, counts=SessionCounts(9)),
    "another model": PatchOrigin(PatchWriter.POLICY, basis=PatchBasis.OTHER_MODEL),
    "no longer helps": PatchOrigin(PatchWriter.POLICY, basis=PatchBasis.NO_HELP),
    "a session that went well, of codex in no project": PatchOrigin(PatchWriter.POLICY, "codex", PatchBasis.WENT_WELL),
    "a job of Hermes in /srv/hermes/cron/jobs.json": PatchOrigin(
        PatchWriter.IMPORT, "hermes", said="a job of Hermes in /srv/hermes/cron/jobs.json"
    ),
    "written at the command line": PatchOrigin(PatchWriter.PERSON, said="written at the command line"),
    "The same lookup failed three times in a row.": PatchOrigin(said="The same lookup failed three times in a row."),
}
OLD_BODY = (
    b'{"number":1,"step":"proposed","patch":{"form":"rule","action":"add","name":"tidy","text":"Remove it.",'
    b'"reason":"retry_loop in 3 of 20 sessions; not tried: no model is set","trust":2},"actor":"policy","at":1.0}'
)


@pytest.mark.parametrize("reason", GOLDEN)
def test_an_old_reason_is_read_into_its_origin(reason: str) -> None:
    assert origin_of_old_reason(reason) == GOLDEN[reason]


@pytest.mark.parametrize("reason", sorted(GOLDEN.keys() - {"recovery in 4 sessions of the project"}))
def test_an_old_reason_is_told_in_its_own_words(reason: str) -> None:
    assert origin_of_old_reason(reason).words == reason


def test_an_entry_with_an_origin_is_not_read_from_its_words() -> None:
    patch = Patch(Form.RULE, Action.ADD, "tidy", '"reason"', origin=PatchOrigin(said='"reason" in 3 of 20 sessions'))
    assert origin_of_old_entry(msgspec.json.encode(Entry(1, Step.PROPOSED, patch, Actor.POLICY, 1.0))) is None


def test_an_old_entry_keeps_its_bytes_its_id_and_its_chain(database: Database) -> None:
    row = (1, "proposed", "rule", "tidy", "", 0, 1.0, OLD_BODY, database.member, "")
    with database.writing():
        database.many(INSERT, list(chained(b"", [row])))
    ledger = Ledger(database)
    [entry] = ledger.entries()
    assert entry.patch.origin == PatchOrigin(basis="retry_loop", counts=SessionCounts(3, 20), untried="no model is set")
    assert entry.patch.reason == "retry_loop in 3 of 20 sessions; not tried: no model is set"
    assert entry.patch.id == Patch(Form.RULE, Action.ADD, "tidy", "Remove it.", trust=Trust(2)).id
    ledger.append([Entry(0, Step.REFUSED, entry.patch, Actor.PERSON, 2.0, about=1)])
    assert [each.patch.origin for each in ledger.entries()] == 2 * [entry.patch.origin]
    [(body,)] = database.query("SELECT body FROM entries WHERE number = 1")
    assert (bytes(body), ledger.faults()) == (OLD_BODY, ())
