"""What a reader claims becomes lessons with their rung: checked against every session, the files and the refusals."""

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from claimed_sessions import DAY, FIRST_DAY, INSTALL, PUSH, READER, claim_of, keep_claimed, keep_sessions, session
from whet.changes.pending import propose, refuse
from whet.improving.learned import LessonScope, found_by_sources, learned, lessons_of
from whet.ledger.entries import Actor
from whet.lessons.claims import ClaimCarrier, ClaimOperation, Quote
from whet.lessons.record import Carrier, Lesson, LessonStage, ProjectLessons
from whet.lessons.rungs import EvidenceRung
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.analyses import refresh
from whet.store.claims import keep_pass
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters, list_sessions
from whet.telling.targets.project_names import name_of_project

EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    place.mkdir()
    return place


def analysed(database: Database) -> None:
    refresh(database, progress=lambda _: None, processors=1)


def of_reader(home: Home, database: Database, scope: LessonScope = LessonScope()) -> ProjectLessons:  # noqa: B008
    return next(each for each in found_by_sources(home, database, scope) if any(map(is_read, each.lessons)))


def is_read(lesson: Lesson) -> bool:
    return lesson.checks.measures is not None


def by_rule(home: Home, database: Database) -> dict[str, Lesson]:
    return {each.rule: each for each in lessons_of(home, database) if is_read(each)}


def test_claims_of_the_first_days_are_checked_in_all_and_looked_for_in_the_later_ones(
    home: Home, database: Database, folder: Path
) -> None:
    days = [session(f"day{day}", folder, day) for day in range(5)]
    read = keep_sessions(database, days)
    analysed(database)
    keep_claimed(database, name_of_project(folder), read[:2])
    install, push = by_rule(home, database)[INSTALL.rule], by_rule(home, database)[PUSH.rule]
    assert (install.sessions, push.sessions) == (5, 5), "code finds the order in sessions that nobody has read too"
    assert (install.trust, push.trust) == (Trust.TOOL, Trust.USER), "no quote of the first has `bun add`"
    assert (install.climb.rung, push.climb.rung) == (EvidenceRung.CAME_BACK, EvidenceRung.CHECKED)
    seen, checked, back, spared, tried = install.climb.words
    assert seen == "seen in 5 sessions"
    assert checked == "checked: failed 5 of 5, works 5 of 5, all 2 quotes exact"
    assert back == "came back in 3 of 3 later sessions (its situation: in 3)"
    assert spared == "upper bound: 3 failures, 3 min spared"
    assert tried == "not tried"
    assert install.patch.situation.call == "npm install left-pad"
    assert install.patch.situation.fix == "bun add left-pad"
    assert install.standing.stage is LessonStage.CHECKED
    assert push.patch.situation.said == PUSH.rule
    assert push.seen_by.agents == ("codex",)


def test_what_a_reader_quotes_again_from_later_sessions_came_back(home: Home, database: Database, folder: Path) -> None:
    read = keep_sessions(database, [session(f"day{day}", folder, day) for day in range(4)])
    project = name_of_project(folder)
    keep_claimed(database, project, read[:2])
    again = replace(claim_of(read[2:3], PUSH, 8, "never push to main"), operation=ClaimOperation.SUPPORT, rule="")
    keep_pass(database, project, read[2:], [again], reader=READER, now=FIRST_DAY + 9)
    push = by_rule(home, database)[PUSH.rule]
    assert push.climb.rung is EvidenceRung.CAME_BACK
    assert push.climb.words[2:4] == (
        "came back in 1 of 2 later sessions",
        "upper bound: 1 message spared",
    )


def test_what_is_kept_is_made_anew_when_a_session_or_the_log_has_grown(
    home: Home, database: Database, folder: Path
) -> None:
    project = name_of_project(folder)
    read = keep_sessions(database, [session(f"day{day}", folder, day) for day in range(2)])
    keep_claimed(database, project, read)
    first = of_reader(home, database)
    assert of_reader(home, database) == first
    keep_sessions(database, [session("day7", folder, 7)])
    assert next(each for each in of_reader(home, database).lessons if each.rule == INSTALL.rule).sessions == 3
    retired = replace(PUSH, operation=ClaimOperation.RETIRE, why="main is protected")
    keep_pass(database, project, [], [retired], reader=READER, now=FIRST_DAY + 5)
    last = of_reader(home, database)
    assert [each.rule for each in last.lessons] == [INSTALL.rule]
    assert [(each.rule, each.standing.why) for each in last.dropped] == [
        (PUSH.rule, "it no longer holds: main is protected")
    ]


