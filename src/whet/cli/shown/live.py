"""Lessons and templates that are live: a table with the evidence so far, and the same for programs."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.table import Table

from whet.cli.options import CommandList
from whet.cli.output import moment, next_lines, plain
from whet.ledger.patches import Form
from whet.lessons.record import Lesson
from whet.lessons.rungs import CanaryMove, LiveComparison, LiveCounts
from whet.text.showing import shown
from whet.text.words import many

LIVE: CommandList[Lesson] = CommandList(
    {
        "entry": lambda lesson: lesson.standing.entry,
        "rule": lambda lesson: lesson.patch.name if lesson.patch.form is Form.RULE else lesson.standing.told_as,
        "since": lambda lesson: moment(lesson.counts.since),
        "share": lambda lesson: f"{100 * lesson.counts.share:.0f} %",
        "with": lambda lesson: _with(lesson.counts.comparison),
        "without": lambda lesson: _without(lesson.counts.comparison),
        "effect": lambda lesson: _effect(lesson.counts.comparison),
        "help": lambda lesson: _evidence(lesson.counts.comparison.evidence_help),
        "harm": lambda lesson: _evidence(lesson.counts.comparison.evidence_harm),
        "decision": lambda lesson: lesson.counts.comparison.decision.value,
    },
    {
        "oldest": lambda lesson: lesson.standing.entry,
        "newest": lambda lesson: -lesson.standing.entry,
        "help": lambda lesson: -lesson.counts.comparison.evidence_help,
        "harm": lambda lesson: -lesson.counts.comparison.evidence_harm,
    },
    numbers=("share", "with", "without", "effect", "help", "harm"),
    project=lambda lesson: lesson.patch.scope.project,
    at=lambda lesson: lesson.counts.since,
)


def live_lines(found: Sequence[Lesson]) -> Iterator[str | Table]:
    if not found:
        yield "Nothing is live. To tell a rule to a share of your sessions, run `whet live start ID`."
        return
    yield LIVE.table(found)
    yield from _notes(found)
    yield from next_lines(
        "nothing to do: `whet live look`, or the worker every hour, decides. `whet live stop NAME` ends one."
    )


def live_record(lesson: Lesson) -> dict[str, object]:
    watched = lesson.counts
    return {
        "entry": lesson.standing.entry,
        "name": lesson.patch.name,
        "text": lesson.rule,
        **msgspec.to_builtins(watched),
        "decision": watched.comparison.decision.value,
        "told": watched.comparison.told,
        "untold": watched.comparison.untold,
    }


def _notes(found: Sequence[Lesson]) -> Iterator[str]:
    by_score = tuple(each.counts for each in found if not each.counts.endpoint)
    if by_score:
        alpha = by_score[0].comparison.alpha
        yield (
            "[dim]Mean loss of sessions with and without the rule: 1 for one that ends in failure, else the share"
            " of its time that bought nothing"
            f" ({many(_sessions(by_score), 'session')}). Decided at evidence {1 / alpha:.0f}; error rate at most"
            f" {100 * alpha:g} % per side.[/]"
        )
    for bundle in {
        each.counts.together.number: each.counts.together for each in found if each.counts.together
    }.values():
        yield f"{bundle.words}.{_next_look(bundle.counts)} They are decided on together."
        yield from _guard_notes(f"Bundle {bundle.number}", bundle.counts)
    for each in found:
        if each.counts.endpoint:
            yield from _endpoint_notes(each.patch.name, each.counts)
        if each.counts.why:
            yield f"[bold]Entry {each.counts.decided or each.standing.entry}[/]: {plain(shown(each.counts.why))}."


def _endpoint_notes(name: str, watched: LiveCounts) -> Iterator[str]:
    found = watched.comparison
    seen = found.told + found.untold
    next_look = _next_look(watched)
    yield (
        f"[dim]{plain(name)}: share of sessions in its situation ({seen} of {watched.sessions}) with its own"
        f" failure, as a detector sees it: {watched.endpoint}.{next_look}[/]"
    )
    yield from _guard_notes(name, watched)


def _guard_notes(name: str, watched: LiveCounts) -> Iterator[str]:
    for guard in watched.guards:
        if guard.stops:
            means = f"{_mean(guard.told)} with it, {_mean(guard.untold)} without"
            yield f"[yellow]{plain(name)}: {guard.name} {means}.[/]"
    if watched.held_by and watched.comparison.decision is CanaryMove.WAIT:
        yield f"[yellow]{plain(name)} is not promoted: worse with it: {plain(watched.held_by)}.[/]"


def _next_look(watched: LiveCounts) -> str:
    return f" Next look after {watched.next_look}." if watched.next_look else ""


def _mean(value: float | None) -> str:
    return f"{value:.2f}" if value is not None else "–"


def _sessions(found: tuple[LiveCounts, ...]) -> int:
    return sum(each.sessions for each in found)


def _with(found: LiveComparison) -> str:
    return _loss(found.loss_told, found.told)


def _without(found: LiveComparison) -> str:
    return _loss(found.loss_untold, found.untold)


def _effect(found: LiveComparison) -> str:
    low, high = found.interval
    return f"{found.effect:+.2f} ({low:+.2f} to {high:+.2f})"


def _loss(loss: float | None, number: int) -> str:
    """A mean loss, and of how many."""
    return f"{loss:.2f} ({number})" if loss is not None else "–"


def _evidence(value: float) -> str:
    return f"{value:.2g}" if value < 1000 else "> 1000"
