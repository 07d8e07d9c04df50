"""What could be done about a statement: correct it, remove it, say it again at the call. Nothing is changed here."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from whet.statements.listings import depth_in_drawing
from whet.statements.statement import AuditedStatement, Statement, StatementFinding, StatementKind, StatementMark
from whet.told.marked_block import MARK, PassageChange, lines_of, passage

LONGEST_RULE = 400
_LEAD = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
REMOVABLE = (StatementMark.DOUBLED, StatementMark.KNOWN, StatementMark.CAUSE)


class ProposalKind(StrEnum):
    """What is proposed."""

    CORRECT = "correct"
    REMOVE = "remove"
    SHORTEN = "shorten"  # the lines of a block that are wrong go, the others stay
    MERGE = "merge"  # it stands elsewhere too: one of the two goes
    REMIND = "remind"  # told and not followed: at the call
    MOVE = "move"  # a reminder says it at the call: it need not be read at every start


class StatementProposal(NamedTuple):
    """One change of one statement, and the evidence for it."""

    kind: ProposalKind
    audited: AuditedStatement
    finding: StatementFinding
    passage: PassageChange | None = None  # None: nothing in the file changes
    reminder: str = ""


def proposals(audited: AuditedStatement, text: str) -> Iterator[StatementProposal]:
    """What could be done about a statement of a file with this text, at most one change of its lines."""
    broken = audited.marked(StatementMark.BROKEN)
    if broken is not None:
        said = " ".join(_LEAD.sub("", audited.statement.text).split())
        if len(said) <= LONGEST_RULE and audited.statement.kind is not StatementKind.CODE:
            yield StatementProposal(ProposalKind.REMIND, audited, broken, reminder=said)
    for finding in audited.findings:
        changed = _corrected(finding, text) if finding.instead and finding.named else None
        if changed is not None:
            yield StatementProposal(ProposalKind.CORRECT, audited, finding, changed)
            return
    shorter = _shortened(audited, text)
    if shorter is not None:
        wrong = next(each for each in audited.findings if each.mark is StatementMark.WRONG)
        yield StatementProposal(ProposalKind.SHORTEN, audited, wrong, shorter)
        return
    for finding in audited.findings:
        if finding.mark in REMOVABLE or (finding.mark is StatementMark.WRONG and _says_nothing_else(audited, finding)):
            gone = passage_without(audited.statement, text)
            if gone is not None:
                kind = ProposalKind.MERGE if finding.mark is StatementMark.DOUBLED else ProposalKind.REMOVE
                yield StatementProposal(kind, audited, finding, gone)
            return


def moved(audited: AuditedStatement, text: str, reminder: str) -> StatementProposal | None:
    """The file without a statement that a reminder in force says at the call. First the one, then the other: at no time
    is it said nowhere.
    """
    gone = passage_without(audited.statement, text)
    why = f"the reminder {reminder} says it at the call"
    finding = StatementFinding(StatementMark.DOUBLED, why, audited.statement.line, where=reminder)
    return StatementProposal(ProposalKind.MOVE, audited, finding, gone) if gone else None


def _corrected(finding: StatementFinding, text: str) -> PassageChange | None:
    """The line with what is there in the place of what is not, where it names it once."""
    lines = lines_of(text.removeprefix(MARK))
    if not 0 < finding.line <= len(lines):
        return None
    line = lines[finding.line - 1]
    found = list(re.finditer(rf"(?<![\w/.-]){re.escape(finding.named)}(?![\w-])", line))
    if len(found) != 1:
        return None
    new = line[: found[0].start()] + finding.instead + line[found[0].end() :]
    return passage(text, finding.line, finding.line, [new])


def _says_nothing_else(audited: AuditedStatement, finding: StatementFinding) -> bool:
    """Whether a statement is an item or a row that is about the missing thing alone: it names it before all else."""
    statement = audited.statement
    is_short = statement.kind in (StatementKind.ITEM, StatementKind.ROW) and statement.line == statement.last
    lead = _LEAD.sub("", statement.text).lstrip(" |*`")
    return is_short and lead.startswith(finding.named.rstrip("/"))


def _shortened(audited: AuditedStatement, text: str) -> PassageChange | None:
    """A block without its lines that are wrong; None where a line belongs to others, or nothing would be left."""
    statement = audited.statement
    first, last = statement.line, statement.last
    wrong = {each.line for each in audited.findings if each.mark is StatementMark.WRONG}
    if statement.kind is not StatementKind.CODE or not wrong or not all(first < line < last for line in wrong):
        return None
    lines = lines_of(text.removeprefix(MARK))[first - 1 : last]
    if any(_belongs_to_others(lines, line - first) for line in wrong):
        return None
    kept = [line for number, line in enumerate(lines, first) if number not in wrong]
    return passage(text, first, last, kept) if any(line.strip() for line in kept[1:-1]) else None


def _belongs_to_others(lines: list[str], place: int) -> bool:
    """Whether a line goes on in the next, or is a folder with entries below it."""
    depth, below = depth_in_drawing(lines[place]), depth_in_drawing(lines[place + 1])
    goes_on = any(line.rstrip().endswith("\\") for line in lines[place - 1 : place + 1])
    return goes_on or below > depth > 0


def passage_without(statement: Statement, text: str) -> PassageChange | None:
    """The file without a statement, and without the blank line that would be doubled."""
    lines = lines_of(text.removeprefix(MARK))
    first, last = statement.line, statement.last
    is_blank_before = first == 1 or not lines[first - 2].strip()
    if is_blank_before and last < len(lines) and not lines[last].strip():
        last += 1
    return passage(text, first, last, [])
