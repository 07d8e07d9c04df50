"""Drafts: a candidate as one short instruction, from a sentence pattern for each source and the record's own words.

A draft carries the lowest trust of the words in it: a person's sentence stays theirs, an error's words are a tool's.
"""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import re2
from msgspec.structs import replace

from whet.failures.purposes import fixing_form, is_in_other_folder
from whet.ledger.origins import THE_PROJECT, PatchOrigin, PatchWriter, SessionCounts
from whet.ledger.patches import Action, Form, Patch, Proof, RuleSituation, Scope, digest
from whet.lessons.candidates import LessonEvidence
from whet.lessons.contrasts import contrast, is_passing, missing_program, right_repository
from whet.lessons.known_causes import explains_itself, fact_of_place
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.presence import missing_skill
from whet.lessons.sayings import in_parts, says_same, says_this
from whet.lessons.standing_orders import (
    OccasionalOrder,
    is_lasting,
    is_order,
    is_standing,
    is_step,
    occasional_order,
    order_in_question,
    plain_order,
    says_when,
    told_order,
)
from whet.outcomes.unrunnable import could_not_run
from whet.sessions.call_effects import TESTERS, checks_in
from whet.sessions.trust import Trust
from whet.text.likeness import Sense, is_same, sense
from whet.text.words import cut
from whet.values import Value

NAME_LETTERS = 10
CALL_LETTERS = 90
ERROR_LETTERS = 140
REMEDY_LETTERS = 200
HOOK_LETTERS = 300
QUOTE_LETTERS = 300
FEWEST_WORDS = 3
ONCE, TWICE, THRICE = 1, 2, 3  # in how many sessions a thing has to be seen before it is drafted
COMMIT = "git commit"
WHOLE_FOLDER = (
    "Begin a command that depends on its folder with `cd` and the folder's whole path: the shell may be in another one."
)
PERSONS_WORD = "the person's standing word"
_EXPLICIT = re2.compile(r"(?i)^(?:use|try|run|fix) ?: ?(\S.*)$")
_ANNOUNCED = re2.compile(r"(?i)^(?:please )?(?:run|use|execute|stage)\b[^:]{0,80}: \S")
_USAGE = re2.compile(r"(?i)^usage ?:")
# What a text or a message has to be like: MD040/fenced-code…; [subject-empty]. A fault in code is a red check.
_LINT_RULE = re2.compile(r"\bMD\d{3}\b|\[[a-z]+(?:-[a-z]+)+\]$")
_OF_MARKDOWN = re2.compile(r"\bMD\d{3}\b")
_BEFORE = re2.compile(r"^(?:Before `[^`]*`|With each ([a-z ]+)): ")
_TAG = re2.compile(r"^<[\w-]+>$")


class LessonDraft(Value, frozen=True):
    """What a lesson says: the situation, what works in it, and the words that would be told, in this form.

    Of a skill the text is its instructions, and it has a name.
    """

    source: LessonSource
    situation: str
    fix: str
    text: str
    trust: Trust
    form: Form = Form.RULE
    name: str = ""


class LessonSketch(NamedTuple):
    """A draft of one piece, and in how many sessions the same has to be seen before it is one."""

    draft: LessonDraft
    needs: int


def draft_of(candidate: LessonEvidence) -> LessonDraft | None:
    """The draft that most of a candidate's sessions bear out; none where no piece says what to do the next time."""
    seen: dict[str, set[str]] = {}
    made: dict[str, LessonSketch] = {}
    for piece in candidate.pieces:
        for sketch in sketches(piece, candidate):
            made.setdefault(sketch.draft.text, sketch)
            seen.setdefault(sketch.draft.text, set()).add(piece.session)
    borne_out = [text for text, sketch in made.items() if min(len(seen[text]), candidate.sessions) >= sketch.needs]
    best = max(borne_out, key=lambda text: len(seen[text]), default=None)
    return made[best].draft if best is not None else None


