"""What went wrong in one session, with the weights that come with Whet."""

from whet.failures import analysis
from whet.failures.analysis import Analysis
from whet.failures.score import Weights
from whet.sessions.transcripts import Transcript
from whet.shipped.data import failure_weights


def analyse(transcript: Transcript, *, weights: Weights | None = None) -> Analysis:
    """Judge every call of a session, detect its signals and score how likely the session failed.

    Needs no model and no network. `weights` are those of the failure score; default: the ones included in Whet.

    >>> import whet
    >>> sessions = [each for each in whet.read("examples/sessions/inspect") if isinstance(each, whet.Transcript)]
    >>> worst = max(map(whet.analyse, sessions), key=lambda one: one.failure_score)
    >>> worst.failure_score > 0.5, sorted(signal.kind.value for signal in worst.signals)
    (True, ['budget_spent', 'gave_up', 'tool_failure'])
    """
    return analysis.analyse(transcript, weights if weights is not None else failure_weights())
