"""How the rules in force fared since: did their situation come up, were they told, were they followed?"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from whet.errors import WhetError
from whet.improving.live_sessions import where_of
from whet.ledger.entries import Item
from whet.ledger.holding import holds
from whet.ledger.patches import RuleSituation
from whet.lessons.following import (
    Following,
    RuleFinding,
    SeenRule,
    count_following,
    followed_after,
    situation_of,
    was_followed,
    was_told,
)
from whet.sessions.transcripts import OWN_PURPOSES
from whet.store.analyses import note_breaks
from whet.store.canary_counts import deliveries, reminders, told_entries
from whet.store.database import Database
from whet.store.derived import TEACHING, code_version
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.recording import SOURCE
from whet.store.records import restore_prompt
from whet.store.rows import Session
from whet.store.sessions import is_own, load
from whet.store.teachings import keep_findings, kept_findings
from whet.telling.context.finding import find_files
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import repository_root
from whet.telling.targets.settings import Target, is_shown
from whet.telling.targets.settings import load as load_targets
from whet.telling.targets.sync import FileTelling, day_of, entries_for, load_log
from whet.trouble.course import Break
from whet.trouble.outcomes.view import SessionView, gather

BATCH = 50
KEY_BYTES = 12


class AskedRule(NamedTuple):
    """A rule that is looked for, and the key under which what is found of it is kept."""

    rule: Item
    key: str


class ToldRecords(NamedTuple):
    """Where it is looked up what sessions were told."""

    database: Database
    targets: tuple[Target, ...]
    log: tuple[FileTelling, ...]
    reminded: frozenset[tuple[str, str, int]]


def following(home: Home, database: Database, rules: Iterable[Item]) -> dict[str, Following]:
    """How each rule fared, by its name, in the sessions of its project that began after it came into force."""
    found = seen_rules(home, database, rules)
    return {name: count_following(seen) for name, seen in found.items()}


def seen_rules(
    home: Home,
    database: Database,
    rules: Iterable[Item],
    *,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> dict[str, tuple[SeenRule, ...]]:
    """What became of each rule, by its name, in each of those sessions, the oldest first."""
    asked = tuple(AskedRule(rule, key_of(rule)) for rule in rules)
    records = ToldRecords(database, load_targets(home), load_log(home), reminders(database))
    seen: dict[str, list[SeenRule]] = {rule.name: [] for rule, _ in asked}
    sessions = _since(database, min(rule.since for rule, _ in asked)) if asked else ()
    standing = {*map(key_of, ledger_of(home, database).state().rules), *(key for _, key in asked)}
    breaks: dict[str, list[Break]] = {}
    for number, (session, fitting, findings) in enumerate(_found(database, sessions, asked, standing), start=1):
        progress(number, len(sessions))
        for rule, key in fitting:
            one = _seen(records, session, rule, findings[key])
            seen[rule.name].append(one)
            if one.told and one.followed is False:
                breaks.setdefault(session.id, []).extend(Break(rule.text, at) for at in findings[key].broken)
    note_breaks(database, [each for each in sessions if breaks.get(each.id)], breaks)
    return {name: tuple(found) for name, found in seen.items()}


def key_of(rule: Item) -> str:
    """What a finding depends on besides its session: the rule's situation, its words, and how it is looked for."""
    body = msgspec.json.encode((code_version(*TEACHING), situation_of(rule), rule.text))
    return hashlib.blake2b(body, digest_size=KEY_BYTES).hexdigest()


def _found(
    database: Database, sessions: Sequence[Session], asked: Sequence[AskedRule], standing: set[str]
) -> Iterator[tuple[Session, list[AskedRule], dict[str, RuleFinding]]]:
    """Each session with the rules that hold in it and what is found of them: kept, or found now and kept."""
    projects = KnownProjects(database)
    for start in range(0, len(sessions), BATCH):
        batch = sessions[start : start + BATCH]
        kept = kept_findings(database, batch)
        fresh: list[tuple[Session, dict[str, RuleFinding]]] = []
        for session in batch:
            where, began = where_of(session, projects.identity(session.folder)), session.started or session.dated
            fitting = [one for one in asked if one.rule.since <= began and holds(one.rule.scope, where)]
            findings = kept.get(session.no, {})
            missing = [one for one in fitting if one.key not in findings]
            if missing:
                findings = {**findings, **_look(database, session, missing)}
                fresh.append((session, {key: each for key, each in findings.items() if key in standing}))
            yield session, fitting, findings
        keep_findings(database, fresh)


