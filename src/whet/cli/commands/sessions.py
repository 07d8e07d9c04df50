"""whet sessions and whet forget: list sessions, and remove them, for now or for good."""

import time
from typing import NamedTuple

import click

from whet.cli.analysed import active_rule, bring_up_to_date, look_at_rules
from whet.cli.options import CommandList, filter_options, json_command, one_name, own_store, temporary_option
from whet.cli.output import give, moment, plain
from whet.cli.shown.sessions import among_them, left_out, none_found, project_of_session, session_record
from whet.errors import WhetError
from whet.sessions.transcripts import Purpose
from whet.store import sessions
from whet.store.analyses import analysis_of
from whet.store.database import Database
from whet.store.ledger import ledger_of
from whet.store.left_out import never_again
from whet.store.listing import Filters, count_sessions, count_temporary, find, list_sessions
from whet.store.rows import Session
from whet.store.session_facts import count_copies
from whet.store.troubles import session_troubles, trouble_of_session
from whet.telling.targets.known_projects import KnownProjects
from whet.text.words import many, short
from whet.trouble.outcomes.view import Analysis
from whet.trouble.overview import duration
from whet.trouble.values import SessionTrouble


class SessionRow(NamedTuple):
    """A session with what is known of it, and its project: its identity, and as people read it."""

    session: Session
    analysis: Analysis | None
    trouble: SessionTrouble | None
    project: str
    place: str

    @property
    def tokens(self) -> int:
        copied = self.analysis.copied.tokens if self.analysis else 0
        return self.session.input_tokens + self.session.output_tokens - copied

    @property
    def lost_seconds(self) -> float | None:
        return self.trouble.lost_seconds if self.trouble and self.trouble.is_timed else None


SESSIONS: CommandList[SessionRow] = CommandList(
    {
        "id": lambda row: row.session.id[:8],
        "agent": lambda row: row.session.source,
        "project": lambda row: row.place if row.session.folder else "–",
        "lost": lambda row: "–" if row.lost_seconds is None else duration(row.lost_seconds),
        "stepped in": lambda row: row.trouble.times_stepped_in if row.trouble else "–",
        "ended": lambda row: moment(row.session.dated),
        "messages": lambda row: row.session.message_count,
        "tokens": lambda row: short(row.tokens) if row.tokens > 0 else "–",
        "model": lambda row: row.session.model or "–",
        "title": lambda row: ("↳ " if row.session.parent_id else "") + (row.session.title or "–"),
    },
    numbers=("lost", "stepped in", "messages", "tokens"),
    spare=("model", "tokens", "messages", "ended", "agent", "project", "stepped in"),
)
EVERYTHING = 1 << 31
SORTS = ("newest", "lost", "stepped-in")


@json_command("sessions", epilog="Example: whet sessions --source codex --since 7d")
@filter_options
@click.option(
    "--purpose", type=click.Choice([purpose.value for purpose in Purpose]), help="Only sessions of this purpose."
)
@click.option("--rule", "rule_name", metavar="NAME", help="Only sessions in the situation of this active rule.")
@click.option("--sort", default=SORTS[0], show_default=True, type=click.Choice(SORTS), help="What comes first.")
@temporary_option
@click.option(
    "--all", "everything", is_flag=True, help="Include attempts of trials, reviews, and sessions in temporary folders."
)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Maximum number to list.")
def sessions_command(
    filters: Filters,
    purpose: str | None,
    rule_name: str | None,
    sort: str,
    temporary: bool,
    everything: bool,
    limit: int,
) -> int:
    """List sessions, newest first, with the time of each that bought nothing and how often somebody stepped in.
    Attempts of trials, reviews, and sessions in temporary folders are left out; `whet show ID` shows each of them.
    """
    wanted = filters._replace(purpose=purpose or "")
    # The sessions of a rule are listed wherever they ran.
    listed = wanted._replace(
        without_own_work=not everything, without_temporary=not (temporary or everything or rule_name)
    )
    with own_store() as (home, database):
        bring_up_to_date(database)
        every, hidden, copies = _sorted(database, listed, sort), (0, 0), 0
        if rule_name:
            rule = active_rule(ledger_of(home, database).state(), rule_name)
            seen = look_at_rules(database, home, [rule])[rule.name]
            ids = {each.session for each in seen if each.followed is not None}
            every = [session for session in every if session.id in ids]
        else:
            hidden, copies = _left_out(database, listed), count_copies(database, listed)
        found, total = every[:limit], len(every)
        known = KnownProjects(database)
        rows = [
            SessionRow(
                each, analysis_of(database, each), trouble_of_session(database, each), project, known.short(project)
            )
            for each, project in ((each, known.identity(each.folder)) for each in found)
        ]
    record = {
        "total": total,
        "copies": copies,
        "in_temporary_folders": hidden[0],
        "sessions": list(map(_session_record, rows)),
    }
    unseen = left_out(hidden[0], own_work=hidden[1])
    none = none_found(unseen, is_narrowed=any(wanted) or bool(rule_name or total))
    more = " To list more, use --limit." if total > len(found) else ""
    next_step = "Next: `whet show ID`, or `whet show ID --dearest` for where it lost most."
    told = f"[dim]{many(total, 'session')}{among_them(copies)}.{f' {unseen}' if unseen else ''}{more} {next_step}[/]"
    return give(record, SESSIONS.lines(rows, told, none=none))


