"""An audit: the files that agents read in one project, their statements, what was found out of each, what they cost."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from whet.ledger.patches import Action, Form, Patch, PatchOrigin, PatchWriter, Proof, Scope, digest
from whet.lessons.record import Lesson, LessonStage, Standing, lesson_of_change
from whet.sessions.trust import Trust
from whet.values import Value

ID_LETTERS = 8
BUDGET = 6_000  # tokens read at every start: more than what agents are shown of rules takes the place of the work


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
    same_as: str = ""  # the file before it that it is a link to, or a copy of
    copied: CopiedLines | None = None  # the larger part of it
    fault: str = ""  # why it was not read, or not whole


NEEDLESS = (StatementMark.WRONG, StatementMark.DOUBLED, StatementMark.KNOWN, StatementMark.NEVER)


class ReadVolume(Value, frozen=True):
    """How often the files were read: sessions of the last month in the project, and requests to the model in them."""

    sessions: int = 0
    turns: int = 0
    looked: int = 0  # sessions that were looked at, of whatever time


class Audit(Value, frozen=True):
    """What an audit found. Without sessions there is no volume.

    >>> import whet
    >>> found = whet.audit("examples/audited")
    >>> [file.path.rpartition("/")[2] for file in found.files][-1], found.counts["wrong"]
    ('CLAUDE.md', 1)
    """

    root: str
    files: tuple[InstructionFile, ...] = ()
    statements: tuple[AuditedStatement, ...] = ()
    volume: ReadVolume | None = None

    @property
    def faulty(self) -> tuple[AuditedStatement, ...]:
        """The statements that want a person's look, the gravest first."""
        order = {mark: place for place, mark in enumerate(StatementMark)}
        found = [each for each in self.statements if any(one.mark in FAULTS for one in each.findings)]
        return tuple(sorted(found, key=lambda each: min(order[one.mark] for one in each.findings)))

    @property
    def counts(self) -> dict[str, int]:
        """How many statements have each mark; what cannot be told is counted too."""
        marks = Counter(mark for each in self.statements for mark in {str(one.mark) for one in each.findings} or {""})
        untold = marks.pop("", 0)
        return {**{str(mark): marks[mark] for mark in StatementMark if marks[mark]}, "cannot be told": untold}

    @property
    def at_start(self) -> tuple[AuditedStatement, ...]:
        """The statements of the files that are read at the start of every session at the root."""
        read = {file.path for file in self.files if not file.is_on_demand and _is_at_root(file)}
        return tuple(each for each in self.statements if each.statement.file in read)

    @property
    def tokens(self) -> int:
        """What is read at the start of every session."""
        return sum(each.statement.tokens for each in self.at_start)

    @property
    def needless(self) -> int:
        """The tokens of that which are wrong, said twice, known anyway, or for what never came up."""
        return sum(
            each.statement.tokens for each in self.at_start if any(one.mark in NEEDLESS for one in each.findings)
        )

    @property
    def over_budget(self) -> int:
        """By how many tokens what is read at every start passes the budget."""
        return max(self.tokens - BUDGET, 0)

    @property
    def replaceable(self) -> tuple[AuditedStatement, ...]:
        """What a new lesson could take the place of: the needless statements, the longest first."""
        found = [each for each in self.at_start if any(one.mark in NEEDLESS for one in each.findings)]
        return tuple(sorted(found, key=lambda each: -each.statement.tokens))


def _is_at_root(file: InstructionFile) -> bool:
    """Whether a file holds in the whole project: it is the person's own, lies at the root, or is imported by such."""
    folder = file.path.rpartition("/")[0]
    return file.path.startswith("~") or not folder or folder.startswith(".") or bool(file.imported_by)


def lessons_of_files(audit: Audit, *, project: str) -> Iterator[Lesson]:
    """Every statement as the lesson that it tells, with the marks as what became of it."""
    return (_lesson(each, project) for each in audit.statements)


def _lesson(audited: AuditedStatement, project: str) -> Lesson:
    statement = audited.statement
    origin = PatchOrigin(PatchWriter.PERSON, said=statement.place)
    proofs = tuple(proof for finding in audited.findings for proof in finding.proofs)
    scope = Scope(project=project)
    name = f"yours-{statement.id}"
    patch = Patch(Form.RULE, Action.ADD, name, statement.text, scope, origin, Trust.OPERATOR, proofs)
    told_as = f"a statement of {statement.place} ({audited.words})"
    return lesson_of_change(patch, statement.heading, Standing(LessonStage.ACTIVE, told_as=told_as))
