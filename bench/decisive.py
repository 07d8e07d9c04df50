"""The decisive step beside "the first error, else the last word", on failed sessions that a person read.

.venv/bin/python bench/decisive.py

bench/data/decisive_steps.json has, by session, the numbers of the messages after any of which it was lost: the call
that did the wrong thing, the edits that wrote the patch that failed its tests, the answer that was wrong. The way to
guess was chosen on the first thirty; the rest was read afterwards.
"""

import json
from pathlib import Path

from labelled import cases
from whet.evidence.classical import wilson
from whet.failures.analysis import analyse
from whet.failures.view import gather
from whet.sessions.transcripts import Role, Transcript
from whet.shipped.data import failure_weights

LABELS = Path(__file__).parent / "data" / "decisive_steps.json"


def simple(transcript: Transcript) -> int:
    """The first call that failed, else the agent's last message."""
    failed = (step.exchange.asked for step in gather(transcript).failures)
    own = [index for index, message in enumerate(transcript.messages) if message.role is Role.AGENT]
    return next(failed, own[-1])


def main() -> None:
    weights = failure_weights()
    print("| sessions | set | n | first error, else last word | Whet (95 %) |")
    print("|---|---|--:|--:|--:|")
    for part, sets in json.loads(LABELS.read_text()).items():
        for name, labels in sets.items():
            found = [case.transcript for case in cases(name) if case.transcript.native_id in labels]
            easy = sum(simple(each) in labels[each.native_id] for each in found)
            ours = sum(analyse(each, weights).decisive_step in labels[each.native_id] for each in found)
            low, high = wilson(ours, len(found))
            print(f"| {part} | {name} | {len(found)} | {easy} | {ours} ({low:.2f}–{high:.2f}) |")


if __name__ == "__main__":
    main()
