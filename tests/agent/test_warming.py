"""A session begun warm: chosen, placed and counted."""

from pathlib import Path

import pytest

from conversations import program, user
from samples_of_templates import TEMPLATE
from whet.agent.warming import AUTO, chosen, count_use, warmed
from whet.errors import WhetError
from whet.store.database import Database
from whet.store.home import Home
from whet.store.template_files import record_worth, uses
from whet.template_choice import Need, Worth
from whet.templates import written
from whet.warm_starts import cold, is_warm

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
    assert (choice.by, begun.choice) == ("name", choice)
    assert is_warm(begun.messages)
    assert cold(begun.messages) == MESSAGES
    count_use(database, choice, session="s", now=6.0)
    assert uses(database)[TEMPLATE.key].sessions == 1


@pytest.mark.usefixtures("templates")
def test_auto_takes_what_fits_or_was_measured_or_nothing(home: Home, database: Database) -> None:
    assert chosen(home, database, AUTO, NEED, now=5.0).by == "fit"
    record_worth(database, Worth(TEMPLATE.key, 0.2, 0.1, 0.3, 40, 4.0))
    assert chosen(home, database, AUTO, NEED, now=5.0).by == "measured"
    none = chosen(home, database, AUTO, Need(task="Translate a poem"), now=5.0)
    assert warmed(MESSAGES, none).messages == MESSAGES
    count_use(database, none, session="s", now=6.0)
    assert uses(database) == {}


def test_a_name_that_is_not_there_is_said(home: Home, database: Database) -> None:
    with pytest.raises(WhetError, match="no template"):
        chosen(home, database, "missing", NEED, now=5.0)
