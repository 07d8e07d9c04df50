"""Trouble as readers marked it, beside what Whet finds.

    .venv/bin/python bench/trouble.py dump FILE               one file's sessions, for a reader to mark
    .venv/bin/python bench/trouble.py measure MARKS FOLDER    a reader's marks beside what is found in the files

Messages are numbered as in the Transcript that Whet reads; marks name them by these numbers. The dump says what the
record says and nothing that Whet makes of it. Marks are JSON Lines, one stretch or one intervention each:

    {"session": "…", "kind": "red_check", "from": 12, "to": 40, "minutes": 3.5, "why": "…"}
    {"session": "…", "intervention": 41, "words": "…"}
    {"session": "…"}     a session that was read and has neither

Where a later version reads more messages from a file, numbers move: `--dumps FOLDER` has the dumps that were read,
and the marks are moved to the same messages, by their times and roles.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from seen_histories import SeenHistories
from whet.agents.formats.source import Source
from whet.agents.recognising import recognise
from whet.evidence.intervals import wilson
from whet.sessions.copies import copied_places
from whet.sessions.transcripts import (
    Media,
    Message,
    Origin,
    Part,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Transcript,
    pair,
)
from whet.trouble.checks import CommandCount, head_counts, learned_checks
from whet.trouble.course import SessionKnowledge
from whet.trouble.finding import find_trouble
from whet.trouble.kinds import TROUBLE_KINDS
from whet.trouble.outcomes.deciding import Outcome, decide
from whet.trouble.outcomes.view import EntryHead, gather
from whet.trouble.values import SessionTrouble

# How much of a text the dump shows: of its beginning and of its end.
SHOWN: dict[str, tuple[int, int]] = {
    "user": (3_000, 1_000),
    "agent": (1_500, 500),
    "thought": (400, 100),
    "call": (700, 300),
    "result": (500, 600),
    "inserted": (500, 200),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    dumping = commands.add_parser("dump", help="print a file's sessions for a reader to mark")
    dumping.add_argument("file", type=Path)
    measuring = commands.add_parser("measure", help="compare a reader's marks with what is found")
    measuring.add_argument("marks", type=Path)
    measuring.add_argument("folder", type=Path)
    measuring.add_argument("--dumps", type=Path, help="the dumps that the reader read")
    measuring.add_argument("--against", type=Path, help="another reader's marks in the place of what is found")
    measuring.add_argument("--half", choices=("odd", "even"), help="only the sessions of these dumps, by their number")
    measuring.add_argument("--list", action="store_true", help="list what was missed and what is not borne out")
    options = parser.parse_args()
    if options.command == "measure":
        compared = compare(options.marks, options.folder, options.dumps, against=options.against, half=options.half)
        lines = (*measure(compared), *(listed(compared) if options.list else ()))
        sys.stdout.write("\n".join(lines) + "\n")
        return
    for transcript in read(options.file):
        sys.stdout.write("\n".join(dump(transcript)) + "\n\n")


def read(path: Path) -> Iterator[Transcript]:
    known = recognise(Source(path))
    return known.read(Source(path)) if known else iter(())


def dump(transcript: Transcript) -> Iterator[str]:
    """A session as lines: number, time, pause before it, who, and what was said, called and answered."""
    yield f"==== session {transcript.native_id} ({transcript.source}, {transcript.purpose.value}) ===="
    yield f"folder {transcript.folder or '?'}   model {transcript.model or '?'}   {len(transcript.messages)} messages"
    before: float | None = None
    for number, message in enumerate(transcript.messages):
        yield ""
        yield f"#{number}  {_when(message, before)}  {_who(message)}"
        for part in message.parts:
            yield from _lines(part, _speaker(message))
        before = message.at if message.at is not None else before


def _when(message: Message, before: float | None) -> str:
    if message.at is None:
        return "(no time)"
    clock = datetime.fromtimestamp(message.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return clock if before is None else f"{clock} (+{_pause(message.at - before)})"


def _pause(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _who(message: Message) -> str:
    origin = "" if message.origin is Origin.TURN else f" [{message.origin.value}]"
    tokens = f"  {message.usage.output} tokens out" if message.usage else ""
    return f"{message.role.value.upper()}{origin}{tokens}"


def _speaker(message: Message) -> str:
    if message.origin in (Origin.INSERTED, Origin.SUMMARY) or message.role is Role.SYSTEM:
        return "inserted"
    return "user" if message.role is Role.USER else "agent"


def _lines(part: Part, speaker: str) -> Iterator[str]:
    if isinstance(part, ToolCall):
        yield f"  CALL {part.name} {part.id[-6:]}"
        yield from _shown(part.arguments, "call")
    elif isinstance(part, ToolResult):
        yield f"  RESULT of {part.tool or '?'} {part.call_id[-6:]}{_flags(part)}"
        yield from _shown(part.text, "result")
    elif isinstance(part, Text):
        yield from _shown(part.text, speaker)
    elif isinstance(part, Thought):
        yield "  (thinks)"
        yield from _shown(part.text, "thought")
    elif isinstance(part, Media):
        yield f"  ({part.kind})"


def _flags(result: ToolResult) -> str:
    said = ("error", result.error), ("exit code", result.exit_code), ("disposition", result.disposition)
    flags = [f"{name}={value}" for name, value in said if value is not None]
    return f"  [recorded: {', '.join(flags)}]" if flags else ""


def _shown(text: str, what: str) -> Iterator[str]:
    first, last = SHOWN[what]
    if len(text) > first + last + 40:
        left_out = len(text) - first - last
        text = f"{text[:first]}\n      … {left_out:,} characters left out …\n{text[-last:]}"
    yield from (f"    {line}" for line in text.splitlines() if line.strip())


# The time and the role that a dump gives a message.
Place = tuple[str, str]
LEAST_MINUTES = 1.0
NEAR = 2  # messages by which the place of an intervention may differ: the refusal, the interrupt, the words after it


class Marked(NamedTuple):
    """A stretch by a reader, or one that was found."""

    kind: str
    first: int
    last: int
    minutes: float


class Reading(NamedTuple):
    """What a reader marked in one session."""

    stretches: list[Marked]
    interventions: list[int]


class Compared(NamedTuple):
    """One session as a reader saw it, as it was found, and the rivals' figures for it."""

    session: str
    read: Reading
    found: Reading
    failed_share: float
    messages: int


