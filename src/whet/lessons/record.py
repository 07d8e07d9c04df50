"""The lesson: one record from the first claim to retirement, which every surface shows."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.entries import Entry, Key, State
from whet.ledger.folding import Move
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import BASIS_WORDS, Action, Form, Patch, PatchOrigin, Scope, digest
from whet.lessons.rungs import Climb, LessonMeasures, LiveCounts, LiveLesson, TriedLesson
from whet.sessions.trust import Trust
from whet.text.words import many
from whet.values import Value

PIECES_KEPT = 12
ID_LETTERS, NAME_LETTERS = 8, 10
WHOSE = {
    Trust.OPERATOR: "your own",
    Trust.USER: "a user's in a session",
    Trust.AGENT: "an agent's",
    Trust.TOOL: "a tool's output",
    Trust.EXTERNAL: "from elsewhere: a web page, a file or another program",
}
UNVOUCHED = "said in the user's place; the record cannot tell whether a person typed them"
EVERY_PROJECT = "Every project"
THIS_HOME = "This home"


class LessonSource(StrEnum):
    """Where a piece of evidence comes from, the worthiest first."""

    PERSON = "person"  # the person's own words
    RECOVERY = "recovery"  # a call that failed, and what was different when it worked
    REQUEST = "repeated_request"  # what people ask for again and again
    PLACE = "place"  # a guess about the place, and what is there
    REMEDY = "error_remedy"  # the error itself says what to do
    FAILURE = "failure"  # it recurs, and nothing that was seen shows what works instead
    GIVEN = "given"  # somebody wrote the words, and no session is known to show them

    @property
    def words(self) -> str:
        """The same for people."""
        return SOURCE_WORDS[self]

    def seen_in(self, sessions: int) -> str:
        """What a person reads of evidence in so many sessions."""
        return f"{self.words} in {many(sessions, 'session')}"


SOURCE_WORDS = {
    **{LessonSource(basis): words for basis, words in BASIS_WORDS.items()},
    LessonSource.FAILURE: "a failure that recurs",
    LessonSource.GIVEN: "not from sessions",
}


class LessonPiece(Value, frozen=True):
    """One piece of evidence: the person's words, or a call with its error.

    `fix` is what worked later, and `did` by what the calls are known that were made for a person's words. The trust is
    the lowest of the words that a rule takes from it. `who` is the member of a team in whose session it was said.
    """

    source: LessonSource
    session: str
    message: int
    text: str
    call: str = ""
    error: str = ""
    fix: str = ""
    trust: Trust = Trust.USER
    is_first: bool = False  # said before the agent had begun: the task of the day
    at: float | None = None
    who: str = ""
    did: frozenset[str] = frozenset()


class LessonEvidence(Value, frozen=True):
    """The evidence of a lesson: its first pieces, in how many sessions it was seen, and how promising it is."""

    source: LessonSource
    pieces: tuple[LessonPiece, ...]
    sessions: int
    worth: float

    @property
    def best(self) -> LessonPiece:
        """The piece that says most; an empty one where no session is known to show it."""
        return self.pieces[0] if self.pieces else LessonPiece(self.source, "", 0, "")

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions of its pieces."""
        return tuple(dict.fromkeys(piece.session for piece in self.pieces))


def lifted(trust: Trust) -> Trust:
    """What a command printed in a project whose owner vouches for that; a stranger's words stay a stranger's."""
    return Trust.AGENT if trust is Trust.TOOL else trust


def distrusted(pieces: Iterable[LessonPiece]) -> tuple[LessonPiece, ...]:
    """What another member wrote: a stranger's."""
    return tuple(replace(piece, trust=Trust.EXTERNAL) for piece in pieces)


class LessonStage(StrEnum):
    """How far a lesson has come."""

    DROPPED = "dropped"  # words that are no lesson, kept with the reason
    CLAIMED = "claimed"  # something speaks against proposing it: see its checks
    CHECKED = "checked"  # its evidence bears it out, and nobody has decided
    WAITING = "waiting"  # for a person
    ACTIVE = "active"
    LIVE = "live"  # told to a share of the sessions
    REFUSED = "refused"
    RETIRED = "retired"  # it was active once


UNDECIDED = frozenset({LessonStage.CHECKED, LessonStage.WAITING})
DECIDED = frozenset({LessonStage.ACTIVE, LessonStage.LIVE, LessonStage.RETIRED, LessonStage.REFUSED})


class Carrier(StrEnum):
    """Where a lesson is told."""

    FILE = "file"  # a line in the files and prompts that agents read
    NOTE = "note"
    SKILL = "skill"
    REMINDER = "reminder"  # at the call
    EXAMPLE = "example"  # that sessions start from
    JOB = "job"  # that tells it when it runs
    FIX_THE_FILE = "fix_the_file"  # a file that agents read says something wrong, which a person puts right


