"""The table of kinds of trouble: a row says all that differs from one kind to the next."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from whet.trouble.course import SessionCourse, Stretch
from whet.trouble.discarded import discarded
from whet.trouble.lost_context import lost_contexts
from whet.trouble.people import claimed, put_right
from whet.trouble.red_checks import red_checks
from whet.trouble.slips import slips
from whet.trouble.told import not_followed
from whet.trouble.values import TroubleKind
from whet.trouble.waiting import waits


class TroubleRow(NamedTuple):
    """One kind: how it is named and told, what can be done about it, and what finds its stretches."""

    kind: TroubleKind
    label: str  # in lists
    sentence: str  # what went wrong, for people
    remedy: str  # what can be done about it
    find: Callable[[SessionCourse], Iterable[Stretch]]


# Where two stretches are equally long, the earlier kind owns the minutes.
TROUBLE_KINDS: tuple[TroubleRow, ...] = (
    TroubleRow(
        TroubleKind.WAITING,
        "waiting",
        "the agent slept, polled, or ran a command until its time ran out",
        "say how long the command takes, or how to be told when it is done",
        waits,
    ),
    TroubleRow(
        TroubleKind.TOLD,
        "told and not followed",
        "a rule that the agent had been told was broken",
        "remind the agent at the call",
        not_followed,
    ),
    TroubleRow(
        TroubleKind.SLIP,
        "slips",
        "a call failed, and it took until here to get it right",
        "tell the agent what works",
        slips,
    ),
    TroubleRow(
        TroubleKind.THROWN_AWAY,
        "thrown away",
        "edits were made and put back",
        "say beforehand what must stay as it is",
        discarded,
    ),
    TroubleRow(
        TroubleKind.CONTEXT,
        "context ran out",
        "the conversation was compacted, and files were read again",
        "smaller tasks, or notes that outlast the conversation",
        lost_contexts,
    ),
    TroubleRow(
        TroubleKind.RED_CHECK,
        "red checks",
        "a check was red, until it was green",
        "tell the agent the rule that the check enforces, or have the check run at each edit",
        red_checks,
    ),
    TroubleRow(
        TroubleKind.CLAIMED,
        "claimed done",
        "the agent said that it was done, and it was not",
        "tell the agent which check to run before it says so",
        claimed,
    ),
    TroubleRow(
        TroubleKind.CORRECTED,
        "stopped or corrected",
        "somebody stopped the agent, or had it put right what it had done",
        "make a rule of what was said",
        put_right,
    ),
)
ROW_OF_KIND = {row.kind: row for row in TROUBLE_KINDS}
ORDER_OF_KIND = {row.kind: place for place, row in enumerate(TROUBLE_KINDS)}
