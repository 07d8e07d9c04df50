"""A session: begun warm or cold, and what the person is told at the end of a turn."""

import json
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from conversations import program, user
from samples_of_templates import TEMPLATE
from whet.agent.assembling import RunPlace, RunRequest
from whet.agent.session import OpenSession, SessionRequest
from whet.agent.warm_start import AUTO, beginning, chosen, count_use, draw_template, warmed
from whet.errors import WhetError
from whet.own.examples.templates import Need, TemplateEffect, written
from whet.own.runs.settings import Settings
from whet.sessions.copies import cold, is_warm
from whet.store.database import Database
from whet.store.home import Home
from whet.store.recording import template_uses
from whet.store.template_files import is_drawn, record_worth
from whet.trials.draws import is_told


def told(home: Home, database: Database, folder: Path, *calls: tuple[str, dict[str, str]]) -> list[str]:
    """What the person hears in a session with these calls."""
    work = folder / "work"
    work.mkdir()
    lines = [{"calls": [{"name": name, "arguments": json.dumps(arguments)}]} for name, arguments in calls]
    (folder / "replies").write_text("\n".join(json.dumps(line) for line in (*lines, {"text": "Done."})))
    heard: list[str] = []
    request = RunRequest(Settings(model=f"scripted:{folder / 'replies'}"), RunPlace(work))
    with closing(OpenSession(home, database, SessionRequest(request), tell=heard.append)) as talk:
        list(talk.turn("Do it.", interrupt=Event()))
        assert talk.news == heard
    return heard


def test_a_changed_makefile_is_reported_once(home: Home, database: Database, tmp_path: Path) -> None:
    call = ("write_file", {"path": "Makefile", "content": "all:\n\ttrue\n"})
    [line] = told(home, database, tmp_path, call, call)
    assert line.startswith("Other programs will run or obey these changed files: Makefile (")


def test_what_nobody_could_be_asked_about_is_not_written(home: Home, database: Database, tmp_path: Path) -> None:
    assert told(home, database, tmp_path, ("write_file", {"path": ".envrc", "content": "evil"})) == []
    assert not (tmp_path / "work" / ".envrc").exists()


def test_ordinary_work_is_not_talked_about(home: Home, database: Database, tmp_path: Path) -> None:
    assert told(home, database, tmp_path, ("write_file", {"path": "main.py", "content": "print()"})) == []


MESSAGES = (program("Be kind."), user("Look at the garden plan."))
NEED = Need(task="Look at the garden plan.")


@pytest.fixture
def templates(home: Home) -> Path:
    folder = home.folder / "templates"
    folder.mkdir(parents=True)
    (folder / "garden-work.json").write_text(written(TEMPLATE))
    return folder


@pytest.mark.usefixtures("templates")
def test_a_session_begins_with_the_named_template_and_its_use_is_counted(home: Home, database: Database) -> None:
    choice = chosen(home, database, "garden-work", NEED, now=5.0)
    begun = warmed(MESSAGES, choice)
    assert choice.by == "name"
    assert is_warm(begun)
    assert cold(begun) == MESSAGES
    count_use(database, choice, session="s", now=6.0)
    assert template_uses(database)[TEMPLATE.key].sessions == 1


@pytest.mark.usefixtures("templates")
def test_auto_takes_what_fits_or_was_measured_or_nothing(home: Home, database: Database) -> None:
    assert chosen(home, database, AUTO, NEED, now=5.0).by == "fit"
    record_worth(database, TemplateEffect(TEMPLATE.key, 0.2, 0.1, 0.3, 40, 4.0))
    assert chosen(home, database, AUTO, NEED, now=5.0).by == "measured"
    none = chosen(home, database, AUTO, Need(task="Translate a poem"), now=5.0)
    assert warmed(MESSAGES, none) == MESSAGES
    count_use(database, none, session="s", now=6.0)
    assert template_uses(database) == {}


def test_a_name_that_is_not_there_is_said(home: Home, database: Database) -> None:
    with pytest.raises(WhetError, match="no template"):
        chosen(home, database, "missing", NEED, now=5.0)


def begun(home: Home, database: Database, asked: SessionRequest, script: Path) -> tuple[bool, list[str]]:
    """Whether the session of a first turn is warm, and what the person was told."""
    script.write_text('{"text": "Done."}\n')
    told: list[str] = []
    with closing(OpenSession(home, database, asked, tell=told.append)) as talk:
        list(talk.turn("Look at the garden plan.", interrupt=Event()))
        return is_warm(talk.run.messages), told


def lot_that(is_warm_one: bool) -> str:
    draw_ids = (f"lot-{number}" for number in range(100))
    return next(draw_id for draw_id in draw_ids if is_told(f"template/{TEMPLATE.key}", draw_id, 0.5) is is_warm_one)


@pytest.mark.usefixtures("templates")
@pytest.mark.parametrize("lot_is_warm", [True, False])
def test_auto_begins_warm_by_lot_and_says_so(home: Home, database: Database, tmp_path: Path, lot_is_warm: bool) -> None:
    settings = Settings(model=f"scripted:{tmp_path / 'replies'}")
    request = RunRequest(settings, RunPlace(tmp_path), id=lot_that(lot_is_warm))
    is_warm_now, told = begun(home, database, SessionRequest(request, template=AUTO), tmp_path / "replies")
    assert is_warm_now is lot_is_warm
    assert len(told) == 1
    assert ("starts from the template garden-work" if lot_is_warm else "starts without the template") in told[0]
    assert bool(template_uses(database)) is lot_is_warm
    assert is_drawn(database, since=0.0)


@pytest.mark.usefixtures("templates")
def test_nothing_is_drawn_where_it_is_named(home: Home, database: Database, tmp_path: Path) -> None:
    settings = Settings(model=f"scripted:{tmp_path / 'replies'}")
    asked = SessionRequest(RunRequest(settings, RunPlace(tmp_path), id=lot_that(False)), template="garden-work")
    is_warm_now, told = begun(home, database, asked, tmp_path / "replies")
    assert is_warm_now
    assert not is_drawn(database, since=0.0)
    assert not told


@pytest.mark.usefixtures("templates")
def test_how_a_session_begins_is_said_in_a_line(home: Home, database: Database) -> None:
    choice = chosen(home, database, AUTO, NEED, now=5.0)
    draw = draw_template(database, choice, draw_id=lot_that(False), model="m", now=5.0)
    assert "50 % of sessions do" in beginning(choice, draw, Need())
    none = chosen(home, database, AUTO, Need(task="Translate a poem"), now=5.0)
    assert beginning(none, None, Need()) == "The session starts without a template: no template fits the task."
    named = choice._replace(by="name")
    assert beginning(named, None, Need(tools=("read_file", "terminal"))) == ""
    assert beginning(named, None, Need(tools=("terminal",))).endswith("does not have: read_file.")


@pytest.mark.usefixtures("templates")
def test_a_trial_of_the_model_in_the_settings_counts_in_its_sessions(
    home: Home, database: Database, tmp_path: Path
) -> None:
    """A trial records the model as the settings name it, and not as its provider does."""
    model = f"scripted:{tmp_path / 'replies'}"
    record_worth(database, TemplateEffect(TEMPLATE.key, 0.2, 0.1, 0.3, 40, 4e9, model=model))
    request = RunRequest(Settings(model=model), RunPlace(tmp_path), id=lot_that(True))
    _, told = begun(home, database, SessionRequest(request, template=AUTO), tmp_path / "replies")
    assert "measured effect over 40 cases" in told[0]
