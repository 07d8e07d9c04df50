"""An audit: the files that agents read in one project, their statements as lessons, and what they cost."""

from collections import Counter
from collections.abc import Iterator

from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Form, Patch, Scope
from whet.lessons.record import Lesson, LessonStage, Standing, lesson_of_change
from whet.lessons.statements.statement import FAULTS, AuditedStatement, InstructionFile, StatementMark
from whet.sessions.trust import Trust
from whet.values import Value

NEEDLESS = (StatementMark.WRONG, StatementMark.DOUBLED, StatementMark.KNOWN, StatementMark.NEVER)

BUDGET = 6_000  # tokens read at every start: more than what agents are shown of rules takes the place of the work


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