def compare(
    marks: Path, folder: Path, dumps: Path | None, *, against: Path | None = None, half: str | None = None
) -> list[Compared]:
    """Each marked session of the folder beside what is found in it, or beside another reader's marks."""
    readings, others = read_marks(marks), read_marks(against) if against else None
    dumped = _dumped(dumps) if dumps else {}
    if half:
        wanted = {name for name, dump in dumped.items() if ("even", "odd")[dump.number % 2] == half}
        readings = {name: reading for name, reading in readings.items() if name in wanted}
    return list(_compared(readings, others, folder, dumped))


def measure(compared: Sequence[Compared]) -> Iterator[str]:
    """Recall and precision of stretches over a minute, the ratio of minutes, interventions, and rivals."""
    yield f"{len(compared)} sessions"
    yield from _stretches(compared)
    yield from _interventions(compared)
    yield from _rivals(compared)


def read_marks(path: Path) -> dict[str, Reading]:
    readings: dict[str, Reading] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        mark = json.loads(line)
        reading = readings.setdefault(mark["session"], Reading([], []))
        if "intervention" in mark:
            reading.interventions.append(int(mark["intervention"]))
        elif "from" in mark:
            minutes = float(mark.get("minutes") or 0.0)
            reading.stretches.append(Marked(_kind(mark.get("kind", "")), int(mark["from"]), int(mark["to"]), minutes))
    return readings


def _kind(words: str) -> str:
    """The name of the kind that a reader meant."""
    first = re.split(r"[\W_]+", words.strip().lower())[0]
    return {"stopped": "corrected", "correction": "corrected"}.get(
        first,
        next((kind.name for kind in TROUBLE_KINDS if kind.name.startswith(first.removesuffix("s") or "?")), words),
    )


