"""Sessions are read once, pass by pass, what is claimed is checked and doubted, and whatever ends it loses nothing."""

import json
from pathlib import Path

import pytest

from claimed_sessions import ASKED, INSTALL, keep_sessions, session
from reading.readers import NOTHING, ScriptedReader, claiming, days, long_session, sessions_in
from whet.improving.learned import lessons_of
from whet.lessons.record import Lesson
from whet.reading.learn import (
    LearnProgress,
    LearnReport,
    LearnRequest,
    ReadingCourse,
    ReadingLimit,
    foretell,
    learn,
)
from whet.reading.project_files import project_sessions
from whet.reading.readers import ReaderQuestion
from whet.store.analyses import refresh
from whet.store.claims import claims_of, sessions_read
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.troubles import session_troubles, trouble_of_session
from whet.telling.targets.project_names import name_of_project
from whet.work.orders import DirectSteps, Failed, decoded

EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    place.mkdir()
    return place


def analysed(database: Database) -> None:
    refresh(database, progress=lambda _: None, processors=1)


def read(home: Home, folder: Path, reader: ScriptedReader, **more: object) -> LearnReport:
    ask = LearnRequest((name_of_project(folder),), reader.name, **more)  # type: ignore[arg-type]  # fields of it
    return decoded(learn(ReadingCourse(home, DirectSteps("learn"), ask, reader)).value, LearnReport)


def unread_of(database: Database, project: str) -> int:
    read = sessions_read(database, project)
    stored = project_sessions(database)[project]
    return sum(each.id not in read or read[each.id].messages < each.message_count for each in stored)


def lesson(home: Home, database: Database) -> Lesson:
    return next(each for each in lessons_of(home, database) if each.rule == INSTALL.rule)


def test_what_is_read_becomes_lessons_that_code_and_a_sceptic_let_stand(
    home: Home, database: Database, folder: Path
) -> None:
    keep_sessions(database, days(folder, 4))
    analysed(database)
    reader = ScriptedReader(claiming)
    report = read(home, folder, reader)
    [made] = report.projects
    assert (made.sessions, made.claims, made.kept, made.refused, made.left) == (4, 1, 1, 0, 0)
    assert lesson(home, database).sessions == 4
    assert [("You doubt" in each.system) for each in reader.asked] == [False, True]
    assert report.spent.model_calls == 2
    assert report.spent.dollars is None


@EMBEDDED
def test_a_reader_tells_corrections_from_wishes(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, days(folder, 2))
    analysed(database)
    assert [each.trouble.times_guessed for each in session_troubles(database, Filters())] == [1, 1]

    def judging(question: ReaderQuestion) -> str:
        first, second = sessions_in(question)
        # The agent's own message and one that nobody was shown count for nothing, nor does a session of another pass.
        named = {first: [8, 7, 400], second: [], "ffffffff": [8]}
        return json.dumps({"op": "corrections", "messages": named}) + "\n" + NOTHING

    read(home, folder, ScriptedReader(judging))
    analysed(database)
    found = [trouble_of_session(database, each) for each in project_sessions(database)[name_of_project(folder)]]
    assert [[(one.message, one.words, one.is_judged) for one in each.interventions] for each in found if each] == [
        [(8, ASKED, True)],
        [],
    ]
    assert [each.trouble.times_guessed for each in session_troubles(database, Filters())] == [0, 0]


@EMBEDDED
def test_an_answer_without_a_line_of_corrections_judges_nothing(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, days(folder, 1))
    analysed(database)
    read(home, folder, ScriptedReader(NOTHING))
    assert refresh(database, progress=lambda _: None, processors=1) == 0


def test_no_session_is_read_twice_and_what_it_grew_is_read_alone(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, days(folder, 3))
    analysed(database)
    read(home, folder, ScriptedReader(claiming))
    project = name_of_project(folder)
    assert unread_of(database, project) == 0
    again = ScriptedReader(claiming)
    assert read(home, folder, again).projects[0].sessions == 0
    assert again.asked == []
    keep_sessions(database, [session("day2", folder, 2, pad=2), session("day3", folder, 3)])
    analysed(database)
    assert unread_of(database, project) == 2
    later = ScriptedReader(NOTHING)
    read(home, folder, later)
    assert len(sessions_in(later.asked[0])) == 1  # nothing happened in what the other one grew
    assert len(sessions_read(database, project)) == 4
    assert unread_of(database, project) == 0


@EMBEDDED
def test_the_older_half_is_read_first_and_tested_on_the_newer_one(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, days(folder, 10))
    analysed(database)
    reader = ScriptedReader(claiming)
    read(home, folder, reader)
    shown = [sessions_in(each) for each in reader.asked if "You doubt" not in each.system]
    assert [len(each) for each in shown] == [5, 5]
    measures = lesson(home, database).checks.measures
    assert measures is not None
    assert measures.backtest is not None
    assert (measures.backtest.later, measures.backtest.failed) == (5, 5)


@EMBEDDED
def test_a_failing_reader_ends_the_work_and_the_next_run_goes_on(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, [long_session(f"long{day}", folder, day) for day in range(50)])
    analysed(database)
    with pytest.raises(Failed, match="too many requests"):
        read(home, folder, ScriptedReader(claiming, claiming, ""))
    done = len(sessions_read(database, name_of_project(folder)))
    assert 0 < done < 50
    seen: list[LearnProgress] = []
    reader = ScriptedReader(claiming)
    ask = LearnRequest((name_of_project(folder),), reader.name)
    learn(ReadingCourse(home, DirectSteps("learn"), ask, reader, seen.append))
    shown = [id for each in reader.asked if "You doubt" not in each.system for id in sessions_in(each)]
    assert len(shown) == len(set(shown)) == 50 - done
    assert [(each.number, each.passes) for each in seen if not each.is_doubting][-1] == (seen[-1].passes,) * 2


