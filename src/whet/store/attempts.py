"""Attempts of trials by the key of what they depend on. Apart from other records: sessions need no trials."""

import msgspec
from msgspec.structs import replace

from whet.store.database import Database
from whet.store.records import RecordKind, all_records, keep_record, key_of, record_bodies
from whet.store.rows import decoded_or_none, decoded_row
from whet.trials.attempts import Attempt


def keep_attempt(database: Database, key: str, attempt: Attempt, *, now: float) -> None:
    """Store an attempt; one that is there already stays, for it was looked at."""
    keep_record(database, RecordKind.ATTEMPT, key, msgspec.json.encode(attempt), now=now)


def known_attempt(database: Database, key: str) -> Attempt | None:
    bodies = record_bodies(database, RecordKind.ATTEMPT, key)
    return decoded_row(bodies[0], Attempt, f"attempt {key}") if bodies else None


def reuse(database: Database, known: Attempt, *, case: str, seed: int, trial: str, now: float) -> Attempt:
    """A known attempt as one of this trial. Where it was made for an earlier one, that it counts here is kept too."""
    used = replace(known, case=case, seed=seed, reused=known.trial != trial)
    if used.reused and trial:
        keep_attempt(database, key_of("reused", trial, case, seed, used.arm), replace(used, trial=trial), now=now)
    return used


def attempts_of(database: Database, trial: str) -> list[Attempt]:
    """The attempts that count in a trial, those of earlier trials too, in the order in which they were stored."""
    found = (decoded_or_none(body, Attempt) for body, _ in all_records(database, RecordKind.ATTEMPT))
    return [attempt for attempt in found if attempt is not None and attempt.trial == trial]
