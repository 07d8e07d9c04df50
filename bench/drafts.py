"""The drafts that a capable model writes from the evidence of real sessions, and what careful readers make of them.

.venv/bin/python bench/drafts.py questions FOLDER   FOLDER/prompts/NN.txt and index.json: what the model is asked
.venv/bin/python bench/drafts.py reading FOLDER     FOLDER/reading/NN.txt, from the model's answers/NN.txt
.venv/bin/python bench/drafts.py labels FOLDER FILE bench/data/FILE.json, from reader1.json and reader2.json
.venv/bin/python bench/drafts.py table [FILE]       what the readers say, from bench/data/FILE.json alone (draft_labels)

A reader writes {"NN": {"specific": bool, "true": bool, "keep": bool, "why": str}} for each file of `reading`.

The candidates are those of bench/learning.py: the first of each project's earlier half. One project is held out: what
is changed after a reading is changed without looking at its drafts. Among the drafts of the model stand those that the
patterns write of the same candidates, in an order that tells nothing, and at the end what Whet refused of the model's.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from learning import halves, learned
from whet.evidence.classical import wilson
from whet.improving.writer import question_of
from whet.ledger.patches import digest
from whet.lessons.candidates import LessonEvidence
from whet.lessons.drafts import LessonDraft, draft_of, drafts_of, learned_name, situation_of, written_from
from whet.lessons.evidence import NOTHING, read_answer, shown_evidence, trust_of_evidence
from whet.lessons.finding import teaching_of
from whet.lessons.instructions import Instructions
from whet.values import Value

ASKED = {"cipher-box": 15, "oh-my-posh": 16, "context-evaluator": 29}
HELD_OUT = "context-evaluator"
KEPT = "candidates.json"  # so that an answer stays with its evidence, however candidates are found since
READ = "reading_index.json"
LABELS = "draft_labels"  # the first reading; draft_labels_second is of the writer and the prompt after it
MODEL, PATTERN, REFUSED = "model", "pattern", "refused"
ROWS = (
    ("of the model", MODEL, None),
    ("… held out", MODEL, True),
    ("… the others", MODEL, False),
    ("of the patterns", PATTERN, None),
    ("of the model, refused by Whet", REFUSED, None),
)
LINE = "=" * 80


class Asked(Value, frozen=True):
    """A candidate that a model is asked about, the part of it that is shown, and the pattern's draft of it."""

    project: str
    rank: int
    whole: LessonEvidence
    older: LessonEvidence
    pattern: LessonDraft | None

    @property
    def name(self) -> str:
        return learned_name(self.project, self.whole.best.text)


def asked() -> Iterator[Asked]:
    """The first candidates of each project, without those that its files for agents say already."""
    for project, most in ASKED.items():
        standing = Instructions()
        for each in halves(project).earlier:
            standing.add(teaching_of(each).instructions)
        found = 0
        for rank, (candidate, draft) in enumerate(drafts_of(learned(project)), 1):
            if found == most or (draft and standing.standing(draft.text)):
                continue
            found += 1
            yield Asked(project, rank, candidate, written_from(candidate, draft_of(candidate)), draft)


def write_questions(folder: Path) -> None:
    (folder / "prompts").mkdir(parents=True, exist_ok=True)
    index = {}
    every = tuple(asked())
    (folder / KEPT).write_bytes(msgspec.json.encode(every))
    for number, each in enumerate(every, 1):
        system, order = question_of(each.older)
        name = f"{number:02}"
        (folder / "prompts" / f"{name}.txt").write_text(
            f"{LINE}\nSYSTEM\n{LINE}\n{system}\n{LINE}\nUSER\n{LINE}\n{order}\n"
        )
        index[name] = {
            "project": each.project,
            "candidate": each.name,
            "rank": each.rank,
            "source": each.whole.source.value,
            "sessions": each.whole.sessions,
            "sessions_shown": each.older.sessions,
            "has_pattern": each.pattern is not None,
            "held_out": each.project == HELD_OUT,
            "question": digest(order)[:10],
        }
    (folder / "index.json").write_text(json.dumps(index, indent=1))