def test_a_forgotten_session_leaves_no_word_of_it_in_a_lesson(home: Home, database: Database, folder: Path) -> None:
    read = keep_sessions(database, [session(f"day{day}", folder, day) for day in range(3)])
    keep_claimed(database, name_of_project(folder), read)
    assert by_rule(home, database)
    sessions.forget(database, read[0].session)
    found = by_rule(home, database)[INSTALL.rule]
    assert read[0].session not in found.evidence.session_ids
    for each in read[1:]:
        sessions.forget(database, each.session)
    assert by_rule(home, database) == {}


def test_invented_quotes_and_those_of_another_project_are_dropped_with_the_reason(
    home: Home, database: Database, folder: Path
) -> None:
    project = name_of_project(folder)
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    read = keep_sessions(database, [session("one", folder, 0), session("two", folder, 1)])
    [other] = keep_sessions(database, [session("other", elsewhere, 0)])
    claims = (
        replace(INSTALL, id="a", rule="Do a.", quotes=(Quote(read[0].session, 1, "rm -rf everything"),)),
        replace(INSTALL, id="b", rule="Do b.", quotes=(Quote(other.session, 1, "npm install left-pad"),)),
        replace(INSTALL, id="c", rule="Do c.", quotes=(Quote("nowhere", 1, "npm install left-pad"),)),
        replace(INSTALL, id="d", operation=ClaimOperation.SUPPORT),
        claim_of(read, PUSH, 8, "never push to main"),
    )
    keep_pass(database, project, read, claims, reader=READER, now=FIRST_DAY)
    found = of_reader(home, database)
    assert [each.rule for each in found.lessons] == [PUSH.rule]
    assert {each.rule: each.standing.why for each in found.dropped} == {
        "Do a.": "no quote holds: the message does not say it",
        "Do b.": "no quote holds: its session is of another project",
        "Do c.": "no quote holds: its session is not in the store",
        INSTALL.rule: "it is about a claim that there is not",
    }
    assert len(learned(home, database).dropped) >= 4


def git(folder: Path, *words: str, at: float = FIRST_DAY) -> None:
    who = ["-c", "user.name=N", "-c", "user.email=n@x"]
    dates = {"GIT_AUTHOR_DATE": f"{at:.0f} +0000", "GIT_COMMITTER_DATE": f"{at:.0f} +0000", "PATH": "/usr/bin:/bin"}
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, env=dates)


def commit(folder: Path, name: str, text: str, *, at: float) -> None:
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "more", at=at)


TOLD = "# Shop\n\nInstall packages with `bun add`, not with `npm install`.\n"


def told_at(database: Database, folder: Path, at: float) -> None:
    git(folder, "init", "-q")
    commit(folder, "AGENTS.md", "# Shop\n", at=FIRST_DAY - 10)
    read = keep_sessions(database, [session(f"day{day}", folder, day) for day in range(3)])
    keep_claimed(database, name_of_project(folder), read)
    commit(folder, "AGENTS.md", TOLD, at=at)


@EMBEDDED
def test_a_line_that_is_older_than_the_trouble_is_told_and_not_followed(
    home: Home, database: Database, folder: Path
) -> None:
    told_at(database, folder, FIRST_DAY - 5)
    told = by_rule(home, database)[INSTALL.rule]
    assert (told.checks.stands_in, told.checks.is_broken) == ("AGENTS.md", True)
    assert told.carrier is Carrier.REMINDER
    assert told.is_proposable
    assert told.standing.stage is LessonStage.CHECKED


@EMBEDDED
def test_a_line_that_is_younger_than_the_trouble_settles_it(home: Home, database: Database, folder: Path) -> None:
    told_at(database, folder, FIRST_DAY + 99 * DAY)
    found = of_reader(home, database)
    assert [each.rule for each in found.lessons] == [PUSH.rule]
    assert found.dropped[0].standing.why == "settled: the file says it since the trouble (AGENTS.md)"


