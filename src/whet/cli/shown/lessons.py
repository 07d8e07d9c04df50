"""Lessons, rules and entries of the ledger, for people and for programs, the same in every command."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from whet.cli.output import cautions, labelled, moment, plain
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
    from whet.reading.learn import LearnedProject, LearnReport
from collections.abc import Callable, Iterable
from typing import Any

from whet.cli.output import reviewed
from whet.cli.shown.trials import result_lines
from whet.errors import WhetError
from whet.ledger.entries import Entry, Item
from whet.ledger.folding import Move
from whet.ledger.patches import Patch, RuleSituation, Scope
from whet.lessons.following import Following, situation_of
from whet.lessons.waiting_words import unquoted, who_made
from whet.own.told import skills
from whet.store.rows import decoded_or_none
from whet.telling.targets.sync import FileStay
from whet.trials.design import TrialProgress
from whet.trials.ladder import is_unheeded

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
    yield from _next_step(lesson)


def _next_step(lesson: Lesson) -> Iterator[str]:
    stage, form = lesson.standing.stage, lesson.patch.form.value
    if stage is LessonStage.CHECKED:
        half = f"`whet live start {lesson.id}` to tell half of your sessions and see whether it helps; "
        half = half if lesson.patch.form is Form.RULE else ""
        yield f"[dim]Next: {half}`whet lessons approve {lesson.id}` to make it a {form} for all.[/]"
    elif stage in (LessonStage.REFUSED, LessonStage.RETIRED):
        yield f"[dim]Next: `whet ledger undo {lesson.id}` to take that back.[/]"
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
    for label, words in waiting_words(lesson, moment=moment):
        yield from labelled(f"   {label}: ", words)
    for proof in patch.proofs[:quotes]:
        place = "" if proof.message is None else f" #{proof.message}"
        yield from labelled(f"   {proof.session[:8]}{place} ", f"{proof.kind} “{proof.quote}”")
    if len(patch.proofs) > quotes:
        yield f"   [dim]… and {len(patch.proofs) - quotes} more: whet lessons show {entry.number}[/]"
    yield ""


def _for(scope: str) -> str:
    return f", for {scope}" if scope else ""


COLOURS = {"+": "green", "-": "red", "@": "cyan"}
WORDS_SHOWN = 100
EXAMPLE = "example, for tiny models: "


def entry_record(entry: Entry) -> dict[str, Any]:
    patch = entry.patch
    return {
        "id": entry.number,
        "step": entry.step.value,
        "actor": entry.actor.value,
        "maker": entry.maker or None,
        "at": iso(entry.at),
        "form": patch.form.value,
        "action": patch.action.value,
        "name": patch.name,
        "text": patch.text,
        "example": patch.example or None,
        "scope": scope_record(patch.scope),
        "trust": patch.trust.label,
        "reason": patch.reason,
        "origin": msgspec.to_builtins(patch.origin),
        "proofs": [
            {"session": proof.session, "message": proof.message, "kind": proof.kind, "quote": proof.quote}
            for proof in patch.proofs
        ],
        "patch": patch.id,
        "before": entry.before or None,
        "after": entry.after or None,
        "about": entry.about or None,
        "batch": entry.batch or None,
        "verdict": entry.verdict or None,
        "note": entry.note or None,
    }


def scope_record(scope: Scope) -> dict[str, Any]:
    return {
        "models": scope.models,
        "tools": scope.tools,
        "purposes": scope.purposes,
        "project": scope.project or None,
        "at_start": scope.at_start,
        "at_call": scope.at_call,
    }


def scope_words(scope: Scope, named: Callable[[str], str]) -> str:
    """Where a rule holds, in words, with its project as people read it; empty for everywhere."""
    return ", ".join(replace(scope, project=named(scope.project)).words)


def patch_cells(patch: Patch) -> tuple[str, str]:
    """What a patch does to what, and the beginning of its words; of a skill, what it is for."""
    text = _description(patch.text) if patch.form is Form.SKILL else patch.text
    words = " ".join(shown(text[: 2 * WORDS_SHOWN]).split())[:WORDS_SHOWN]
    return f"{patch.action} {patch.form} {shown(patch.name)}", words


def entry_lines(entry: Entry, move: Move, named: Callable[[str], str]) -> Iterable[str]:
    """All that is known of an entry: what it changes, as a diff, and where it came from."""
    patch = entry.patch
    yield f"[bold]{entry.number}[/bold]  {entry.step} by {plain(shown(who_made(entry)))}, {moment(entry.at)}"
    where = f"{patch.name}, trust {patch.trust.label}{_scope(scope_words(patch.scope, named))}"
    yield from labelled(f"{patch.action} {patch.form} ", where)
    for label, words in ((EXAMPLE, patch.example), ("why: ", patch.reason), ("note: ", entry.note)):
        if words:
            yield from labelled(label, words)
    yield from _verdict_lines(entry)
    for proof in patch.proofs:
        place = "" if proof.message is None else f", message {proof.message}"
        quote = f" “{proof.quote}”" if proof.quote else ""
        yield from labelled("seen in ", f"session {proof.session}{place}: {proof.kind}{quote}")
    if unsaid := unquoted(patch):
        yield from labelled("in no quote: ", f"{', '.join(unsaid)} (the words of whoever wrote it)")
    yield ""
    if move.after and move.before == move.after:  # only where or when it is told changes
        yield from labelled("the same words: ", move.after or "")
    yield from diff_lines(difference(move.before, move.after))
    yield from cautions(move.after or "")


def _verdict_lines(entry: Entry) -> Iterable[str]:
    """What the trial behind an entry says, as sentences; words that are no trial's record as they are."""
    if not entry.verdict:
        return
    progress = decoded_or_none(entry.verdict.encode(), TrialProgress)
    if progress is None:
        yield from labelled("verdict: ", entry.verdict)
    else:
        yield from result_lines(replace(progress, entry=entry.number))


