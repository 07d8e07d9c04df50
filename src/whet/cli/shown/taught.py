"""What sessions teach, for people and for programs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from whet.cli.output import many, moment, plain
from whet.cli.shown.findings import CHANGES, lesson_sentence
from whet.failures.lessons import ChangeKind, Lesson
from whet.improving.project_evidence import TaughtLesson, place_of
from whet.ledger.patches import Form
from whet.lessons.conflicts import LessonConflict
from whet.lessons.drafts import LessonDraft
from whet.lessons.pieces import LessonPiece
from whet.sessions.exports import iso
from whet.text.showing import shown

NEXT = "Next: `whet lessons show N` for the evidence; `whet improve` proposes what is new and, with a model, tries it."


FORMS = {Form.RULE: ChangeKind.RULE, Form.NOTE: ChangeKind.MEMORY, Form.SKILL: ChangeKind.SKILL}


def change_of(lesson: TaughtLesson) -> ChangeKind:
    """What a lesson would change."""
    return FORMS[lesson.draft.form] if lesson.draft else ChangeKind.RULE


def taught_record(lesson: TaughtLesson, *, evidence: bool) -> dict[str, object]:
    """A lesson for programs; `draft` is the text that would be told, null where nothing is proposed."""
    draft, candidate = lesson.draft, lesson.candidate
    record: dict[str, object] = {
        "project": lesson.project,
        "projects": lesson.projects or (lesson.project,),
        "kind": "taught",
        "change": change_of(lesson).value,
        "form": draft.form.value if draft else None,
        "name": lesson.patch.name if lesson.patch else None,
        "source": candidate.source.value,
        "situation": draft.situation if draft else candidate.best.text,
        "fix": draft.fix if draft else candidate.best.fix or candidate.best.remedy,
        "draft": draft.text if draft else None,
        "trust": draft.trust.label if draft else None,
        "not_followed": lesson.stands_in if lesson.is_broken else None,
        "stands_in": lesson.stands_in or None,
        "stands_as": lesson.stands_as or None,
        "conflict": conflict_record(lesson.conflict) if lesson.conflict else None,
        "agents": lesson.agents,
        "counts": {"sessions": candidate.sessions, "pieces": len(candidate.pieces)},
    }
    return {**record, "evidence": [_piece_record(piece) for piece in candidate.pieces]} if evidence else record


def recurring_record(lesson: Lesson) -> dict[str, object]:
    """A recurring failure in the same fields, and its own."""
    return {
        **msgspec.to_builtins(lesson),
        "project": None,
        "source": "recurring_failure",
        "situation": f"{lesson.tool}: {lesson.words}" if lesson.tool else lesson.words,
        "fix": None,
        "draft": None,
        "counts": {"sessions": lesson.sessions, "base": lesson.base},
        "trust": lesson.trust.label,
        "share": round(lesson.share, 4),
        "since": iso(lesson.since),
        "latest": iso(lesson.latest),
    }


def taught_lines(lessons: Sequence[TaughtLesson]) -> Iterator[str]:
    """The lessons by project, each with the text that would be told."""
    numbered = enumerate(lessons, 1)
    for place, group in groupby(numbered, key=lambda each: place_of(each[1])):
        yield f"[bold]{_safe(place)}[/]"
        for number, lesson in group:
            yield from _lines(number, lesson)


def evidence_lines(number: int, lesson: TaughtLesson) -> Iterator[str]:
    """All that is known of one lesson, with quotes."""
    yield f"[bold]{_safe(place_of(lesson))}[/]"
    for project in lesson.projects:
        yield f"   [dim]{_safe(project)}[/]"
    yield from _lines(number, lesson)
    if lesson.stands_as:
        yield f"   [dim]{_safe(lesson.stands_in)}:[/] {_safe(lesson.stands_as)}"
    for piece in lesson.candidate.pieces:
        who = f" {_safe(piece.who)}" if piece.who else ""
        yield f"   [dim]{piece.session[:8]} #{piece.message}{who}[/] {_safe(piece.text)}"
        for label, words in (("worked", piece.fix), ("the error says", piece.remedy)):
            if words:
                yield f"      [dim]{label}:[/] {_safe(words)}"


def recurring_lines(lessons: Sequence[Lesson], start: int) -> Iterator[str]:
    """Failures that recur without a known fix."""
    for number, lesson in enumerate(lessons, start):
        yield f"[bold]{number}.[/] {lesson_sentence(lesson)}"
        seen = f"{moment(lesson.since)} to {moment(lesson.latest)}" if lesson.since else "undated"
        where = ", ".join((*lesson.agents, *lesson.models))
        yield f"   [dim]would change {CHANGES[lesson.change]} · {plain(where)} · {seen} · trust {lesson.trust.label}[/]"
        for example in lesson.examples:
            quote = plain(" ".join(example.quote.split()))
            yield f"   [dim]{example.session[:8]} #{example.message}[/] {quote}"


def _lines(number: int, lesson: TaughtLesson) -> Iterator[str]:
    candidate, draft = lesson.candidate, lesson.draft
    yield f"[bold]{number}.[/] {_safe(_said(draft) if draft else candidate.best.text)}"
    state = "new"
    if lesson.conflict:
        state = "contradicted elsewhere, not proposed"
    elif lesson.stands_in:
        state = f"already in {_safe(lesson.stands_in)}{', but not followed' if lesson.is_broken else ''}"
    elif draft is None:
        state = "nothing to propose: no session shows what works instead"
    trust = f" · trust {draft.trust.label}" if draft else ""
    counted = many(candidate.sessions, "session")
    form = f"{draft.form.value}{f' {draft.name}' if draft.name else ''} · " if draft else ""
    source, agents = candidate.source.words, plain(", ".join(lesson.agents))
    yield f"   [dim]{form}{source} · {counted} · {agents}{trust} · {state}[/]"


def _said(draft: LessonDraft) -> str:
    return f"{draft.situation}: {draft.fix}" if draft.form is Form.SKILL else draft.text


def conflict_record(conflict: LessonConflict) -> dict[str, object]:
    """A conflict for programs: both sentences, whose they are and where they were said."""
    both = (conflict.first, conflict.second)
    said = [{**msgspec.structs.asdict(each), "at": iso(each.at), "who": each.who or None} for each in both]
    return {"about": conflict.about, "said": said}


def conflict_lines(by_project: Mapping[str, tuple[LessonConflict, ...]]) -> Iterator[str]:
    """Where people contradict each other or themselves, with both quotes: which holds is theirs to say."""
    for project, conflicts in by_project.items():
        for conflict in conflicts:
            yield f"[bold]Conflict[/] about {_safe(conflict.about)} in {_safe(project) or 'no project'}"
            for said in (conflict.first, conflict.second):
                who = f"{_safe(said.who)}, " if said.who else ""
                yield f"   [dim]{said.session[:8]} #{said.message} · {who}{moment(said.at)}[/] “{_safe(said.text)}”"


def _piece_record(piece: LessonPiece) -> dict[str, object]:
    return {
        "session": piece.session,
        "message": piece.message,
        "source": piece.source.value,
        "text": piece.text,
        "fix": piece.fix or None,
        "remedy": piece.remedy or None,
        "who": piece.who or None,
        "at": iso(piece.at),
    }


def _safe(text: str) -> str:
    return plain(" ".join(shown(text).split()))