def _left_out(database: Database, filters: Filters) -> tuple[int, int]:
    """How many sessions in temporary folders and of trials and reviews are not listed, each counted once."""
    every = count_sessions(database, filters._replace(without_own_work=False, without_temporary=False))
    temporary = count_temporary(database, filters)
    return temporary, every - temporary - count_sessions(database, filters)


def _sorted(database: Database, filters: Filters, sort: str) -> list[Session]:
    """The sessions that match in the order that is asked for; where two are alike, the newest first."""
    every = list_sessions(database, filters, limit=EVERYTHING)
    if sort == SORTS[0]:
        return every
    found = {each.trouble.session: each.trouble for each in session_troubles(database, filters)}
    none = SessionTrouble("")

    def amount(session: Session) -> float:
        trouble = found.get(session.id, none)
        return trouble.lost_seconds if sort == "lost" else trouble.times_stepped_in

    return sorted(every, key=amount, reverse=True)


def _session_record(row: SessionRow) -> dict[str, object]:
    lost, trouble, analysis = row.lost_seconds, row.trouble, row.analysis
    return {
        **session_record(row.session),
        "project": project_of_session(row.session.folder, row.project) or None,
        "agent_seconds": trouble.agent_seconds if trouble and trouble.is_timed else None,
        "lost_seconds": None if lost is None else round(lost, 1),
        "interventions": trouble.times_stepped_in if trouble else None,
        "copied_tokens": None if analysis is None else analysis.copied.tokens,
    }


GONE = "No import brings them back. To allow one again, take it out of forgotten.json in the home, and touch its file."


@json_command("forget", epilog="Example: whet forget 3fa9c1 --never --yes")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--source", callback=one_name, help="All sessions of this agent.")
@click.option("--never", "is_never", is_flag=True, help="Never import these sessions again on this machine.")
@click.option("--everyone", is_flag=True, help="In a team: delete what other members imported too.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def forget_command(ids: tuple[str, ...], source: str | None, is_never: bool, everyone: bool, yes: bool) -> int:
    """Delete sessions, and everything that only they contain, from the database. The agents' own files are not touched;
    importing them again restores the sessions, unless --never is given.
    """
    if bool(ids) == bool(source):
        raise WhetError("Name either sessions or a source.", advice="whet forget ID, or whet forget --source codex")
    with own_store() as (home, database):
        named = _named(database, ids, source or "")
        others = [each for each in named if not sessions.is_own(database, each)]
        if others and not everyone and (ids or others == named):
            raise WhetError(
                f"{_whose(others)}, so nothing was deleted.", advice="To delete what others imported, add --everyone."
            )
        chosen = named if everyone else [each for each in named if each not in others]
        if not yes:
            click.confirm(_question(chosen, others if everyone else [], is_never=is_never), abort=True, err=True)
        if is_never:
            never_again(home, chosen, now=time.time())
        with database.writing():
            removed = sum(sessions.forget(database, session.id) for session in chosen)
    lines = [f"Deleted {many(len(chosen), 'session')} and {many(removed, 'message')} that no other session contains."]
    if others and not everyone:
        lines.append(f"{_whose(others)} and stayed; --everyone deletes what others imported too.")
    lines.append(GONE if is_never else "[dim]Importing their files again brings them back; --never keeps them out.[/]")
    record = {"forgotten": [session.id for session in chosen], "messages": removed, "never": is_never}
    return give(record, lines)


def _named(database: Database, ids: tuple[str, ...], source: str) -> list[Session]:
    if ids:
        return [find(database, each) for each in ids]
    found = list_sessions(database, Filters(source=source), limit=EVERYTHING)
    if not found:
        raise WhetError(f"No session has the source {source}.", advice="To list the agents, run `whet sessions`.")
    return found


def _whose(others: list[Session]) -> str:
    """Whose sessions they are: 3 sessions are of alice and bob."""
    makers = " and ".join(sorted({each.maker for each in others}))
    return f"{many(len(others), 'session')} {'is' if len(others) == 1 else 'are'} of {plain(makers)}"


def _question(chosen: list[Session], others: list[Session], *, is_never: bool) -> str:
    counted = f"{many(len(chosen), 'session')} with {many(sum(each.message_count for each in chosen), 'message')}"
    whose = f" ({_whose(others)})" if others else ""
    return f"Delete {counted}{whose}{', and never import it again' if is_never else ''}?"
