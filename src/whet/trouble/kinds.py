"""The table of kinds of trouble: a row says all that differs from one kind to the next."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from whet.trouble.course import SessionCourse, Stretch
from whet.trouble.people import claimed, not_followed, put_right
from whet.trouble.red_checks import red_checks
from whet.trouble.slips import discarded, lost_contexts, slips, waits
from whet.trouble.values import TroubleKind


class ChangeKind(StrEnum):
    """What a lesson would change."""

    RULE = "rule"  # an instruction that the agent reads
    SKILL = "skill"  # a way to do a class of task
    MEMORY = "memory"  # a fact about the person and their preferences
    ENVIRONMENT = "environment"  # advice to the person; never an instruction for the agent


class KindOfTrouble(NamedTuple):
    """One kind of trouble: how it is named, told, mended and found.

    `name` is what is stored. `label` names it in lists; `sentence` says what goes wrong. `change` is what can be done:
    trouble of the environment is a person's to mend, all other is the agent's; `remedy` says it to people. Each
    detector finds stretches of one session. A package that changes what its detectors find raises `version`, so that
    sessions are analysed again.
    """

    name: str
    label: str
    sentence: str
    change: ChangeKind
    detectors: tuple[Callable[[SessionCourse], Iterable[Stretch]], ...] = ()
    version: int = 1
    remedy: str = ""


# Where two stretches are equally long, the earlier kind owns the minutes.
TROUBLE_KINDS: tuple[KindOfTrouble, ...] = (
    KindOfTrouble(
        TroubleKind.WAITING,
        label="waiting",
        sentence="the agent slept, polled, or ran a command until its time ran out",
        change=ChangeKind.RULE,
        detectors=(waits,),
        remedy="say how long the command takes, or how to be told when it is done",
    ),
    KindOfTrouble(
        TroubleKind.TOLD,
        label="told and not followed",
        sentence="a rule that the agent had been told was broken",
        change=ChangeKind.RULE,
        detectors=(not_followed,),
        remedy="remind the agent at the call",
    ),
    KindOfTrouble(
        TroubleKind.SLIP,
        label="slips",
        sentence="a call failed, and it took until here to get it right",
        change=ChangeKind.RULE,
        detectors=(slips,),
        remedy="tell the agent what works",
    ),
    KindOfTrouble(
        TroubleKind.THROWN_AWAY,
        label="thrown away",
        sentence="edits were made and put back",
        change=ChangeKind.RULE,
        detectors=(discarded,),
        remedy="say beforehand what must stay as it is",
    ),
    KindOfTrouble(
        TroubleKind.CONTEXT,
        label="context ran out",
        sentence="the conversation was compacted, and files were read again",
        change=ChangeKind.ENVIRONMENT,
        detectors=(lost_contexts,),
        remedy="smaller tasks, or notes that outlast the conversation",
    ),
    KindOfTrouble(
        TroubleKind.RED_CHECK,
        label="red checks",
        sentence="a check was red, until it was green",
        change=ChangeKind.RULE,
        detectors=(red_checks,),
        remedy="tell the agent the rule that the check enforces, or have the check run at each edit",
    ),
    KindOfTrouble(
        TroubleKind.CLAIMED,
        label="claimed done",
        sentence="the agent said that it was done, and it was not",
        change=ChangeKind.RULE,
        detectors=(claimed,),
        remedy="tell the agent which check to run before it says so",
    ),
    KindOfTrouble(
        TroubleKind.CORRECTED,
        label="stopped or corrected",
        sentence="somebody stopped the agent, or had it put right what it had done",
        change=ChangeKind.RULE,
        detectors=(put_right,),
        remedy="make a rule of what was said",
    ),
)


def kind_named(name: str, kinds: Iterable[KindOfTrouble] = TROUBLE_KINDS) -> KindOfTrouble:
    """The row of a kind. One that nobody knows any more, since its package is gone, is told by its name."""
    words = name.replace("_", " ")
    known = next((row for row in kinds if row.name == name), None)
    return known or KindOfTrouble(name, words, words, ChangeKind.SKILL)
