"""An audit: the files that agents read in one project, their statements, and what they cost."""

from collections import Counter

from whet.statements.statement import AuditedStatement, InstructionFile, StatementMark
from whet.values import Value

NEEDLESS = (StatementMark.WRONG, StatementMark.DOUBLED, StatementMark.KNOWN, StatementMark.NEVER)


class Volume(Value, frozen=True):
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
    volume: Volume | None = None

    @property
    def faulty(self) -> tuple[AuditedStatement, ...]:
        """The statements that want a person's look, the gravest first."""
        order = {mark: place for place, mark in enumerate(StatementMark)}
        graves = (
            StatementMark.WRONG,
            StatementMark.CAUSE,
            StatementMark.BROKEN,
            StatementMark.CONTRADICTED,
            StatementMark.DOUBLED,
        )
        found = [each for each in self.statements if any(one.mark in graves for one in each.findings)]
        return tuple(sorted(found, key=lambda each: min(order[one.mark] for one in each.findings)))

    @property
    def counts(self) -> dict[str, int]:
        """How many statements have each mark; what cannot be told is counted too."""
        marks = Counter(mark for each in self.statements for mark in {str(one.mark) for one in each.findings} or {""})
        untold = marks.pop("", 0)
        return {**{str(mark): marks[mark] for mark in StatementMark if marks[mark]}, "cannot be told": untold}

    @property
    def tokens(self) -> int:
        """Of the files that are read at the start of every session at the root."""
        at_start = {file.path for file in self.files if not file.is_on_demand and "/" not in file.path.lstrip("~/")}
        return sum(each.statement.tokens for each in self.statements if each.statement.file in at_start)

    @property
    def needless(self) -> int:
        """The tokens of statements that are wrong, said twice, known anyway, or for what never came up."""
        return sum(
            each.statement.tokens for each in self.statements if any(one.mark in NEEDLESS for one in each.findings)
        )
