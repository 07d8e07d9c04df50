"""Drafts: a candidate as one short instruction, from a sentence pattern for each source and the record's own words.

A draft carries the lowest trust of the words in it: a person's sentence stays theirs, an error's words are a tool's.
"""

import re
from collections import Counter

from whet.ledger.patches import Action, Form, Patch, Proof, RuleSituation, Scope, digest
from whet.lessons.candidates import LessonCandidate
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.said import direction
from whet.sessions.trust import Trust
from whet.values import Value

NAME_LETTERS = 10
CALL_LETTERS = 110
ERROR_LETTERS = 140
REMEDY_LETTERS = 200
HOOK_LETTERS = 400
QUOTE_LETTERS = 300
FEWEST_WORDS, MOST_WORDS = 3, 30
RECURS = 2  # sessions
STANDING, ASKED = 2.4, 1.5  # how much a sentence has to direct when it was said once, and when it recurs
SAME_PART = 0.3
COMMIT = "git commit"
_PART = re.compile(r" && | \|\| | ; |; ")
_ASSENT = re.compile(r"(?i)^(?:(?:yes|yeah|yep|ok|okay|sure|hmm+|and|also|\*)[,.]?\s+)+")


class LessonDraft(Value, frozen=True):
    """What a lesson says: the situation, what works in it, and the words that would be told."""

    source: LessonSource
    situation: str
    fix: str
    text: str
    trust: Trust


def draft_of(candidate: LessonCandidate) -> LessonDraft | None:
    """The draft of a candidate, from the first of its pieces that says what to do; none where no piece does."""
    fixes = Counter(piece.fix for piece in candidate.pieces)
    for piece in candidate.pieces:
        if piece.source is LessonSource.PERSON:
            draft = _said(piece, recurs=candidate.sessions >= RECURS)
        elif not piece.error and fixes[piece.fix] < RECURS:
            draft = None  # one search that found nothing before another did is no fact of the place yet
        elif piece.remedy and COMMIT in piece.call:
            draft = _of_hooks(candidate)
        else:
            draft = _learned(piece)
        if draft is not None:
            return draft
    return None


def patch_of_draft(draft: LessonDraft, candidate: LessonCandidate, project: str) -> Patch:
    """The rule that a draft proposes, for its project alone, with the evidence."""
    return Patch(
        form=Form.RULE,
        action=Action.ADD,
        name=f"learned-{digest(f'{project} {draft.text}')[:NAME_LETTERS]}",
        text=draft.text,
        scope=Scope(project=project),
        reason=f"{draft.source.value} in {candidate.sessions} sessions of the project",
        trust=draft.trust,
        proofs=tuple(
            Proof(piece.session, piece.message, piece.source.value, piece.text[:QUOTE_LETTERS])
            for piece in candidate.pieces
        ),
        situation=_situation(draft, candidate),
    )


def _situation(draft: LessonDraft, candidate: LessonCandidate) -> RuleSituation:
    """What the rule is for, so that later sessions can be asked whether it came up."""
    if draft.source is LessonSource.PERSON:
        return RuleSituation(said=draft.text)
    own = (piece for piece in candidate.pieces if piece.source is draft.source and (piece.fix or piece.remedy))
    piece = next(own, candidate.best)
    return RuleSituation(piece.call, piece.error, piece.fix)


def _said(piece: LessonPiece, *, recurs: bool) -> LessonDraft | None:
    """The sentence of the person that directs most, as they typed it; once is enough where it is a standing order."""
    sentence = _ASSENT.sub("", max(piece.text.split(". "), key=direction, default=""))
    fits = FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS and not sentence.endswith(":")
    if not fits or direction(sentence) < (ASKED if recurs else STANDING):
        return None
    return LessonDraft(piece.source, "the person's standing word", sentence, sentence, piece.trust)


def _learned(piece: LessonPiece) -> LessonDraft | None:
    call, fix = differing(piece.call, piece.fix)
    error, remedy = _short(piece.error, ERROR_LETTERS), _short(piece.remedy, REMEDY_LETTERS)
    why = f": {error}" if error else ""
    is_new = bool(fix) and fix != call and len(fix) <= CALL_LETTERS
    if piece.is_habit:
        works = remedy or (fix if fix != call else "")
        said = remedy if remedy else f"after “{error}”, {fix}"
        text = f"{piece.call.partition(' ')[0]}: {said}" if works else ""
    elif piece.source is LessonSource.PLACE and is_new:
        text, works = f"In this project use `{fix}`; `{_short(call, CALL_LETTERS)}` is not there.", fix
    elif is_new:
        text, works = f"In this project run `{fix}`; `{_short(call, CALL_LETTERS)}` fails{why}", fix
    else:
        text, works = f"When `{_short(call, CALL_LETTERS)}` fails in this project: {remedy}" if remedy else "", remedy
    return LessonDraft(piece.source, f"{_short(call, CALL_LETTERS)}{why}", works, text, piece.trust) if text else None


def _of_hooks(candidate: LessonCandidate) -> LessonDraft:
    """What the hooks of commits asked for, each thing once."""
    asked = dict.fromkeys(part for piece in candidate.pieces for part in piece.remedy.split("; "))
    remedy = _short("; ".join(asked), HOOK_LETTERS)
    text = f"Before `{COMMIT}` in this project, mind its hooks: {remedy}"
    return LessonDraft(candidate.source, f"{COMMIT}: its hooks refuse it", remedy, text, candidate.best.trust)


def differing(call: str, fix: str) -> tuple[str, str]:
    """Of two commands of several parts, the two parts that are most alike and yet differ; whole where none do."""
    whole = " ".join(call.replace("`", "'").split()), " ".join(fix.replace("`", "'").split())
    if not fix or any(mark in text for text in whole for mark in "\"'"):
        return whole
    mine, theirs = (frozenset(_PART.split(text)) for text in whole)
    pairs = [(_alike(one, other), one, other) for one in mine - theirs for other in theirs - mine]
    best = max(pairs, default=(0.0, "", ""))
    return (best[1], best[2]) if best[0] >= SAME_PART else whole


def _alike(one: str, other: str) -> float:
    mine, theirs = frozenset(one.split()), frozenset(other.split())
    return len(mine & theirs) / max(1, len(mine | theirs))


def _short(text: str, letters: int) -> str:
    line = " ".join(text.replace("`", "'").split())
    return line if len(line) <= letters else f"{line[: letters - 1].rstrip()}…"
