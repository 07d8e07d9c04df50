"""Pieces of evidence for lessons: one thing that a person said, or one failure with what worked instead."""

import re
from collections.abc import Iterable
from enum import StrEnum

from msgspec.structs import replace

from whet.sessions.trust import Trust
from whet.text.words import names
from whet.values import Value

LONGEST_WORD = 60
_WORD = re.compile(r"[A-Za-z][\w.:/@+-]*[\w]|[A-Za-z]|--?[A-Za-z][\w-]*")
COMMON = names(
    "a about actually after again all already also am an and another any anything are aren't as at away be because "
    "been before being both but by can can't cannot come could couldn't did didn't do does doesn't doing don't done "
    "down each either else even every everything exactly far feel few fine first for from full get getting give go "
    "goes going gone good got great had has have haven't having he hello help her here hi him his hmm how however i "
    "i'd i'll i'm i've if in instead into is isn't it it's its itself just keep kind know last later least less let "
    "let's lets like little long look looking looks lot made make makes making many may maybe me mean might mine "
    "more most much must my need needs never new next nice no not nothing now of off ok okay old on once one only "
    "or other our out over own please possible properly put quick quickly quite rather really right same say see "
    "seem seems set she should shouldn't so some something sort sounds still stuff such sure take tell than thank "
    "thanks that that's the their them then there there's these they thing things think this those though thought "
    "through time to together too top try two under until up us use used using very via want was wasn't way we we'd "
    "we'll we're we've well were what what's when where whether which while who whole why will with without won't "
    "would wouldn't yeah yep yes yet you you're your don isn aren wasn doesn didn won couldn shouldn wouldn ll ve "
    "re"
)


class LessonSource(StrEnum):
    """Where a piece of evidence comes from, the worthiest first."""

    PERSON = "person"  # the person's own words
    RECOVERY = "recovery"  # a call that failed, and one for the same purpose that worked
    PLACE = "place"  # a guess about the place, and what is there
    REMEDY = "error_remedy"  # the error itself says what to do
    PROCEDURE = "procedure"  # several steps that worked in the same order, session after session

    @property
    def words(self) -> str:
        """The same for people."""
        return SOURCE_WORDS[self]

    def seen_in(self, sessions: int) -> str:
        """What a person reads of evidence in so many sessions."""
        return f"{self.words} in {sessions} session{'' if sessions == 1 else 's'}"


SOURCE_WORDS = {
    LessonSource.PERSON: "said by a person",
    LessonSource.RECOVERY: "what worked after a failure",
    LessonSource.PLACE: "a fact about the machine or project",
    LessonSource.REMEDY: "what the error says to do",
    LessonSource.PROCEDURE: "steps that worked in the same order",
}


class LessonPiece(Value, frozen=True):
    """One piece of evidence: the person's words, or a call with its error; `keys` are the words that matter in it.

    `fix` is what worked later, `remedy` what the error itself says to do, and `did` the later call that did it. A habit
    is what the agent's own tools ask for, in whatever project. The trust is the lowest of the words that a draft takes
    from it. `who` is the member of a team in whose session it was said.
    """

    source: LessonSource
    session: str
    message: int
    text: str
    call: str = ""
    error: str = ""
    fix: str = ""
    remedy: str = ""
    keys: frozenset[str] = frozenset()
    weight: float = 1.0
    trust: Trust = Trust.USER
    is_habit: bool = False
    is_first: bool = False  # said before the agent had begun: the task of the day
    at: float | None = None
    who: str = ""
    did: str = ""
    is_refuted: bool = False  # it says that something is not there which was there elsewhere in the project


def lifted(piece: LessonPiece) -> LessonPiece:
    """The piece of a project whose owner vouches for what its commands print; a stranger's words stay a stranger's."""
    is_printed = piece.trust is Trust.TOOL and piece.source is not LessonSource.PERSON
    return replace(piece, trust=Trust.AGENT) if is_printed else piece


def key_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    found = (word.strip(".:/").lower() for word in _WORD.findall(text))
    return frozenset(word for word in found if 2 < len(word) <= LONGEST_WORD and word not in COMMON)


def stems(words: Iterable[str]) -> frozenset[str]:
    """Words without their commonest endings, so that a plural or a tense is no other word."""
    return frozenset(_stem(word) for word in words)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
