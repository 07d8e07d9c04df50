"""Whose words stand in the person's place in real records: people's, vouched for or not, an agent's, or a program's.

    python bench/whose_words.py

Reads `projects`, `samples` and `sessions` of WHET_BENCH_DATA. Each text is counted once for each file that holds it.
"""

import os
from collections import Counter
from pathlib import Path

from whet.agents.formats.source import Source, Unreadable
from whet.agents.recognising import recognise
from whet.sessions.transcripts import Message, Origin, Role
from whet.sessions.trust import Trust

COLUMNS = ("vouched", "person's", "agent's", "program's")


def main() -> None:
    base = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data"))
    counted: dict[str, Counter[str]] = {}
    for path in sorted(found for part in ("projects", "samples", "sessions") for found in (base / part).rglob("*")):
        name, texts = read(path)
        counted.setdefault(name, Counter()).update(texts)
    print(f"| format | {' | '.join(COLUMNS)} |\n|---|{'--:|' * len(COLUMNS)}")
    for name, tally in sorted(counted.items()):
        if tally:
            print(f"| {name} | {' | '.join(f'{tally[column]:,}' for column in COLUMNS)} |")


def read(path: Path) -> tuple[str, Counter[str]]:
    """The format of a file, and how many of its texts are whose."""
    texts: Counter[str] = Counter()
    try:
        known = recognise(Source(path)) if path.is_file() else None
        for transcript in known.read(Source(path)) if known else ():
            texts.update(
                whose(message) for message in transcript.messages if message.role is Role.USER and message.text
            )
    except Unreadable:
        return "", Counter()
    return known.name if known else "", texts


def whose(message: Message) -> str:
    if message.origin is Origin.INTERRUPT:
        return "program's"
    if message.trust >= Trust.USER:
        return "vouched" if message.vouched else "person's"
    return "agent's" if message.trust is Trust.AGENT else "program's"


if __name__ == "__main__":
    main()