def listed(compared: Sequence[Compared]) -> Iterator[str]:
    """What one side has over a minute, or as an intervention, and the other has not."""
    for each in compared:
        for what, one, other in (("missed", each.read, each.found), ("not marked", each.found, each.read)):
            for mark in one.stretches:
                if mark.minutes >= LEAST_MINUTES and not any(_overlap(mark, its) for its in other.stretches):
                    yield f"{each.session} {what}: {mark.kind} {mark.first}-{mark.last} {mark.minutes:.1f} min"
            for at in one.interventions:
                if not any(abs(at - its) <= NEAR for its in other.interventions):
                    yield f"{each.session} {what}: intervention {at}"
        theirs, ours = (sum(mark.minutes for mark in side.stretches) for side in (each.read, each.found))
        if abs(theirs - ours) >= LEAST_MINUTES:
            yield f"{each.session} minutes: marked {theirs:.1f}, found {ours:.1f}"


def _compared(
    readings: dict[str, Reading], others: dict[str, Reading] | None, folder: Path, dumps: dict[str, "Dump"]
) -> Iterator[Compared]:
    seen = SeenHistories()
    paths = sorted(folder.rglob("*.jsonl*"))
    checks = _checks(paths)
    for path in paths:
        for transcript in read(path):
            copied = copied_places(transcript.messages, seen.shared(transcript.messages))
            if transcript.native_id in readings:
                known = SessionKnowledge(checks[path.parent])
                places = dumps[transcript.native_id].places if transcript.native_id in dumps else None
                yield Compared(
                    transcript.native_id,
                    _moved(readings[transcript.native_id], places, transcript),
                    _reading(find_trouble(transcript, copied=copied, known=known))
                    if others is None
                    else _moved(others.get(transcript.native_id, Reading([], [])), places, transcript),
                    _failed_share(transcript),
                    len(transcript.messages),
                )


_SESSION = re.compile(r"^==== session (\S+) \(")
_NUMBERED = re.compile(r"^#(\d+)  (\(no time\)|\S+ \S+?)(?: \(\+.*?\))?  ([A-Z]+)\b")


class Dump(NamedTuple):
    """A dumped session: the number with which its file's name begins, and the places of its messages."""

    number: int
    places: list[Place]


def _dumped(folder: Path) -> dict[str, Dump]:
    found: dict[str, Dump] = {}
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        places: list[Place] = []
        number = int("0" + path.name.partition("_")[0]) if path.name[0].isdigit() else 0
        for line in path.read_text(encoding="utf-8").splitlines():
            if session := _SESSION.match(line):
                places = found.setdefault(session[1], Dump(number, [])).places
            elif (numbered := _NUMBERED.match(line)) and int(numbered[1]) == len(places):
                places.append((numbered[2], numbered[3]))
    return found


def _moved(reading: Reading, dumped: list[Place] | None, transcript: Transcript) -> Reading:
    """A reading with the numbers that its messages have now."""
    if not dumped:
        return reading
    now = [(_when(message, None), message.role.value.upper()) for message in transcript.messages]
    numbers: list[int] = []
    at = 0
    for place in dumped:
        found = next((number for number in range(at, len(now)) if now[number] == place), None)
        numbers.append(at if found is None else found)
        at = at if found is None else found + 1
    last = len(numbers) - 1
    stretches = [
        mark._replace(first=numbers[min(mark.first, last)], last=numbers[min(mark.last, last)])
        for mark in reading.stretches
    ]
    return Reading(stretches, [numbers[min(number, last)] for number in reading.interventions])


def _checks(paths: Iterable[Path]) -> dict[Path, frozenset[EntryHead]]:
    """The commands that the sessions of each folder show to be checks."""
    counts: dict[Path, list[CommandCount]] = {}
    for path in paths:
        for transcript in read(path):
            counts.setdefault(path.parent, []).extend(head_counts(gather(transcript).steps))
    return {folder: learned_checks(each) for folder, each in counts.items()}


