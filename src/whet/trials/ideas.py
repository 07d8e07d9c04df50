"""Improvement as values: ideas for changes, what came of each, and the report at the end."""

from collections.abc import Iterable
from enum import StrEnum

from whet.evidence.verdicts import Ruling, Verdict
from whet.failures.lessons import RecurringFailure
from whet.ledger.entries import Entry, Item, Step
from whet.ledger.origins import PatchBasis, PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Form, Patch, digest
from whet.ledger.reach import models_tried
from whet.lessons.candidates import LessonEvidence
from whet.runs.run import Spent
from whet.sessions.trust import Trust
from whet.trials.canaries import SHARE
from whet.trials.design import TrialDesign
from whet.trials.drafts import Way
from whet.values import Value

MOST_IDEAS = 3
MARGIN = 0.05
"""A rule is retired when sessions without it surely lose less than this."""

SETTLED = frozenset({Step.REJECTED, Step.REVERTED, Step.REFUSED, Step.CANARY, Step.APPLIED, Step.PROPOSED})


class ImproveRequest(Value, frozen=True, forbid_unknown_fields=True):
    """What an improvement is to look at, and how each change is tried.

    An order with other fields is another version's, and refused: with one left out it might spend without a limit.
    """

    model: str = ""
    agent: str = ""  # another agent that carries the attempts out; `model` is its own then
    cases: tuple[str, ...] = ()
    design: TrialDesign = TrialDesign()
    share: float = SHARE  # of the sessions that an accepted rule is told to at first
    most: int = MOST_IDEAS
    since: float | None = None
    retire: bool = False  # ask of each rule in force whether it still helps, and nothing else
    watched: bool = False  # somebody waits for it, so that the daily limit does not hold it up
    dry_run: bool = False  # stop before anything is spent, or entered in the ledger


class Idea(Value, frozen=True):
    """A change that may help, and what it answers to: so many of so many sessions, these among them."""

    why: str
    way: Way
    patch: Patch | None = None
    lesson: RecurringFailure | None = None
    sessions: tuple[str, ...] = ()
    refused: str = ""  # why it is not even tried
    agents: tuple[str, ...] = ()  # in whose sessions it was seen, where no lesson says so
    evidence: LessonEvidence | None = None  # what a model may write from
    project: str = ""  # of the evidence


class Became(StrEnum):
    """What became of an idea."""

    CANARY = "canary"  # accepted, and told to a share of the sessions
    RETIRED = "retired"
    KEPT = "kept"  # a rule that still helps, or may
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    REFUSED = "refused"  # it has faults, or was decided before
    WAITS = "waits"  # for a person
    UNTRIED = "untried"  # no case, or no model
    PLANNED = "planned"  # a dry run


class IdeaOutcome(Value, frozen=True):
    """An idea and what came of it. `entry` is of the ledger: the trial's, the canary's or the one that waits."""

    idea: Idea
    became: Became
    why: str = ""
    verdict: Verdict | None = None
    entry: int = 0
    attempts: int = 0
    attempts_most: int = 0
    tokens_most: int = 0
    dollars_most: float | None = None
    minimum_effect: float | None = None
    spent: Spent = Spent()
    goes_to: tuple[str, ...] = ()  # of a dry run: the places that would tell it
    judge: str = ""  # of a dry run: who would decide


class ImproveReport(Value, frozen=True):
    """All that one improvement did, and what stopped it, if anything did."""

    sessions: int
    lessons: int
    outcomes: tuple[IdeaOutcome, ...] = ()
    stopped: str = ""
    left: int = 0  # ideas for another time
    unspecific: tuple[str, ...] = ()  # what recurs, and nothing specific is known against
    waiting: tuple[IdeaOutcome, ...] = ()  # what was proposed before, and a person has not decided on


def decided(
    patch: Patch, entries: Iterable[Entry], *, latest: float | None, models: frozenset[str] = frozenset()
) -> str:
    """Why the same words need not be tried again with a model, by all its names; empty where they may be.

    What a trial says binds the model that was tried alone; what was undecided is tried again once there is more to try
    it on.
    """
    for entry in reversed(tuple(entries)):
        known = entry.patch
        if (known.form, known.action, known.text) != (patch.form, patch.action, patch.text):
            continue
        tried = models_tried(entry)
        if models and tried and models.isdisjoint(tried):
            continue
        if entry.step in SETTLED:
            return f"entry {entry.number} of the ledger says {entry.step}"
        if entry.step is Step.UNDECIDED and (latest is None or latest <= entry.at):
            return f"entry {entry.number} was undecided, and nothing new was seen since"
    return ""


def without(rule: Item) -> Patch:
    """The patch that takes a rule away: the candidate of a trial that leaves one out."""
    return Patch(
        Form.RULE, Action.REMOVE, rule.name, scope=rule.scope, trust=min(rule.trust, Trust.AGENT),
        before=digest(rule.text), origin=PatchOrigin(PatchWriter.POLICY, basis=PatchBasis.NO_HELP),
    )  # fmt: skip


def retires(verdict: Verdict) -> bool:
    """Whether a trial without a rule says that it can go: that helps, or surely loses next to nothing."""
    return verdict.ruling is Ruling.ACCEPT or (
        verdict.ruling is Ruling.UNDECIDED and verdict.cases > 0 and verdict.interval.low > -MARGIN
    )
