"""What the sessions of a project teach without a model, as rules with their evidence."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from whet.ledger.patches import RuleSituation
from whet.lessons.call_templates import VARIES
from whet.lessons.change_features import RecurringChange, Remedy, SeenChange
from whet.lessons.change_sentences import error_of, example_of, sentence_of
from whet.lessons.changed_calls import SessionChanges
from whet.lessons.pieces import LessonEvidence, LessonPiece, LessonSource
from whet.lessons.recurring_changes import again, recurring_changes
from whet.lessons.repeated_requests import RepeatedRequest, repeated_requests
from whet.lessons.said import standing_sentences
from whet.lessons.simple_calls import SimpleCall, shown
from whet.text.likeness import is_same, sense
from whet.text.words import cut

ERROR_LETTERS = 500
MOST_PIECES = 60
QUOTES = 3
QUOTE_LETTERS = 120
FEWEST = 2  # sessions that a rule is written from
PERSONS_WORD = "the person's standing word"
_JOINING = re.compile(r"(?i)^(?:and|but|so|also|und|aber|et|mais|y|pero|и|но)\s+(?=\S)")
REPEATED = "a request that people repeat"


class TaughtRule(NamedTuple):
    """A rule that sessions teach: its words, when it applies, what works then, and the evidence.

    `written_from` are the pieces that it takes to say it; what is later can judge it.
    """

    text: str
    situation: str
    fix: str
    evidence: LessonEvidence
    about: RuleSituation
    written_from: tuple[LessonPiece, ...] = ()
    example: str = ""


def rules_taught(changes: Mapping[str, SessionChanges], said: Sequence[LessonPiece]) -> Iterator[TaughtRule]:
    """What people said that holds for good, what changed wherever calls went wrong, and what was asked for again."""
    told = list(_standing(said))
    yield from told
    yield from map(_of_change, recurring_changes(changes))
    meant = [sense(each.text) for each in told]
    for request in repeated_requests(said):
        if not any(is_same(sense(piece.text), each) for piece in request.pieces for each in meant):
            yield _of_request(request)


def _standing(said: Iterable[LessonPiece]) -> Iterator[TaughtRule]:
    """Each sentence that orders something for good once, with every piece that says so."""
    groups: list[tuple[str, list[LessonPiece]]] = []
    for piece in said:
        for sentence in standing_sentences(piece.text):
            known = next((group for text, group in groups if is_same(sense(text), sense(sentence))), None)
            if known is None:
                groups.append((sentence, [piece]))
            else:
                known.append(piece)
    for text, pieces in groups:
        plain = _JOINING.sub("", text)
        whole = plain[0].upper() + plain[1:]
        evidence = _evidence(LessonSource.PERSON, pieces)
        yield TaughtRule(whole, PERSONS_WORD, whole, evidence, RuleSituation(said=text), tuple(pieces[:1]))


def _of_request(request: RepeatedRequest) -> TaughtRule:
    quotes = list(dict.fromkeys(cut(piece.text, QUOTE_LETTERS) for piece in request.pieces))[:QUOTES]
    done = f" (`{request.done}`)" if request.is_done else ""
    text = f"Asked for again and again: {'; '.join(f'“{quote}”' for quote in quotes)}{done}."
    evidence = _evidence(LessonSource.REQUEST, request.pieces)
    return TaughtRule(
        text,
        REPEATED,
        request.done if request.is_done else "",
        evidence,
        RuleSituation(said=quotes[0]),
        request.pieces[:FEWEST],
    )


def _of_change(change: RecurringChange) -> TaughtRule:
    text = sentence_of(change)
    pieces = [_piece(each) for each in change.seen]
    evidence = _evidence(LessonSource.RECOVERY, pieces)
    # A step before it is no other form: it helped where the same error does not come again.
    fix = "" if change.remedy is Remedy.STEP else _fixed(change.works, change.seen[-1].way.call)
    about = RuleSituation(_fixed(change.fails[0], change.seen[-1].changed.call), error_of(change), fix)
    count = next((n for n in range(FEWEST, len(pieces)) if sentence_of(again(change, n)) == text), len(pieces))
    situation = f"{shown(change.fails[0])}: {error_of(change) or 'refused'}"
    return TaughtRule(text, situation, shown(change.works), evidence, about, tuple(pieces[:count]), example_of(change))


def _fixed(template: SimpleCall, latest: SimpleCall) -> str:
    """What is the same in all sessions, by which a later call is known; where that is nothing, the latest call."""
    words = tuple(word for word in template.words if VARIES not in word)
    return shown(SimpleCall(words, template.folder, template.settings)) if words else shown(latest)


def _piece(seen: SeenChange) -> LessonPiece:
    changed, way = seen.changed, seen.way
    error = changed.errors[0] if changed.errors else ""
    call = shown(changed.call)
    return LessonPiece(
        LessonSource.RECOVERY,
        seen.session,
        changed.message,
        f"{call} → {error or changed.said}",
        call=call,
        error=error[:ERROR_LETTERS],
        fix=shown(way.call),
        trust=changed.trust,
        at=changed.at,
    )


def _evidence(source: LessonSource, pieces: Sequence[LessonPiece]) -> LessonEvidence:
    """The pieces in the order of time, and in how many sessions they are; that is what they are worth."""
    sessions = len({piece.session for piece in pieces})
    return LessonEvidence(source, tuple(pieces[:MOST_PIECES]), sessions, float(sessions))
