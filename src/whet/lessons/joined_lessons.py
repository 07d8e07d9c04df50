"""One lesson for one thing: what a reader claims and what code found without one, joined in the reader's words."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from whet.ledger.patches import RuleSituation
from whet.lessons.call_templates import VARIES
from whet.lessons.claim_remedies import is_same_rule
from whet.lessons.pieces import LessonEvidence, LessonSource
from whet.lessons.record import Lesson
from whet.lessons.simple_calls import parts_of
from whet.lessons.stances import stance_of

NEAR = 1  # messages between a call and its answer: a quote may be of either


def joined(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The lessons, where one that a reader claims has taken in those of its project that say the same without one."""
    read: dict[str, list[Lesson]] = {}
    for each in lessons:
        if is_read(each):
            read.setdefault(each.project, []).append(each)
    kept: list[Lesson] = []
    for each in lessons:
        among = read.get(each.project, []) if not is_read(each) else []
        place = next((place for place, one in enumerate(among) if is_same_lesson(one, each)), None)
        if place is not None:
            among[place] = _with(among[place], each)
        elif not is_read(each):
            kept.append(each)
    return [*(each for group in read.values() for each in group), *kept]


def is_read(lesson: Lesson) -> bool:
    """Whether a reader claimed it."""
    return lesson.checks.measures is not None


def is_same_lesson(read: Lesson, found: Lesson) -> bool:
    """Whether a reader's lesson names the remedy that was found, for the same situation or from the same messages."""
    shared = _shared(read, found)
    if found.evidence.source is LessonSource.REQUEST and 2 * shared > len(found.evidence.pieces):
        return True
    if is_same_rule(read.rule, found.rule, is_shared=bool(shared)):
        return True
    fails, works = _parts(found.patch.situation.call), _parts(found.fix)
    named, stance = _parts(read.rule.replace("`", " ")), stance_of(read.rule)
    remedy = works - fails
    is_against = not remedy.isdisjoint(_parts(" ".join(stance.unwanted - stance.wanted)))
    is_situation = bool(shared) or not (fails - works).isdisjoint(named)
    return bool(fails and remedy) and remedy <= named and is_situation and not is_against


def _parts(text: str) -> frozenset[str]:
    """What the words of a call or a rule are made of; what varies says nothing."""
    words = (word.strip(".,;:!?()\"'“”") for word in text.split())
    return frozenset(part.lower() for part in parts_of(words) if VARIES not in part)


def _shared(read: Lesson, found: Lesson) -> int:
    """How many pieces of what was found are of messages that the reader quotes."""
    places = {(piece.session, piece.message) for piece in read.evidence.pieces}
    near = {(session, message + step) for session, message in places for step in range(-NEAR, NEAR + 1)}
    return sum((piece.session, piece.message) in near for piece in found.evidence.pieces)


def _with(read: Lesson, found: Lesson) -> Lesson:
    """A reader's lesson with the evidence of another one that says the same, and by what it is found again."""
    evidence = _united(read.evidence, found.evidence)
    patch = read.patch
    origin = replace(patch.origin, counts=replace(patch.origin.counts, sessions=evidence.sessions))
    situation = found.patch.situation if patch.situation == RuleSituation() else patch.situation
    agents = _once((*read.seen_by.agents, *found.seen_by.agents))
    return replace(
        read,
        fix=read.fix or found.fix,
        patch=replace(patch, origin=origin, situation=situation),
        evidence=evidence,
        seen_by=read.seen_by._replace(agents=tuple(sorted(agents))),
        repeats=(*read.repeats, found.patch),
    )


def _united(one: LessonEvidence, other: LessonEvidence) -> LessonEvidence:
    known = {(piece.session, piece.message) for piece in one.pieces}
    more = (piece for piece in other.pieces if (piece.session, piece.message) not in known)
    both = replace(one, pieces=(*one.pieces, *more))
    sessions = max(len(both.session_ids), one.sessions, other.sessions)
    return replace(both, sessions=sessions, worth=max(one.worth, other.worth, float(sessions)))


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
