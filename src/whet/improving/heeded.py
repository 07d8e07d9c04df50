"""How the rules in force fared since: did their situation come up, were they told, were they followed?"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from whet.context.finding import find_files, repository_root
from whet.errors import WhetError
from whet.failures.view import gather
from whet.ledger.entries import Item
from whet.ledger.patches import RuleSituation
from whet.lessons.following import Following, SeenRule, count_following, was_followed, was_told
from whet.sessions.transcripts import Purpose, Transcript
from whet.sessions.trust import Trust
from whet.store.canary_counts import deliveries
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.prompts import restore_prompt
from whet.store.recording import SOURCE
from whet.store.rows import Session
from whet.store.session_draws import told_entries
from whet.store.sessions import is_own, load
from whet.targets.project_names import name_of_project
from whet.targets.settings import Target
from whet.targets.settings import load as load_targets
from whet.targets.sync_log import FileTelling, entries_for, load_log
from whet.targets.telling import day_of

BEHIND = frozenset((Purpose.TRIAL, Purpose.REVIEW))


class RuleBooks(NamedTuple):
    """Where it is looked up what sessions were told."""

    database: Database
    targets: tuple[Target, ...]
    log: tuple[FileTelling, ...] = ()


def following(
    home: Home,
    database: Database,
    rules: Iterable[Item],
    *,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> dict[str, Following]:
    """How each rule fared, by its name, in the sessions of its project that began after it came into force."""
    asked, books = tuple(rules), RuleBooks(database, load_targets(home), load_log(home))
    seen: dict[str, list[SeenRule | None]] = {rule.name: [] for rule in asked}
    names: dict[str, str] = {}
    sessions = _since(database, min(rule.since for rule in asked)) if asked else ()
    for number, session in enumerate(sessions, start=1):
        progress(number, len(sessions))
        project = names.setdefault(session.folder, name_of_project(session.folder))
        began = session.started or session.dated
        fitting = [rule for rule in asked if rule.since <= began and rule.scope.project in ("", project)]
        if not fitting:
            continue
        transcript = load(database, session)
        view = gather(transcript)
        for rule in fitting:
            followed = was_followed(situation_of(rule), view)
            told = None if followed is None else _told(books, session, transcript, rule)
            seen[rule.name].append(None if followed is None else SeenRule(followed, told))
    return {name: count_following(found) for name, found in seen.items()}


def situation_of(rule: Item) -> RuleSituation:
    """What a rule is for; of one that a person wrote and that has none on record, what they say in it."""
    if rule.situation == RuleSituation() and rule.trust is Trust.OPERATOR:
        return RuleSituation(said=rule.text)
    return rule.situation


def _since(database: Database, start: float) -> tuple[Session, ...]:
    filters = Filters(since=start)
    every = reversed(list_sessions(database, filters, limit=count_sessions(database, filters)))
    return tuple(each for each in every if each.purpose not in BEHIND and is_own(database, each))


def _told(books: RuleBooks, session: Session, transcript: Transcript, rule: Item) -> bool | None:
    """Whether a rule stood in a session's context; None where nothing tells.

    Whet's own sessions name their prompt. Of others the record may hold what was inserted, the sync log says what stood
    in the files of its agent, and a file that has the rule and was not written since the session began, had it then.
    Where a hook ran at its start, what that told is on record. What none of them told is untold, where one of hook and
    log knows of the session.
    """
    if session.source == SOURCE and session.facts.prompt_key:
        try:
            prompt = restore_prompt(books.database, session.facts.prompt_key)
        except WhetError:
            return None
        return rule.text in prompt.text
    # What a session sent out as a part of its work is not told by the hook itself, and nothing is on record of it.
    by_hook = told_entries(books.database, session.source, session.native_id)
    if by_hook is not None and rule.number in by_hook:
        return True
    delivered = _delivered(books.database, session, rule)
    if delivered is not None:
        return delivered
    by_file = _logged(books, session)
    if by_file is not None and rule.number in by_file:
        return True
    files = (*_files_of(session.folder), *(Path(one.file) for one in books.targets if one.agent == session.source))
    stood = session.started is not None and any(_holds(path, rule.text, session.started) for path in files)
    is_known = by_hook is not None or (by_file is not None and not session.parent_id)
    return True if stood or was_told(rule.text, transcript) else (False if is_known else None)


def _logged(books: RuleBooks, session: Session) -> frozenset[int] | None:
    if session.started is None:
        return None
    return entries_for(books.log, agent=session.source, folder=session.folder, at=session.started)


def _delivered(database: Database, session: Session, rule: Item) -> bool | None:
    """What was written down of a rule that was a canary: whether the file of its agent had it on that day."""
    if session.started is None:
        return None
    day = day_of(session.started)
    for delivery in deliveries(database, rule.number):
        is_reader = session.source in delivery.agents and session.folder.startswith(delivery.project)
        if is_reader and delivery.day == day and delivery.at <= session.started:
            return delivery.told
    return None


def _files_of(folder: str) -> Iterator[Path]:
    """The files for agents in a session's folder, where it is on this machine."""
    if folder and Path(folder).is_dir():
        leaf = Path(folder).resolve()
        root = repository_root(leaf) or leaf
        yield from (root / each.path for each in find_files(leaf))


def _holds(path: Path, text: str, until: float) -> bool:
    try:
        return path.stat().st_mtime <= until and text in path.read_text(errors="replace")
    except OSError:
        return False
