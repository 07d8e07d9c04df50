"""One statement of a file that agents read, what was found out about it, and the file."""

from enum import StrEnum
from typing import NamedTuple

from whet.ledger.patches import Proof, digest
from whet.values import Value

ID_LETTERS = 8


class StatementKind(StrEnum):
    """How a statement stands in its file."""

    LINE = "line"  # a paragraph: lines that belong together
    ITEM = "item"  # of a list
    ROW = "row"  # of a table
    CODE = "code"  # a fenced block


class Statement(Value, frozen=True):
    """A part of a file that can be right or wrong by itself, from its first line to its last, as it is written."""

    file: str
    line: int
    last: int
    text: str
    kind: StatementKind = StatementKind.LINE
    heading: str = ""  # the headings above it, the outermost first
    language: str = ""  # of a fenced block, as its fence says
    tokens: int = 0

    @property
    def id(self) -> str:
        """The same while its words stay in its file, wherever they stand in it."""
        return digest(f"{self.file} {' '.join(self.text.split())}")[:ID_LETTERS]

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


class StatementMark(StrEnum):
    """What was found out about a statement. Without evidence there is none."""

    WRONG = "wrong"  # it names what is not there
    READ = "wrong to a reader"  # a model says so, and code found what it quotes
    CAUSE = "cause"  # calls that follow it fail
    BROKEN = "broken"  # told and not followed
    CONTRADICTED = "contradicted"
    DOUBLED = "doubled"
    KNOWN = "known anyway"  # the repository's own files say so
    NEVER = "never came up"
    FOLLOWED = "followed"


FAULTS = (
    StatementMark.WRONG,
    StatementMark.READ,
    StatementMark.CAUSE,
    StatementMark.CONTRADICTED,
    StatementMark.BROKEN,
    StatementMark.DOUBLED,
)
UNTOLD = "cannot be told"


class StatementFinding(Value, frozen=True):
    """One mark with its evidence: in words, where to look, what is right instead, and the calls that show it."""

    mark: StatementMark
    why: str
    line: int = 0  # on which it is seen, where the statement has several
    named: str = ""  # what of the statement it is about
    instead: str = ""
    where: str = ""  # the other statement, file or commit
    came_up: int = 0  # sessions in its situation
    seen: int = 0  # those of them that show the mark
    proofs: tuple[Proof, ...] = ()


class LastChange(NamedTuple):
    """When a line was last changed, and by which commit."""

    at: float
    commit: str


class AuditedStatement(Value, frozen=True):
    """A statement with all that was found out about it; no finding: it cannot be told."""

    statement: Statement
    findings: tuple[StatementFinding, ...] = ()
    changed: LastChange | None = None
    tokens_month: int | None = None  # None: no sessions are known

    def marked(self, mark: StatementMark) -> StatementFinding | None:
        """What shows this mark."""
        return next((each for each in self.findings if each.mark is mark), None)

    @property
    def words(self) -> str:
        """Its marks, the gravest first."""
        marks = {each.mark for each in self.findings}
        return ", ".join(mark for mark in StatementMark if mark in marks) or UNTOLD


class CopiedLines(NamedTuple):
    """How many lines of a file stand in one before it."""

    file: str
    shared: int
    lines: int

    @property
    def words(self) -> str:
        return f"{self.shared} of its {self.lines} lines stand in {self.file}"


class InstructionFile(Value, frozen=True):
    """A file that agents read, as it stands."""

    path: str  # in the project, or from ~ on
    text: str = ""
    agents: tuple[str, ...] = ()  # that read it
    is_on_demand: bool = False  # a skill or a rule for some files: read when it is needed
    imported_by: str = ""
    linked_by: str = ""  # a document that its reader may follow to: no agent reads it by name
    same_as: str = ""  # the file before it that it is a link to, or a copy of
    copied: CopiedLines | None = None  # the larger part of it
    fault: str = ""  # why it was not read, or not whole
