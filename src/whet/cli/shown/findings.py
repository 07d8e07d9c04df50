"""What was found, in sentences for people."""

import re
from collections.abc import Iterable, Iterator

from whet.cli.output import many, plain
from whet.errors import WhetError
from whet.failures.analysis import Analysis
from whet.failures.gone_wrong import gone_wrong, where_it_went_wrong
from whet.failures.kinds import ChangeKind, kind_named
from whet.failures.lessons import RecurringFailure
from whet.failures.signals import SHOWN
from whet.shipped.kinds import known_kinds

SHORT = 8
RANDOM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}|[0-9a-f]{8})", re.IGNORECASE)
SIGNALS_HEADING = "id       score work, calls, title; then message, kind, confidence, quote"


def lesson_sentence(lesson: RecurringFailure) -> str:
    """What recurs, in how many sessions of how many."""
    if lesson.change is ChangeKind.ENVIRONMENT:
        what = f"{plain(lesson.line)} ({plain(lesson.tool)})" if lesson.tool else plain(lesson.line)
        return f"{what} in {many(lesson.sessions, 'session')}"
    what = plain(kind_named(lesson.kind, known_kinds()).what(lesson.tool))
    if lesson.fingerprint:
        what += f": [italic]{plain(lesson.line)}[/]"
    among = f" that used {plain(lesson.tool)}" if lesson.tool else ""
    return f"{what} — {lesson.sessions:,} of {many(lesson.base, 'session')}{among} ({100 * lesson.share:.0f} %)"


def check_kinds(names: Iterable[str]) -> None:
    """Refuse the name of a kind of trouble that is not known here."""
    known = [row.name for row in known_kinds()]
    for name in names:
        if name not in known:
            raise WhetError(f"{name} is not a kind of failure.", advice=f"Kinds: {', '.join(known)}.")


def short_id(session: str) -> str:
    """The beginning of an id made of random digits, which suffices; any other id whole."""
    return session[:SHORT] if RANDOM.match(session) else session


def analysis_lines(analysis: Analysis, title: str, kinds: frozenset[str], least: float = SHOWN) -> Iterator[str]:
    """One session: its score with the reasons, and its signals that are as sure as `least`."""
    colour = "red" if analysis.failure_score >= 0.5 else "green"
    score = "cannot tell" if analysis.cannot_tell else f"[{colour}]{analysis.failure_score:.2f}[/]"
    yield (
        f"[bold]{short_id(analysis.session)}[/] {score} {analysis.activity.value}"
        f" [dim]{_counted(analysis)}{_lost(analysis)}[/]  {plain(title[:80])}"
    )
    if analysis.reasons and analysis.failure_score >= 0.5:
        yield f"    [dim]because {plain('; '.join(analysis.reasons))}[/]"
    for signal in analysis.signals:
        if signal.confidence < least or (kinds and signal.kind not in kinds):
            continue
        tool = f" {plain(signal.tool)}" if signal.tool else ""
        cause = "" if signal.cause.value == "agent" else " [yellow](environment)[/]"
        yield (
            f"    #{signal.message:<4} {signal.kind}{tool}{cause} [dim]{signal.confidence:.2f}[/]"
            f"  {plain(' '.join(signal.quote.split()))}"
        )


def _lost(analysis: Analysis) -> str:
    """Where the session was lost, if it seems to have been."""
    found = gone_wrong(analysis)
    return f" · {where_it_went_wrong(found.message, found.confidence)}" if found else ""


def _counted(analysis: Analysis) -> str:
    counts = {name: number for name, number in analysis.calls.items() if number}
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "no calls"
