"""Sessions of other agents as they end: imported, analysed, counted for each canary, and good ones made templates.

A template is proposed once a day for a project, and waits for a person.
"""

import os
import time
from collections.abc import Iterator

from whet.changes.author import Author, keep_template
from whet.errors import WhetError
from whet.improving.watch import look
from whet.intake.arrivals import take_spool
from whet.ledger.entries import Actor, Entry
from whet.ledger.origins import PatchBasis, PatchOrigin, PatchWriter
from whet.ledger.patches import Form
from whet.own.examples.mining import WantedTemplate, mine
from whet.own.examples.success import SuccessReason, find
from whet.own.examples.templates import Template, described
from whet.secrets.redactor import secret_values
from whet.sessions.transcripts import Purpose
from whet.sessions.trust import Trust
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.template_files import stored_transcripts
from whet.telling.targets.known_projects import KnownProjects
from whet.trouble.outcomes.view import gather
from whet.work.orders import Done, Steps

DAY = 86_400.0
MOST_SESSIONS = 5  # the newest: it is looked at whenever a session arrives
# A record without failures is no proof, and nobody is asked about what is only likely.
PROOFS = frozenset({SuccessReason.CHECKED, SuccessReason.VERIFIED})


def arrive(home: Home, steps: Steps, body: str) -> Done:  # noqa: ARG001 - it looks at all there is
    """Take in what waits. What was taken in before a crash is not taken in again."""

    def act() -> str:
        with opened(home) as database:
            taken = take_spool(home, database, secrets=secret_values(os.environ), now=time.time())
            refresh(database, progress=lambda _: None)
            look(home, database, now=time.time())
            propose_templates(home, database, now=time.time())
        return f"{taken.report.sessions} sessions from {taken.done} files, {len(taken.kept)} could not be read"

    return Done(steps.do("take in", act, str))


def propose_templates(home: Home, database: Database, *, now: float) -> tuple[Entry, ...]:
    """Let a template wait for each project whose newest proved session shows enough."""
    return tuple(_proposals(home, database, now=now))


def _proposals(home: Home, database: Database, *, now: float) -> Iterator[Entry]:
    known = [each for each in ledger_of(home, database).entries() if each.patch.form is Form.TEMPLATE]
    shown = {proof.session for entry in known for proof in entry.patch.proofs}
    done = {(entry.patch.origin.named, entry.patch.origin.place) for entry in known if now - entry.at < DAY}
    wanted, projects = WantedTemplate(), KnownProjects(database)
    recent = Filters(purpose=Purpose.CHAT, since=now - DAY)
    for transcript in stored_transcripts(database, recent, limit=MOST_SESSIONS):
        place = (transcript.source, projects.shown(projects.identity(transcript.folder)))
        warrant = None if place in done or transcript.id in shown else find(gather(transcript)).warrant
        if warrant is None or warrant.ground not in PROOFS:
            continue
        mined = mine([transcript], wanted)
        if not mined.examples:
            continue
        name = f"{mined.activity}-{transcript.id[:6]}"
        made = Template(name, mined.examples, mined.activity, described(mined.examples), created=now)
        origin = PatchOrigin(PatchWriter.POLICY, place[0], PatchBasis.WENT_WELL, place=place[1])
        author = Author(home, database, Actor.WATCH, Trust.EXTERNAL, now, transcript.id, origin)
        try:
            yield keep_template(author, made)
        except WhetError:  # refused before, there already, or too much waits
            continue
        done.add(place)
