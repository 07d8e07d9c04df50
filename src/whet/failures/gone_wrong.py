"""Where a session perhaps went wrong, in one wording for every screen: it is a guess, and says how sure."""

from whet.failures.analysis import Analysis
from whet.failures.decisive import Turning
from whet.failures.summaries import has_failed


def gone_wrong(analysis: Analysis) -> Turning | None:
    """Where a session that may have failed went wrong, as a guess; None where it makes no sense to ask."""
    if analysis.decisive_step is None or not has_failed(analysis):
        return None
    return Turning(analysis.decisive_step, analysis.decisive_reason, analysis.decisive_confidence)


def how_sure(confidence: float) -> str:
    return f"confidence {confidence:.2f}"


def where_it_went_wrong(message: int, confidence: float) -> str:
    """The words about a session, to follow its name."""
    return f"perhaps went wrong at message {message} ({how_sure(confidence)})"
