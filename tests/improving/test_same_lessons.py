"""Lessons are one record: programs, the command, the page and the MCP server show the same ones under the same ids."""

import os
import re
import subprocess
import sys
from html import escape
from itertools import count
from pathlib import Path

import pytest

import whet
from command import Whet, environment, runner
from page_client import page_of
from page_store import filled_home
from whet.improving.learned import EVERYWHERE, SOURCES, learned, lessons_of
from whet.lessons.record import LessonStage
from whet.mcp.lessons import for_task
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.session_facts import state_of_sessions


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return filled_home(tmp_path_factory.mktemp("lessons"))


@pytest.fixture(scope="module")
def lessons(filled: Home) -> tuple[whet.Lesson, ...]:
    with whet.Store(filled.folder) as store:
        return store.lessons()


@pytest.fixture(scope="module")
def command(filled: Home) -> Whet:
    return runner(filled.folder, filled.folder.parent)


def test_the_command_lists_what_programs_get(lessons: tuple[whet.Lesson, ...], command: Whet) -> None:
    listed = command("lessons", "--json").json["lessons"]
    assert [(each["id"], each["draft"], each["standing"], each["counts"]["sessions"]) for each in listed] == [
        (each.id, each.rule, each.standing.stage.value, each.sessions) for each in lessons
    ]
    assert lessons


def test_the_page_shows_what_programs_get(filled: Home, lessons: tuple[whet.Lesson, ...]) -> None:
    with page_of(filled) as client:
        with opened(filled) as database:
            client.server.cache.lessons.wait(state_of_sessions(database))
        text = client.enter().ask("/lessons").text
    waiting = [each for each in lessons if each.standing.stage is LessonStage.WAITING]
    assert all(escape(each.rule.splitlines()[0]) in text for each in waiting)
    shown = sorted(re.findall(r"whet lessons show ([0-9a-f]+)", text))
    assert shown == sorted(each.id for each in lessons if each not in waiting)


def test_the_mcp_server_tells_what_programs_get(filled: Home, lessons: tuple[whet.Lesson, ...]) -> None:
    with whet.Store(filled.folder) as store:
        folders = {session.folder for session in store.sessions() if session.folder}
    told = {each.id for folder in folders for each in for_task(filled, task="", folder=folder).lessons}
    assert told == {each.id for each in lessons if each.project}


def test_ids_are_unique_and_numbers_are_dense(lessons: tuple[whet.Lesson, ...], command: Whet) -> None:
    assert len({each.id for each in lessons}) == len(lessons)
    waiting = {each.standing.entry for each in lessons if each.standing.proposal}
    free = (number for number in count(1) if number not in waiting)
    for lesson in (each for each in lessons if not each.standing.proposal):
        assert command("lessons", "show", str(next(free)), "--json").json["id"] == lesson.id


def test_a_lesson_keeps_its_id_whatever_is_learned_beside_it(filled: Home, lessons: tuple[whet.Lesson, ...]) -> None:
    """The id is made of the rule and its project, and not of the evidence, which grows."""
    with opened(filled) as database:
        again = lessons_of(filled, database, EVERYWHERE)
    assert [each.id for each in again] == [each.id for each in lessons]


def test_nothing_is_dropped_without_a_reason(filled: Home, command: Whet) -> None:
    with opened(filled) as database:
        found = learned(filled, database)
    assert all(each.standing.why for each in found.dropped)
    assert len(command("lessons", "--dropped", "--json").json["dropped"]) == len(found.dropped)


def test_sources_of_lessons_are_named_in_one_place() -> None:
    assert [each.name for each in SOURCES] == ["reader", "changes"]


SOURCE = """
from whet.improving.learned import SourceOfLessons
from whet.ledger.patches import Action, Form, Patch
from whet.lessons.record import LessonEvidence, LessonPiece, LessonSource
from whet.lessons.record import Lesson, ProjectLessons, id_of

RULE = "Feed the cat."
SAID = LessonPiece(LessonSource.PERSON, "s1", 0, "feed the cat")
EVIDENCE = LessonEvidence(LessonSource.PERSON, (SAID,), 1, 1.0)
LESSON = Lesson(id_of("shop", RULE), "shop", RULE, "", RULE, Patch(Form.RULE, Action.ADD, "cat", RULE), EVIDENCE)
FOUND = SourceOfLessons("cats", lambda home, database, scope, progress: (ProjectLessons("shop", (LESSON,)),))
"""


def test_another_package_brings_lessons_in(tmp_path: Path) -> None:
    metadata = tmp_path / "packages" / "cats-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "entry_points.txt").write_text("[whet.lesson_sources]\ncats = cats:FOUND\n")
    (tmp_path / "packages" / "cats.py").write_text(SOURCE)
    places = os.pathsep.join((str(tmp_path / "packages"), *(each for each in sys.path if each)))
    program = "import whet; [one] = whet.Store().lessons(); print(one.rule, one.standing.stage.value)"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment(tmp_path / "home", tmp_path), "PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "Feed the cat. checked\n"
