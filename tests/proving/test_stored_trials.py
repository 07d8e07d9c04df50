"""What earlier versions stored of trials: what was found is read as ever, and what they ordered is refused in words."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.errors import WhetError
from whet.evidence.verdicts import Ruling
from whet.improving.improve import ReadyTrial
from whet.store.database import Database
from whet.store.records import all_progress, attempts_of
from whet.trials.attempts import Arm, AttemptRequest
from whet.trials.design import Trial, TrialProgress, TrialStop
from whet.trials.improvements import ImproveRequest
from whet.values import Value
from whet.work.orders import decoded

STORED: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data/trials_before_0054.json").read_text())


def test_trials_of_earlier_versions_are_listed_with_their_attempts(database: Database) -> None:
    for id, body, changed in STORED["trials"]:
        sql = "INSERT INTO records (kind, key, body, at) VALUES ('trial', ?, ?, ?)"
        database.execute(sql, (id, body.encode(), changed))
    for key, body, created in STORED["attempts"]:
        sql = "INSERT INTO records (kind, key, body, at) VALUES ('attempt', ?, ?, ?)"
        database.execute(sql, (key, body.encode(), created))
    [(progress, _)] = all_progress(database, TrialProgress)
    result = progress.result
    assert (progress.trial, progress.what, progress.attempts, progress.planned) == ("t1", "rule say-yes", 48, 63)
    assert (result.verdict.ruling, result.stop, result.verdict.helped) == (Ruling.ACCEPT, TrialStop.EVIDENCE, 15)
    assert [(each.arm, each.passed, each.attempts) for each in result.tallies] == [
        (Arm.BASE, 0, 16), (Arm.CANDIDATE, 16, 16), (Arm.PLACEBO, 0, 16)
    ]  # fmt: skip
    assert progress.after.helped == 15
    assert decoded(STORED["verdict"], TrialProgress).result == result, "the ledger has the same"
    found = attempts_of(database, "t1")
    assert len(found) == len(STORED["attempts"])
    assert all(each.measures.tokens == 101 for each in found)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("order", Trial),
        ("attempt_order", AttemptRequest),
        ("ready", ReadyTrial),
        ("improve_order", ImproveRequest),
    ],
)
def test_what_an_earlier_version_ordered_is_refused_in_words(name: str, kind: type[Value]) -> None:
    with pytest.raises(WhetError, match="Another version of Whet started this work") as refused:
        decoded(STORED[name], kind)
    assert refused.value.advice == "Submit it again."
