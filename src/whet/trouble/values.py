"""Trouble as values: a stretch of a session that bought nothing, somebody's intervention, and all of one session."""

from enum import StrEnum
from typing import Final, NamedTuple

from whet.values import Value, lazy


class TroubleKind:
    """Why a stretch bought nothing: the names of Whet's own kinds. Other packages bring kinds with other names."""

    SLIP: Final = "slip"
    RED_CHECK: Final = "red_check"
    CORRECTED: Final = "corrected"
    THROWN_AWAY: Final = "thrown_away"
    CONTEXT: Final = "context"
    WAITING: Final = "waiting"
    CLAIMED: Final = "claimed"
    TOLD: Final = "told"


class TroubleEnding(StrEnum):
    """How a stretch ended."""

    MENDED = "mended"  # the call worked, the check turned green, the work was put right
    LEFT = "left"  # the agent went on to something else
    HANDED_BACK = "handed_back"  # the turn ended with it
    STOPPED = "stopped"  # the person stopped it
    OVER = "over"  # what was waited for came, or the thread was found again
    CUT = "cut"  # the record ends in it


class InterventionKind(StrEnum):
    """How somebody stepped in."""

    REFUSAL = "refusal"  # a call was not let to run
    INTERRUPT = "interrupt"  # the agent was stopped at work
    CORRECTION = "correction"  # the work was objected to or changed


class Speaker(StrEnum):
    """Who spoke in the person's place."""

    PERSON = "person"  # the record makes certain that a person typed it
    TEAM = "team"  # a person, as far as the record tells, or somebody for them


class Trouble(Value, frozen=True):
    """A stretch of a session that bought nothing, from its first to its last message, and what it cost.

    `seconds`, `tokens`, `calls` and `dollars` count what no other stretch counts; a stretch within another owns its
    minutes. `subject` is what failed: a tool, a program, a check or a rule, if it was one.
    `cause` tells one trouble with that subject from another: the test or lint rule that was red, the error without what
    varies.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> slip, _ = whet.troubles(session).troubles
    >>> slip.kind, slip.calls, slip.cause, slip.ending.value
    ('slip', 1, '… Not Found: …', 'stopped')
    """

    kind: str  # one of TroubleKind, or of a kind that another package brings
    first: int
    last: int
    seconds: float = 0.0
    tokens: int = 0
    calls: int = 0
    dollars: float = 0.0
    subject: str = ""
    cause: str = ""
    ending: TroubleEnding = TroubleEnding.MENDED


class JudgedMessages(Value, frozen=True):
    """The messages of people in a session that a reader was shown, and which of them it took for corrections."""

    shown: tuple[int, ...] = ()
    corrections: tuple[int, ...] = ()


class Intervention(Value, frozen=True):
    """Somebody stepped in: how, at which message, what they said, and whose words that is.

    A correction that no reader judged is a guess from the grammar of the words.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> [event] = whet.troubles(session).interventions
    >>> event.kind.value, event.message, event.by.value
    ('interrupt', 16, 'person')
    """

    kind: InterventionKind
    message: int
    words: str = ""
    by: Speaker = Speaker.TEAM
    is_judged: bool = False  # a reader says that it is a correction

    @property
    def is_guess(self) -> bool:
        return self.kind is InterventionKind.CORRECTION and not self.is_judged


class LostSums(NamedTuple):
    """What the stretches of a session took together."""

    seconds: float
    calls: int
    tokens: int
    dollars: float


class SessionTrouble(Value, frozen=True, dict=True):
    """What one session spent, what of it bought nothing, and who stepped in.

    `is_timed` is false where the record has no times: its seconds are then unknown and not none. `ends_failed` says
    whether its last call failed or a check was red at its end; None where the agent neither did nor said anything.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> found = whet.troubles(session)
    >>> found.is_timed, 0 < found.lost_seconds < found.agent_seconds
    (True, True)
    """

    session: str
    agent_seconds: float = 0.0
    is_timed: bool = False
    troubles: tuple[Trouble, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    source: str = ""
    model: str = ""
    folder: str = ""
    started: float | None = None
    calls: int = 0
    ends_failed: bool | None = False

    @property
    def lost_share(self) -> float:
        """How much of it bought nothing, from 0 to 1: of the agent's time, or of its calls where no time is known."""
        if self.agent_seconds:
            return min(1.0, self.lost_seconds / self.agent_seconds)
        return min(1.0, sum(trouble.calls for trouble in self.troubles) / self.calls) if self.calls else 0.0

    @lazy
    def lost(self) -> LostSums:
        """What it lost, added up once for all that it is counted in."""
        found = self.troubles
        return LostSums(
            sum([one.seconds for one in found]),
            sum([one.calls for one in found]),
            sum([one.tokens for one in found]),
            sum([one.dollars for one in found]),
        )

    @property
    def lost_seconds(self) -> float:
        return self.lost.seconds

    @property
    def times_stepped_in(self) -> int:
        """How often somebody stepped in."""
        return len(self.interventions)

    @lazy
    def times_guessed(self) -> int:
        """How many of these times are a guess from the grammar of what was typed."""
        return sum(event.is_guess for event in self.interventions)

    @property
    def dearest(self) -> Trouble | None:
        """The stretch that cost most."""
        return max(self.troubles, key=lambda trouble: (trouble.seconds, trouble.tokens), default=None)
