"""whet sessions: list sessions."""

import os
from pathlib import Path, PureWindowsPath

import click

from whet.cli.analysed import active_rule, bring_up_to_date, look_at_rules
from whet.cli.options import filter_options, filters_of, json_option, purpose_option
from whet.cli.output import console, many, moment, print_json, say, table
from whet.cli.shown.records import session_record
from whet.context.finding import repository_root
from whet.errors import WhetError
from whet.failures.analysis import Analysis
from whet.lessons.following import Fared, is_among
from whet.store.analyses import analysis_of
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.opening import opened
from whet.store.rows import Session
from whet.text.amounts import short

HEADINGS = ("id", "agent", "project", "score", "ended", "messages", "tokens", "model", "title")
SPARE = ("model", "tokens", "messages", "ended", "agent", "project", "score")

NONE_MATCH = "No sessions match. To see all of them, run `whet sessions` without filters."


@click.command(
    "sessions",
    epilog="Example: whet sessions --source codex --since 7d",
    help="List sessions, newest first, with the project and the failure score of each, from 0 to 1. Attempts of trials "
    "and reviews are left out.",
)
@filter_options
@purpose_option
@click.option("--rule", "rule_name", metavar="NAME", help="Only sessions in the situation of this active rule.")
@click.option(
    "--fared",
    type=click.Choice([each.value for each in Fared]),
    help="With --rule: the sessions behind this count of `rules show`.",
)
@click.option("--all", "everything", is_flag=True, help="Include attempts of trials and reviews.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Maximum number to list.")
@click.option("--page", default=1, show_default=True, type=click.IntRange(min=1), help="Page to show.")
@json_option
def command(
    source: str | None,
    model: str | None,
    folder: str | None,
    tool: str | None,
    since: str | None,
    until: str | None,
    purpose: str | None,
    rule_name: str | None,
    fared: str | None,
    everything: bool,
    limit: int,
    page: int,
    as_json: bool,
) -> int:
    wanted = filters_of(source, model, folder, tool, since, until)._replace(purpose=purpose or "")
    filters = wanted._replace(without_own_work=not everything)
    if fared and not rule_name:
        raise WhetError("--fared needs --rule.", advice="To list the rules, run `whet rules`.")
    home, start = find_home(os.environ), (page - 1) * limit
    with opened(home) as database:
        bring_up_to_date(database)
        if rule_name:
            behind = _of_rule(database, home, filters, rule_name, Fared(fared or Fared.SITUATION))
            found, total, stored = behind[start : start + limit], len(behind), len(behind)
        else:
            found = list_sessions(database, filters, limit=limit, offset=start)
            total, stored = count_sessions(database, filters), count_sessions(database, wanted)
        analyses = {session.no: analysis_of(database, session) for session in found}
    if as_json:
        print_json({"total": total, "sessions": [_record(each, analyses[each.no]) for each in found]})
        return 0
    left = stored - total
    hidden = f" {many(left, 'session')} of trials and reviews {'is' if left == 1 else 'are'} left out (--all)."
    hidden = hidden if left else ""
    if not found:
        is_narrow = stored or any(wanted) or rule_name
        none = NONE_MATCH if is_narrow else "No sessions yet. To import them, run `whet import`."
        say(f"{none}{hidden}")
        return 0
    rows = [_row(session, analyses[session.no]) for session in found]
    console().print(table(HEADINGS, rows, numbers=("score", "messages", "tokens"), spare=SPARE))
    more = " To list more, use --limit or --page." if total > len(found) else ""
    next_step = "Next: `whet show ID`, or `whet signals ID` for what went wrong."
    say(f"[dim]{many(total, 'session')}.{hidden}{more} {next_step}[/]")
    return 0


def _of_rule(database: Database, home: Home, filters: Filters, name: str, fared: Fared) -> list[Session]:
    """The sessions that a count of a rule counts, as far as the filters let them through, the newest first."""
    rule = active_rule(database, home, name)
    seen = look_at_rules(database, home, [rule])[rule.name]
    ids = {each.session for each in seen if is_among(each, fared)}
    every = list_sessions(database, filters, limit=count_sessions(database, filters))
    return [session for session in every if session.id in ids]


def _row(session: Session, analysis: Analysis | None) -> tuple[object, ...]:
    score = _score(analysis)
    return (
        session.id[:8],
        session.source,
        project_of_session(session.folder) or "–",
        "–" if score is None else f"{score:.2f}",
        moment(session.dated),
        session.message_count,
        short(tokens) if (tokens := session.input_tokens + session.output_tokens) else "–",
        session.model or "–",
        ("↳ " if session.parent_id else "") + (session.title or "–"),
    )


def _record(session: Session, analysis: Analysis | None) -> dict[str, object]:
    return {
        **session_record(session),
        "project": project_of_session(session.folder) or None,
        "failure_score": _score(analysis),
        "cannot_tell": None if analysis is None else analysis.cannot_tell,
    }


def _score(analysis: Analysis | None) -> float | None:
    """The failure score, where the record can tell."""
    return None if analysis is None or analysis.cannot_tell else analysis.failure_score


def project_of_session(folder: str) -> str:
    """The repository that a session worked in, by the name of its root; where there is none here, the folder's name."""
    if not folder:
        return ""
    path = Path(folder)
    root = repository_root(path) if path.is_absolute() else None  # another system's folder is not beneath this one
    return root.name if root is not None else PureWindowsPath(folder).name or folder
