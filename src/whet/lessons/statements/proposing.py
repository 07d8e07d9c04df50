"""What could be done about a statement: correct it, remove it, say it where it is needed. Nothing is changed here."""

import posixpath
import re
import textwrap
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from whet.ledger.marked_block import MARK, PassageChange, lines_of, passage
from whet.lessons.statements.listings import depth_in_drawing
from whet.lessons.statements.naming import ThingKind, things_in
from whet.lessons.statements.statement import (
    FAULTS,
    AuditedStatement,
    InstructionFile,
    Statement,
    StatementFinding,
    StatementKind,
    StatementMark,
)

LONGEST_RULE = 400
_LEAD = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
MOVABLE = (StatementKind.ITEM, StatementKind.LINE)
FEWEST_NAMES = 2  # that show which skill a statement belongs to
REMOVABLE = (StatementMark.DOUBLED, StatementMark.KNOWN, StatementMark.CAUSE)


class ProposalKind(StrEnum):
    """What is proposed."""

    CORRECT = "correct"
    REMOVE = "remove"
    SHORTEN = "shorten"  # the lines of a block that are wrong go, the others stay
    MERGE = "merge"  # it stands elsewhere too: one of the two goes
    REMIND = "remind"  # told and not followed: at the call
    MOVE = "move"  # to where it is needed: it need not be read at every start


class StatementProposal(NamedTuple):
    """One change of one statement, and the evidence for it."""

    kind: ProposalKind
    audited: AuditedStatement
    finding: StatementFinding
    passage: PassageChange | None = None  # None: nothing in the file changes
    reminder: str = ""
    file: str = ""  # that the passage is of, where it is not the statement's own


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


def moved(audited: AuditedStatement, text: str, where: str) -> StatementProposal | None:
    """The file without a statement that is said where it is needed. First the one, then the other: at no time is it
    said nowhere.
    """
    gone = passage_without(audited.statement, text)
    finding = StatementFinding(StatementMark.DOUBLED, f"{where} says it", audited.statement.line, where=where)
    return StatementProposal(ProposalKind.MOVE, audited, finding, gone) if gone else None


def copied_to(audited: AuditedStatement, file: InstructionFile, text: str) -> StatementProposal | None:
    """A file that is read where a statement is needed, with the statement at its end."""
    lines = lines_of(text.removeprefix(MARK))
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    said = [f"{line.rstrip()}{ending}" for line in textwrap.dedent(audited.statement.text).split("\n")]
    is_list = audited.statement.kind is StatementKind.ITEM and bool(lines) and bool(_LEAD.match(lines[-1]))
    gap = [] if is_list or (lines and not lines[-1].strip()) else [ending]
    last = [] if not lines or lines[-1].endswith("\n") else [f"{lines[-1]}{ending}"]
    change = passage(text, len(lines) + 1 - len(last), len(lines), [*last, *gap, *said])
    why = f"all that it names is in `{_folder(file.path)}`: {file.path} is read there"
    if file.is_on_demand:
        why = f"{file.path} names all that it names, and is read when it is needed"
    finding = StatementFinding(StatementMark.DOUBLED, why, audited.statement.line, where=file.path)
    return StatementProposal(ProposalKind.MOVE, audited, finding, change, file=file.path) if change else None


def better_place(audited: AuditedStatement, files: Iterable[InstructionFile]) -> InstructionFile | None:
    """The file that is read only where a statement is needed: of the folder that all its paths lie in, or of the one
    skill that names all that it names. None for what is read there already, or wants another change.
    """
    statement, every = audited.statement, {file.path: file for file in files if file.text and not file.same_as}
    own = every.get(statement.file)
    is_sound = statement.kind in MOVABLE and not any(each.mark in FAULTS for each in audited.findings)
    if own is None or own.is_on_demand or not is_sound or statement.text[:1].isspace():
        return None
    things = [each for each in things_in(statement) if each.kind in (ThingKind.PATH, ThingKind.COMMAND)]
    paths = [each.text for each in things if each.kind is ThingKind.PATH and each.is_certain]
    folder = posixpath.commonpath([posixpath.dirname(each) for each in paths]) if len(paths) == len(things) > 0 else ""
    while folder:
        nested = every.get(posixpath.join(folder, posixpath.basename(statement.file)))
        if nested and nested is not own and not nested.is_on_demand:
            return nested
        folder = posixpath.dirname(folder)
    skills = [file for path, file in every.items() if file.is_on_demand and posixpath.basename(path) == "SKILL.md"]
    told = [file for file in skills if len(things) >= FEWEST_NAMES and all(each.text in file.text for each in things)]
    return told[0] if len(told) == 1 else None


def says(file: InstructionFile, statement: Statement) -> bool:
    """Whether a file has a statement in the same words."""
    return _folded(statement.text) in _folded(file.text)


def _folded(text: str) -> str:
    return " ".join(text.split())


def _folder(path: str) -> str:
    return f"{posixpath.dirname(path)}/"


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
