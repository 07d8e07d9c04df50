"""The whole picture in a few lines: what sessions spent, what of it bought nothing, and whether it gets better."""

from collections.abc import Callable, Iterator, Sequence

from whet.text.words import many
from whet.trouble.clock import LONGEST_GAP_SECONDS
from whet.trouble.rollups import (
    LEAST_HOURS,
    LEAST_SESSIONS,
    TroubleCost,
    TroubleGroup,
    TroubleRate,
    TroubleTrend,
    by_kind,
    costs,
    group,
)
from whet.trouble.values import SessionTrouble, Trouble
from whet.values import Value

MINUTE, HOUR = 60.0, 3600.0
NAMED_KINDS = 4
BETTER = "Is it getting better?"
UPPER_BOUND = (
    "Time that bought nothing is an upper bound: some of it may have been worth it. "
    f"A gap of more than {LONGEST_GAP_SECONDS / MINUTE:.0f} minutes counts as {LONGEST_GAP_SECONDS / MINUTE:.0f}."
)
ENDINGS = {
    "mended": "put right",
    "left": "left as it was",
    "handed_back": "handed back",
    "stopped": "stopped by somebody",
    "over": "over",
    "cut": "the record ends there",
}


class TroubleOverview(Value, frozen=True):
    """What sessions spent and lost; `untimed` ones have no times on record, and their time is unknown."""

    total: TroubleGroup
    kinds: tuple[TroubleCost, ...] = ()
    dollars: float | None = None
    untimed: int = 0


def overview(sessions: Sequence[SessionTrouble], dollars: float | None = None) -> TroubleOverview:
    """All of these sessions together; `dollars` is what they cost, where that is known."""
    untimed = sum(not session.is_timed for session in sessions)
    return TroubleOverview(group("all", sessions), costs(sessions, by_kind), dollars, untimed)


def headline(found: TroubleOverview, label_of: Callable[[str], str]) -> Iterator[str]:
    """What a person reads first: what was spent, what bought nothing, how often they stepped in."""
    yield spent_words(found)
    yield from filter(None, (lost_words(found, label_of), untimed_words(found)))
    yield stepped_in_words(found)


def spent_words(found: TroubleOverview) -> str:
    """What sessions spent."""
    paid = f", {money(found.dollars)}" if found.dollars else ""
    worked = f", {agent_time(found.total.agent_seconds)}" if found.total.agent_seconds else ""
    return f"{many(found.total.sessions, 'session')}{worked}{paid}."


def lost_words(found: TroubleOverview, label_of: Callable[[str], str]) -> str:
    """What of it bought nothing, by the kinds that cost most; nothing where no time is known."""
    if not found.total.agent_seconds:
        return ""
    kinds = [each for each in found.kinds if each.seconds][:NAMED_KINDS]
    named = ", ".join(f"{label_of(each.name)} {duration(each.seconds)}" for each in kinds)
    lost = found.total.lost
    return f"{duration(lost.seconds)} ({percent(lost.share)}) bought nothing{f': {named}' if named else ''}."


def untimed_words(found: TroubleOverview) -> str:
    """How many sessions no time counts; nothing where all have times."""
    if found.untimed == found.total.sessions:
        return "What they lost cannot be counted: no times are on record." if found.untimed else ""
    are = "is" if found.untimed == 1 else "are"
    said = f"{many(found.untimed, 'session')} {are} not in these hours: no times are on record."
    return said if found.untimed else ""


def stepped_in_words(found: TroubleOverview) -> str:
    """How often people stepped in, and how much of that is a guess."""
    times, guessed = found.total.interventions, found.total.guessed
    if not times:
        return "You never stepped in."
    doubt = f" ({many(guessed, 'correction')} guessed from the words; `whet learn` reads them)" if guessed else ""
    return f"You stepped in {many(times, 'time')}{doubt}."


def trend_words(found: TroubleTrend) -> str:
    """Whether it gets better, with the numbers behind it; what is missing where there is too little."""
    if not found.is_enough:
        return (
            f"{found.answer}: it needs {LEAST_SESSIONS} sessions and {LEAST_HOURS:.0f} agent hour "
            "in the last four weeks and in the four before, of the same projects."
        )
    lost, stepped = found.minutes_lost, found.interventions
    return (
        f"{found.answer}: {_change(lost, 'min')} lost per agent hour; "
        f"you stepped in {_change(stepped, 'times')} per agent hour."
    )


def _change(rate: TroubleRate, unit: str) -> str:
    low, high = rate.interval
    return f"{rate.lately:.1f} {unit}, before {rate.before:.1f} (difference {low:+.1f} to {high:+.1f})"


def sort_words(trouble: Trouble, label: str) -> str:
    """Which trouble it is: its kind, what it was about, and what was wrong with it."""
    about = [word for word in dict.fromkeys((trouble.subject, trouble.cause)) if word]
    return f"{label}: {', '.join(about)}" if about else label


def agent_time(seconds: float) -> str:
    """The agent's time in words: 85 agent hours, 12 agent minutes."""
    if seconds >= HOUR:
        hours = f"{seconds / HOUR:,.1f}" if seconds < 10 * HOUR else f"{seconds / HOUR:,.0f}"
        return f"{hours} agent hours"
    return many(round(seconds / MINUTE), "agent minute") if seconds >= MINUTE else f"{seconds:.0f} agent seconds"


def duration(seconds: float) -> str:
    """A length of time, short: 5.4 h, 12 min, 40 s."""
    if seconds >= HOUR:
        return f"{seconds / HOUR:,.1f} h"
    return f"{seconds / MINUTE:.0f} min" if seconds >= MINUTE else f"{seconds:.0f} s"


def percent(share: float) -> str:
    """A share in percent, with a decimal where it is small."""
    return f"{100 * share:.0f} %" if share >= 0.1 or not share else f"{100 * share:.1f} %"


def interval_words(cost: TroubleCost) -> str:
    """A share with the interval in which it lies as sessions vary."""
    return f"{percent(cost.share)} ({100 * max(cost.low, 0.0):.0f}–{100 * cost.high:.0f})"


def per_hour(found: TroubleGroup) -> str:
    """How often people stepped in per agent hour; a dash where less than an hour says nothing yet."""
    return f"{HOUR * found.interventions / found.agent_seconds:.1f}" if found.agent_seconds >= HOUR else "–"


def money(dollars: float) -> str:
    """An amount of dollars."""
    return f"${dollars:,.0f}" if dollars >= 100 else f"${dollars:,.2f}"
