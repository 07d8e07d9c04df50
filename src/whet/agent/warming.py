"""A session begun warm: the template chosen, its examples put before the first message, the use counted."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.template_files import load, record_use, usable, worths
from whet.template_choice import Choice, Need, choose
from whet.transcripts import Message
from whet.warm_starts import warm_start

AUTO = "auto"


class Warmed(NamedTuple):
    """The messages to begin with, and which template they begin with, and why."""

    messages: tuple[Message, ...]
    choice: Choice


def chosen(home: Home, database: Database, wanted: str, need: Need, *, now: float) -> Choice:
    """The template of a name, or with `auto` the one that is measured or fits best; none is an answer."""
    if wanted != AUTO:
        return Choice(load(home.folder, wanted), "name", "it was asked for by its name")
    return choose(usable(home.folder), worths(database), need, now=now)


def warmed(messages: Sequence[Message], choice: Choice) -> Warmed:
    """The messages after the template's examples; as they are where none was chosen."""
    if choice.template is None:
        return Warmed(tuple(messages), choice)
    return Warmed(warm_start(choice.template, messages, words()), choice)


def count_use(database: Database, choice: Choice, *, session: str, now: float) -> None:
    """Count that the session began with the template; called when it is really begun."""
    if choice.template is not None:
        record_use(database, choice.template, session=session, now=now)
