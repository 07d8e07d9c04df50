"""Claims: what a reader says that sessions teach, one operation a line, kept as an append-only log."""

from enum import StrEnum

from whet.trouble.values import JudgedMessages
from whet.values import Value

MOST_LETTERS = 300  # of a rule


class ClaimOperation(StrEnum):
    """What a claim does to what was claimed before it."""

    NEW = "new"
    SUPPORT = "support"  # more quotes for a claim
    SHARPEN = "sharpen"  # better words for it
    CONTRADICT = "contradict"  # quotes against it
    RETIRE = "retire"  # it no longer holds
    KEEP = "keep"  # the sceptic lets it stand; no reader may say it


class ClaimSource(StrEnum):
    """What shows that a claim is true."""

    REMEDY = "error_remedy"  # the same error in several sessions, and what ends it
    FACT = "fact"  # of the project or the machine
    REQUEST = "repeated_request"  # the same wish at the end of the work
    PERSON = "person"  # a correction, a refusal with words, a standing order
    RECOVERY = "recovery"  # one form failed, another worked
    TRAP = "trap"  # the same root cause twice


class ClaimCarrier(StrEnum):
    """Where the reader would tell it."""

    FILE = "file"
    SKILL = "skill"
    REMINDER = "reminder"
    FIX_THE_FILE = "fix_the_file"  # a file that agents read says something wrong


class Quote(Value, frozen=True):
    """Words of one message of a session."""

    session: str
    message: int
    words: str


class CheckPlace(StrEnum):
    """Where the patterns of a check look."""

    COMMAND = "command"
    PATH = "path"
    ERROR = "error"


class ClaimCheck(Value, frozen=True):
    """How code finds the situation of a claim again: regular expressions for what fails, and for what works instead."""

    on: CheckPlace
    fails: str
    works: str = ""


class Claim(Value, frozen=True):
    """One operation of a reader. `id` names the claim that it is about; a new one has the id that it was given.

    `told` quotes the line of a file that says it already. The scope is "project", a path pattern, or "person".
    `why` is said of what is contradicted, retired or kept.
    """

    operation: ClaimOperation
    id: str
    rule: str = ""
    situation: str = ""
    scope: str = "project"
    source: ClaimSource = ClaimSource.RECOVERY
    carrier: ClaimCarrier = ClaimCarrier.FILE
    told: str = ""
    quotes: tuple[Quote, ...] = ()
    check: ClaimCheck | None = None
    confidence: float = 0.5
    why: str = ""


class ClaimAuthor(StrEnum):
    """In which part somebody claims."""

    READER = "reader"
    SCEPTIC = "sceptic"
    REVIEW = "review"  # of a session of Whet's own agent


class ReadBy(Value, frozen=True):
    """Who claims: the name of an agent or a model, and in which part."""

    name: str
    author: ClaimAuthor = ClaimAuthor.READER


class LoggedClaim(Value, frozen=True):
    """A claim as the log has it: its place there, whose project it is of, when it was made and by whom.

    `misplaced` counts its quotes from sessions that are not in the store, whose words are not kept. One that nobody
    could take as a claim is in the log with the reason, and counts for nothing.
    """

    number: int
    project: str
    at: float
    reader: ReadBy
    claim: Claim
    misplaced: int = 0
    dropped: str = ""  # why it counts for nothing


class DroppedClaim(Value, frozen=True):
    """A claim, or the beginning of a line that was none as the rule of an empty one, and why it counts for nothing."""

    claim: Claim
    why: str


class SessionRead(Value, frozen=True):
    """How far a session was read: by the store's id, its head then, and how many of its messages there were.

    `judged` tells corrections from wishes, where the reader did so.
    """

    session: str
    head: bytes
    messages: int
    judged: JudgedMessages | None = None
