"""Handling: whether the situation of a case came up in an attempt, and was handled or went wrong again."""

from collections.abc import Sequence

from whet.ledger.patches import RuleSituation
from whet.lessons.following import was_followed
from whet.outcomes.view import SessionView, gather
from whet.sessions.transcripts import Message, Transcript
from whet.trials.checks import Check
from whet.trials.shapes import fits


def handled(check: Check, messages: Sequence[Message]) -> bool | None:
    """Whether the first call of the situation was one that does it, and worked; None while none was made.

    A call in the form that went wrong is not, whatever comes after it: that it is put right later is the trouble.
    """
    if check.calls is None or not check.calls.one_of:
        return None
    view = gather(Transcript("attempt", "attempt", tuple(messages)))
    for step in view.steps:
        if not step.failed and any(fits(shape, step.exchange.call) for shape in check.calls.one_of):
            return True
        alone = SessionView(view.transcript, (step,), ())
        if check.trouble != RuleSituation() and was_followed(check.trouble, alone) is False:
            return False
    return None
