"""How `whet status` looks: ten lines, or one JSON document."""

from typing import Any

from whet.cli.output import many, moment, plain
from whet.cli.shown.left_out import left_out, repeating
from whet.cli.shown.lost_time import headlines, overview_record, trend_record
from whet.runs.daily_limit import Amount
from whet.setup.hooking import how_it_calls
from whet.setup.status import MachineStatus, TeamStatus
from whet.text.amounts import short
from whet.text.showing import shown
from whet.trouble.overview import BETTER, TroubleOverview, trend_words
from whet.trouble.trends import TroubleTrend

SHARED = ("sessions", "rules", "trials")
NOT_SHARED = ("notes", "skills", "templates", "cases", "jobs", "settings")


def status_lines(found: MachineStatus) -> list[str]:
    """What a person reads: each line says what stands, and what to do where something is missing."""
    return [f"[bold]{name:<10}[/]{plain(text)}" for name, text in status_rows(found)]


def status_rows(found: MachineStatus) -> tuple[tuple[str, str], ...]:
    """Name and words of each line."""
    return (
        ("Agents", _agents(found)),
        ("Hooks", _hooks(found)),
        ("Targets", ", ".join(found.targets) or "none: no agent's file gets the rules (`whet sync add AGENT`)"),
        ("Worker", _worker(found)),
        ("Work", _work(found)),
        ("Sessions", _sessions(found)),
        *((("Time", _time(seen, trend)),) if (seen := found.stored.overview) and (trend := found.stored.trend) else ()),
        ("Learned", _learned(found)),
        ("Pending", _pending(found)),
        ("This week", f"{_amount(found.spent_this_week)} for background work"),
        ("Today", _today(found)),
        *((("Team", _team(team)),) if (team := found.stored.team) else ()),
    )


def status_record(found: MachineStatus) -> dict[str, Any]:
    """The same for programs."""
    stored = found.stored
    return {
        "agents": [{"name": each.name, "has_sessions": each.has_sessions} for each in found.agents],
        "hooks": list(found.hooked),
        "hook_calls": dict(found.hooked),
        "targets": list(found.targets),
        "worker": {
            "running": found.is_worker_running,
            "last_seen": found.worker_seen,
            "service": found.service or None,
        },
        "jobs": list(found.jobs),
        "work": {
            "queued": stored.work.queued,
            "running": stored.work.running,
            "postponed": stored.work.postponed,
            "postponed_until": stored.work.until or None,
        },
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
        "rules": stored.rules,
        "canaries": stored.canaries,
        "pending": stored.pending,
        "team": _team_record(stored.team) if stored.team else None,
        "background": {
            "this_week": _record(found.spent_this_week),
            "today": _record(found.spent_today),
            "limit": {"tokens": found.limit.tokens_per_day, "dollars": found.limit.dollars_per_day},
            "by_day": [
                {"day": each.day, "purpose": each.purpose, "calls": each.calls, **_record(each.cost)}
                for each in stored.costs
            ],
        },
    }


def _agents(found: MachineStatus) -> str:
    return ", ".join(each.title for each in found.agents) or "none found on this machine"


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
    *said, _ = headlines(seen)
    return f"{' '.join(said)} {BETTER} {trend_words(trend)} More: `whet report`"


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


def _team_record(team: TeamStatus) -> dict[str, Any]:
    return {
        "member": team.member,
        "others": list(team.others),
        "rules": dict(team.rules),
        "shared": list(SHARED),
        "not_shared": list(NOT_SHARED),
    }


def _amount(amount: Amount) -> str:
    return f"{short(amount.tokens)} tokens" + ("" if amount.dollars is None else f", ${amount.dollars:.2f}")


def _record(amount: Amount) -> dict[str, Any]:
    return {"tokens": amount.tokens, "dollars": amount.dollars}
