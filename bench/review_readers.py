"""The proposals of `review_stances.py` as a shuffled list for readers, and the table that their verdicts make.

    python bench/review_readers.py list KEY... --to FOLDER
    python bench/review_readers.py table KEY... [--verdicts FILE]... [--ordinary NAME]...

The list does not say whose a proposal is, and has one once that several stances made word for word. A reader copies
`proposals.jsonl` to a file of their own and fills in keep, true and specific with true or false. `--ordinary` names a
conversation that was chosen because nothing in it seemed worth keeping.
"""

import argparse
import hashlib
import json
import random
import re
from pathlib import Path
from typing import Any

from review_stances import STANDING_SKILL
from whet.evidence.intervals import wilson

QUESTIONS = ("keep", "true", "specific")
CHANGED = ("proposed", "applied")
COLUMNS = (
    *("order", "reviews", "with a proposal", "proposals", "note and new skill", "at once", "calls (most)"),
    *("first prompt", "tokens read", "kept by each reader", "conversations with one kept", "kept by all", "true"),
    *("specific", "kept of ordinary"),
)
SPEAKER = re.compile(r"\n(?=user: |agent: |agent calls |\S+ answers: )")  # where the next one speaks in a record
INSTRUCTIONS = """Each line of proposals.jsonl is one change that a review of a conversation proposes to what an agent
is told. `conversation` names the file with the whole conversation, `evidence` is what the person said in it. Judge each
line alone, as the person of that conversation: other lines of the same conversation are from other reviews.

- keep: would you let exactly this text be told to your agent in later sessions? A skill is read when its task comes.
- true: does the conversation bear it out, without adding or generalising what was not there?
- specific: does it say what to do in a situation that one can recognise, beyond what any agent does anyway?

Copy proposals.jsonl to READER.jsonl, replace each null by true or false, and change nothing else. Look at no files but
these.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("list", "table"))
    parser.add_argument("keys", type=Path, nargs="+")
    parser.add_argument("--to", type=Path, default=Path("readers"))
    parser.add_argument("--verdicts", type=Path, action="append", default=[])
    parser.add_argument("--ordinary", action="append", default=[])
    given = parser.parse_args()
    reviews = [one for key in given.keys for one in json.loads(key.read_text())]
    if given.what == "list":
        write_list(reviews, given.to)
    else:
        print_table(reviews, [judged(file) for file in given.verdicts], frozenset(given.ordinary))


def changes(review: dict[str, Any]) -> dict[str, list[str]]:
    """What a review proposed, by the name that it has in the list."""
    made = (each for each in review["changes"] if each[0] in CHANGED)
    return {hashlib.sha256("\0".join([review["session"], *each[1:]]).encode()).hexdigest()[:8]: each for each in made}


def has_both(review: dict[str, Any]) -> bool:
    """Whether a review wrote a note and made a skill: mostly one lesson twice."""
    made = changes(review).values()
    return any(each[1] == "note" for each in made) and any(
        each[1] == "skill" and each[2] != STANDING_SKILL for each in made
    )


def write_list(reviews: list[dict[str, Any]], folder: Path) -> None:
    (folder / "conversations").mkdir(parents=True, exist_ok=True)
    lines = {}
    for review in reviews:
        for name, (_, form, place, text) in changes(review).items():
            file = f"conversations/{hashlib.sha256(review['session'].encode()).hexdigest()[:6]}.txt"
            (folder / file).write_text(review["record"])
            said = [one[6:].strip() for one in SPEAKER.split(review["record"]) if one.startswith("user: ")]
            where = f"{form} {place}" if form != "note" else f"note on the page {place.split('/')[0]}"
            about = {"id": name, "where": where, "text": text, "evidence": said, "conversation": file}
            lines[name] = about | dict.fromkeys(QUESTIONS)
    shuffled = sorted(lines.values(), key=lambda line: str(line["id"]))
    random.Random(7).shuffle(shuffled)
    (folder / "proposals.jsonl").write_text("".join(json.dumps(line) + "\n" for line in shuffled))
    (folder / "README.md").write_text(INSTRUCTIONS)
    print(f"{len(shuffled)} proposals in {folder}")


def judged(file: Path) -> dict[str, dict[str, bool]]:
    return {line["id"]: line for line in map(json.loads, file.read_text().splitlines())}


def print_table(
    reviews: list[dict[str, Any]], readers: list[dict[str, dict[str, bool]]], ordinary: frozenset[str]
) -> None:
    print(f"| {' | '.join(COLUMNS)} |\n|---|{'--:|' * (len(COLUMNS) - 1)}")
    for stance in dict.fromkeys(each["stance"] for each in reviews):
        print(row(stance, [each for each in reviews if each["stance"] == stance], readers, ordinary))
    if len(readers) > 1:
        for question in QUESTIONS:
            print(f"agreement on {question}: {agreement(readers[0], readers[1], question)}")


def row(
    stance: str, own: list[dict[str, Any]], readers: list[dict[str, dict[str, bool]]], plain: frozenset[str]
) -> str:
    made = {name: each for review in own for name, each in changes(review).items()}
    usual = [name for review in own if review["session"] in plain for name in changes(review)]
    calls, read = [each["spent"][0] for each in own], [each["spent"][1] for each in own]
    cells = [
        stance,
        len(own),
        sum(bool(changes(each)) for each in own),
        len(made),
        sum(has_both(each) for each in own),
        sum(each[0] == "applied" for each in made.values()),
        f"{sum(calls) / len(own):.1f} ({max(calls)})",
        f"{sum(each['first_input'] for each in own) / len(own):,.0f}",
        f"{sum(read) / len(own):,.0f}",
    ]
    kept = [sum(reader[name]["keep"] for name in made) for reader in readers]
    cells.append(", ".join(map(str, kept)) or "–")
    fruitful = sum(any(all(reader[name]["keep"] for reader in readers) for name in changes(each)) for each in own)
    cells.append(fruitful if readers else "–")
    for question, names in [*((each, list(made)) for each in QUESTIONS), ("keep", usual)]:
        good = sum(all(reader[name][question] for reader in readers) for name in names) if readers else 0
        cells.append(share(good, len(names)) if readers else "–")
    return f"| {' | '.join(map(str, cells))} |"


def share(good: int, of: int) -> str:
    if not of:
        return "none made"
    low, high = wilson(good, of)
    return f"{good} of {of} ({low:.0%} to {high:.0%})"


def agreement(one: dict[str, Any], other: dict[str, Any], question: str) -> str:
    pairs = [(one[name][question], other[name][question]) for name in one]
    same = sum(a == b for a, b in pairs) / len(pairs)
    first, second = (sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1))
    chance = first * second + (1 - first) * (1 - second)
    return f"{same:.0%} of {len(pairs)}" + (f", kappa {(same - chance) / (1 - chance):.2f}" if chance < 1 else "")


if __name__ == "__main__":
    main()