@EMBEDDED
def test_a_limit_ends_a_run_between_two_passes(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, [long_session(f"long{day}", folder, day) for day in range(50)])
    analysed(database)
    report = read(home, folder, ScriptedReader(claiming), limit=ReadingLimit(tokens=30_000))
    assert report.stopped
    assert 0 < report.projects[0].left < 50
    assert report.spent.input + report.spent.output <= 30_000


@EMBEDDED
def test_what_a_run_takes_is_foretold(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, [long_session(f"long{day}", folder, day) for day in range(50)])
    analysed(database)
    [(project, stored)] = project_sessions(database).items()
    plan = foretell(home, database, project, stored)
    reader = ScriptedReader(claiming)
    spent = read(home, folder, reader).spent
    assert plan.sessions == 50
    assert abs(plan.calls - spent.model_calls) <= 1
    assert 0.5 < plan.usage.input / spent.input < 2


BAD = {
    "no JSON": ("Here is what I found: nothing much.", "no JSON line"),
    "broken JSON": ('{"op": "new", "rule": ', "no JSON object"),
    "a wrong id": (json.dumps({"op": "support", "id": "nope", "quotes": []}), "no claim nope"),
    "another operation": (json.dumps({"op": "keep", "id": "x"}), "op must be one of"),
    "ten megabytes": ("{" * (10 << 20), "longer than 1 MB"),
    "nested too deeply": ('{"op": ' + "[" * 50_000, "no JSON object"),
    "a session that was not shown": (
        json.dumps({"op": "new", "rule": "Use bun.", "quotes": [{"session": "ffffffff", "message": 1, "words": "x"}]}),
        "was shown",
    ),
    "no quotes": (json.dumps({"op": "new", "rule": "Use bun."}), "no quotes"),
    "too long a rule": (json.dumps({"op": "new", "rule": "bun " * 100}), "may have 300"),
}


@pytest.mark.parametrize("name", BAD)
@EMBEDDED
def test_a_bad_answer_is_asked_for_once_more_and_one_that_stays_bad_is_counted_and_dropped(
    name: str, home: Home, database: Database, folder: Path
) -> None:
    keep_sessions(database, days(folder, 2))
    analysed(database)
    answer, why = BAD[name]
    reader = ScriptedReader(answer)
    [made] = read(home, folder, reader).projects
    assert why in reader.asked[1].order
    assert (made.sessions, made.claims, made.dropped, made.asked_again) == (2, 0, 1, 1)
    [logged] = claims_of(database, name_of_project(folder))
    assert why in logged.dropped


@EMBEDDED
def test_a_bad_answer_that_is_mended_loses_nothing(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, days(folder, 2))
    analysed(database)
    [made] = read(home, folder, ScriptedReader(BAD["broken JSON"][0], claiming)).projects
    assert (made.sessions, made.claims, made.dropped, made.asked_again) == (2, 1, 0, 1)


@EMBEDDED
def test_invented_quotes_do_not_count_and_are_named(home: Home, database: Database, folder: Path) -> None:
    [first, _] = keep_sessions(database, days(folder, 2))
    analysed(database)
    invented = {"session": first.session[:8], "message": 8, "words": "always deploy on Friday"}
    line = json.dumps({"op": "new", "rule": "Deploy on Friday.", "source": "person", "quotes": [invented]})
    reader = ScriptedReader(line)
    [made] = read(home, folder, reader).projects
    assert "does not say it" in reader.asked[1].order
    assert (made.claims, made.dropped) == (0, 1)


@EMBEDDED
def test_sessions_of_another_project_cannot_be_quoted(home: Home, database: Database, folder: Path) -> None:
    other = folder.parent / "other"
    other.mkdir()
    kept = keep_sessions(database, [*days(folder, 2), session("elsewhere", other, 0)])
    analysed(database)
    quote = {"session": kept[2].session, "message": 8, "words": "never push to main"}
    line = json.dumps({"op": "new", "rule": "Never push.", "source": "person", "quotes": [quote]})
    [made] = read(home, folder, ScriptedReader(line)).projects
    assert (made.claims, made.dropped) == (0, 1)


@EMBEDDED
def test_a_person_may_replace_the_texts(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, days(folder, 2))
    analysed(database)
    place = home.folder / "guidance" / "reading"
    place.mkdir(parents=True)
    (place / "reader.md").write_text("Read as my aunt would, at most {limit} letters.")
    reader = ScriptedReader(NOTHING)
    read(home, folder, reader)
    assert reader.asked[0].system == "Read as my aunt would, at most 300 letters."


@EMBEDDED
def test_a_sceptic_drops_and_sharpens(home: Home, database: Database, folder: Path) -> None:
    keep_sessions(database, days(folder, 3))
    analysed(database)

    def doubting(question: object) -> str:
        line = json.loads(claiming(question))  # type: ignore[arg-type]  # a ReaderQuestion
        return json.dumps({"op": "drop", "id": line["id"], "why": "an accident"})

    [made] = read(home, folder, ScriptedReader(claiming, doubting)).projects
    assert (made.kept, made.refused) == (0, 1)
    assert [each for each in lessons_of(home, database) if each.checks.measures is not None] == []
