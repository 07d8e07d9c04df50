"""What condensed sessions cost a reader, and how much of what lessons rest on they keep.

.venv/bin/python bench/condensed.py [FOLDER] [PROJECT]...

FOLDER holds projects of recorded sessions and `lessons.json`; more lists are `bench/data/lessons_*.json`. For each
project: tokens of a session, plainly and condensed; the index's own; of the pairs of a lesson's key word and a session
that it names, in which the word stands, how many stand in the condensed session; and of the lessons, how many have a
key word kept, and how many all that any of their sessions has. Then, where the lost words stand. With a PROJECT every
lost word is listed. The ratio of processor times is that of finding what sessions teach, with and without their
condensed form; what both need is counted with the latter.
"""

import json
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from seen_histories import SeenHistories
from whet.agents.formats.source import Skipped
from whet.intake.reading import read_transcripts
from whet.lessons.condensed import CondensedSession
from whet.lessons.condensing import condense, shown
from whet.lessons.finding import teaching_of
from whet.lessons.project_index import index_text, project_index
from whet.sessions.copies import copied_places, is_copy, own_part
from whet.sessions.transcripts import Message, Origin, Role, Transcript
from whet.text.words import estimate
from whet.trouble.outcomes.view import SessionView, gather

DATA = Path("../shared/data/projects")
LISTS = Path(__file__).parent / "data"
ROUNDS = 3


class Read(NamedTuple):
    """One session, whole and condensed."""

    view: SessionView
    condensed: CondensedSession


class Kept(NamedTuple):
    """How much of what lessons rest on is kept."""

    pairs: int
    pairs_kept: int
    lessons: int
    touched: int
    whole: int
    lost: Counter[str]
    words: list[str]


def sessions(folder: Path) -> dict[str, Read]:
    """The sessions of a project by the id that their agent gave, each with its own part alone."""
    read = [each for path in sorted(folder.glob("*.jsonl.gz")) for each in read_transcripts(path)]
    seen, found = SeenHistories(), {}
    transcripts = [each for each in read if not isinstance(each, Skipped)]
    for transcript in sorted(transcripts, key=lambda each: each.started or 0):
        copied = copied_places(transcript.messages, seen.shared(transcript.messages))
        if not is_copy(transcript, copied):
            view = gather(own_part(transcript, copied))
            found[transcript.native_id] = Read(view, condense(view))
    return found


def lists(folder: Path, project: str) -> list[dict[str, Any]]:
    paths = [folder / "lessons.json", *sorted(LISTS.glob("lessons_*.json"))]
    lessons = [lesson for path in paths if path.exists() for lesson in json.loads(path.read_text())]
    return [lesson for lesson in lessons if lesson["project"] == project]


def kept(read: dict[str, Read], lessons: list[dict[str, Any]]) -> Kept:
    texts = {name: plain(shown(one.condensed)) for name, one in read.items()}
    raw = {name: plain(whole(one.view.transcript)) for name, one in read.items()}
    pairs = pairs_kept = touched = complete = 0
    lost: Counter[str] = Counter()
    words: list[str] = []
    for lesson in lessons:
        named = [name for name in lesson["sessions"] if name in read]
        there = [(name, word) for name in named for word in map(plain, lesson["keywords"]) if word in raw[name]]
        held = [(name, word) for name, word in there if word in texts[name]]
        pairs, pairs_kept = pairs + len(there), pairs_kept + len(held)
        touched += bool(held)
        complete += bool(there) and {word for _, word in held} == {word for _, word in there}
        for name, word in set(there) - set(held):
            places = where(read[name].view, word)
            lost[places] += 1
            words.append(f"{name[:8]} {word!r}: {places} — {lesson['text'][:80]}")
    return Kept(pairs, pairs_kept, len(lessons), touched, complete, lost, words)


def where(view: SessionView, word: str) -> str:
    """Where a word stands that was lost: the place that would have told most."""
    places = {_place(message) for message in view.transcript.messages if word in plain(_text(message))}
    for step in view.steps:
        if step.failed and (word in plain(step.text) or word in plain(step.exchange.call.arguments)):
            places.add("failed call")
    order = ("person", "failed call", "agent's words", "call or answer", "other")
    return next((place for place in order if place in places), "other")


def _place(message: Message) -> str:
    if message.origin is not Origin.TURN:
        return "other"
    if message.role is Role.USER:
        return "person"
    return "agent's words" if message.role is Role.AGENT and not message.calls else "call or answer"


def _text(message: Message) -> str:
    calls = (call.arguments for call in message.calls)
    return "\n".join((message.text, *calls, *(result.text for result in message.results)))


def whole(transcript: Transcript) -> str:
    return "\n".join(_text(message) for message in transcript.messages if message.origin is not Origin.SUMMARY)


def plain(text: str) -> str:
    return re.sub(r"[-_\s]+", " ", text.lower())


def slower(read: dict[str, Read]) -> float:
    """How many times as long it takes to find what sessions teach, with their condensed form as without it."""
    transcripts = [one.view.transcript for one in read.values()]
    taught, condensing = [], []
    for _ in range(ROUNDS):
        began = time.process_time()
        for transcript in transcripts:
            teaching_of(transcript)
        ended = time.process_time()
        views = [gather(transcript) for transcript in transcripts]
        gathered = time.process_time()
        for view in views:
            condense(view)
        taught.append(ended - began)
        condensing.append(time.process_time() - gathered)
    return min(taught) / (min(taught) - min(condensing))


def main(folder: Path, named: list[str]) -> None:
    print("| project | sessions | tokens plain | condensed | longest | pairs kept | lessons touched | whole |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    lost: list[str] = []
    for place in sorted(each for each in folder.iterdir() if each.is_dir()):
        read = sessions(place)
        found = kept(read, lists(folder, place.name))
        sizes = [estimate(shown(one.condensed)) for one in read.values()]
        plainly = sum(estimate(whole(one.view.transcript)) for one in read.values()) / len(read)
        mean = sum(sizes) / len(sizes)
        print(
            f"| {place.name} | {len(read)} | {plainly:.0f} | {mean:.0f} | {max(sizes)} | {found.pairs_kept} of "
            f"{found.pairs} | {found.touched} of {found.lessons} | {found.whole} |"
        )
        index = estimate(index_text(project_index(one.condensed for one in read.values())))
        lost.append(f"{place.name}: lost {dict(found.lost)}; index {index} tokens; {slower(read):.2f} times as slow")
        if place.name in named:
            lost += sorted(found.words)
    print(*lost, sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA, sys.argv[2:])
