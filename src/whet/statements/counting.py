"""Counts that statements give right after the path that they count: lines of a file, what lies in a folder."""

import posixpath
import re
from collections.abc import Iterator

from whet.statements.naming import NamedThing, path_in
from whet.statements.repository import Repository
from whet.statements.statement import Statement, StatementFinding, StatementMark

FAR = 1.3  # times as many or as few: who counted once and rounded is not wrong
FEWEST = 3
LONGEST_LINE = 1_000
LINES = ("line", "lines", "loc", "行")
_COUNTED = re.compile(
    r"(?<![\w.@/-])(?P<path>[\w.@/-]*[\w@-](?:\.[A-Za-z]\w{0,7}|/))[`*)\]]*[ \t]*(?:\||[-–—:]|//|\(|#)[ \t]*[~≈]?[ \t]*"
    r"(?P<count>\d{1,3}(?:,\d{3})+|\d{1,6})(?P<more>\+?)[ \t]*(?P<unit>[^\W\d_]+)"
)


def counted_files(statement: Statement, repository: Repository) -> Iterator[str]:
    """The files whose lines a statement gives the number of."""
    return (place for _, place, found in _counted(statement, repository) if found["unit"].lower() in LINES)


def wrong_counts(statement: Statement, repository: Repository) -> Iterator[StatementFinding]:
    """Numbers far from what can be counted there: of lines, or of files and folders in whichever way."""
    for thing, place, found in _counted(statement, repository):
        said = int(found["count"].replace(",", ""))
        if found["unit"].lower() in LINES:
            counts = [text.count("\n")] if (text := repository.sources.get(place)) else []
            what = "lines"
        else:
            counts, what = [*repository.counts(place)], "files and folders"
        least, most = min(counts, default=0) / FAR, max(counts, default=0) * FAR
        if said >= FEWEST and counts and (said > most or (said < least and not found["more"])):
            why = f"`{thing.text}` has {max(counts):,} {what}, not {found['count']}"
            yield StatementFinding(StatementMark.WRONG, why, thing.line, found["count"], where=place)


def _counted(statement: Statement, repository: Repository) -> Iterator[tuple[NamedThing, str, re.Match[str]]]:
    for number, line in enumerate(statement.text.split("\n"), statement.line):
        for found in _COUNTED.finditer(line[:LONGEST_LINE]):
            thing = path_in(found["path"], number)
            place = repository.place(thing.text, posixpath.dirname(statement.file)) if thing else ""
            is_file = found["unit"].lower() in LINES
            if thing and place in (repository.files if is_file else repository.folders):
                yield thing, place, found
