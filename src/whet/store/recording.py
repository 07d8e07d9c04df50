"""Sessions of our own, stored while they happen: each message before anything follows from it; what they were shown.

What they were shown are texts, each in one state: skills that they read, and templates that they began with.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from whet import __version__
from whet.errors import WhetError
from whet.own.runs.run import Ended, Run
from whet.own.told.skills import FILE
from whet.secrets.redactor import Redactor
from whet.sessions.transcripts import Ending, Message, Transcript, Usage, chain, pair, session_id, total
from whet.store.database import Database
from whet.store.records import RecordKind, hash_of, keep_record, record_bodies, restore_prompt
from whet.store.rows import Provenance, Session, add_messages, prepare, row_of, storable
from whet.store.sessions import is_stored, keep, load, own_messages, stored

SOURCE = "whet"
SKILL, TEMPLATE = "skill", "template"  # forms
GROWING = (
    *("ending", "ended", "dated", "head", "message_count"),
    *("input_tokens", "output_tokens", "cached_tokens", "cost_dollars", "facts"),
)
CHANGED = ", ".join(f"{name} = ?" for name in GROWING)

Item = TypeVar("Item")
Clock = Callable[[], float]


def recorded(
    database: Database, run: Run, stream: Iterable[Item], *, secrets: tuple[str, ...] = (), now: Clock = time.time
) -> Iterator[Item]:
    """The stream as it is, each message stored before it is passed on: what follows from it never comes first.

    A run in the stream is the session that continues this one.
    """
    recorder = Recorder(database, run, secrets=secrets, now=now)
    counted = Usage()
    for item in stream:
        if isinstance(item, Message):
            recorder.add(item)
            counted = total((counted, item.usage))
        elif isinstance(item, Ended):
            recorder.end(item, wasted=_wasted(item, counted))
        elif isinstance(item, Run) and item.id != recorder.id:
            with database.writing():  # together: a session that says it goes on elsewhere does
                recorder.end(Ended(Ending.COMPACTED))
                recorder = Recorder(database, item, secrets=secrets, now=now)
            counted = total((counted, *(message.usage for message in item.messages)))
        yield item


class Recorder:
    """The one hand that writes a session. Another hand on the same session is noticed, and nothing is written then."""

    def __init__(self, database: Database, run: Run, *, secrets: tuple[str, ...] = (), now: Clock = time.time) -> None:
        self.id = run.id
        self._database = database
        self._now = now
        self._redactor = Redactor(secrets)
        clean = tuple(self._redactor.message(message) for message in run.messages)
        self._waiting = [exchange.call for exchange in pair(clean).exchanges if exchange.result is None]
        with database.writing():
            session = stored(database, session_id(SOURCE, run.id))
            self._session = self._began(run, clean) if session is None else self._gone_on(session, run, clean)

    def add(self, message: Message) -> None:
        """Store one more message; when this returns, it survives a sudden end of the program or the machine."""
        clean = self._redactor.message(message)
        with self._database.writing():
            self._session = self._added(self._session, clean)

    def end(self, ended: Ended, *, wasted: Usage | None = None) -> None:
        """Say how the session ended, and what it spent on answers that were of no use."""
        session = _counting(self._session, wasted)
        detail = self._redactor.text(ended.detail)
        with self._database.writing():
            self._session = self._written(
                session._replace(
                    ending=ended.ending.value, ended=self._now(), facts=replace(session.facts, ending_detail=detail)
                ),
                self._session.head,
            )
            # How it ended is part of what is found in it, and no new message would tell that it changed.
            self._database.execute("DELETE FROM derived WHERE session = ?", (session.no,))

    def _began(self, run: Run, clean: tuple[Message, ...]) -> Session:
        now = self._now()
        transcript = Transcript(
            source=SOURCE,
            native_id=run.id,
            messages=clean,
            parent=run.parent,
            model=run.model,
            folder=run.folder,
            version=__version__,
            purpose=run.purpose,
            started=now,
            ended=now,
            tools=tuple(definition.name for definition in run.shown),
            usage=Usage(),
        )
        keep(self._database, prepare(transcript), Provenance("", now, now))
        session = self._stored()
        # What it shares with another session was spent there.
        own = total(message.usage for message in clean[session.base_count :])
        facts = replace(
            session.facts,
            usage=None,
            prompt_key=run.prompt_key,
            run_key=_keep_run(self._database, run, now),
            draw_id=run.draw_id,
        )
        return self._written(_counting(session._replace(facts=facts), own), session.head)

    def _gone_on(self, session: Session, run: Run, clean: tuple[Message, ...]) -> Session:
        count = session.message_count
        ids = tuple(chain(clean[:count]))
        if len(ids) < count or (ids and ids[-1] != session.head):
            raise _elsewhere(run.id)
        key = _keep_run(self._database, run, self._now())
        facts = replace(session.facts, ending_detail="", prompt_key=run.prompt_key, run_key=key)
        session = session._replace(ending=Ending.UNKNOWN.value, facts=facts)
        self._waiting = [each.call for each in pair(clean[:count]).exchanges if each.result is None]
        for message in clean[count:]:
            session = self._added(session, message)
        return self._written(session, session.head)

    def _added(self, session: Session, message: Message) -> Session:
        tools = set(self._tools(message))
        row = row_of(message, session.head, tools)
        now = self._now()
        grown = _counting(
            session._replace(head=row.id, message_count=session.message_count + 1, ended=now, dated=now), message.usage
        )
        if is_stored(self._database, row.id):
            return self._joined(session, grown, message)
        self._written(grown, session.head)
        add_messages(self._database, (session.no, session.message_count, (row,)))
        return grown

    def _joined(self, session: Session, grown: Session, message: Message) -> Session:
        """Another session had exactly this history first, so this one now stands on it."""
        before = load(self._database, self._written(session, session.head))
        longer = replace(before, messages=(*before.messages, message))
        keep(self._database, prepare(longer), Provenance("", grown.dated, grown.dated))
        now_stored = self._stored()
        own = grown._replace(no=now_stored.no, base=now_stored.base, base_count=now_stored.base_count)
        return self._written(own, now_stored.head)

    def _tools(self, message: Message) -> Iterator[str]:
        self._waiting += message.calls
        yield from (storable(call.name) for call in message.calls)
        for result in message.results:
            call = next((call for call in self._waiting if call.id == result.call_id), None)
            if call is not None:
                self._waiting.remove(call)
            yield storable(call.name if call else result.tool)

    def _written(self, session: Session, head: bytes) -> Session:
        """Write a session's columns, if it still is where this hand left it."""
        values = session._asdict() | {"facts": msgspec.json.encode(session.facts)}
        found = self._database.query(
            f"UPDATE sessions SET {CHANGED} WHERE no = ? AND head = ? RETURNING no",
            (*(values[each] for each in GROWING), session.no, head),
        )
        if not found:
            raise _elsewhere(self.id)
        return session

    def _stored(self) -> Session:
        session = stored(self._database, session_id(SOURCE, self.id))
        if session is None:
            raise _elsewhere(self.id)
        return session


