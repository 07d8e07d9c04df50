"""whet status, and whet alone: how things stand, and what to do next."""

import os
import time
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from whet.cli.catalogue import ABOUT
from whet.cli.options import json_command
from whet.cli.output import fields, give, moment, plain, say
from whet.cli.shown.sessions import left_out, overview_record, repeating, trend_record
from whet.machine.looking import how_it_calls
from whet.machine.status import MachineStatus, TeamStatus, machine_status
from whet.own.runs.models import Amount
from whet.shipped.kinds import label_of
from whet.store.home import find_home
from whet.text.showing import shown
from whet.text.words import many, short
from whet.trouble.overview import BETTER, UPPER_BOUND, TroubleOverview, headline, lost_words, untimed_words
from whet.trouble.rollups import TroubleTrend

SHARED = ("sessions", "rules", "trials")
STEPS = 3
NAMED_AGENTS = 3
NOT_SHARED = ("notes", "skills", "templates", "cases", "jobs", "settings")


def status_rows(found: MachineStatus) -> tuple[tuple[str, str], ...]:
    """Name and words of each line: what stands, and what to do where something is missing."""
    return (
        ("Agents", ", ".join(each.title for each in found.agents) or "none found on this machine"),
        ("Hooks", _hooks(found)),
        ("Targets", ", ".join(found.targets) or "none: no agent's file gets the rules (`whet sync add AGENT`)"),
        ("Worker", _worker(found)),
        ("Work", _work(found)),
        ("Sessions", _sessions(found)),
        *((("Time", _time(seen, trend)),) if (seen := found.stored.overview) and (trend := found.stored.trend) else ()),
        ("Learned", _learned(found)),
        ("Pending", _pending(found)),
        ("This week", _week(found.spent_this_week)),
        ("Today", _today(found)),
        *((("Team", _team(team)),) if (team := found.stored.team) else ()),
    )


def status_record(found: MachineStatus) -> dict[str, Any]:
    """The same for programs."""
    stored = found.stored
    return {
        "agents": [fields(each, "name", "has_sessions") for each in found.agents],
        "hooks": list(found.hooked),
        "hook_calls": dict(found.hooked),
        "targets": list(found.targets),
        "worker": {
            "running": found.is_worker_running,
            "last_seen": found.worker_seen,
            "service": found.service or None,
        },
        "jobs": list(found.jobs),
        "work": {**fields(stored.work, "queued", "running", "postponed"), "postponed_until": stored.work.until or None},
        "sessions": {
            "all": stored.sessions,
            "this_week": stored.sessions_this_week,
            "copies": stored.copies,
            "in_temporary_folders": stored.temporary,
        },
        "lost_time": overview_record(stored.overview) if stored.overview else None,
        "getting_better": trend_record(stored.trend) if stored.trend else None,
        "lessons": stored.lessons,
        "learned_this_week": dict(stored.learned),
        **fields(stored, "rules", "canaries", "pending"),
        "team": {**stored.team._asdict(), "shared": SHARED, "not_shared": NOT_SHARED} if stored.team else None,
        "background": {
            "this_week": asdict(found.spent_this_week),
            "today": asdict(found.spent_today),
            "limit": {"tokens": found.limit.tokens_per_day, "dollars": found.limit.dollars_per_day},
            "by_day": [{**fields(each, "day", "purpose", "calls"), **asdict(each.cost)} for each in stored.costs],
        },
    }


def _hooks(found: MachineStatus) -> str:
    names: dict[str, list[str]] = {}
    for name, at in found.hooked.items():
        names.setdefault(how_it_calls(name, at), []).append(name)
    calls = "; ".join(f"{', '.join(alike)} {words}" for words, alike in names.items())
    return calls or "none: sessions are not taken in by themselves (`whet setup`)"


def _worker(found: MachineStatus) -> str:
    seen = found.worker_seen
    runs = "running" if found.is_worker_running else f"last ran {moment(seen)}" if seen else "has never run"
    if found.service:
        return f"{runs}, as a service ({found.service})"
    if found.is_worker_running:
        return f"{runs}, not as a service"
    return f"{runs}, not a service ({'`whet setup`' if found.may_have_service else 'run `whet worker`'})"


def _work(found: MachineStatus) -> str:
    work = found.stored.work
    jobs = f"jobs: {', '.join(found.jobs)}" if found.jobs else "no jobs"
    waits = f", {work.postponed:,} waits for the daily limit until {moment(work.until)}" if work.postponed else ""
    return f"{work.running:,} running, {work.queued:,} queued{waits}; {jobs}"


def _learned(found: MachineStatus) -> str:
    new = ", ".join(many(number, form) for form, number in sorted(found.stored.learned.items()))
    canaries = f", {many(found.stored.canaries, 'canary').replace('canarys', 'canaries')}"
    active = f"{many(found.stored.rules, 'rule')} active{canaries if found.stored.canaries else ''}"
    lessons = found.stored.lessons
    unseen = f"; {many(lessons, 'lesson')} to look at (`whet lessons`)" if lessons else ""
    return f"this week: {new or 'nothing new'}; {active}{unseen}"


