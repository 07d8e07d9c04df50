"""The store of a home for programs: sessions, search, rules and lessons behind one object."""

import os
from contextlib import ExitStack
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

from whet.improving.learned import LessonScope, lessons_of
from whet.ledger.entries import Item
from whet.lessons.record import Lesson
from whet.own.examples.templates import Template
from whet.sessions.transcripts import Transcript
from whet.store import search, template_files
from whet.store.analyses import refresh
from whet.store.home import find_home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, find, list_sessions
from whet.store.opening import opened
from whet.store.rows import Session
from whet.store.search import Hit
from whet.store.sessions import load
from whet.store.troubles import session_troubles, trouble_of_session
from whet.trouble.values import SessionTrouble

EVERYTHING = 1 << 31


class SessionFilters(TypedDict, total=False):
    """Which sessions to use: all given filters must match. A time is a datetime, or seconds since 1970.

    >>> import whet
    >>> desk: whet.SessionFilters = {"source": "openai", "tool": "refund_order"}
    >>> with whet.Store() as store:
    ...     print([session.native_id for session in store.sessions(**desk)])
    ['desk-2026-03-03-0117']
    """

    source: str  # the agent, such as claude-code
    model: str  # a part of the model's name
    folder: str  # the working folder or one above it
    tool: str  # a tool that was used
    purpose: str  # chat, subtask, job, trial or review
    since: datetime | float
    until: datetime | float


class Store:
    """What Whet keeps in a home folder: opened by `Store()`, closed at the end of a `with` block or by `close()`.

    `home` is the folder; by default the one that the commands use (`WHET_HOME`, or `~/.whet`). `WHET_DATABASE_URL`
    names a Postgres database, as for the commands. `whet import` fills the store.

    >>> import whet
    >>> with whet.Store() as store:
    ...     for session in store.sessions(source="openai", limit=1):
    ...         print(session.native_id, len(store.transcript(session.id).messages))
    desk-2026-03-03-0121 10
    """

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        self._home = find_home(os.environ if home is None else {**os.environ, "WHET_HOME": os.fspath(home)})
        self._closing = ExitStack()
        self._database = self._closing.enter_context(opened(self._home))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; the store cannot be used afterwards."""
        self._closing.close()

    def sessions(self, *, limit: int | None = None, **filters: Unpack[SessionFilters]) -> list[Session]:
        """List the sessions that match, newest first, without their messages; like `whet sessions --all`, every one.

        >>> import whet
        >>> with whet.Store() as store:
        ...     print([session.title for session in store.sessions(source="opencode")])
        ['Nights counted one too many']
        """
        return list_sessions(self._database, _filters(filters), limit=EVERYTHING if limit is None else limit)

    def search(self, text: str, *, role: str = "", limit: int = 20, **filters: Unpack[SessionFilters]) -> list[Hit]:
        """Find messages that contain all the words, best match first: words, "phrases in quotes", begin*, -without.

        `role` is user, agent, tool or system; every role by default.

        >>> import whet
        >>> with whet.Store() as store:
        ...     print(store.search("clock change", role="user", limit=1)[0].source)
        claude-code
        """
        return search.search(self._database, text, filters=_filters(filters), role=role, limit=limit)

    def transcript(self, id: str) -> Transcript:
        """Load a session with its messages by its id or a unique start of it; raises `WhetError` if there is none.

        >>> import whet
        >>> with whet.Store() as store:
        ...     print(store.transcript("desk-2026-03-03-0121").source)
        openai
        """
        return load(self._database, find(self._database, id))

    def rules(self) -> tuple[Item, ...]:
        """List the active rules, oldest first.

        >>> import whet
        >>> with whet.Store() as store:
        ...     print([rule.text for rule in store.rules()])
        ['Read a file before you change it.']
        """
        return ledger_of(self._home, self._database).state().rules

    def lessons(self, **filters: Unpack[SessionFilters]) -> tuple[Lesson, ...]:
        """List what sessions teach, as `whet lessons` does. New sessions are analysed before that.

        >>> import whet
        >>> with whet.Store() as store:
        ...     print([(lesson.id, lesson.sessions) for lesson in store.lessons(source="claude-code")])
        [('082645f4', 12), ('9467f71f', 1)]
        """
        self._refresh()
        return lessons_of(self._home, self._database, LessonScope(_filters(filters)))

    def troubles(self, **filters: Unpack[SessionFilters]) -> tuple[SessionTrouble, ...]:
        """List where the time of each session went that bought nothing, oldest first: to be counted and compared.

        Sessions that only repeat others, attempts of trials and reviews are not among them, and neither is what people
        said: see `trouble`. New sessions are analysed before that.

        >>> import whet
        >>> with whet.Store() as store:
        ...     print([len(session.troubles) for session in store.troubles(source="codex")])
        [2]
        """
        self._refresh()
        return tuple(each.trouble for each in session_troubles(self._database, _filters(filters)))

    def trouble(self, id: str) -> SessionTrouble:
        """Load the trouble of one session by its id or a unique start of it, with what people said in it.

        >>> import whet
        >>> with whet.Store() as store:
        ...     [session] = store.sessions(source="codex")
        ...     print([(event.kind.value, event.message) for event in store.trouble(session.id).interventions])
        [('interrupt', 16)]
        """
        self._refresh()
        session = find(self._database, id)
        return trouble_of_session(self._database, session) or SessionTrouble(session.id)

    def _refresh(self) -> None:
        # In this process alone: others would begin by running the caller's own program again.
        refresh(self._database, progress=lambda _: None, processors=1)

    def template(self, name: str) -> Template:
        """Load a template of the home by name, for `warm_start`; raises `WhetError` if there is none.

        >>> import whet
        >>> with whet.Store() as store:
        ...     print(store.template("support").tools)
        ('check_address', 'get_order', 'set_address')
        """
        return template_files.load(self._home.folder, name)


def _filters(given: SessionFilters) -> Filters:
    """The filters of the store; a name that is none of them is a TypeError, as with any argument."""
    plain: dict[str, Any] = {**given}
    seconds = {name: moment.timestamp() for name, moment in plain.items() if isinstance(moment, datetime)}
    return Filters(**{**plain, **seconds})
