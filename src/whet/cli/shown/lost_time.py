"""Where the agent's time went, for a terminal and for programs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
from rich.table import Table

from whet.cli.output import plain, table
from whet.sessions.exports import iso
from whet.shipped.kinds import label_of
from whet.store.troubles import StoredTrouble
from whet.telling.targets.known_projects import KnownProjects
from whet.trouble.overview import (
    TroubleOverview,
    duration,
    headline,
    interval_words,
    money,
    overview,
    per_hour,
    sort_words,
)
from whet.trouble.rollups import (
    TroubleCost,
    TroubleGroup,
    by_agent,
    by_cause,
    by_model,
    by_subject,
    by_week,
    costs,
    dearest,
    groups,
)
from whet.trouble.trends import TroubleTrend, trend
from whet.trouble.values import SessionTrouble, Trouble, TroubleKind

ROWS = 8
DEAREST = 5
GROUP_HEADINGS = ("sessions", "agent time", "lost", "share", "stepped in", "per hour")
COST_HEADINGS = ("lost", "of the time", "times", "sessions", "what")


class LostTime(NamedTuple):
    """All roll-ups of some sessions."""

    overview: TroubleOverview
    causes: tuple[TroubleCost, ...]
    tools: tuple[TroubleCost, ...]
    rules: tuple[TroubleCost, ...]
    projects: tuple[TroubleGroup, ...]
    agents: tuple[TroubleGroup, ...]
    models: tuple[TroubleGroup, ...]
    people: tuple[TroubleGroup, ...]
    weeks: tuple[TroubleGroup, ...]
    dearest: tuple[StoredTrouble, ...]
    trend: TroubleTrend


def lost_time(stored: Sequence[StoredTrouble], dollars: float | None, known: KnownProjects) -> LostTime:
    """Roll up the trouble of sessions by all that is asked for."""
    sessions = [each.trouble for each in stored]
    of_id = {each.trouble.session: each for each in stored}
    project_of = cache(lambda folder: known.shown(known.identity(folder)))
    told = [_only(session, TroubleKind.TOLD) for session in sessions]
    return LostTime(
        overview=overview(sessions, dollars),
        causes=costs(sessions, by_cause),
        tools=costs(sessions, by_subject),
        rules=costs(told, lambda _, trouble: trouble.cause),
        projects=groups(sessions, lambda session: project_of(session.folder)),
        agents=groups(sessions, by_agent),
        models=groups(sessions, by_model),
        people=groups(sessions, lambda session: of_id[session.session].maker),
        weeks=tuple(sorted(groups(sessions, by_week), key=lambda each: each.name)),
        dearest=tuple(of_id[each.session] for each in dearest(sessions, DEAREST)),
        trend=trend(sessions, project_of),
    )


def _only(session: SessionTrouble, kind: str) -> SessionTrouble:
    return msgspec.structs.replace(session, troubles=tuple(one for one in session.troubles if one.kind == kind))


def headlines(found: TroubleOverview) -> Iterator[str]:
    """The lines that a person acts on."""
    return (plain(line) for line in headline(found, label_of))


def cost_table(found: Iterable[TroubleCost], named: Callable[[str], str] = str) -> Table:
    """What costs most, with its share of the agent's time and the interval of that."""
    rows = [
        (duration(each.seconds), interval_words(each), f"{each.troubles:,}", f"{each.sessions:,}", named(each.name))
        for each in found
    ]
    return table(COST_HEADINGS, rows, numbers=COST_HEADINGS[:-1], spare=("sessions",))


def cause_words(name: str) -> str:
    """A cause as people read it: the label of its kind, then what it was about."""
    kind, *rest = name.split(" · ")
    return ": ".join(filter(None, (label_of(kind), ", ".join(rest))))


def group_table(heading: str, found: Iterable[TroubleGroup]) -> Table:
    """What groups of sessions spent and lost."""
    rows = [
        (
            _last_part(each.name) if heading == "project" else each.name or "–",
            f"{each.sessions:,}",
            duration(each.agent_seconds),
            duration(each.lost.seconds),
            interval_words(each.lost) if each.agent_seconds else "–",
            f"{each.interventions:,}",
            per_hour(each),
        )
        for each in found
    ]
    return table((heading, *GROUP_HEADINGS), rows, numbers=GROUP_HEADINGS, spare=("per hour", "sessions"))


def _last_part(project: str) -> str:
    return project.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or "–"


def dearest_lines(found: Iterable[StoredTrouble]) -> Iterator[str]:
    """The sessions that lost most, each with its dearest stretch and how to open it there."""
    for each in found:
        session, worst = each.trouble, each.trouble.dearest
        if worst is None:
            continue
        yield (
            f"[bold]{session.session[:8]}[/]  {duration(session.lost_seconds)} of {duration(session.agent_seconds)}  "
            f"{plain(each.title[:60])}"
        )
        yield f"          [dim]longest: {duration(worst.seconds)}: {stretch_words(worst)}[/]"


def stretch_words(trouble: Trouble) -> str:
    """A stretch: where it is, and why it bought nothing."""
    return f"#{trouble.first}–#{trouble.last} {plain(sort_words(trouble, label_of(trouble.kind)))}"


def stretch_costs(trouble: Trouble) -> str:
    """What a stretch cost."""
    calls = f"{trouble.calls} call{'' if trouble.calls == 1 else 's'}"
    paid = [money(trouble.dollars)] if trouble.dollars >= 0.005 else []
    return ", ".join((duration(trouble.seconds), calls, *paid))


def lost_time_record(found: LostTime) -> dict[str, Any]:
    """The roll-ups for programs."""
    return {
        **overview_record(found.overview),
        "causes": _costs(found.causes),
        "tools": _costs(found.tools),
        "rules": _costs(found.rules),
        **{
            name: [msgspec.to_builtins(each) for each in every]
            for name, every in (
                ("projects", found.projects),
                ("agents", found.agents),
                ("models", found.models),
                ("people", found.people),
                ("weeks", found.weeks),
            )
        },
        "dearest": [_dearest(each) for each in found.dearest],
        "getting_better": trend_record(found.trend),
    }


def overview_record(found: TroubleOverview) -> dict[str, Any]:
    """The whole picture for programs."""
    return {
        "sessions": found.total.sessions,
        "agent_seconds": found.total.agent_seconds,
        "dollars": found.dollars,
        "lost": msgspec.to_builtins(found.total.lost),
        "interventions": found.total.interventions,
        "guessed_interventions": found.total.guessed,
        "untimed_sessions": found.untimed,
        "kinds": _costs(found.kinds),
    }


def _costs(found: Iterable[TroubleCost]) -> list[Any]:
    return [msgspec.to_builtins(each) for each in found]


def _dearest(each: StoredTrouble) -> dict[str, Any]:
    session = each.trouble
    return {
        "session": session.session,
        "title": each.title,
        "started": iso(session.started),
        "agent_seconds": session.agent_seconds,
        "lost_seconds": round(session.lost_seconds, 1),
        "dearest": msgspec.to_builtins(session.dearest),
    }


def trend_record(found: TroubleTrend) -> dict[str, Any]:
    """Whether it gets better, for programs."""
    return {"answer": found.answer, **{name: msgspec.to_builtins(value) for name, value in found._asdict().items()}}
