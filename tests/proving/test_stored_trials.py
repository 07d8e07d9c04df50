"""What earlier versions wrote of trials: verdicts in the ledger are read as ever, orders are refused in words."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.errors import WhetError
from whet.evidence.verdicts import Ruling
from whet.trials.attempts import Arm, AttemptRequest
from whet.trials.design import TrialProgress, TrialStop
from whet.work.orders import decoded

STORED: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data/trials_before_0054.json").read_text())


def test_verdicts_of_earlier_versions_are_read() -> None:
    progress = decoded(STORED["verdict"], TrialProgress)
    result = progress.result
    assert (progress.trial, progress.what, progress.attempts, progress.planned) == ("t1", "rule say-yes", 48, 63)
    assert (result.verdict.ruling, result.stop, result.verdict.helped) == (Ruling.ACCEPT, TrialStop.EVIDENCE, 15)
    assert [(each.arm, each.passed, each.attempts) for each in result.tallies] == [
        (Arm.BASE, 0, 16), (Arm.CANDIDATE, 16, 16), (Arm.PLACEBO, 0, 16)
    ]  # fmt: skip
    assert progress.after.helped == 15


def test_what_an_earlier_version_ordered_is_refused_in_words() -> None:
    with pytest.raises(WhetError, match="Another version of Whet started this work") as refused:
        decoded(STORED["attempt_order"], AttemptRequest)
    assert refused.value.advice == "Submit it again."