def diff_lines(diff: str) -> Iterable[str]:
    """A unified diff without its head as coloured lines, with nothing in it that is not shown."""
    lines = diff.split("\n")[2:]
    if sum(line.startswith("@@") for line in lines) == 1:
        lines = lines[1:]  # where there is one place only, its number tells nothing
    for line in lines:
        yield from reviewed(line, style=COLOURS.get(line[:1], ""))


def _description(text: str) -> str:
    try:
        return skills.read(text).description
    except WhetError:
        return text


def _scope(words: str) -> str:
    return f", for {words}" if words else ""


def following_record(rule: Item, fared: Following, stays: Sequence[FileStay]) -> dict[str, Any]:
    situation = situation_of(rule)
    return {
        "files": [{"file": each.file, "since": iso(each.since), "until": iso(each.until)} for each in stays],
        "situation": msgspec.structs.asdict(situation) if situation != RuleSituation() else None,
        "following": {**msgspec.structs.asdict(fared), "told_unknown": fared.unknown},
    }


def rule_lines(rule: Item, where: str, grounds: str, fared: Following, stays: Sequence[FileStay]) -> Iterator[str]:
    since = f"trust {rule.trust.label}, since {moment(rule.since)}, {grounds}"
    yield from labelled(f"[{rule.number}] ", f"{rule.name}{f', for {where}' if where else ''}")
    yield from reviewed(rule.text)
    if rule.example:
        yield from labelled(f"   {EXAMPLE}", rule.example)
    yield f"   [dim]{plain(since)}[/]"
    situation = situation_of(rule)
    for label, words in (("goes wrong: ", situation.call), ("with: ", situation.error), ("works: ", situation.fix)):
        if words:
            yield from labelled(f"   {label}", words)
    for stay in stays:
        until = f" until {moment(stay.until)}" if stay.until is not None else ""
        yield f"   [dim]in {plain(stay.file)} since {moment(stay.since)}{until}[/]"
    yield f"   {following_sentence(fared) if situation != RuleSituation() else 'no situation on record'}"
    if is_unheeded(rule, fared):
        yield "   [yellow]Told and mostly not followed. To have the next step proposed, run `whet try`.[/]"
    yield ""


def following_sentence(fared: Following) -> str:
    """How a rule fared, in a line."""
    if not fared.came_up:
        return f"situation in none of {many(fared.looked, 'session')} since"
    unknown = f" (unknown in {fared.unknown})" if fared.unknown else ""
    return (
        f"situation in {fared.came_up} of {many(fared.looked, 'session')} since, told in {fared.told}{unknown},"
        f" followed in {fared.followed}{f' ({fared.told_followed} of those told)' if fared.told else ''}"
        f"{_reminded(fared)}"
    )


def _reminded(fared: Following) -> str:
    return f", reminded in {fared.reminded} ({fared.reminded_followed} followed it then)" if fared.reminded else ""