def _reading(found: SessionTrouble) -> Reading:
    stretches = [Marked(one.kind, one.first, one.last, one.seconds / 60) for one in found.troubles]
    return Reading(stretches, [one.message for one in found.interventions])


def _failed_share(transcript: Transcript) -> float:
    outcomes = [decide(exchange).outcome for exchange in pair(transcript.messages).exchanges]
    return outcomes.count(Outcome.FAILED) / len(outcomes) if outcomes else 0.0


def _stretches(compared: Sequence[Compared]) -> Iterator[str]:
    long_marks = [(each, mark) for each in compared for mark in each.read.stretches if mark.minutes >= LEAST_MINUTES]
    long_found = [(each, one) for each in compared for one in each.found.stretches if one.minutes >= LEAST_MINUTES]
    recalled = [mark for each, mark in long_marks if any(_overlap(mark, one) for one in each.found.stretches)]
    borne_out = [one for each, one in long_found if any(_overlap(one, mark) for mark in each.read.stretches)]
    alike = [
        mark
        for each, mark in long_marks
        if any(_overlap(mark, one) and one.kind == mark.kind for one in each.found.stretches)
    ]
    yield f"stretches over a minute: recall {_share(recalled, long_marks)}, precision {_share(borne_out, long_found)}"
    yield f"  of those recalled, the same kind: {_share(alike, recalled)}"
    yield from _by_kind("recall", (mark.kind for _, mark in long_marks), (mark.kind for mark in recalled))
    yield from _by_kind("precision", (one.kind for _, one in long_found), (one.kind for one in borne_out))
    theirs = sum(mark.minutes for each in compared for mark in each.read.stretches)
    ours = sum(one.minutes for each in compared for one in each.found.stretches)
    yield f"minutes: found {ours:.1f}, marked {theirs:.1f}, ratio {ours / theirs if theirs else float('nan'):.2f}"


def _by_kind(what: str, of: Iterable[str], some: Iterable[str]) -> Iterator[str]:
    totals, parts = Counter(of), Counter(some)
    for kind, number in totals.most_common():
        yield f"  {what} of {kind}: {parts[kind]} of {number}"


def _overlap(one: Marked, other: Marked) -> bool:
    return one.first <= other.last and other.first <= one.last


def _share(some: Sequence[object], of: Sequence[object]) -> str:
    """A share with its interval by Wilson, at 95 %."""
    if not of:
        return "none"
    low, high = wilson(len(some), len(of))
    return f"{len(some)} of {len(of)} ({len(some) / len(of):.2f}, {low:.2f} to {high:.2f})"


def _interventions(compared: Sequence[Compared]) -> Iterator[str]:
    marked = [(each, at) for each in compared for at in each.read.interventions]
    found = [(each, at) for each in compared for at in each.found.interventions]
    recalled = [at for each, at in marked if any(abs(at - other) <= NEAR for other in each.found.interventions)]
    right = [at for each, at in found if any(abs(at - other) <= NEAR for other in each.read.interventions)]
    yield f"interventions: recall {_share(recalled, marked)}, precision {_share(right, found)}"


def _rivals(compared: Sequence[Compared]) -> Iterator[str]:
    theirs = [sum(mark.minutes for mark in each.read.stretches) for each in compared]
    measures = {
        "minutes found": [sum(one.minutes for one in each.found.stretches) for each in compared],
        "share of failed calls": [each.failed_share for each in compared],
        "number of messages": [float(each.messages) for each in compared],
    }
    for name, values in measures.items():
        yield f"rank correlation with the marked minutes of a session, {name}: {rank_correlation(values, theirs):.2f}"


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's coefficient, with the mean rank for ties."""
    first, second = _ranks(one), _ranks(other)
    count = len(first)
    mean = (count + 1) / 2
    covariance = sum((a - mean) * (b - mean) for a, b in zip(first, second, strict=True))
    spread = (sum((a - mean) ** 2 for a in first) * sum((b - mean) ** 2 for b in second)) ** 0.5
    return covariance / spread if spread else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(place)
    return [sum(places[value]) / len(places[value]) for value in values]


if __name__ == "__main__":
    main()
