"""A statement left out of a file that agents read: the same cases with the file as it is, and without the statement."""

from pathlib import Path

import pytest

from proving.trial_scenes import WORDS, case_of, obeys, prepared, supply_of, tried
from whet.cli.trying import is_place, left_out
from whet.errors import WhetError
from whet.evidence.verdicts import Ruling
from whet.proving.plan import WantedTrial, expect_worth_it
from whet.store.database import Database
from whet.store.home import Home
from whet.trials.cases import Case
from whet.trials.design import TrialProgress
from whet.trials.outcome_words import outlook, ruled

NEEDLESS = "- The colour of the old office was a pale kind of green.\n"
TEXT = f"\ufeff# Rules\r\n\r\n- {WORDS}\r\n{NEEDLESS}- Be brief.\n"
QUESTIONS = 16


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "project/CLAUDE.md"
    path.parent.mkdir()
    path.write_bytes(TEXT.encode())
    return path


def cases(count: int = QUESTIONS) -> tuple[Case, ...]:
    return tuple(case_of(f"question-{number}") for number in range(count))


def without(home: Home, database: Database, place: str, count: int = QUESTIONS) -> TrialProgress:
    left = left_out(place, points=25)
    ready = prepared(home, database, left.asked(WantedTrial(left.patch, cases(count))))
    return tried(home, ready, supply_of(obeys))


def test_what_nothing_depends_on_may_go_and_the_file_stays_as_it_is(home: Home, database: Database, file: Path) -> None:
    progress = without(home, database, f"{file}:4")
    assert progress.result.verdict.ruling is Ruling.ACCEPT
    assert "no worse by more than 25 points without it" in ruled(progress)
    assert "tokens saved" in ruled(progress)
    assert file.read_bytes() == TEXT.encode()


def test_what_agents_need_may_not_go(home: Home, database: Database, file: Path) -> None:
    progress = without(home, database, f"{file}:3")
    assert progress.result.verdict.ruling is Ruling.REJECT
    assert ruled(progress) == "it is worse without it"


def test_too_few_cases_show_nothing_and_say_how_many_would(home: Home, database: Database, file: Path) -> None:
    progress = without(home, database, f"{file}:4", count=6)
    assert progress.result.verdict.ruling is Ruling.UNDECIDED
    assert "more cases that end alike would show it" in outlook(progress)
    left = left_out(f"{file}:4", points=10)
    ready = prepared(home, database, left.asked(WantedTrial(left.patch, cases(6))), id="t2")
    with pytest.raises(WhetError, match="at least"):
        expect_worth_it(ready)


def test_a_line_without_a_statement_or_a_file_that_no_agent_reads_is_named(file: Path) -> None:
    assert is_place(f"{file}:3")
    assert not is_place("say-yes")
    assert not is_place(f"{file}.gone:3")
    with pytest.raises(WhetError, match="No statement stands at line 2"):
        left_out(f"{file}:2", points=10)
    other = file.with_name("notes.md")
    other.write_text("- A line.\n- Another.\n")
    with pytest.raises(WhetError, match="No agent reads"):
        left_out(f"{other}:1", points=10)