def restored_run(database: Database, session: Session) -> Run:
    """The run of a stored session of our own, as its last request was made, with all that is stored of it."""
    bodies = record_bodies(database, RecordKind.RUN, session.facts.run_key)
    if not bodies:
        raise WhetError(
            f"The session {session.native_id} cannot be resumed: Whet did not record it.",
            advice="To list sessions that can, run `whet sessions --source whet`.",
        )
    if hash_of(bodies[0]) != session.facts.run_key:
        raise WhetError(f"The session {session.native_id} is damaged in the database.", advice="Start a new one.")
    run = msgspec.json.decode(bodies[0], type=Run)
    system = restore_prompt(database, run.prompt_key).text if run.prompt_key else run.system
    return replace(
        run,
        id=session.native_id,
        parent=session.facts.parent,
        draw_id=session.facts.draw_id,
        system=system,
        messages=own_messages(database, session),
    )


def _keep_run(database: Database, run: Run, now: float) -> str:
    """Store what a run is besides its conversation. Its prompt is stored by its own key; what is not in it, never."""
    system = "" if run.prompt_key else run.system
    bare = replace(run, id="", parent="", draw_id="", messages=(), system=system)
    body = msgspec.json.encode(bare, order="deterministic")
    key = hash_of(body)
    keep_record(database, RecordKind.RUN, key, body, now=now)
    return key


