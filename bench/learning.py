"""What is learned from the earlier half of a project's sessions, beside careful readers and the later half.

.venv/bin/python bench/learning.py [PROJECT]...

First, how many of the lessons that careful readers wrote are touched by the first 30 and 60 candidates: one of their
pieces is of a session that the reader names and holds one of the reader's key words. The lists are `lessons.json`
beside the sessions and `bench/data/lessons_*.json`. Second, the later half: failures that are no red checks, how many
of them a learned item names, whether the form that an item recommends is what then worked, and how often that form
itself failed so. Beside it the catalogue alone (a recurring failure that has a rule of the catalogue names the same
error), the original's way (a rule for each kind whose phrases two messages have; it names what has such a phrase) and,
as what could be named at most, every earlier failure. These recommend no form. With a PROJECT its drafts are printed.
"""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import rival_detector
from whet.failures.analysis import analyse
from whet.failures.fingerprints import fingerprint
from whet.failures.lessons import RecurringFailure, distill
from whet.failures.purposes import shown_call
from whet.failures.view import gather
from whet.formats.source import Skipped
from whet.intake.reading import read_transcripts
from whet.lessons.bearing_out import bearing_out
from whet.lessons.candidates import LessonEvidence, candidates
from whet.lessons.drafts import LessonDraft, drafts_of
from whet.lessons.finding import copies_of, pieces_of_session
from whet.lessons.pieces import LessonPiece, LessonSource, stems
from whet.sessions.transcripts import Role, Transcript
from whet.shipped.data import failure_weights
from whet.shipped.guidance.rules import catalogue
from whet.told.remedies import suited

PROJECTS = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data")) / "projects"
LISTS = Path(__file__).parent / "data"
SAME_SITUATION = 0.5  # of the words of two failures
SAME_ERROR = 0.75
FIRST, MORE = 30, 60
WHET = "Whet"
ENOUGH = 2  # messages with a phrase of a kind: the original's confidence is a count
LOOKED_AT = 20_000  # letters of a message: the original's patterns take a square of them


class Halves(NamedTuple):
    """A project's sessions in time order."""

    earlier: list[Transcript]
    later: list[Transcript]


class Item(NamedTuple):
    """What was learned: a candidate and its draft."""

    candidate: LessonEvidence
    draft: LessonDraft


class Learned(NamedTuple):
    """What one way learned: its items, and of the later failures how many they name and were helped by their form."""

    items: int
    named: int
    helped: int = 0
    used: int = 0  # later calls of a form that an item recommends
    broken: int = 0  # those of them that failed


@cache
def halves(project: str) -> Halves:
    read = (each for path in sorted((PROJECTS / project).glob("*.jsonl.gz")) for each in read_transcripts(path))
    found = sorted((each for each in read if not isinstance(each, Skipped)), key=lambda each: each.started or 0)
    middle = (len(found) + 1) // 2
    return Halves(found[:middle], found[middle:])


@cache
def learned(project: str) -> tuple[LessonEvidence, ...]:
    earlier = halves(project).earlier
    pieces = [piece for each in earlier for piece in pieces_of_session(each)]
    return candidates(pieces, copies_of(earlier), most=MORE)


def lists() -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Each list: who wrote it, of which project, and its lessons."""
    own = json.loads((PROJECTS / "lessons.json").read_text())
    found = [("given", name, [each for each in own if each["project"] == name]) for name in _names(own)]
    for path in sorted(LISTS.glob("lessons_*.json")):
        read = json.loads(path.read_text())
        found += [(path.stem.rpartition("_")[2], name, read) for name in _names(read)]
    return found


def touched(project: str, lessons: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The lessons whose evidence is among the first candidates."""
    named = {each.id: each.native_id for each in halves(project).earlier}
    shown = learned(project)[:most]
    return [lesson for lesson in lessons if any(_touches(candidate, lesson, named) for candidate in shown)]


def _touches(candidate: LessonEvidence, lesson: dict[str, Any], named: dict[str, str]) -> bool:
    text = _plain(" ".join(f"{each.text} {each.fix} {each.remedy}" for each in candidate.pieces))
    seen = {named[each.session] for each in candidate.pieces}
    return bool(seen & set(lesson["sessions"])) and any(_plain(word) in text for word in lesson["keywords"])


def failures(transcripts: list[Transcript]) -> list[LessonPiece]:
    """The failures that are no red checks; what a copy of a session repeats is not counted again."""
    copies = copies_of(transcripts)
    found = (piece for each in transcripts for piece in pieces_of_session(each))
    failed = (piece for piece in found if piece.source is not LessonSource.PERSON and piece.error)
    once = {
        (copies.get(piece.session, piece.session), piece.message, piece.text): piece for piece in reversed([*failed])
    }
    return [*reversed(once.values())]


def names(item: Item, piece: LessonPiece) -> bool:
    """Whether what was learned is of this situation: the same error of the same tool, or words that say the same."""
    return any(each.source is not LessonSource.PERSON and _is_alike(each, piece) for each in item.candidate.pieces)


def _is_alike(one: LessonPiece, other: LessonPiece) -> bool:
    return _is_same_error(one, other) or _alike(stems(one.keys), stems(other.keys)) >= SAME_SITUATION


def _is_same_error(one: LessonPiece, other: LessonPiece) -> bool:
    mine, theirs = (frozenset(fingerprint(each.error).split()) for each in (one, other))
    return one.call.split()[:1] == other.call.split()[:1] and _alike(mine, theirs) >= SAME_ERROR


