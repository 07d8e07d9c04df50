"""How the calls of sessions ended."""

from whet.outcomes import analysis
from whet.outcomes.analysis import Analysis
from whet.sessions.transcripts import Transcript


def analyse(transcript: Transcript) -> Analysis:
    """Judge every call of a session.

    Needs no model and no network. Where the time went is what `troubles` tells.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> found = whet.analyse(session)
    >>> found.calls["failed"]
    2
    """
    return analysis.analyse(transcript)