def _sessions(found: MachineStatus) -> str:
    stored = found.stored
    said = [f"{stored.sessions:,} stored, {stored.sessions_this_week:,} of this week"]
    if stored.copies:
        said.append(repeating(stored.copies).removesuffix("."))
    if stored.temporary:
        said.append(left_out(stored.temporary, how="`whet sessions --temporary`").removesuffix("."))
    if stored.is_behind:
        said.append("New sessions are not analysed yet (`whet report`)")
    return ". ".join(said)


def _time(seen: TroubleOverview, trend: TroubleTrend) -> str:
    return f"{lost_words(seen, label_of) or untimed_words(seen)} {BETTER} {trend.answer}. More: `whet report`"


def _pending(found: MachineStatus) -> str:
    number = found.stored.pending
    if not number:
        return "nothing needs your approval"
    return f"{many(number, 'change')} {'needs' if number == 1 else 'need'} your approval (`whet lessons --waiting`)"


def _today(found: MachineStatus) -> str:
    spent, limit = found.spent_today, found.limit
    used = f"{short(spent.tokens)} of {short(limit.tokens_per_day)} tokens"
    return f"{used}, ${spent.dollars or 0:.2f} of ${limit.dollars_per_day:.2f} (the daily limit of background work)"


def _team(team: TeamStatus) -> str:
    """What this machine shares with whom, in a line."""
    others = f"with {', '.join(shown(name) for name in team.others)}" if team.others else "with nobody else yet"
    theirs = sum(number for maker, number in team.rules.items() if maker != team.member)
    rules = f" ({theirs:,} active here by others)" if theirs else ""
    return (
        f"you are {shown(team.member)}, {others}. Shared: {', '.join(SHARED)}{rules}."
        f" Only on this machine: {', '.join(NOT_SHARED)}"
    )


def _week(amount: Amount) -> str:
    dollars = "" if amount.dollars is None else f", ${amount.dollars:.2f}"
    return f"{short(amount.tokens)} tokens{dollars} for background work"


def _line(name: str, words: str) -> str:
    return f"[bold]{name:<10}[/]{plain(words)}"


def show_front() -> None:
    """Print how things stand, then the commands that are worth most now."""
    found = machine_status(find_home(os.environ), Path.home(), os.environ, now=time.time())
    rows, steps = dict(status_rows(found)), next_steps(found)
    width, seen = max(len(command) for command, _ in steps), found.stored.overview
    say(
        f"{ABOUT}\n",
        *(
            (*(f"[bold]{plain(line)}[/]" for line in headline(seen, label_of)), f"[dim]{UPPER_BOUND}[/]\n")
            if seen
            else ()
        ),
        *(_line(name, rows[name]) for name in ("Sessions", "Learned", "Pending")),
        "\nNext:",
        *(f"  [bold]{plain(command):<{width}}[/]  {plain(why)}" for command, why in steps),
        "\nAll commands: `whet --help`. More on the state: `whet status`.",
    )


def next_steps(found: MachineStatus) -> tuple[tuple[str, str], ...]:
    """Commands with what each is for, the most useful first."""
    stored = found.stored
    agents = [each.title for each in found.agents if each.has_sessions]
    if not stored.sessions and not stored.temporary:
        if not agents:
            return (
                ("whet import PATH", "Read sessions from a file or folder; none were found in the usual places."),
                ("whet chat", "Or talk to Whet's own agent."),
            )
        more = f" and {len(agents) - NAMED_AGENTS} more" if len(agents) > NAMED_AGENTS else ""
        return (
            ("whet import", f"Read the sessions of {', '.join(agents[:NAMED_AGENTS])}{more}. Nothing leaves here."),
            ("whet setup", "Or set up everything at once: import, hooks, background work."),
        )
    steps = (
        (stored.overview is None, "whet report", "Read where the time of your sessions went."),
        (stored.pending > 0, "whet lessons --waiting", "Approve or refuse what is proposed."),
        (not found.hooked, "whet setup", "Read new sessions and tell them the rules by itself."),
        (not stored.rules, "whet lessons", "See what your sessions teach."),
        (not stored.rules, "whet try --dry-run", "See which rules would be tried, at what cost."),
        (stored.rules and not found.targets, "whet sync add AGENT", "Write the rules where your agent reads them."),
        (True, "whet page", "Look at the same, at lessons and at proofs in the browser."),
        (True, "whet report", "Read where the time went, and what costs most."),
    )
    return tuple((command, why) for is_due, command, why in steps if is_due)[:STEPS]


@json_command("status", epilog="Example: whet status --json")
def command() -> int:
    """Show what is installed, what runs, what was learned this week, what needs your approval, and what background work
    cost this week and today, against its daily limit.
    """
    found = machine_status(find_home(os.environ), Path.home(), os.environ, now=time.time())
    return give(status_record(found), (_line(*row) for row in status_rows(found)))
