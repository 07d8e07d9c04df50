"""What sessions teach, for people and for programs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from whet.cli.output import cautions, labelled, moment, plain
from whet.cli.shown.entries import BY_WHOM, EXAMPLE, diff_lines, entry_record, scope_words, unquoted
from whet.ledger.entries import Entry, Step
from whet.ledger.origins import PatchWriter
from whet.ledger.patch_faults import LIMITS
from whet.ledger.patches import Form, Patch
from whet.ledger.traces import difference
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.record import WHOSE, Lesson, LessonStage
from whet.lessons.said import LessonConflict
from whet.sessions.exports import iso
from whet.sessions.trust import Trust
from whet.text.showing import shown
from whet.text.words import many, short
from whet.trouble.kinds import ChangeKind

if TYPE_CHECKING:
    from whet.reading.learn import LearnedProject, LearnReport

PROJECTS_SHOWN = 6


def report_lines(report: "LearnReport", named: Mapping[str, str]) -> Iterator[str]:
    """A run in at most ten lines."""
    for each in report.projects[:PROJECTS_SHOWN]:
        yield _line(report.reader, each, named.get(each.project, each.project))
    if len(report.projects) > PROJECTS_SHOWN:
        yield f"{many(len(report.projects) - PROJECTS_SHOWN, 'more project')} read."
    spent = report.spent
    price = "within your plan" if report.is_in_plan else "" if spent.dollars is None else f"${spent.dollars:.2f}"
    tokens = f"{short(spent.input)} tokens in, {short(spent.output)} out"
    yield f"{many(spent.model_calls, 'call')}, {', '.join(filter(None, (tokens, price)))}."
    if report.stopped:
        left = sum(each.left for each in report.projects)
        yield f"[yellow]Ended early: {report.stopped}[/]; {many(left, 'session')} of it are unread."


def report_record(report: "LearnReport") -> dict[str, object]:
    """The report for programs."""
    return dict(msgspec.to_builtins(report))


def _line(reader: str, made: "LearnedProject", place: str) -> str:
    read = f"{plain(reader)} read {many(made.sessions, 'session')} of {plain(place)}"
    claims = f"{many(made.claims, 'claim')} passed the checks" if made.claims else "nothing new"
    parts = [claims]
    if made.dropped:
        parts.append(f"{many(made.dropped, 'line')} of no use")
    if made.kept or made.refused:
        parts.append(f"of the lessons that they make, the sceptic let {made.kept} stand and dropped {made.refused}")
    return f"{read}: {', '.join(parts)}."


NEXT = (
    "Next: `whet lessons show ID` for the evidence; `whet live start ID` to tell half of your sessions and see whether"
    " it helps; `whet lessons approve ID` to tell all."
)
WAITING = "[bold]What waits for your yes[/] (`whet lessons --waiting` asks for one decision after another)"
QUOTES = 12
QUOTES_SHOWN = 3  # of a change that waits
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
        half = f"`whet live start {lesson.id}` to tell half of your sessions and see whether it helps; "
        half = half if lesson.patch.form is Form.RULE else ""
        yield f"[dim]Next: {half}`whet lessons approve {lesson.id}` to make it a {form} for all.[/]"
    elif stage in (LessonStage.REFUSED, LessonStage.RETIRED):
        yield f"[dim]Next: `whet lessons undo {lesson.id}` to take that back.[/]"
    elif stage is LessonStage.LIVE:
        yield "[dim]Next: `whet live` shows how it goes.[/]"
    elif stage is LessonStage.ACTIVE:
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


def waiting_record(lesson: Lesson) -> dict[str, object]:
    entry, tried = lesson.proposal, lesson.standing.judged
    until = None if entry.step is Step.SUGGESTED else iso(entry.at + LIMITS.pending_seconds)
    trial = {"entry": tried.number, "ruling": tried.step.value, "note": tried.note or None} if tried else None
    return {**entry_record(entry), "until": until, "project": lesson.project or None, "tried": trial}


def waiting_lines(lessons: Sequence[Lesson]) -> Iterator[str]:
    """All that waits, by project, each with its exact text."""
    for group, members in groupby(lessons, key=lambda each: each.group):
        yield f"[bold]{plain(shown(group))}[/]"
        for lesson in members:
            yield from change_lines(lesson, quotes=QUOTES_SHOWN)


def change_lines(lesson: Lesson, *, quotes: int) -> Iterator[str]:
    """What a person decides on: the exact words, whose they are, the evidence, the verdict."""
    entry, patch = lesson.proposal, lesson.patch
    scope = scope_words(replace(lesson.scope, project=""), str)  # its group names the project
    yield from labelled(f"{entry.number}  {patch.action} {patch.form} ", f"{patch.name}{_for(scope)}")
    yield from diff_lines(difference(lesson.move.before, lesson.move.after))
    yield from cautions(f"{lesson.move.after or ''}\n{patch.example}")
    if patch.example:
        yield from labelled(f"   {EXAMPLE}", patch.example)
    yield from labelled("   words: ", f"{lesson.whose}{_proposer(entry)}")
    yield from labelled("   why: ", f"{lesson.origin.why or 'not said'} · {_counts(patch)}")
    for proof in patch.proofs[:quotes]:
        place = "" if proof.message is None else f" #{proof.message}"
        yield from labelled(f"   {proof.session[:8]}{place} ", f"{proof.kind} “{proof.quote}”")
    if unsaid := unquoted(patch):
        yield from labelled("   in no quote: ", f"{', '.join(unsaid)} (the words of whoever wrote it)")
    if len(patch.proofs) > quotes:
        yield f"   [dim]… and {len(patch.proofs) - quotes} more: whet lessons show {entry.number}[/]"
    yield from labelled("   trial: ", lesson.verdict)
    yield f"   [dim]{_until(entry)}[/]"
    yield ""


def _for(scope: str) -> str:
    return f", for {scope}" if scope else ""


def _proposer(entry: Entry) -> str:
    return f", proposed by {BY_WHOM[entry.actor]}{f' ({entry.maker})' if entry.maker else ''}"


def _counts(patch: Patch) -> str:
    if not patch.proofs:
        return "no quotes"
    sessions = len({proof.session for proof in patch.proofs})
    return f"{many(len(patch.proofs), 'quote')} from {many(sessions, 'session')}"


def _until(entry: Entry) -> str:
    if entry.step is Step.SUGGESTED:
        return f"active for {plain(shown(entry.maker))}, another member; here only if you approve it"
    return f"expires {moment(entry.at + LIMITS.pending_seconds)}"
