"""Are signals right? Draws some of real sessions for readers, shows them, and scores what the readers judged.

.venv/bin/python bench/signals.py draw FILE [--each 60] [--sessions 30] [--tuned]   ids and message numbers, no text
.venv/bin/python bench/signals.py show FILE                               what a reader sees of each
.venv/bin/python bench/signals.py score                                   bench/data/signal_labels.json

The half of the sessions is drawn from that nobody looks at while detectors are written, those whose id hashes to an odd
number; with --tuned the other half. Scores stand apart. Two readers who do not know each other judge each signal (right
or not), and mark in whole sessions what they would have wanted to be told: kind and message number.
Labels are ids and judgements, no text:
{"signals": [{"set", "session", "message", "kind", "reader", "right"}],
 "sessions": [{"set", "session", "reader", "marks": [{"kind", "message"}]}]}
"""

import argparse
import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from labelled import cases, folder
from whet.evidence.classical import wilson
from whet.failures.detectors import detect
from whet.failures.kinds import KINDS
from whet.failures.signals import SHOWN, Kind, Signal
from whet.failures.view import gather
from whet.intake.reading import read_transcripts
from whet.sessions.copies import Seen, copied_places, history_of, is_copy, own_part
from whet.sessions.transcripts import Transcript

LABELS = Path(__file__).parent / "data" / "signal_labels.json"
PROJECTS = ("oh-my-posh", "cipher-box", "context-evaluator")
LONG_ENOUGH = 10  # messages, for a session to be read as a whole
NEAR = 2  # messages between a mark and the signal that means the same
SEED = 15


Item = TypeVar("Item")


class RealSession(NamedTuple):
    """A real session and the set that it is from."""

    set: str
    transcript: Transcript


def real_sessions() -> Iterator[RealSession]:
    """All real sessions; what one copied from another is there as context only."""
    seen = Seen()
    for one in _all_sessions():
        copied = copied_places(one.transcript.messages, seen.shared(history_of(one.transcript.messages)))
        if not is_copy(one.transcript, copied):
            yield one._replace(transcript=own_part(one.transcript, copied))


def _all_sessions() -> Iterator[RealSession]:
    data = folder().parent
    for name in PROJECTS:
        yield from _of_files(name, sorted((data / "projects" / name).glob("*.jsonl.gz")))
    yield from (RealSession("codex_dev", case.transcript) for case in cases("codex_dev"))
    for path in sorted(each for each in (data / "samples").rglob("*") if each.is_file()):
        yield from _of_files(f"samples/{path.parent.name}", [path])


def _of_files(name: str, paths: Iterable[Path]) -> Iterator[RealSession]:
    for path in paths:
        yield from (RealSession(name, each) for each in read_transcripts(path) if isinstance(each, Transcript))


def is_held(session: str) -> bool:
    return int(hashlib.sha256(session.encode()).hexdigest(), 16) % 2 == 1


def shown(transcript: Transcript) -> list[Signal]:
    return [signal for signal in detect(gather(transcript)) if signal.confidence >= SHOWN]


def draw(path: Path, *, each: int, sessions: int, tuned: bool) -> None:
    chance = random.Random(SEED)
    held = [one for one in real_sessions() if is_held(one.transcript.native_id or one.transcript.id) != tuned]
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for one in held:
        for signal in shown(one.transcript):
            place = {"set": one.set, "session": one.transcript.native_id, "message": signal.message}
            by_kind.setdefault(signal.kind, []).append({**place, "kind": signal.kind, "tool": signal.tool})
    drawn = [one for kind in (row.name for row in KINDS) for one in _some(by_kind.get(kind, []), each, chance)]
    long = [one for one in held if len(one.transcript.messages) >= LONG_ENOUGH]
    whole = [{"set": one.set, "session": one.transcript.native_id} for one in _some(long, sessions, chance)]
    path.write_text(json.dumps({"signals": drawn, "sessions": whole}, indent=1) + "\n")
    counts = {kind: f"{min(each, len(found))} of {len(found)}" for kind, found in by_kind.items()}
    print(f"{len(drawn)} signals {counts} and {len(whole)} sessions, of {len(held)} sessions, in {path}")


def _some(found: list[Item], most: int, chance: random.Random) -> list[Item]:
    return chance.sample(found, min(most, len(found)))


def show(path: Path) -> None:
    """Each drawn signal with the messages around it; each whole session message by message."""
    wanted = json.loads(path.read_text())
    found = {(one.set, one.transcript.native_id): one.transcript for one in real_sessions()}
    for number, each in enumerate(wanted["signals"]):
        messages = found[each["set"], each["session"]].messages
        print(f"\n##### {number}: {each}")
        for place in range(max(0, each["message"] - 3), min(len(messages), each["message"] + 3)):
            _print_message(found[each["set"], each["session"]], place, 900)
    for each in wanted["sessions"]:
        print(f"\n##### session {each}")
        for place in range(len(found[each["set"], each["session"]].messages)):
            _print_message(found[each["set"], each["session"]], place, 300)


