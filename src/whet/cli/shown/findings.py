"""What was found, in sentences for people."""

from whet.cli.output import many, plain
from whet.errors import WhetError
from whet.failures.kinds import ChangeKind, kind_named
from whet.failures.lessons import RecurringFailure
from whet.shipped.kinds import known_kinds


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


def check_kind(name: str) -> None:
    """Refuse the name of a kind of failure that is not known here."""
    known = [row.name for row in known_kinds()]
    if name not in known:
        raise WhetError(f"{name} is not a kind of failure.", advice=f"Kinds: {', '.join(known)}.")