def write_reading(folder: Path) -> None:
    """Each draft in a file of its own: those of the model, as Whet reads its answers, and those of the patterns."""
    kept = msgspec.json.decode((folder / KEPT).read_bytes(), type=tuple[Asked, ...])
    found: list[tuple[str, str, Asked, LessonDraft]] = []
    refused: list[tuple[str, str, Asked, LessonDraft]] = []
    for number, each in enumerate(kept, 1):
        name = f"{number:02}"
        answer = (folder / "answers" / f"{name}.txt").read_text().strip()
        draft, _ = read_answer(answer, each.older)
        if draft:
            found.append((name, MODEL, each, draft))
        elif answer != NOTHING:
            best = each.older.best
            draft = LessonDraft(each.whole.source, situation_of(best), "", answer, trust_of_evidence(each.older))
            refused.append((name, REFUSED, each, draft))
        if each.pattern:
            found.append((name, PATTERN, each, each.pattern))
    found.sort(key=lambda one: digest(f"{one[1]} {one[3].text}"))
    (folder / "reading").mkdir(exist_ok=True)
    read = {}
    for place, (asked_as, writer, each, draft) in enumerate((*found, *refused), 1):
        (folder / "reading" / f"{place:02}.txt").write_text(_shown(each, draft))
        read[f"{place:02}"] = {
            "writer": writer,
            "project": each.project,
            "held_out": each.project == HELD_OUT,
            "question": asked_as,
            "candidate": each.name,
            "source": draft.source.value,
            "trust": draft.trust.name.lower(),
            "draft": draft.text,
        }
    (folder / READ).write_text(json.dumps(read, indent=1, ensure_ascii=False))


def _shown(each: Asked, draft: LessonDraft) -> str:
    """A draft for a reader: its words, what it is for, where it would go, and its evidence."""
    files = {one.id: one.native_id for half in halves(each.project) for one in half}
    places = sorted({(files[piece.session], piece.message) for piece in each.older.pieces})
    return "\n".join(
        (
            f"DRAFT: {draft.text}",
            f"SITUATION: {draft.situation}",
            f"WHERE IT WOULD GO: the instructions of the project {each.project}, and nowhere else",
            f"SEEN IN: {each.whole.sessions} sessions of {len(halves(each.project).earlier)}",
            f"EVIDENCE (of the oldest of them):\n{shown_evidence(each.older)}",
            "IN THE RECORDS:",
            *(f"  session {session}, message {message}" for session, message in places),
            "",
        )
    )


def labels_in(file: str) -> Path:
    return Path(__file__).parent / "data" / f"{file}.json"


def write_labels(folder: Path, file: str) -> None:
    """The verdicts beside the drafts. What a pattern writes are words of a session, so its text is left out."""
    read = json.loads((folder / READ).read_text())
    readers = [json.loads((folder / f"reader{number}.json").read_text()) for number in (1, 2)]
    found = []
    for name, each in read.items():
        verdicts = [reader[name] for reader in readers]
        draft = {} if each["writer"] == PATTERN else {"draft": each["draft"]}
        kept = {key: each[key] for key in ("candidate", "project", "held_out", "writer", "source", "trust")}
        found.append({**kept, **draft, "verdicts": verdicts})
    asked_of = {project: len(halves(project).earlier) for project in ASKED}
    whole = {"sessions": asked_of, "asked": ASKED, "drafts": found}
    labels_in(file).write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


def print_table(file: str = LABELS) -> None:
    whole = json.loads(labels_in(file).read_text())
    print(
        "| drafts | n | specific | true | kept by one | by the other | by both | they agree | false per 100 sessions |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, writer, held_out in ROWS:
        drafts = [each for each in whole["drafts"] if each["writer"] == writer and held_out in (None, each["held_out"])]
        projects = [each for each in whole["sessions"] if held_out in (None, each == HELD_OUT)]
        sessions = sum(whole["sessions"][each] for each in projects)
        print(f"| {name} | {' | '.join(_figures([each['verdicts'] for each in drafts], sessions))} |")


def _figures(verdicts: list[list[dict[str, Any]]], sessions: int) -> Iterator[str]:
    """How many drafts both readers find specific and true, each and both keep, and how many either finds false."""
    count = len(verdicts)
    yield str(count)
    for what in ("specific", "true"):
        yield str(sum(all(each[what] for each in pair) for pair in verdicts))
    for reader in (0, 1):
        yield str(sum(pair[reader]["keep"] for pair in verdicts))
    both = sum(all(each["keep"] for each in pair) for pair in verdicts)
    low, high = wilson(both, count) if count else (0.0, 1.0)
    yield f"{both} ({100 * both / max(count, 1):.0f} %, {100 * low:.0f}–{100 * high:.0f} %)"
    yield str(sum(pair[0]["keep"] == pair[1]["keep"] for pair in verdicts))
    false = [sum(not each["true"] for each in pair) for pair in verdicts]
    yield f"{100 * sum(map(bool, false)) / sessions:.1f} (by both {100 * false.count(2) / sessions:.1f})"


def main() -> None:
    step, *given = sys.argv[1:]
    if step == "table":
        print_table(*given)
    elif step == "labels":
        write_labels(Path(given[0]), given[1])
    else:
        {"questions": write_questions, "reading": write_reading}[step](Path(given[0]))


if __name__ == "__main__":
    main()
