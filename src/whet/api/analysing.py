"""What went wrong in sessions, by the weights and the kinds of trouble that this installation has."""

from collections.abc import Iterable

from whet.failures import analysis, lessons
from whet.failures.analysis import Analysis
from whet.failures.lessons import RecurringFailure
from whet.failures.score import Weights
from whet.sessions.transcripts import Transcript
from whet.shipped.data import failure_weights
from whet.shipped.kinds import known_kinds


def analyse(transcript: Transcript, *, weights: Weights | None = None) -> Analysis:
    """Judge every call of a session and detect its signals, from which `distill` finds what recurs.

    Needs no model and no network. Where the time went is what `troubles` tells.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> found = whet.analyse(session)
    >>> found.calls["failed"], sorted({signal.kind for signal in found.signals})
    (2, ['tool_failure'])
    """
    return analysis.analyse(transcript, weights if weights is not None else failure_weights(), known_kinds())


def distill(analyses: Iterable[Analysis]) -> tuple[RecurringFailure, ...]:
    """Find what recurs across sessions, most common first. Reads its argument once and keeps only tallies.

    A lesson needs three distinct sessions, and clearly more than 5 % of the sessions that used the tool.

    >>> import msgspec, whet
    >>> session, _ = whet.read("examples/sessions/openai")
    >>> sessions = [msgspec.structs.replace(session, native_id=f"day-{day}") for day in range(3)]
    >>> [(lesson.kind, lesson.tool, lesson.sessions) for lesson in whet.distill(map(whet.analyse, sessions))]
    [('retry_loop', 'get_order', 3)]
    """
    return lessons.distill(analyses, known_kinds())
