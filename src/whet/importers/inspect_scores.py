"""The scores of an Inspect sample as checks."""

from collections.abc import Iterator
from typing import Any

from whet.sessions.transcripts import RecordedCheck
from whet.text import fields

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer
DETAIL_CHARACTERS = 500


def checks(sample: dict[str, Any]) -> Iterator[RecordedCheck]:
    """One check for each score; a score of several values gives one for each."""
    scores = fields.mapping(sample, "scores") or {"score": sample.get("score")}
    for name, score in scores.items():
        if not isinstance(score, dict):
            continue
        detail = fields.text(score, "explanation", "answer")[:DETAIL_CHARACTERS]
        value = score.get("value")
        if isinstance(value, dict):
            for key, part in value.items():
                yield _check(f"{name}/{key}", part, detail)
        else:
            yield _check(name, value, detail)


def _check(name: str, value: object, detail: str) -> RecordedCheck:
    """Full marks pass and none fail; what lies between is a matter for the reader of the score."""
    if isinstance(value, bool):
        return RecordedCheck(name, passed=value, score=float(value), detail=detail)
    score = GRADES.get(value) if isinstance(value, str) else fields.amount(value)
    passed = {1.0: True, 0.0: False}.get(score) if score is not None else None
    return RecordedCheck(name, passed=passed, score=score, detail=detail)