def drafts_of(candidates: Iterable[LessonEvidence]) -> Iterator[tuple[LessonEvidence, LessonDraft | None]]:
    """Each candidate with its draft; what an earlier one says already is not said again."""
    said: list[Sense] = []
    for candidate in candidates:
        draft = _believed(draft_of(candidate), candidate)
        meant = sense(draft.text) if draft else None
        if meant is not None and any(is_same(meant, other) for other in said):
            draft = None
        elif meant is not None:
            said.append(meant)
        yield candidate, draft


def _believed(draft: LessonDraft | None, candidate: LessonEvidence) -> LessonDraft | None:
    """A person's draft as one of the least vouched words of those that it may be made of; pasted ones are in none."""
    if draft is None or draft.source is not LessonSource.PERSON:
        return draft
    drafted = (piece.trust for piece in candidate.pieces if piece.source is draft.source)
    return replace(draft, trust=min((draft.trust, *(trust for trust in drafted if trust >= Trust.TOOL))))


def written_from(candidate: LessonEvidence, draft: LessonDraft | None) -> LessonEvidence:
    """The part of a candidate that its words are written from: the oldest quarter of its sessions, or as many of the
    oldest as it takes to say the same. The later ones can judge it. Without a draft, the older half, for a model.
    """
    at: dict[str, float] = {}
    for piece in candidate.pieces:
        at[piece.session] = min(at.get(piece.session, math.inf), piece.at or 0.0)
    sessions = sorted(at, key=lambda session: (at[session], session))
    for count in range(math.ceil(len(sessions) / (4 if draft else 2)), len(sessions)):
        older = frozenset(sessions[:count])
        pieces = tuple(piece for piece in candidate.pieces if piece.session in older)
        part = replace(candidate, pieces=pieces, sessions=min(count, candidate.sessions))
        found = draft_of(part) if draft else None
        if draft is None or (found is not None and found.text == draft.text):
            return part
    return candidate


def learned_name(project: str, text: str) -> str:
    """The name of what one project teaches: the same for the same words in the same project."""
    return f"learned-{digest(f'{project} {text}')[:NAME_LETTERS]}"


def patch_of_draft(draft: LessonDraft, candidate: LessonEvidence, project: str) -> Patch:
    """The rule that a draft proposes, for its project alone, with the evidence that it was written from."""
    part = written_from(candidate, draft)
    return Patch(
        form=Form.RULE,
        action=Action.ADD,
        name=learned_name(project, draft.text),
        text=draft.text,
        scope=Scope(project=project),
        origin=PatchOrigin(
            PatchWriter.PATTERN,
            basis=draft.source,
            counts=SessionCounts(candidate.sessions, written_from=part.sessions),
            place=THE_PROJECT,
        ),
        trust=draft.trust,
        proofs=tuple(
            Proof(piece.session, piece.message, piece.source.value, cut(piece.text, QUOTE_LETTERS))
            for piece in part.pieces
        ),
        situation=_situation(draft, candidate),
    )


def _situation(draft: LessonDraft, candidate: LessonEvidence) -> RuleSituation:
    """What the rule is for, so that later sessions can be asked whether it came up."""
    if draft.source is LessonSource.PERSON:
        return RuleSituation(said=draft.text)
    own = (piece for piece in candidate.pieces if piece.source is draft.source and (piece.fix or piece.remedy))
    piece = next(own, candidate.best)
    return RuleSituation(piece.call, piece.error, piece.fix)


