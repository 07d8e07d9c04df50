"""What sessions teach, for people and for programs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from whet.cli.output import many, moment, plain
from whet.cli.shown.findings import lesson_sentence
from whet.failures.kinds import ChangeKind
from whet.failures.lessons import Lesson
from whet.improving.lesson_states import DecisionsOnLessons, LessonState, lesson_id, standing_of, without_fix
from whet.improving.project_evidence import TaughtLesson, place_of
from whet.ledger.patches import Form
from whet.ledger.waiting import WHOSE
from whet.lessons.conflicts import LessonConflict
from whet.lessons.drafts import LessonDraft
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.sessions.exports import iso
from whet.sessions.trust import Trust
from whet.text.showing import shown

NEXT = (
    "Next: `whet lessons show ID` for the evidence; `whet lessons propose ID` lets it wait for your approval;"
    " `whet improve` proposes what is new and, with a model, tries it."
)
QUOTES = 12
FORMS = {Form.RULE: ChangeKind.RULE, Form.NOTE: ChangeKind.MEMORY, Form.SKILL: ChangeKind.SKILL}


def change_of(lesson: TaughtLesson) -> ChangeKind:
    """What a lesson would change."""
    return FORMS[lesson.draft.form] if lesson.draft else ChangeKind.RULE


def is_of(lesson: TaughtLesson, project: str) -> bool:
    """Whether a lesson is of this very project."""
    return bool(project) and lesson.project == project


class LessonsKnown(NamedTuple):
    """The numbers of lessons in the whole list, by id, and what was decided on them."""

    numbers: Mapping[str, int] = MappingProxyType({})
    decisions: DecisionsOnLessons = DecisionsOnLessons()

    def heading(self, lesson: TaughtLesson | Lesson) -> str:
        number = self.numbers.get(lesson_id(lesson))
        return f"[bold]{number}.[/] " if number else "[bold]·[/] "


def taught_record(lesson: TaughtLesson, known: LessonsKnown, *, evidence: bool) -> dict[str, object]:
    """A lesson for programs; `draft` is the text that would be told, null where nothing is proposed."""
    draft, candidate = lesson.draft, lesson.candidate
    standing = standing_of(lesson, known.decisions)
    record: dict[str, object] = {
        "id": lesson_id(lesson),
        "number": known.numbers.get(lesson_id(lesson)),
        "state": standing.state.value,
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


def recurring_record(lesson: Lesson, known: LessonsKnown) -> dict[str, object]:
    """A recurring failure in the same fields, and its own."""
    return {
        "id": lesson_id(lesson),
        "number": known.numbers.get(lesson_id(lesson)),
        **msgspec.to_builtins(lesson),
        "project": None,
        "source": "recurring_failure",
        "situation": f"{lesson.tool}: {lesson.line}" if lesson.tool else lesson.line,
        "fix": None,
        "draft": None,
        "counts": {"sessions": lesson.sessions, "base": lesson.base},
        "trust": lesson.trust.label,
        "share": round(lesson.share, 4),
        "since": iso(lesson.since),
        "latest": iso(lesson.latest),
    }


def taught_lines(lessons: Sequence[TaughtLesson], known: LessonsKnown, here: str = "") -> Iterator[str]:
    """The lessons by project, that of this folder first, each with the text that would be told."""
    for place, group in groupby(sorted(lessons, key=lambda lesson: not is_of(lesson, here)), key=place_of):
        yield f"[bold]{_safe(place)}[/]{' (this project)' if place == here else ''}"
        for lesson in group:
            yield from _lines(lesson, known)


def decided_line(lessons: Sequence[TaughtLesson], known: LessonsKnown) -> str:
    """How many lessons were decided on, and how; they are left out of the list."""
    counts = Counter(standing_of(each, known.decisions).state.value for each in lessons)
    told = ", ".join(f"{number} {state}" for state, number in counts.items())
    return f"[dim]Not listed, because you decided: {told}. To list them too: --all.[/]"


def evidence_lines(lesson: TaughtLesson, known: LessonsKnown, *, every: bool) -> Iterator[str]:
    """What is known of one lesson, with quotes, and what can be done with it."""
    yield f"[bold]{_safe(place_of(lesson))}[/]"
    for project in lesson.projects:
        yield f"   [dim]{_safe(project)}[/]"
    yield from _lines(lesson, known)
    if lesson.stands_as:
        yield f"   [dim]{_safe(lesson.stands_in)}:[/] {_safe(lesson.stands_as)}"
    pieces = lesson.candidate.pieces
    for piece in pieces if every else pieces[:QUOTES]:
        who = f" {_safe(piece.who)}" if piece.who else ""
        yield f"   [dim]{piece.session[:8]} #{piece.message}{who}[/] {_safe(piece.text)}"
        for label, words in (("worked", piece.fix), ("the error says", piece.remedy)):
            if words and not piece.text.endswith(words):  # an error that says it itself is quoted already
                yield f"      [dim]{label}:[/] {_safe(words)}"
    if len(pieces) > QUOTES and not every:
        yield f"   [dim]{QUOTES} of {len(pieces)} quotes; all of them: --all[/]"
    yield from _next_step(lesson, known)


def _next_step(lesson: TaughtLesson, known: LessonsKnown) -> Iterator[str]:
    standing, id = standing_of(lesson, known.decisions), lesson_id(lesson)
    if standing.state is LessonState.NEW:
        form = lesson.patch.form.value if lesson.patch else "rule"
        yield f"[dim]Next: `whet lessons propose {id}` to make it a {form}: it waits for your approval.[/]"
    elif standing.state in (LessonState.REFUSED, LessonState.UNDONE):
        yield "[dim]Next: `whet rules add` to tell it all the same.[/]"
    elif standing.state is LessonState.ACTIVE and lesson.patch:
        yield f"[dim]Next: `whet {lesson.patch.form.value}s` lists what is in force.[/]"


def recurring_lines(lessons: Sequence[Lesson], known: LessonsKnown) -> Iterator[str]:
    """Failures that recur without a known fix."""
    for lesson in lessons:
        yield f"{known.heading(lesson)}{lesson_sentence(lesson)}"
        seen = f"{moment(lesson.since)} to {moment(lesson.latest)}" if lesson.since else "undated"
        where = ", ".join((*lesson.agents, *lesson.models))
        what = without_fix(lesson)
        yield f"   [dim]{lesson_id(lesson)} · {what} · {plain(where)} · {seen} · words: {WHOSE[lesson.trust]}[/]"
        for example in lesson.examples:
            quote = plain(" ".join(example.quote.split()))
            yield f"   [dim]{example.session[:8]} #{example.message}[/] {quote}"


def _lines(lesson: TaughtLesson, known: LessonsKnown) -> Iterator[str]:
    candidate, draft = lesson.candidate, lesson.draft
    yield f"{known.heading(lesson)}{_safe(_said(draft) if draft else candidate.best.text)}"
    state = _safe(standing_of(lesson, known.decisions).words)
    trust = f" · words: {_whose(draft)}" if draft else ""
    counted = many(candidate.sessions, "session")
    form = f"{draft.form.value}{f' {draft.name}' if draft.name else ''} · " if draft else ""
    source, agents = candidate.source.words, plain(", ".join(lesson.agents))
    yield f"   [dim]{lesson_id(lesson)} · {form}{source} · {counted} · {agents}{trust} · {state}[/]"


def _whose(draft: LessonDraft) -> str:
    """Whose words a draft is made of; what stands in a person's place may be another program's."""
    is_unsure = draft.source is LessonSource.PERSON and draft.trust < Trust.USER
    return "perhaps not typed by a person" if is_unsure else WHOSE[draft.trust]


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