def helps(item: Item, piece: LessonPiece) -> bool:
    """Whether what worked then has the form that the item recommends, and what failed had not."""
    form = item.draft.fix.rstrip(" …")
    return bool(form) and form != item.draft.text and _begins(form, piece.fix) and not _begins(form, piece.call)


def _begins(form: str, command: str) -> bool:
    """Whether one of the parts of a command begins with a form."""
    return any(part.startswith(form) for part in re.split(r" && | \|\| |; | \| ", command))


def look_later(project: str) -> Iterator[str]:
    """A line for each way of learning: what it learned, and what that says of the later half."""
    earlier, later = halves(project)
    failed = failures(later)
    for way, learn in WAYS.items():
        learned = learn(project, failed)
        broken = f"{learned.broken} of {learned.used}" if learned.used else "–"
        per_100 = f"{100 * learned.items / len(earlier):.0f}"
        helped = learned.helped if way == WHET else "–"
        numbers = (learned.items, per_100, f"{learned.named} of {len(failed)}", helped, broken)
        yield f"| {project} | {way} | {' | '.join(map(str, numbers))} |"


def _by_whet(project: str, failed: list[LessonPiece]) -> Learned:
    items = [Item(bearing_out(each, draft), draft) for each, draft in drafts_of(learned(project)[:FIRST]) if draft]
    named = [(piece, [item for item in items if names(item, piece)]) for piece in failed]
    seen = [(piece, found) for piece, found in named if found]
    helped = sum(any(helps(item, piece) for item in found) for piece, found in seen)
    return Learned(len(items), len(seen), helped, *_recommended(items, halves(project).later))


def _by_catalogue(project: str, failed: list[LessonPiece]) -> Learned:
    found = distill(analyse(one, failure_weights()) for one in halves(project).earlier)
    rules = [(each, suited(catalogue(), each)) for each in found]
    known = [each for each, suit in rules if suit]
    told = {suit[0].name for _, suit in rules if suit}
    return Learned(len(told), sum(_is_known(piece, known) for piece in failed))


def _by_original(project: str, failed: list[LessonPiece]) -> Learned:
    """One rule for each kind, the same in every project; what it names is told by the same phrases."""
    earlier, later = halves(project)
    counts = Counter(kind for each in earlier for text in _texts(each) for kind in _kinds(text))
    rules = {kind for kind, count in counts.items() if count >= ENOUGH}
    texts = {(each.id, step.message): step.text for each in later for step in gather(each).steps if step.failed}
    named = sum(bool(rules & _kinds(texts.get((piece.session, piece.message), piece.text))) for piece in failed)
    return Learned(len(rules), named)


def _by_everything(project: str, failed: list[LessonPiece]) -> Learned:
    """As if every earlier failure had become an item: no way that learns from failures names more by this measure."""
    items = failures(halves(project).earlier)
    return Learned(len(items), sum(any(_is_alike(each, piece) for each in items) for piece in failed))


def _texts(transcript: Transcript) -> Iterator[str]:
    """What the agent and its tools said."""
    yield from (message.text for message in transcript.messages if message.role is Role.AGENT)
    yield from (step.text for step in gather(transcript).steps)


def _kinds(text: str) -> set[str]:
    found = rival_detector.detect([{"role": "assistant", "content": text[:LOOKED_AT]}])
    return {kind for kind, count in found.items() if count}


def _recommended(items: list[Item], later: list[Transcript]) -> tuple[int, int]:
    """How often a later call has the form that an item recommends, and failed without being a red check."""
    told = (item.draft for item in items if item.draft.source is not LessonSource.PERSON)
    forms = {draft.fix.rstrip(" …") for draft in told if draft.fix and draft.fix != draft.text}
    broken = {(piece.session, piece.message) for piece in failures(later)}
    calls = [(each.id, step) for each in later for step in gather(each).steps]
    used = [(id, step.message) for id, step in calls if any(_begins(form, shown_call(step)) for form in forms)]
    return len(used), sum(place in broken for place in used)


def _is_known(piece: LessonPiece, lessons: list[RecurringFailure]) -> bool:
    words = frozenset(fingerprint(piece.error).split())
    return any(_alike(frozenset(lesson.fingerprint.split()), words) >= SAME_ERROR for lesson in lessons)


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _plain(text: str) -> str:
    return re.sub(r"[-_\s]+", " ", text.lower())


def _names(lessons: list[dict[str, Any]]) -> list[str]:
    return sorted({each["project"] for each in lessons})


WAYS = {
    WHET: _by_whet,
    "catalogue alone": _by_catalogue,
    "the original": _by_original,
    "every earlier failure": _by_everything,
}


def main() -> None:
    print(f"| list | project | lessons | in the first {FIRST} | in the first {MORE} |")
    print("|---|---|--:|--:|--:|")
    for reader, project, lessons in lists():
        first, more = (len(touched(project, lessons, most)) for most in (FIRST, MORE))
        print(f"| {reader} | {project} | {len(lessons)} | {first} | {more} |")
    print()
    print("| project | way | items | per 100 sessions | later failures named | form worked | form failed |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for project in sorted(each.name for each in PROJECTS.iterdir() if each.is_dir()):
        print(*look_later(project), sep="\n")
    for project in sys.argv[1:]:
        print(f"\n{project}")
        for number, (candidate, draft) in enumerate(drafts_of(learned(project)[:FIRST]), 1):
            print(f"{number}. [{candidate.source.value}, {candidate.sessions}] {draft.text if draft else '–'}")


if __name__ == "__main__":
    main()
