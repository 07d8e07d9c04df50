"""Sessions read from files, whatever agent wrote them: how their calls ended, and where their time went."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from whet.agents.formats.source import Skipped
from whet.intake.reading import named_files, read_transcripts
from whet.lessons.statements.audit import Audit
from whet.sessions.transcripts import Transcript
from whet.shipped.data import list_price
from whet.shipped.kinds import known_troubles
from whet.store.home import Home, find_home, holds
from whet.telling.context.auditing import audit_folder
from whet.trouble.finding import find_trouble
from whet.trouble.outcomes import view
from whet.trouble.outcomes.view import Analysis
from whet.trouble.values import SessionTrouble


def audit(folder: str | Path) -> Audit:
    """Split the files that agents read in a folder into statements, and show what the repository says of each.

    Needs no home, no sessions and no network. A statement without findings cannot be told.

    >>> import whet
    >>> found = whet.audit("examples/audited")
    >>> [(each.statement.line, each.words, each.findings[0].instead) for each in found.faulty]
    [(5, 'wrong', 'settings.yaml')]
    """
    return audit_folder(Path(folder))


def read(path: str | os.PathLike[str], *more: str | os.PathLike[str]) -> Iterator[Transcript | Skipped]:
    """Read sessions from files, folders and globs, one at a time, in any format that Whet knows.

    What cannot be read is returned as `Skipped` with the reason, and reading continues. Files are opened read-only;
    nothing is stored, and secrets are not removed: see `redact`. A path that does not exist raises `WhetError`.

    >>> import whet
    >>> for session in whet.read("examples/sessions/openai", "README.md"):
    ...     print(session.reason if isinstance(session, whet.Skipped) else session.native_id)
    desk-2026-03-03-0117
    desk-2026-03-03-0121
    not a session of a known format
    """
    return _transcripts(list(named_files(os.fspath(each) for each in (path, *more))))


def _transcripts(files: Iterable[Path]) -> Iterator[Transcript | Skipped]:
    for file in files:
        # Reading the live database, even once, would drop the locks that an open `Store` holds on it.
        if any(holds(home, file) for home in (find_home(os.environ), Home(file.parent))):
            yield Skipped(path=str(file), reason="Whet's own database")
        else:
            yield from read_transcripts(file)


def analyse(transcript: Transcript) -> Analysis:
    """Judge every call of a session.

    Needs no model and no network. Where the time went is what `troubles` tells.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> found = whet.analyse(session)
    >>> found.calls["failed"]
    2
    """
    return view.analyse(transcript)


def troubles(transcript: Transcript) -> SessionTrouble:
    """Find the stretches of a session that bought nothing, what each cost, and when people stepped in.

    Needs no model and no network. What a stretch cost is an upper bound: some of it may have been worth it.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> found = whet.troubles(session)
    >>> [(one.kind, one.first, one.last, one.subject) for one in found.troubles]
    [('slip', 10, 15, 'python'), ('corrected', 13, 16, '')]
    >>> found.interventions[0].words
    'Stop repeating it. You wrote /observation, the notes you found say observations.'
    """
    return find_trouble(transcript, price=list_price, kinds=known_troubles())