def _look(database: Database, session: Session, rules: Iterable[AskedRule]) -> dict[str, RuleFinding]:
    transcript = load(database, session)
    view = gather(transcript)
    found: dict[str, RuleFinding] = {}
    for rule, key in rules:
        situation = situation_of(rule)
        followed = was_followed(situation, view)
        after = None if followed is None else followed_after(situation, view)
        is_in_record = followed is not None and was_told(rule.text, transcript)
        broken = tuple(_broken(situation, view)) if followed is False else ()
        found[key] = RuleFinding(followed, after, is_in_record, broken)
    return found


def _broken(situation: RuleSituation, view: SessionView) -> Iterator[int]:
    """The messages whose calls go against a rule, each call looked at by itself."""
    asked: set[int] = set()
    for step in view.steps:
        alone = SessionView(view.transcript, (step,), ())
        if step.exchange.asked not in asked and was_followed(situation, alone) is False:
            asked.add(step.exchange.asked)
            yield step.exchange.asked


def _seen(records: ToldRecords, session: Session, rule: Item, finding: RuleFinding) -> SeenRule:
    if finding.followed is None:
        return SeenRule(session=session.id)
    if (session.source, session.native_id, rule.number) in records.reminded:
        followed = finding.followed if finding.after is None else finding.after
        return SeenRule(followed, told=True, is_reminded=True, session=session.id)
    return SeenRule(finding.followed, _told(records, session, rule, finding), session=session.id)


def _since(database: Database, start: float) -> tuple[Session, ...]:
    filters = Filters(since=start)
    every = reversed(list_sessions(database, filters, limit=count_sessions(database, filters)))
    return tuple(each for each in every if each.purpose not in OWN_PURPOSES and is_own(database, each))


def _told(records: ToldRecords, session: Session, rule: Item, finding: RuleFinding) -> bool | None:
    """Whether a rule stood in a session's context; None where nothing tells.

    Whet's own sessions name their prompt. Of others the record may hold what was inserted, the sync log says what stood
    in the files of its agent, and a file that has the rule and was not written since the session began, had it then.
    Where a hook ran at its start, what that told is on record. What none of them told is untold, where one of hook and
    log knows of the session.
    """
    if session.source == SOURCE and session.facts.prompt_key:
        try:
            prompt = restore_prompt(records.database, session.facts.prompt_key)
        except WhetError:
            return None
        return rule.text in prompt.text
    # What a session sent out as a part of its work is not told by the hook itself, and nothing is on record of it.
    by_hook = told_entries(records.database, session.source, session.native_id)
    if by_hook is not None and rule.number in by_hook:
        return True
    delivered = _delivered(records.database, session, rule)
    if delivered is not None:
        return delivered
    by_file = None
    if session.started is not None:
        by_file = entries_for(records.log, agent=session.source, folder=session.folder, at=session.started)
    if by_file is not None and rule.number in by_file:
        return True
    files = [
        Path(one.file)
        for one in records.targets
        if is_shown((one.agent,), one.project, agent=session.source, folder=session.folder)
    ]
    if session.folder and Path(session.folder).is_dir():  # on this machine
        leaf = Path(session.folder).resolve()
        root = repository_root(leaf) or leaf
        files += (root / each.path for each in find_files(leaf))
    stood = session.started is not None and any(_holds(path, rule.text, session.started) for path in files)
    is_known = by_hook is not None or (by_file is not None and not session.parent_id)
    return True if stood or finding.is_in_record else (False if is_known else None)


def _delivered(database: Database, session: Session, rule: Item) -> bool | None:
    """What was written down of a rule that was a canary: whether the file of its agent had it on that day."""
    if session.started is None:
        return None
    day = day_of(session.started)
    for delivery in deliveries(database, rule.number):
        is_reader = is_shown(delivery.agents, delivery.project, agent=session.source, folder=session.folder)
        if is_reader and delivery.day == day and delivery.at <= session.started:
            return delivery.told
    return None


def _holds(path: Path, text: str, until: float) -> bool:
    try:
        return path.stat().st_mtime <= until and text in path.read_text(errors="replace")
    except OSError:
        return False
