"""Claims: what a reader says that sessions teach, one operation a line, kept as an append-only log."""

from enum import StrEnum

from whet.values import Value

MOST_LETTERS = 300  # of a rule


class ClaimOperation(StrEnum):
    """What a claim does to what was claimed before it."""

    NEW = "new"
    SUPPORT = "support"  # more quotes for a claim
    SHARPEN = "sharpen"  # better words for it
    CONTRADICT = "contradict"  # quotes against it
    RETIRE = "retire"  # it no longer holds


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


class LoggedClaim(Value, frozen=True):
    """A claim as the log has it: its place there, whose project it is of, when it was made and by whom."""

    number: int
    project: str
    at: float
    reader: str  # the agent or model
    claim: Claim