class Standing(Value, frozen=True):
    """How far a lesson has come, by which entry of the ledger, as what it is active, and what its trial and its live
    sessions say.

    What waits carries the entry that proposes it, the text that stands there now, and the entry of its last trial;
    what is live, all that was counted.
    """

    stage: LessonStage = LessonStage.CLAIMED
    entry: int = 0
    told_as: str = ""  # the form and the name of what is active
    why: str = ""  # it is not proposed, or was refused
    tried: TriedLesson | None = None
    live: LiveLesson | None = None
    proposal: Entry | None = None
    replaces: str | None = None
    judged: Entry | None = None
    counts: LiveCounts | None = None

    @property
    def words(self) -> str:
        """The same for people."""
        match self.stage:
            case LessonStage.ACTIVE:
                return f"active as {self.told_as}"
            case LessonStage.LIVE:
                return f"active as {self.told_as}, for a share of the sessions"
            case LessonStage.WAITING:
                return f"waits: `whet lessons show {self.entry}`"
            case LessonStage.CHECKED:
                return "new"
            case LessonStage.RETIRED:
                return "undone"
            case LessonStage.REFUSED:
                return f"refused{self.why}"
            case _:
                return self.why


CHECKED = Standing(LessonStage.CHECKED)
_CARRIERS = {
    Form.SKILL: Carrier.SKILL,
    Form.NOTE: Carrier.NOTE,
    Form.FILE: Carrier.SKILL,
    Form.TEMPLATE: Carrier.EXAMPLE,
    Form.JOB: Carrier.JOB,
    Form.STATEMENT: Carrier.FIX_THE_FILE,
}


class LessonChecks(Value, frozen=True):
    """What speaks against proposing a lesson: a file of the project says it.

    It is broken where evidence came after the file said it. The measures are of what a reader claimed.
    """

    stands_in: str = ""
    stands_as: str = ""  # the line that says it
    is_broken: bool = False
    measures: LessonMeasures | None = None


class SeenBy(NamedTuple):
    """In whose sessions a lesson was seen; the projects where it belongs to none of them alone.

    The place is its project as people read it, where that is not its name.
    """

    agents: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    place: str = ""


class Lesson(Value, frozen=True):
    """What would spare a trouble: the rule, when it applies, what works then, the change that tells it, the evidence.

    The id is made of the project and the rule, so that no two lessons of a home share one and it stays while they do.
    `repeats` are changes that would tell the same in other words: what is decided on them is decided on this.

    >>> import whet
    >>> with whet.Store() as store:
    ...     lesson = store.lessons()[0]
    >>> lesson.rule, lesson.sessions, lesson.standing.stage.value
    ('`python -m pytest …` fails here (“Use: ./dev test MODULE”); run `./dev test …` instead.', 12, 'checked')
    """

    id: str
    project: str
    rule: str
    situation: str
    fix: str
    patch: Patch
    evidence: LessonEvidence
    seen_by: SeenBy = SeenBy()
    checks: LessonChecks = LessonChecks()
    standing: Standing = Standing()
    repeats: tuple[Patch, ...] = ()

    @property
    def sessions(self) -> int:
        """In how many sessions it was seen."""
        return self.evidence.sessions

    @property
    def climb(self) -> Climb:
        """How far it has climbed the ladder of evidence."""
        tried = self.standing.tried or (TriedLesson(self.origin.trial) if self.origin.trial else None)
        live = self.standing.live or (LiveLesson() if self.standing.stage is LessonStage.LIVE else None)
        return Climb(self.sessions, self.checks.measures, tried, live)

    @property
    def scope(self) -> Scope:
        return self.patch.scope

    @property
    def origin(self) -> PatchOrigin:
        return self.patch.origin

    @property
    def trust(self) -> Trust:
        return self.patch.trust

    @property
    def carrier(self) -> Carrier:
        if self.checks.measures is not None and self.checks.measures.wrong_in:
            return Carrier.FIX_THE_FILE
        if self.patch.form is Form.RULE:
            return Carrier.REMINDER if self.scope.at_call else Carrier.FILE
        return _CARRIERS[self.patch.form]

    @property
    def told_as(self) -> str:
        """What it would be told as, in words; a file that is wrong is put right by a person."""
        is_usual = self.carrier not in (Carrier.REMINDER, Carrier.FIX_THE_FILE)
        return self.patch.form.value if is_usual else self.carrier.value.replace("_", " ")

    @property
    def is_dropped(self) -> bool:
        """Whether it is no lesson: its standing says why."""
        return self.standing.stage is LessonStage.DROPPED

    @property
    def is_worded(self) -> bool:
        """Whether somebody has found words for it; to take something away needs none."""
        return bool(self.patch.text) or self.patch.action is Action.REMOVE

    @property
    def is_proposable(self) -> bool:
        """Whether nothing speaks against proposing it; what a file says and nobody follows may be a reminder."""
        is_told = bool(self.checks.stands_in) and not (self.checks.is_broken and self.carrier is Carrier.REMINDER)
        return not is_told

    @property
    def place(self) -> str:
        """Where it was learned, in words."""
        projects = self.seen_by.projects
        return f"{len(projects)} projects" if projects else self.seen_by.place or self.project or "no project"

    @property
    def group(self) -> str:
        """Where it would hold, as a heading."""
        if self.project:
            return self.place
        return EVERY_PROJECT if self.patch.form is Form.RULE else THIS_HOME

    @property
    def proposal(self) -> Entry:
        """The entry that proposes it; only what waits has one."""
        assert self.standing.proposal is not None
        return self.standing.proposal

    @property
    def counts(self) -> LiveCounts:
        """What was counted of it; only what is live has that."""
        assert self.standing.counts is not None
        return self.standing.counts

    @property
    def move(self) -> Move:
        """What approving it would do to what stands there now."""
        entry = self.proposal
        after = entry.patch.text if entry.after else None
        return Move(Key(entry.patch.form, entry.patch.name, entry.home), self.standing.replaces, after)

    @property
    def verdict(self) -> str:
        """What its last trial said, in a line; without one, why there was none where that is known."""
        judged = self.standing.judged
        if judged is None:
            return self.origin.untried_words
        return f"{judged.step} (entry {judged.number}) {judged.note}".strip()

    @property
    def whose(self) -> str:
        """Whose words they are, and how far they are trusted."""
        is_unsure = self.patch.situation.said and self.trust is Trust.TOOL
        return f"{UNVOUCHED if is_unsure else WHOSE[self.trust]} (trust {self.trust.label})"