def _print_message(transcript: Transcript, place: int, length: int) -> None:
    message = transcript.messages[place]
    calls = " ".join(f"CALL {call.name} {call.arguments[:length]}" for call in message.calls)
    results = " ".join(f"RESULT{'!' if each.error else ''} {each.text[:length]}" for each in message.results)
    words = " ".join(f"{message.text[:length]} {calls} {results}".split())
    print(f"{place:5} {message.role.value:6} {message.origin.value:9} {words}")


def score() -> None:
    labels = json.loads(LABELS.read_text())
    if not labels["signals"]:
        print("Nobody has judged a signal yet: see the top of this file.")
        return
    today = {
        (signal.kind, one.set, one.transcript.native_id, signal.message, signal.tool)
        for one in real_sessions()
        for signal in shown(one.transcript)
    }
    for is_kept, title in ((True, "held out"), (False, "tuned on")):
        judged = [one for one in labels["signals"] if is_held(one["session"]) == is_kept]
        if judged:
            print(title)
            _score_signals(judged, today)
    _score_sessions(labels["sessions"])


def _score_signals(judgements: list[dict[str, Any]], today: set[tuple[Any, ...]]) -> None:
    """How many were right; and, of those that are still reported today, how many."""
    by_signal: dict[tuple[Any, ...], list[bool]] = {}
    for one in judgements:
        key = (one["kind"], one["set"], one["session"], one["message"], one.get("tool", ""))
        by_signal.setdefault(key, []).append(bool(one["right"]))
    print("| kind | judged | right by all | 95 % | readers agree | reported today | right |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for kind in sorted({key[0] for key in by_signal}):
        votes = [found for key, found in by_signal.items() if key[0] == kind]
        still = [all(found) for key, found in by_signal.items() if key[0] == kind and key in today]
        right = sum(map(all, votes))
        low, high = wilson(right, len(votes))
        agreed = sum(len(set(found)) == 1 for found in votes)
        print(
            f"| {kind} | {len(votes)} | {right / len(votes):.2f} | {low:.2f}–{high:.2f} | {agreed / len(votes):.2f} |"
            f" {len(still)} | {sum(still) / max(1, len(still)):.2f} |"
        )


def _score_sessions(read: list[dict[str, Any]]) -> None:
    """How much of what every reader of a session marked is told of: the same kind, at most two messages away."""
    by_session: dict[tuple[str, str], list[list[dict[str, Any]]]] = {}
    for one in read:
        by_session.setdefault((one["set"], one["session"]), []).append(one["marks"])
    found = {(one.set, one.transcript.native_id): one.transcript for one in real_sessions()}
    hits = total = 0
    for key, marks in by_session.items():
        signals = _told_of(found[key])
        both = [mark for mark in marks[0] if all(_among(mark, others) for others in marks[1:])]
        total += len(both)
        hits += sum(_among(mark, signals) for mark in both)
    if total:
        low, high = wilson(hits, total)
        print(f"recall of what all readers marked: {hits} of {total} ({hits / total:.2f}, {low:.2f}–{high:.2f})")


def _told_of(transcript: Transcript) -> list[dict[str, Any]]:
    """The signals of a session; a failure is reported once, and stands for those of its tool and sort."""
    signals = shown(transcript)
    sorts = {(each.tool, each.fingerprint) for each in signals if each.kind == Kind.TOOL_FAILURE}
    again = [step for step in gather(transcript).failures if (step.tool, step.fault or step.fingerprint) in sorts]
    return [{"kind": each.kind, "message": each.message} for each in signals] + [
        {"kind": Kind.TOOL_FAILURE, "message": step.message} for step in again
    ]


def _among(mark: dict[str, Any], others: Iterable[dict[str, Any]]) -> bool:
    return any(one["kind"] == mark["kind"] and abs(one["message"] - mark["message"]) <= NEAR for one in others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("file", type=Path)
    drawing.add_argument("--each", type=int, default=60, help="signals of each kind at the most")
    drawing.add_argument("--tuned", action="store_true", help="the half that detectors were tuned on")
    drawing.add_argument("--sessions", type=int, default=30, help="whole sessions at the most")
    commands.add_parser("show").add_argument("file", type=Path)
    commands.add_parser("score")
    options = parser.parse_args()
    if options.command == "draw":
        draw(options.file, each=options.each, sessions=options.sessions, tuned=options.tuned)
    elif options.command == "show":
        show(options.file)
    else:
        score()


if __name__ == "__main__":
    main()
