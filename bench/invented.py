"""How many lessons of invented projects are named without a model, with three sessions and with twelve.

.venv/bin/python bench/invented.py FOLDER [odd|even] [--show]

FOLDER holds sessions/NN-name/*.jsonl, twelve sessions a project in time order, and expected.json: for each project its
number and either a lesson, as strings that a rule must hold (one of each group in `must`) and must not, or `learn`:
false. `second` is another lesson of the same project. Where `shown_in` names the sessions that show the lesson, three
sessions are the first three of those. The projects were written by somebody who had not read the code;
even numbers are held out: nobody looks at them while something is changed. --show prints the rules of odd projects.
--cases counts, of twelve sessions, the lessons that are named from recoveries, and the cases made of their sessions.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from whet.agents.formats.source import Skipped
from whet.improving.taught import ProjectEvidence
from whet.intake.reading import read_transcripts
from whet.lessons.finding import teaching_of
from whet.lessons.record import Lesson, LessonSource
from whet.proving.cases_from_sessions import cases_from
from whet.sessions.transcripts import Transcript
from whet.store.home import Home

COUNTS = (3, 12)


class Scored(NamedTuple):
    """What was drafted for a project, and which of the drafts are what it teaches."""

    rules: tuple[str, ...]
    right: frozenset[str]
    is_found: bool


def read(files: Iterable[Path]) -> Iterator[Transcript]:
    for path in files:
        yield from (each for each in read_transcripts(path) if not isinstance(each, Skipped))


def lessons_of(transcripts: Iterable[Transcript]) -> tuple[Lesson, ...]:
    """The lessons that `whet lessons` would list."""
    evidence = ProjectEvidence("project")
    for each in transcripts:
        evidence.add(each.id, each.source, teaching_of(each), is_own=True, is_declared=False)
    return evidence.taught(()).lessons


def rules_of(transcripts: Iterable[Transcript]) -> tuple[str, ...]:
    return tuple(lesson.rule for lesson in lessons_of(transcripts))


def says(rule: str, wanted: dict[str, Any]) -> bool:
    text = rule.lower()
    has_all = all(any(each.lower() in text for each in group) for group in wanted["must"])
    return has_all and not any(each.lower() in text for each in wanted["must_not"])


def chosen(expected: dict[str, Any], files: list[Path], count: int) -> list[Path]:
    """So many sessions in the order of time, of those that show the lesson where that is known."""
    showing = [files[number - 1] for number in expected.get("shown_in") or ()]
    return (showing if showing and count < len(files) else files)[:count]


def score(expected: dict[str, Any], files: list[Path]) -> Scored:
    rules = rules_of(read(files))
    if not expected["learn"]:
        return Scored(rules, frozenset(), not rules)
    wanted = [expected, *([expected["second"]] if expected.get("second") else [])]
    right = frozenset(rule for rule in rules if any(says(rule, each) for each in wanted))
    return Scored(rules, right, any(says(rule, expected) for rule in rules))


def print_cases(folder: Path, half: str) -> None:
    """How many lessons from recoveries give cases of the steps that failed; nothing of their sessions is run."""
    sums, why = Counter[str](), Counter[str]()
    for each in json.loads((folder / "expected.json").read_text()):
        if not each["learn"] or (half and (int(each["number"]) % 2 == 1) is not (half == "odd")):
            continue
        [place] = (folder / "sessions").glob(f"{int(each['number']):02}-*")
        transcripts = {made.id: made for made in read(sorted(place.iterdir()))}
        named = (lesson for lesson in lessons_of(transcripts.values()) if says(lesson.rule, each))
        for lesson in [found for found in named if found.evidence.source is LessonSource.RECOVERY][:1]:
            ids = lesson.evidence.session_ids
            about = {piece.session: {piece.message: piece.fix} for piece in lesson.evidence.pieces}
            made = [
                cases_from(Home(folder), transcripts[id], about=about[id], tasks=False, unrun="calls alone")
                for id in ids
            ]
            cases = sum(bool(found.cases) for found in made)
            why.update(reason for found in made for reason in found.left_out)
            sums.update(
                {"lessons": 1, "with a case": cases > 0, "with six": cases >= 6, "sessions": len(ids), "cases": cases}
            )
    print(f"{dict(sums)}", *why.most_common(), sep="\n")


def main(folder: Path, half: str, *, show: bool) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    print("| sessions | projects with a lesson | named | other drafts | projects without | false drafts |")
    print("|--:|--:|--:|--:|--:|--:|")
    for count in COUNTS:
        sums: Counter[str] = Counter()
        for each in expected:
            number = int(each["number"])
            if half and (number % 2 == 1) is not (half == "odd"):
                continue
            [place] = (folder / "sessions").glob(f"{number:02}-*")
            found = score(each, chosen(each, sorted(place.iterdir()), count))
            kind = "learn" if each["learn"] else "none"
            sums.update(
                {kind: 1, f"{kind}-found": found.is_found, f"{kind}-other": len(found.rules) - len(found.right)}
            )
            if show and number % 2:
                verdict = "found" if found.is_found else "MISSED"
                print(f"{place.name} {each.get('rule', '')} {verdict}", *found.rules, sep="\n   ")
        learned = f"{sums['learn']} | {sums['learn-found']} | {sums['learn-other']}"
        print(f"| {count} | {learned} | {sums['none']} | {sums['none-other']} |")


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if not each.startswith("--")]
    place, half = Path(arguments[0]), arguments[1] if len(arguments) > 1 else ""
    if "--cases" in sys.argv:
        print_cases(place, half)
    else:
        main(place, half, show="--show" in sys.argv)
