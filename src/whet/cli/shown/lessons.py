"""Lessons, and what waits for a person, for people and for programs, the same in every command; a reader's run too."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from whet.cli.output import cautions, fields, labelled, moment, plain
from whet.cli.shown.entries import EXAMPLE, diff_lines, entry_record, scope_words
from whet.ledger.entries import Step
from whet.ledger.folding import difference
from whet.ledger.patch_faults import LIMITS
from whet.ledger.patches import Form, PatchWriter
from whet.lessons.record import WHOSE, Lesson, LessonPiece, LessonSource, LessonStage
from whet.lessons.waiting_words import waiting_words
from whet.sessions.exports import iso
from whet.sessions.trust import Trust
from whet.text.showing import shown
from whet.text.words import many, short
from whet.trouble.kinds import ChangeKind

if TYPE_CHECKING:
    from whet.reading.learn import LearnReport

NEXT = (
    "Next: `whet lessons show ID` for the evidence; `whet live start ID` to tell half of your sessions and see whether"
    " it helps; `whet lessons approve ID` to tell all."
)
WAITING = "[bold]What waits for your yes[/] (`whet lessons --waiting` asks for one decision after another)"
PROJECTS_SHOWN = 6
QUOTES = 12
QUOTES_SHOWN = 3  # of a change that waits
FORMS = {Form.RULE: ChangeKind.RULE, Form.NOTE: ChangeKind.MEMORY, Form.SKILL: ChangeKind.SKILL}


def change_of(lesson: Lesson) -> ChangeKind:
    """What a lesson would change."""
    return FORMS[lesson.patch.form]


def lesson_record(lesson: Lesson, number: int | None, *, evidence: bool = False) -> dict[str, object]:
    """A lesson for programs; `draft` is the text that would be told."""
    checks, standing, pieces = lesson.checks, lesson.standing, lesson.evidence.pieces
    record: dict[str, object] = {
        "id": lesson.id,
        "number": number,
        "standing": standing.stage,
        "entry": standing.entry or None,
        "project": lesson.project,
        "projects": lesson.seen_by.projects or (lesson.project,),
        "change": change_of(lesson),
        "carrier": lesson.carrier,
        **fields(lesson.patch, "form", "name"),
        "source": lesson.evidence.source,
        **fields(lesson, "situation", "fix"),
        "draft": lesson.rule,
        "trust": lesson.trust.label,
        "origin": msgspec.to_builtins(lesson.origin),
        "not_followed": checks.stands_in if checks.is_broken else None,
        "stands_in": checks.stands_in or None,
        "stands_as": checks.stands_as or None,
        "agents": lesson.seen_by.agents,
        "counts": {"sessions": lesson.sessions, "pieces": len(pieces)},
        "rung": lesson.climb.rung,
        "ladder": lesson.climb.words,
        "measures": msgspec.to_builtins(checks.measures) if checks.measures else None,
    }
    return {**record, "evidence": list(map(_piece_record, pieces))} if evidence else record


def _piece_record(piece: LessonPiece) -> dict[str, object]:
    found = fields(piece, "session", "message", "source", "text")
    return {**found, "fix": piece.fix or None, "who": piece.who or None, "at": iso(piece.at)}


def dropped_record(dropped: Lesson) -> dict[str, object]:
    """What is no lesson, and why, for programs."""
    counts = {"sessions": dropped.evidence.sessions, "pieces": len(dropped.evidence.pieces)}
    return {"project": dropped.project, "draft": dropped.rule, "why": dropped.standing.why, "counts": counts}


def lesson_lines(lessons: Sequence[Lesson], numbers: Mapping[str, int], here: str = "") -> Iterator[str]:
    """The lessons by project, that of this folder first, each with the text that would be told."""
    ordered = sorted(lessons, key=lambda each: not here or each.project != here)
    for (project, place), group in groupby(ordered, key=lambda each: (each.project, each.place)):
        yield f"[bold]{_safe(place)}[/]{' (this project)' if here and project == here else ''}"
        for lesson in group:
            yield from _lines(lesson, numbers.get(lesson.id))


def dropped_lines(dropped: Sequence[Lesson], places: Mapping[str, str]) -> Iterator[str]:
    """What is no lesson, and why, by project."""
    for project, group in groupby(dropped, key=lambda each: each.project):
        yield f"[bold]{_safe(places[project]) or 'no project'}[/]"
        for each in group:
            yield f"[bold]·[/] {_safe(each.rule)}"
            yield f"   [dim]{many(each.evidence.sessions, 'session')} · dropped: {_safe(each.standing.why)}[/]"


def decided_line(lessons: Sequence[Lesson]) -> str:
    """How many lessons were decided on, and how; they are left out of the list."""
    counts = Counter(each.standing.stage.value for each in lessons)
    told = ", ".join(f"{number} {stage}" for stage, number in counts.items())
    return f"[dim]Not listed, because you decided: {told}. To list them too: --all.[/]"


def evidence_lines(lesson: Lesson, number: int | None, *, every: bool) -> Iterator[str]:
    """What is known of one lesson, with quotes, and what can be done with it."""
    yield f"[bold]{_safe(lesson.place)}[/]"
    yield from _lines(lesson, number)
    if lesson.checks.stands_as:
        yield f"   [dim]{_safe(lesson.checks.stands_in)}:[/] {_safe(lesson.checks.stands_as)}"
    pieces = lesson.evidence.pieces
    for piece in pieces if every else pieces[:QUOTES]:
        who = f" {_safe(piece.who)}" if piece.who else ""
        whose = f" {WHOSE[piece.trust]}:" if lesson.origin.writer is PatchWriter.MODEL else ""
        yield f"   [dim]{piece.session[:8]} #{piece.message}{who}{whose}[/] {_safe(piece.text)}"
        if piece.fix:
            yield f"      [dim]worked:[/] {_safe(piece.fix)}"
    if len(pieces) > QUOTES and not every:
        yield f"   [dim]{QUOTES} of {len(pieces)} quotes; all of them: --all[/]"
    if next_step := _next_step(lesson):
        yield f"[dim]Next: {next_step}[/]"


def _next_step(lesson: Lesson) -> str:
    form = lesson.patch.form
    match lesson.standing.stage:
        case LessonStage.CHECKED:
            half = f"`whet live start {lesson.id}` to tell half of your sessions and see whether it helps; "
            half = half if form is Form.RULE else ""
            return f"{half}`whet lessons approve {lesson.id}` to make it a {form} for all."
        case LessonStage.REFUSED | LessonStage.RETIRED:
            return f"`whet ledger undo {lesson.id}` to take that back."
        case LessonStage.LIVE:
            return "`whet live` shows how it goes."
        case LessonStage.ACTIVE:
            return f"`whet {form}s` lists what is in force."
    return ""


def _lines(lesson: Lesson, number: int | None) -> Iterator[str]:
    patch, is_skill = lesson.patch, lesson.patch.form is Form.SKILL
    said = f"{lesson.situation}: {lesson.fix}" if is_skill else lesson.rule
    yield f"[bold]{f'{number}.' if number else '·'}[/] {_safe(said)}"
    # What stands in a person's place may be another program's.
    is_unsure = lesson.origin.basis == LessonSource.PERSON and lesson.trust < Trust.USER
    facts = (
        lesson.id,
        f"{lesson.told_as}{f' {patch.name}' if is_skill else ''}",
        lesson.evidence.source.words,
        plain(", ".join(lesson.seen_by.agents)),
        f"words: {'perhaps not typed by a person' if is_unsure else WHOSE[lesson.trust]}",
        _safe(lesson.standing.words),
    )
    yield f"   [dim]{' · '.join(facts)}[/]"
    seen, *rungs = lesson.climb.words
    yield f"   [dim]{seen}{f' → {_safe(rungs[0])}' if len(rungs) == 1 else ''}[/]"
    for rung in rungs if len(rungs) > 1 else ():
        yield f"   [dim]→ {_safe(rung)}[/]"
    for note in lesson.climb.notes:
        yield f"   {_safe(note)}"


def _safe(text: str) -> str:
    return plain(" ".join(shown(text).split()))


def waiting_record(lesson: Lesson) -> dict[str, object]:
    entry, tried = lesson.proposal, lesson.standing.judged
    until = None if entry.step is Step.SUGGESTED else iso(entry.at + LIMITS.pending_seconds)
    trial = {"entry": tried.number, "ruling": tried.step, "note": tried.note or None} if tried else None
    return {**entry_record(entry), "until": until, "project": lesson.project or None, "tried": trial}


def waiting_lines(lessons: Sequence[Lesson]) -> Iterator[str]:
    """All that waits, by project, each with its exact text."""
    for group, members in groupby(lessons, key=lambda each: each.group):
        yield f"[bold]{plain(shown(group))}[/]"
        for lesson in members:
            yield from change_lines(lesson)


def change_lines(lesson: Lesson) -> Iterator[str]:
    """What a person decides on: the exact words, whose they are, the evidence, the verdict."""
    entry, patch = lesson.proposal, lesson.patch
    scope = scope_words(replace(lesson.scope, project=""), str)  # its group names the project
    yield from labelled(
        f"{entry.number}  {patch.action} {patch.form} ", f"{patch.name}{f', for {scope}' if scope else ''}"
    )
    yield from diff_lines(difference(lesson.move.before, lesson.move.after))
    yield from cautions(f"{lesson.move.after or ''}\n{patch.example}")
    if patch.example:
        yield from labelled(f"   {EXAMPLE}", patch.example)
    for label, words in waiting_words(lesson, moment=moment):
        yield from labelled(f"   {label}: ", words)
    for proof in patch.proofs[:QUOTES_SHOWN]:
        place = "" if proof.message is None else f" #{proof.message}"
        yield from labelled(f"   {proof.session[:8]}{place} ", f"{proof.kind} “{proof.quote}”")
    if len(patch.proofs) > QUOTES_SHOWN:
        yield f"   [dim]… and {len(patch.proofs) - QUOTES_SHOWN} more: whet lessons show {entry.number}[/]"
    yield ""


def report_lines(report: "LearnReport", named: Mapping[str, str]) -> Iterator[str]:
    """A reader's run in at most ten lines."""
    for made in report.projects[:PROJECTS_SHOWN]:
        place = plain(named.get(made.project, made.project))
        parts = [f"{many(made.claims, 'claim')} passed the checks" if made.claims else "nothing new"]
        if made.dropped:
            parts.append(f"{many(made.dropped, 'line')} of no use")
        if made.kept or made.refused:
            kept = f"let {made.kept} stand and dropped {made.refused}"
            parts.append(f"of the lessons that they make, the sceptic {kept}")
        yield f"{plain(report.reader)} read {many(made.sessions, 'session')} of {place}: {', '.join(parts)}."
    if len(report.projects) > PROJECTS_SHOWN:
        yield f"{many(len(report.projects) - PROJECTS_SHOWN, 'more project')} read."
    spent = report.spent
    price = "within your plan" if report.is_in_plan else "" if spent.dollars is None else f"${spent.dollars:.2f}"
    tokens = f"{short(spent.input)} tokens in, {short(spent.output)} out"
    yield f"{many(spent.model_calls, 'call')}, {', '.join(filter(None, (tokens, price)))}."
    if report.stopped:
        left = sum(each.left for each in report.projects)
        yield f"[yellow]Ended early: {report.stopped}[/]; {many(left, 'session')} of it are unread."
