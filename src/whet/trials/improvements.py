"""Improvement as values: what lessons come from, what became of each, and the report at the end."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec.structs import replace

from whet.evidence.verdicts import Ruling, Verdict
from whet.ledger.entries import Entry, Item, Step
from whet.ledger.patches import Action, Form, Patch, PatchBasis, PatchOrigin, PatchWriter, digest
from whet.lessons.record import Lesson, LessonStage, Standing
from whet.own.runs.run import Spent
from whet.sessions.trust import Trust
from whet.trials.design import TrialDesign
from whet.trials.told_rules import SHARE
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


class WordingOrigin(StrEnum):
    """How the words of a lesson came about."""

    EVIDENCE = "evidence"  # from what the sessions of a project show, in their own words
    RETIRE = "retire"  # a rule in force, taken away
    ROOM = "room"  # the weakest of a full project, to leave for a better one
    WAITS = "waits"  # proposed before, for a person to decide
    UNHEEDED = "unheeded"  # the next step for a rule that is told and not followed
    TEMPLATE = "template"  # one that was never measured with this model


_WAYS_OF_BASES: dict[str, WordingOrigin] = {
    PatchBasis.NO_HELP: WordingOrigin.RETIRE,
    PatchBasis.ROOM: WordingOrigin.ROOM,
    PatchBasis.TOLD: WordingOrigin.UNHEEDED,
    PatchBasis.REMINDED: WordingOrigin.UNHEEDED,
}


def way_of(lesson: Lesson) -> WordingOrigin:
    """How the words of a lesson came about, by its origin."""
    if lesson.patch.form is Form.TEMPLATE:
        return WordingOrigin.TEMPLATE
    return _WAYS_OF_BASES.get(lesson.origin.basis, WordingOrigin.EVIDENCE)


def why_of(lesson: Lesson) -> str:
    """What a lesson answers to, in words: so many sessions, or what it is about in force."""
    if way_of(lesson) is not WordingOrigin.EVIDENCE or lesson.standing.stage is LessonStage.WAITING:
        return lesson.situation
    return f"{lesson.evidence.source.seen_in(lesson.sessions)} of {lesson.place}"


class LessonResult(StrEnum):
    """What became of a lesson in an improvement, as people and programs are told."""

    CANARY = "canary"  # accepted, and told to a share of the sessions
    RETIRED = "retired"
    KEPT = "kept"  # a rule that still helps, or may
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    REFUSED = "refused"  # it has faults, or was decided before
    WAITS = "waits"  # for a person
    UNTRIED = "untried"  # no case, or no model
    PLANNED = "planned"  # a dry run


_BECAME = {
    LessonStage.CLAIMED: LessonResult.REFUSED,
    LessonStage.WAITING: LessonResult.WAITS,
    LessonStage.ACTIVE: LessonResult.KEPT,
    LessonStage.LIVE: LessonResult.CANARY,
    LessonStage.REFUSED: LessonResult.REJECTED,
    LessonStage.RETIRED: LessonResult.RETIRED,
}


class TrialCost(Value, frozen=True):
    """What a trial takes at most, and the effect that it would find."""

    attempts: int = 0
    tokens: int = 0
    dollars: float | None = None
    minimum_effect: float | None = None


class LessonOutcome(Value, frozen=True):
    """A lesson as an improvement left it, and what that took; of a dry run, what it would take.

    The lesson's standing names the entry of the ledger (the trial's, the canary's or the one that waits) and why.
    """

    lesson: Lesson
    verdict: Verdict | None = None
    attempts: int = 0
    spent: Spent = Spent()
    is_planned: bool = False
    most: TrialCost = TrialCost()
    goes_to: tuple[str, ...] = ()  # of a dry run: the places that would tell it
    judge: str = ""  # of a dry run: who would decide

    @property
    def became(self) -> LessonResult:
        if self.is_planned:
            return LessonResult.PLANNED
        return _BECAME.get(self.lesson.standing.stage, LessonResult.UNDECIDED if self.verdict else LessonResult.UNTRIED)

    @property
    def why(self) -> str:
        return self.lesson.standing.why

    @property
    def entry(self) -> int:
        return self.lesson.standing.entry


def standing_at(lesson: Lesson, stage: LessonStage, why: str = "", entry: int = 0) -> Lesson:
    """The lesson at another stage."""
    return replace(lesson, standing=Standing(stage, entry, why=why))


class ImproveReport(Value, frozen=True):
    """All that one improvement did, and what stopped it, if anything did."""

    sessions: int
    lessons: int
    outcomes: tuple[LessonOutcome, ...] = ()
    stopped: str = ""
    left: int = 0  # lessons for another time
    waiting: tuple[LessonOutcome, ...] = ()  # what was proposed before, and a person has not decided on


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
        if models and entry.tried_on and entry.tried_on not in models:
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
