"""How the calls of sessions ended, scored by the weights that this installation has."""

from whet.failures import analysis
from whet.failures.analysis import Analysis
from whet.failures.score import Weights
from whet.sessions.transcripts import Transcript
from whet.shipped.data import failure_weights


def analyse(transcript: Transcript, *, weights: Weights | None = None) -> Analysis:
    """Judge every call of a session.

    Needs no model and no network. Where the time went is what `troubles` tells.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> found = whet.analyse(session)
    >>> found.calls["failed"]
    2
    """
    return analysis.analyse(transcript, weights if weights is not None else failure_weights())
