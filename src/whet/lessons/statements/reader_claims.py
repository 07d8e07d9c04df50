"""What a reader says is wrong with a statement, what it wants to see first, and whether its evidence holds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from whet.lessons.statements.audit import Statement, StatementFinding, StatementMark
from whet.text import fields
from whet.text.quoting import visible
from whet.text.words import folded
from whet.values import Value

LEAST_LETTERS = 4  # of a quote: what is shorter tells nothing
MOST_EVIDENCE = 6
SHOWN = 120
LONGEST_CORRECTION = 400
_NUMBERED = re.compile(r"(?m)^[ \t]{0,20}\d{1,9}\| ?")  # as the lines of files are shown

NOT_SAID = "the statement does not say it"
NO_EVIDENCE = "it has no evidence"


class FileQuote(NamedTuple):
    """Words that stand in a file."""

    file: str
    words: str


class AbsentName(NamedTuple):
    """A name that nothing has: no path and no line of code, or no line of one file or folder."""

    name: str
    inside: str = ""


class FileCount(NamedTuple):
    """How many files a pattern fits, or how many lines they have, all or those with these words."""

    number: int
    files: str
    is_lines: bool = False
    words: str = ""


ClaimEvidence = FileQuote | AbsentName | FileCount


class StatementClaim(Value, frozen=True):
    """That words of a statement are wrong, why, what shows it, and what would be right in their place."""

    file: str
    line: int
    quote: str
    why: str
    evidence: tuple[ClaimEvidence, ...] = ()
    instead: str = ""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


class WantedLook(NamedTuple):
    """What a reader wants to see: a file, of a long one the part around words; a folder; or where words stand."""

    file: str = ""
    words: str = ""


class DroppedStatementClaim(NamedTuple):
    """What a reader said and that cannot be used, with the reason."""

    said: str
    why: str


class _Unusable(Exception):
    """Why a line cannot be used."""


def claim_in(value: Mapping[str, Any] | None) -> StatementClaim | WantedLook | str | None:
    """What one line of an answer says; the reason if it cannot be used, None if it says that there is nothing."""
    if value is None:
        return "the line is no JSON object"
    op = fields.text(value, "op")
    if op == "nothing":
        return None
    try:
        if op == "look":
            return _look(value)
        return _claim(value) if op == "wrong" else "op must be one of wrong, look, nothing"
    except _Unusable as why:
        return str(why)


def _look(value: Mapping[str, Any]) -> WantedLook:
    look = WantedLook(_path(fields.text(value, "file")), fields.text(value, "words").strip())
    if not any(look):
        raise _Unusable("a look needs a file or words")
    return look


def _claim(value: Mapping[str, Any]) -> StatementClaim:
    file, _, line = fields.text(value, "at").rpartition(":")
    if not file or not line.isdigit():
        raise _Unusable("at must be the file and the line, as in CLAUDE.md:12")
    given = value.get("evidence")
    parts = given if isinstance(given, list) else [given] if isinstance(given, dict) else []
    evidence = tuple(_evidence(each) for each in parts[:MOST_EVIDENCE])
    if not evidence:
        raise _Unusable(NO_EVIDENCE)
    quote, why = fields.text(value, "quote").strip(), " ".join(fields.text(value, "why").split())
    return StatementClaim(_path(file), int(line), quote, why, evidence, fields.text(value, "instead").strip())


def _evidence(given: object) -> ClaimEvidence:
    if not isinstance(given, dict):
        raise _Unusable("evidence must be a list of objects")
    count = given.get("count")
    if isinstance(count, int) and not isinstance(count, bool):
        lines, files = _path(fields.text(given, "lines")), _path(fields.text(given, "files"))
        return FileCount(count, lines or files, bool(lines), fields.text(given, "words"))
    if name := fields.text(given, "absent").strip():
        return AbsentName(name, _path(fields.text(given, "in")))
    quote = FileQuote(_path(fields.text(given, "file")), _NUMBERED.sub("", fields.text(given, "words")).strip())
    if not quote.file or len(folded(quote.words)) < LEAST_LETTERS:
        raise _Unusable("evidence needs a file and its words, an absent name, or a count of files")
    return quote


def _path(text: str) -> str:
    return text.strip().removeprefix("./").rstrip("/")


def statement_of(claim: StatementClaim, statements: Sequence[Statement]) -> Statement | None:
    """The statement of its file that has the words of a claim, the nearest to its line."""
    words = folded(claim.quote)
    if len(words) < LEAST_LETTERS:
        return None
    said = [each for each in statements if each.file == claim.file and words in folded(each.text)]
    return min(said, key=lambda each: max(each.line - claim.line, claim.line - each.last, 0), default=None)


def is_about(evidence: ClaimEvidence, statement: Statement) -> bool:
    """Whether evidence can speak of a statement: an absent name is one that it says, a quote is not its own."""
    if isinstance(evidence, AbsentName):
        return folded(evidence.name).lower() in folded(statement.text).lower()
    if isinstance(evidence, FileQuote) and evidence.file == statement.file:
        return folded(evidence.words) not in folded(statement.text)
    return True


def finding_of(claim: StatementClaim, statement: Statement, reader: str) -> StatementFinding:
    """The mark of a claim whose evidence holds."""
    lines = [number for number, text in enumerate(statement.text.split("\n"), statement.line) if claim.quote in text]
    line = min(lines, key=lambda each: abs(each - claim.line), default=statement.line)
    shown = "; ".join(map(words_of, claim.evidence))
    instead = "" if "\n" in claim.instead or len(claim.instead) > LONGEST_CORRECTION else visible(claim.instead)
    return StatementFinding(
        StatementMark.READ, visible(claim.why), line, claim.quote, instead, where=f"{reader} says; found: {shown}"
    )


def words_of(evidence: ClaimEvidence) -> str:
    """Evidence in a few words."""
    if isinstance(evidence, FileQuote):
        return f"{evidence.file} “{folded(evidence.words)[:SHOWN]}”"
    if isinstance(evidence, AbsentName):
        return f"no `{evidence.name}` in {evidence.inside or 'the code'}"
    said = f" with “{evidence.words}”" if evidence.words else ""
    return f"{evidence.number} {'lines' if evidence.is_lines else 'files'} of {evidence.files}{said}"


def copies_of(statement: Statement, statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements that say the same word for word, itself among them."""
    said = folded(statement.text)
    return (each for each in statements if each is statement or folded(each.text) == said)