class ProjectLessons(Value, frozen=True):
    """All that one project teaches, and what is no lesson."""

    project: str
    lessons: tuple[Lesson, ...] = ()
    dropped: tuple[Lesson, ...] = ()


def project_lessons(project: str, made: Iterable[Lesson]) -> ProjectLessons:
    """What a project teaches, each lesson once, the worthiest first."""
    every = tuple(made)
    lessons = {each.id: each for each in every if not each.is_dropped}
    ranked = sorted(lessons.values(), key=lambda each: -each.evidence.worth)
    return ProjectLessons(project, tuple(ranked), tuple(each for each in every if each.is_dropped))


def drafted(lesson: Lesson) -> Lesson:
    """A lesson as it was drafted; what the ledger would refuse, whatever stands in it, is dropped with the reason."""
    wrong = [fault.message for fault in faults(lesson.patch, State()) if fault.kind is not FaultKind.TRUST]
    return no_lesson(lesson.project, lesson.rule, "; ".join(wrong), lesson.evidence) if wrong else lesson


def lesson_of_change(patch: Patch, situation: str = "", standing: Standing = CHECKED) -> Lesson:
    """The lesson that a change tells, whoever wrote it, with what it quotes as its evidence."""
    project = patch.scope.project
    id = id_of(project, patch.text or f"{patch.action} {patch.form} {patch.name}")
    return Lesson(
        id, project, patch.text, situation, patch.situation.fix, patch, evidence_of_change(patch), standing=standing
    )


def waits(entry: Entry, *, replaces: str | None = None, judged: Entry | None = None) -> Lesson:
    """The lesson that a change tells which waits for a person."""
    standing = Standing(LessonStage.WAITING, entry.number, proposal=entry, replaces=replaces, judged=judged)
    return lesson_of_change(entry.patch, standing=standing)


def no_lesson(project: str, rule: str, why: str, evidence: LessonEvidence) -> Lesson:
    """Words that are no lesson, and why not; nothing is dropped without being kept so."""
    patch = Patch(Form.RULE, Action.ADD, "", rule, Scope(project=project))
    return Lesson(
        id_of(project, rule), project, rule, "", "", patch, evidence, standing=Standing(LessonStage.DROPPED, why=why)
    )


def evidence_of_change(patch: Patch) -> LessonEvidence:
    """What a change quotes, and in how many sessions it was seen when it was written."""
    basis, counts = patch.origin.basis, patch.origin.counts
    known = LessonSource.FAILURE if patch.proofs else LessonSource.GIVEN
    source = LessonSource(basis) if basis in set(LessonSource) else known
    pieces = tuple(
        LessonPiece(source, each.session, each.message or 0, each.quote, trust=patch.trust) for each in patch.proofs
    )
    evidence = LessonEvidence(source, pieces, 0, 0.0)
    return replace(evidence, sessions=counts.sessions or len(evidence.session_ids))


def id_of(project: str, rule: str) -> str:
    """The id of a lesson: the same for the same rule in the same project, and for nothing else."""
    return digest(f"{project} {rule}")[:ID_LETTERS]


def learned_name(project: str, text: str) -> str:
    """The name of the change that tells what one project teaches: the same for the same words."""
    return f"learned-{digest(f'{project} {text}')[:NAME_LETTERS]}"
