"""What sessions teach, for people and for programs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from whet.cli.output import many, moment, plain
from whet.ledger.origins import PatchWriter
from whet.ledger.patches import Form
from whet.ledger.waiting import WHOSE
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.record import DroppedLesson, Lesson, LessonStage
from whet.lessons.said import LessonConflict
from whet.sessions.exports import iso
from whet.sessions.trust import Trust
from whet.text.showing import shown
from whet.trouble.kinds import ChangeKind

NEXT = (
    "Next: `whet lessons show ID` for the evidence; `whet lessons propose ID` lets it wait for your approval;"
    " `whet improve` proposes what is new and, with a model, tries it."
)
QUOTES = 12
FORMS = {Form.RULE: ChangeKind.RULE, Form.NOTE: ChangeKind.MEMORY, Form.SKILL: ChangeKind.SKILL}


def change_of(lesson: Lesson) -> ChangeKind:
    """What a lesson would change."""
    return FORMS[lesson.patch.form]


def lesson_record(lesson: Lesson, number: int | None, *, evidence: bool = False) -> dict[str, object]:
    """A lesson for programs; `draft` is the text that would be told."""
    checks, standing = lesson.checks, lesson.standing
    record: dict[str, object] = {
        "id": lesson.id,
        "number": number,
        "standing": standing.stage.value,
        "entry": standing.entry or None,
        "project": lesson.project,
        "projects": lesson.seen_by.projects or (lesson.project,),
        "change": change_of(lesson).value,
        "carrier": lesson.carrier.value,
        "form": lesson.patch.form.value,
        "name": lesson.patch.name,
        "source": lesson.evidence.source.value,
        "situation": lesson.situation,
        "fix": lesson.fix,
        "draft": lesson.rule,
        "trust": lesson.trust.label,
        "origin": msgspec.to_builtins(lesson.origin),
        "not_followed": checks.stands_in if checks.is_broken else None,
        "stands_in": checks.stands_in or None,
        "stands_as": checks.stands_as or None,
        "conflict": conflict_record(checks.conflict) if checks.conflict else None,
        "agents": lesson.seen_by.agents,
        "counts": {"sessions": lesson.sessions, "pieces": len(lesson.evidence.pieces)},
        "rung": lesson.climb.rung.value,
        "ladder": lesson.climb.words,
        "measures": msgspec.to_builtins(checks.measures) if checks.measures else None,
    }
    return {**record, "evidence": _pieces(lesson.evidence.pieces)} if evidence else record


def dropped_record(dropped: DroppedLesson) -> dict[str, object]:
    """What is no lesson, and why, for programs."""
    counts = {"sessions": dropped.evidence.sessions, "pieces": len(dropped.evidence.pieces)}
    return {"project": dropped.project, "draft": dropped.rule, "why": dropped.why, "counts": counts}


def lesson_lines(lessons: Sequence[Lesson], numbers: Mapping[str, int], here: str = "") -> Iterator[str]:
    """The lessons by project, that of this folder first, each with the text that would be told."""
    ordered = sorted(lessons, key=lambda each: not here or each.project != here)
    for (project, place), group in groupby(ordered, key=lambda each: (each.project, each.place)):
        yield f"[bold]{_safe(place)}[/]{' (this project)' if here and project == here else ''}"
        for lesson in group:
            yield from _lines(lesson, numbers.get(lesson.id))


def dropped_lines(dropped: Sequence[DroppedLesson], places: Mapping[str, str]) -> Iterator[str]:
    """What is no lesson, and why, by project."""
    for project, group in groupby(dropped, key=lambda each: each.project):
        yield f"[bold]{_safe(places[project]) or 'no project'}[/]"
        for each in group:
            yield f"[bold]·[/] {_safe(each.rule)}"
            yield f"   [dim]{many(each.evidence.sessions, 'session')} · dropped: {_safe(each.why)}[/]"


def decided_line(lessons: Sequence[Lesson]) -> str:
    """How many lessons were decided on, and how; they are left out of the list."""
    counts = Counter(each.standing.stage.value for each in lessons)
    told = ", ".join(f"{number} {stage}" for stage, number in counts.items())
    return f"[dim]Not listed, because you decided: {told}. To list them too: --all.[/]"


def evidence_lines(lesson: Lesson, number: int | None, places: Mapping[str, str], *, every: bool) -> Iterator[str]:
    """What is known of one lesson, with quotes, and what can be done with it."""
    yield f"[bold]{_safe(lesson.place)}[/]"
    for project in lesson.seen_by.projects:
        yield f"   [dim]{_safe(places.get(project, project))}[/]"
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
    yield from _next_step(lesson)


def _next_step(lesson: Lesson) -> Iterator[str]:
    stage, form = lesson.standing.stage, lesson.patch.form.value
    if stage is LessonStage.CHECKED:
        yield f"[dim]Next: `whet lessons propose {lesson.id}` to make it a {form}: it waits for your approval.[/]"
    elif stage in (LessonStage.REFUSED, LessonStage.RETIRED):
        yield "[dim]Next: `whet rules add` to tell it all the same.[/]"
    elif stage in (LessonStage.ACTIVE, LessonStage.LIVE):
        yield f"[dim]Next: `whet {form}s` lists what is in force.[/]"


def _lines(lesson: Lesson, number: int | None) -> Iterator[str]:
    patch = lesson.patch
    said = f"{lesson.situation}: {lesson.fix}" if patch.form is Form.SKILL else lesson.rule
    yield f"[bold]{f'{number}.' if number else '·'}[/] {_safe(said)}"
    name = f" {patch.name}" if patch.form is Form.SKILL else ""
    seen, *rungs = lesson.climb.words
    facts = (
        lesson.id,
        f"{lesson.told_as}{name}",
        lesson.evidence.source.words,
        plain(", ".join(lesson.seen_by.agents)),
    )
    yield f"   [dim]{' · '.join(facts)} · words: {_whose(lesson)} · {_safe(lesson.standing.words)}[/]"
    yield f"   [dim]{seen}{f' → {_safe(rungs[0])}' if len(rungs) == 1 else ''}[/]"
    for rung in rungs if len(rungs) > 1 else ():
        yield f"   [dim]→ {_safe(rung)}[/]"
    for note in lesson.climb.notes:
        yield f"   {_safe(note)}"


def _whose(lesson: Lesson) -> str:
    """Whose words a lesson is made of; what stands in a person's place may be another program's."""
    is_unsure = lesson.origin.basis == LessonSource.PERSON and lesson.trust < Trust.USER
    return "perhaps not typed by a person" if is_unsure else WHOSE[lesson.trust]


def conflict_record(conflict: LessonConflict) -> dict[str, object]:
    """A conflict for programs: both sentences, whose they are and where they were said."""
    both = (conflict.first, conflict.second)
    said = [{**msgspec.structs.asdict(each), "at": iso(each.at), "who": each.who or None} for each in both]
    return {"about": conflict.about, "said": said}


def conflict_lines(by_project: Mapping[str, tuple[LessonConflict, ...]], places: Mapping[str, str]) -> Iterator[str]:
    """Where people contradict each other or themselves, with both quotes: which holds is theirs to say."""
    for project, conflicts in by_project.items():
        for conflict in conflicts:
            yield f"[bold]Conflict[/] about {_safe(conflict.about)} in {_safe(places[project]) or 'no project'}"
            for said in (conflict.first, conflict.second):
                who = f"{_safe(said.who)}, " if said.who else ""
                yield f"   [dim]{said.session[:8]} #{said.message} · {who}{moment(said.at)}[/] “{_safe(said.text)}”"


def _pieces(pieces: Sequence[LessonPiece]) -> list[dict[str, object]]:
    return [_piece_record(piece) for piece in pieces]


def _piece_record(piece: LessonPiece) -> dict[str, object]:
    return {
        "session": piece.session,
        "message": piece.message,
        "source": piece.source.value,
        "text": piece.text,
        "fix": piece.fix or None,
        "who": piece.who or None,
        "at": iso(piece.at),
    }


def _safe(text: str) -> str:
    return plain(" ".join(shown(text).split()))