@EMBEDDED
def test_a_wrong_line_is_to_be_put_right_and_missing_names_are_named(
    home: Home, database: Database, folder: Path
) -> None:
    git(folder, "init", "-q")
    commit(folder, "AGENTS.md", "# Shop\n\nRun `npm install` first, always.\n", at=FIRST_DAY - 10)
    read = keep_sessions(database, [session(f"day{day}", folder, day) for day in range(2)])
    wrong = replace(
        claim_of(read, INSTALL, 1, "npm install left-pad"),
        rule="Install with `bun add`, see `docs/install.md` and `run_all()`.",
        carrier=ClaimCarrier.FIX_THE_FILE,
        told="Run `npm install` first, always.",
    )
    keep_pass(database, name_of_project(folder), read, [wrong], reader=READER, now=FIRST_DAY)
    [lesson] = of_reader(home, database).lessons
    assert lesson.carrier is Carrier.FIX_THE_FILE
    assert lesson.climb.notes == (
        "AGENTS.md says something wrong: Run `npm install` first, always.",
        "not in the repository now: docs/install.md, run_all",
    )
    assert lesson.is_proposable


@EMBEDDED
def test_what_a_person_refused_is_not_claimed_again_in_other_words(
    home: Home, database: Database, folder: Path
) -> None:
    read = keep_sessions(database, [session(f"day{day}", folder, day) for day in range(2)])
    project = name_of_project(folder)
    keep_claimed(database, project, read)
    lesson = by_rule(home, database)[INSTALL.rule]
    entry = propose(home, database, lesson.patch, actor=Actor.POLICY, now=1.0)
    refuse(home, database, entry.number, actor=Actor.PERSON, now=2.0)
    assert by_rule(home, database)[INSTALL.rule].standing.stage is LessonStage.REFUSED
    retired = replace(INSTALL, operation=ClaimOperation.RETIRE)
    other = replace(
        claim_of(read, INSTALL, 1, "npm install left-pad"),
        id="again",
        rule="To install packages run `bun add`, not `npm install`.",
    )
    keep_pass(database, project, [], [retired, other], reader=READER, now=FIRST_DAY + 1)
    found = of_reader(home, database)
    assert [each.rule for each in found.lessons] == [PUSH.rule]
    assert f"a person refused it: {INSTALL.rule}" in {each.standing.why for each in found.dropped}


@EMBEDDED
def test_a_lesson_is_asked_for_by_its_project_and_by_its_sessions(home: Home, database: Database, folder: Path) -> None:
    read = keep_sessions(database, [session(f"day{day}", folder, day) for day in range(2)])
    keep_claimed(database, name_of_project(folder), read)
    assert len(list_sessions(database, Filters(), limit=9)) == 2
    assert of_reader(home, database, LessonScope(project="shop")).lessons
    assert of_reader(home, database, LessonScope(Filters(source="codex"))).lessons
    nothing = found_by_sources(home, database, LessonScope(Filters(source="claude-code")))
    assert not any(map(is_read, (lesson for each in nothing for lesson in each.lessons)))


@EMBEDDED
def test_what_a_reader_claims_and_code_found_is_one_lesson_in_the_readers_words(
    home: Home, database: Database, folder: Path
) -> None:
    read = keep_sessions(database, [session(f"day{day}", folder, day) for day in range(5)])
    [found] = [each for each in lessons_of(home, database) if "bun add" in each.rule]
    entry = propose(home, database, found.patch, actor=Actor.POLICY, now=FIRST_DAY)
    keep_claimed(database, name_of_project(folder), read[:2])
    [install] = [each for each in lessons_of(home, database) if "bun add" in each.rule]
    assert install.rule == INSTALL.rule
    assert (install.sessions, len(install.evidence.session_ids)) == (5, 5), "the reader quotes two of them"
    assert (install.standing.stage, install.standing.entry) == (LessonStage.WAITING, entry.number)
    refuse(home, database, entry.number, actor=Actor.PERSON, now=FIRST_DAY + 1)
    [install] = [each for each in lessons_of(home, database) if "bun add" in each.rule]
    assert install.standing.stage is LessonStage.REFUSED, "what was refused in other words stays refused"