def _wasted(ended: Ended, counted: Usage) -> Usage:
    """What was spent and is in no message: answers that were empty or cut off."""
    spent = ended.spent
    return Usage(
        input=max(spent.input - counted.input, 0),
        output=max(spent.output - counted.output, 0),
        cached=max(spent.cached - counted.cached, 0),
        cost_dollars=None if spent.dollars is None else max(spent.dollars - (counted.cost_dollars or 0.0), 0.0),
    )


def _counting(session: Session, usage: Usage | None) -> Session:
    if usage is None:
        return session
    costs = [cost for cost in (session.cost_dollars, usage.cost_dollars) if cost is not None]
    return session._replace(
        input_tokens=session.input_tokens + usage.input,
        output_tokens=session.output_tokens + usage.output,
        cached_tokens=session.cached_tokens + usage.cached,
        cost_dollars=sum(costs) if costs else None,
    )


def _elsewhere(run_id: str) -> WhetError:
    return WhetError(
        f"The session {run_id} is in use in another process; nothing was stored.",
        advice="Stop the other process, then resume this session.",
    )


class View(NamedTuple):
    """One reading: a file of a skill with the digest of what it held."""

    skill: str
    digest: str
    session: str
    file: str = FILE


class TextUse(NamedTuple):
    """How often a text was shown, to how many sessions, and when last."""

    views: int
    sessions: int
    last: float


def record_view(database: Database, view: View, *, now: float) -> None:
    """Write down that a session read a file of a skill."""
    _record(database, SKILL, *view, now)


def record_use(database: Database, key: str, *, session: str, now: float) -> None:
    """Count that a session began with a template, named by its key: a use is of its examples as they are."""
    _record(database, TEMPLATE, "", key, session, "", now)


def _record(database: Database, *columns: object) -> None:
    database.execute(
        "INSERT INTO shown_texts (form, name, digest, session, file, at) VALUES (?, ?, ?, ?, ?, ?)", columns
    )


def was_read(database: Database, view: View) -> bool:
    """Whether the session read this file in this very state."""
    asked = "form = ? AND name = ? AND digest = ? AND session = ? AND file = ?"
    return bool(database.query(f"SELECT 1 FROM shown_texts WHERE {asked} LIMIT 1", (SKILL, *view)))


def skill_uses(database: Database) -> dict[str, TextUse]:
    """How much each skill is used."""
    return _uses(database, SKILL, "name")


def template_uses(database: Database) -> dict[str, TextUse]:
    """How often each set of examples was used, by its key."""
    return _uses(database, TEMPLATE, "digest")


def _uses(database: Database, form: str, by: str) -> dict[str, TextUse]:
    counted = f"SELECT {by}, count(*), count(DISTINCT session), max(at) FROM shown_texts WHERE form = ? GROUP BY {by}"
    return {key: TextUse(views, sessions, last) for key, views, sessions, last in database.query(counted, (form,))}


def sessions_with(database: Database, key: str) -> frozenset[str]:
    """The sessions that began with a set of examples."""
    rows = database.query("SELECT DISTINCT session FROM shown_texts WHERE form = ? AND digest = ?", (TEMPLATE, key))
    return frozenset(session for (session,) in rows)
