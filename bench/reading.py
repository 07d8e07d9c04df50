"""What a reader makes of the earlier half of a project's sessions, and what of it comes back in the later half.

    .venv/bin/python bench/reading.py questions FOLDER OUT    the passes of each project, as a reader gets them
    .venv/bin/python bench/reading.py lessons FOLDER OUT      what code makes of the answers


FOLDER holds projects of recorded sessions (`NAME/*.jsonl.gz`). For each of them OUT/NAME gets `pass-1.txt` and so on:
the system text, a line of `=====`, and the order. Whoever plays the model writes JSON lines to `answer-1.jsonl` there.
`lessons` checks the answers, prints each lesson with its rung and its counts, what was dropped and why, and how many
tokens were shown and answered. Then it takes in the later half: in how many later sessions the situation of a lesson
came up and failed again, and the rank correlation of that with the number of earlier sessions.
"""

import gzip
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trouble import rank_correlation
from whet.improving.learned import LessonScope, found_by_sources
from whet.intake.reading import READ_ALL
from whet.intake.taking import take
from whet.lessons.record import Lesson
from whet.reading.learn import checked_answer, keep
from whet.reading.passes import (
    PassQuestion,
    ProjectReading,
    UnreadSession,
    cut_passes,
    gather,
    question_of,
)
from whet.reading.project_files import project_sessions
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.text.words import estimate

READER = "a played model"


class ReadPass(NamedTuple):
    """One pass of a project."""

    reading: ProjectReading
    sessions: tuple[UnreadSession, ...]
    asked: PassQuestion


def main(command: str, folder: Path, out: Path) -> None:
    for place in sorted(each for each in folder.iterdir() if each.is_dir()):
        made = out / place.name
        made.mkdir(parents=True, exist_ok=True)
        home = Home(made / "home")
        shutil.rmtree(home.folder, ignore_errors=True)
        earlier, later = halves(place, made)
        take_in(home, earlier)
        with opened(home) as database:
            passes = list(passes_of(home, database))
            if command == "questions":
                for number, each in enumerate(passes, start=1):
                    question = each.asked.question
                    (made / f"pass-{number}.txt").write_text(f"{question.system}\n\n=====\n\n{question.order}")
                    print(f"{place.name}: pass {number}, {len(each.sessions)} sessions")
                continue
            shown = sum(estimate(each.asked.question.system + each.asked.question.order) for each in passes)
            answered = sum(answer(database, each, made / f"answer-{n}.jsonl") for n, each in enumerate(passes, start=1))
            print(f"\n== {place.name}: {shown} tokens shown, {answered} answered")
            tell(home, database)
        if command == "lessons":
            take_in(home, later)
            with opened(home) as database:
                tell_what_came_back(home, database)


def halves(place: Path, made: Path) -> tuple[Path, Path]:
    """The older and the newer half of the sessions, unpacked."""
    files = sorted(place.glob("*.jsonl.gz"), key=_began)
    folders = made / "earlier", made / "later"
    for folder, part in zip(folders, (files[: len(files) // 2], files[len(files) // 2 :]), strict=True):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file in part:
            (folder / file.name.removesuffix(".gz")).write_bytes(gzip.decompress(file.read_bytes()))
    return folders


def _began(file: Path) -> str:
    with gzip.open(file, "rt") as lines:
        return next((str(at) for line in lines if (at := json.loads(line).get("timestamp"))), "")


def take_in(home: Home, folder: Path) -> None:
    with opened(home) as database:
        take(database, home, sorted(folder.iterdir()), READ_ALL, progress=lambda *_: None)


def passes_of(home: Home, database: Database) -> Iterator[ReadPass]:
    for project, sessions in project_sessions(database).items():
        reading = gather(home, database, project, sessions)
        cut = cut_passes(reading, reading.unread)
        for number, some in enumerate(cut, start=1):
            yield ReadPass(reading, some, question_of(reading, some, number=number, passes=len(cut)))


def answer(database: Database, each: ReadPass, file: Path) -> int:
    """Keep what an answer claims; how many tokens it has."""
    text = file.read_text()
    sessions = [one.session for one in each.sessions]
    found = checked_answer(database, text, each.asked.shown, sessions)
    keep(database, each.reading._replace(unread=each.sessions), found, READER)
    print(f"{len(found.claims)} claims, {len(found.dropped)} lines of no use")
    return estimate(text)


def claimed(home: Home, database: Database) -> list[Lesson]:
    found = found_by_sources(home, database, LessonScope())
    return [each for project in found for each in project.lessons if each.checks.measures is not None]


def tell(home: Home, database: Database) -> None:
    for lesson in claimed(home, database):
        print(f"- {lesson.rule}\n    {'; '.join(lesson.climb.words)}")
    for project in found_by_sources(home, database, LessonScope()):
        for dropped in project.dropped:
            print(f"  dropped: {dropped.rule[:90]} ({dropped.standing.why})")


def tell_what_came_back(home: Home, database: Database) -> None:
    lessons = [each for each in claimed(home, database) if each.checks.measures and each.checks.measures.backtest]
    later: list[float] = []
    for lesson in lessons:
        assert lesson.checks.measures is not None
        backtest = lesson.checks.measures.backtest
        assert backtest is not None
        later.append(backtest.failed)
        print(f"  came up in {backtest.came_up} of {backtest.later}, failed in {backtest.failed}: {lesson.rule[:90]}")
    if len(later) > 2:
        seen = [float(lesson.sessions) for lesson in lessons]
        print(f"  rank correlation of earlier sessions with later failures: {rank_correlation(seen, later):.2f}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