def sketches(piece: LessonPiece, candidate: LessonEvidence) -> Iterator[LessonSketch]:
    """What could be written from one piece."""
    error = piece.error or piece.text.rpartition(" → ")[2]
    if piece.source is LessonSource.PERSON:
        yield from _said(piece, candidate)
    elif is_in_other_folder(piece.call, piece.fix):
        yield LessonSketch(LessonDraft(piece.source, situation_of(piece), piece.fix, WHOLE_FOLDER, Trust.AGENT), TWICE)
    elif explains_itself(error):
        return
    elif cause := fact_of_place(error):
        yield LessonSketch(LessonDraft(piece.source, situation_of(piece), cause, cause, Trust.AGENT), TWICE)
    elif (forms := fixing_form(piece.call, piece.fix)) and not could_not_run(error):
        check, fix = forms
        text = f"Run `{fix}` before `{check}`: it puts right itself what the check only reports."
        yield LessonSketch(LessonDraft(piece.source, f"{check} is red", fix, text, piece.trust), THRICE)
    elif not piece.error:
        yield from _found_elsewhere(piece)
    elif piece.remedy and COMMIT in piece.call:
        yield from _of_hooks(piece, candidate)
    elif repository := right_repository(piece.fix, piece.error):
        text = f"The repository of this project is `{repository}`; with another owner `gh` does not find it."
        yield LessonSketch(LessonDraft(piece.source, situation_of(piece), repository, text, piece.trust), ONCE)
    elif found := contrast(piece.call, piece.fix, piece.error):
        text = f"In this project run `{found.works}`; `{found.fails}` fails: {_error(piece)}"
        draft = LessonDraft(piece.source, situation_of(piece), found.works, text, piece.trust)
        yield LessonSketch(draft, TWICE if found.lasts else THRICE)
    else:
        yield from _without_fix(piece)


def _said(piece: LessonPiece, candidate: LessonEvidence) -> Iterator[LessonSketch]:
    """The sentences that stand, as the person typed them; a plain order where it recurs or refused a call."""
    if piece.trust < Trust.TOOL:
        return  # what was pasted is not what the person wants
    for sentence in piece.text.split(". "):
        said = plain_order(sentence)
        text, fault = told_order(said), order_in_question(said)
        if is_lasting(sentence) or (is_standing(sentence) and not piece.is_first):
            yield LessonSketch(_persons(text), ONCE)
        elif fault:
            yield LessonSketch(_persons(fault), ONCE)
        elif is_step(sentence) and piece.call:
            yield LessonSketch(_persons(f"Before `{_short(piece.call, CALL_LETTERS)}`: {said}"), ONCE)
        elif piece.is_first:
            continue  # a task that is given again is no wish of how it is done
        elif (asked := occasional_order(sentence)) and _occasions(asked, candidate) >= THRICE:
            yield LessonSketch(_persons(f"With each {asked.act}: {asked.order}"), ONCE)
        elif is_order(sentence) and says_when(said) and _recurrences(piece, said, candidate) >= THRICE:
            yield LessonSketch(_persons(text), ONCE)


def is_ordered_in(text: str, sentence: str) -> bool:
    """Whether a sentence says what a person's draft orders, and with the same act where the draft names one."""
    head = _BEFORE.search(text)
    act, order = (head.group(1) or "", text[head.end() :]) if head else ("", text)
    if not act:
        return says_this(sentence, order)
    asked = occasional_order(sentence)
    return asked is not None and asked.act == act and says_this(asked.order, order)


def _persons(text: str) -> LessonDraft:
    return LessonDraft(LessonSource.PERSON, PERSONS_WORD, text, text, Trust.USER)


def _recurrences(piece: LessonPiece, said: str, candidate: LessonEvidence) -> int:
    """In how many sessions the person ordered much the same."""
    if len(in_parts(said)) < FEWEST_WORDS:
        return 0
    alike = {piece.session}
    for other in candidate.pieces:
        # A task that is given again is no wish of how it is done.
        if not other.is_first and any(says_same(sentence, said) for sentence in other.text.split(". ")):
            alike.add(other.session)
    return len(alike)


def _occasions(asked: OccasionalOrder, candidate: LessonEvidence) -> int:
    """In how many sessions the person asked for much the same with the same act."""
    alike: set[str] = set()
    for other in candidate.pieces:
        orders = map(occasional_order, () if other.is_first else other.text.split(". "))
        if any(each and each.act == asked.act and says_same(each.order, asked.order) for each in orders):
            alike.add(other.session)
    return len(alike)


def _found_elsewhere(piece: LessonPiece) -> Iterator[LessonSketch]:
    """A search that found nothing, and where what it looked for was found, once that is seen twice."""
    if piece.fix and len(piece.fix) <= CALL_LETTERS:
        text = f"In this project use `{_plain(piece.fix)}`; `{_short(piece.call, CALL_LETTERS)}` finds nothing."
        yield LessonSketch(LessonDraft(piece.source, situation_of(piece), piece.fix, text, piece.trust), TWICE)


def _without_fix(piece: LessonPiece) -> Iterator[LessonSketch]:
    """What the error itself says: what to use, or what is not there."""
    call = _short(piece.call, CALL_LETTERS)
    remedy = _short(piece.remedy, REMEDY_LETTERS)
    skill, program = missing_skill(piece.error), missing_program(piece.call, piece.error)
    text, fix, needs = "", remedy, TWICE
    if piece.is_refuted:
        return
    if skill:
        fix, text = "", f"Do without the skill `{skill}`: sessions in this project have none of that name."
    elif program:
        fix, text = "", f"The shell of this project finds no `{program}`: work without it, or say that it is needed."
    elif found := _EXPLICIT.search(remedy):
        fix, needs = found.group(1), ONCE
        # Weak models run the command that a rule names as the wrong one: where the purpose can be said, that is enough.
        is_test = bool(checks_in(piece.call) & TESTERS)
        text = (
            f"In this project run tests with `{fix}`."
            if is_test
            else f"In this project use `{fix}`; `{call}` fails: {_error(piece)}"
        )
    elif remedy and not _USAGE.search(remedy) and not is_passing(piece.error):
        said = f"says “{_error(piece)}”" if _error(piece) and remedy not in piece.error else "fails"
        text = f"When `{call}` {said}: {remedy}"
    if text:
        yield LessonSketch(LessonDraft(piece.source, situation_of(piece), fix, text, piece.trust), needs)


def _of_hooks(piece: LessonPiece, candidate: LessonEvidence) -> Iterator[LessonSketch]:
    """What the hooks of commits asked for: the command that they name, or the rules of their linters, each once."""
    if _ANNOUNCED.search(piece.remedy):
        remedy, needs = _short(piece.remedy, REMEDY_LETTERS), TWICE
        text = f"When a commit in this project is refused with “{_error(piece).rstrip(':')}”: {remedy}"
    else:
        hooked = [other.remedy for other in candidate.pieces if COMMIT in other.call]
        asked = dict.fromkeys(
            part.rpartition("error ")[2] for each in hooked for part in each.split("; ") if _LINT_RULE.search(part)
        )
        remedy, needs = "; ".join(whole_parts(asked, HOOK_LETTERS)), ONCE
        what = "Markdown" if _OF_MARKDOWN.search(remedy) else "the message of a commit"
        text = f"Write {what} so that the hooks of `{COMMIT}` pass; they refuse: {remedy}" if remedy else ""
    if text:
        yield LessonSketch(
            LessonDraft(piece.source, f"{COMMIT}: its hooks refuse it", remedy, text, piece.trust), needs
        )


def whole_parts(parts: Iterable[str], letters: int) -> Iterator[str]:
    """As many of the parts as there is room for, none of them cut."""
    for part in map(_plain, parts):
        letters -= len(part)
        if letters < 0:
            return
        yield part


def situation_of(piece: LessonPiece) -> str:
    """When a lesson applies: the call and its error, or the person's word."""
    if piece.source is LessonSource.PERSON:
        return PERSONS_WORD
    return f"{_short(piece.call, CALL_LETTERS)}{f': {_error(piece)}' if piece.error else ''}"


def _error(piece: LessonPiece) -> str:
    """The error in a few words; a bare tag says nothing."""
    return "" if _TAG.search(piece.error) else _short(piece.error, ERROR_LETTERS)


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


def _short(text: str, letters: int) -> str:
    line = _plain(text)
    return line if len(line) <= letters else f"{line[: letters - 1].rstrip()}…"
