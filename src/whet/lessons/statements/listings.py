"""Names that stand among others of their kind: in a list, a sentence, a column of a table, or the drawing of a tree.

Who lists files, names of code or variables says that they are there. Where nearly all of a listing are, one that is not
is wrong; where most are not, the listing is of another project, or of what is to be made.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from whet.lessons.statements.naming import NamedThing, ThingKind, extension_of, path_in, symbol_in
from whet.lessons.statements.repository import Repository
from whet.lessons.statements.statement import Statement, StatementKind

FEWEST_FOUND = 3
NEARLY_ALL = 0.75
MOST_LINES = 500  # of a drawing
_FIRST = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?[*\[`]*([^\s`*\]:,()]{2,200})")
_LABELLED = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+[^`\n:]{1,60}:[*_]*[ \t]+`([^`\s]{2,200})`")
_SPANS = re.compile(r"`[^`\n]{2,200}`")
_ENUMERATION = re.compile(
    r"`[^`\n]{2,200}`(?:(?: ?\([^`()\n]{1,60}\))?[,;/+| ]{1,3}(?:[^\W\d]{1,4} )?`[^`\n]{2,200}`){3,100}"
)
_CELL = re.compile(r"^[*\[`]*([^\s`*\]()]{2,200})[*_`]*(?:\]\([^)\s]*\))?$")
_BRANCH = re.compile(r"^[ \t│|]*(?:[├└┣┗╰]|\|(?=-)|`(?=-)|\+(?=-))[─━┄-]+[ \t]*")
_DRAWN = re.compile(r"[├└┣┗╰][─━]|(?:\||`|\+)--")


class ListedPath(NamedTuple):
    """A path of a listing, whose it is, and what it stands under: the folder of a drawing, or the item above."""

    statement: Statement
    thing: NamedThing
    under: str = ""


_Entry = tuple[int, tuple[str, ...]]  # of a drawing: its line, and its names from the outermost folder on


class Unlisted(NamedTuple):
    """A path that is not there, and how many of those beside it are."""

    thing: NamedThing
    found: int
    listed: int


Listing = tuple[tuple[ListedPath, ...], ...]
"""The paths of a listing in their order, in each way in which they can be read."""


def listings(statements: Iterable[Statement]) -> tuple[Listing, ...]:
    """The listings of some files."""
    groups: dict[object, list[ListedPath]] = {}
    drawings: list[Listing] = []
    above = _Above()
    for each in statements:
        if each.kind is StatementKind.CODE:
            drawings += _drawings(each)
        else:
            drawings += _enumerated(each)
        leads = tuple(_leads(each))
        under = above.of(each, leads[0][1].text if leads else "")
        for place, thing in leads:
            groups.setdefault((each.file, each.heading, each.kind, place, thing.kind), []).append(
                ListedPath(each, thing, under)
            )
    return (*((tuple(group),) for group in groups.values() if len(group) > FEWEST_FOUND), *drawings)


def listed_paths(every: Iterable[Listing], repository: Repository) -> Iterator[str]:
    """The paths of listings that are not there: to be asked for on the disk, and of git."""
    for listing in every:
        for each in (one for way in listing for one in way if _is_path(one) and not _is_there(one, repository)):
            yield from repository.meant(each.thing.text, each.statement.file.rpartition("/")[0])
            if each.under:
                yield each.under
                yield from repository.inside(each.under, each.thing.text)


def unlisted(every: Iterable[Listing], repository: Repository) -> dict[Statement, tuple[Unlisted, ...]]:
    """What listings name that is not there, where nearly all that they name is."""
    found: dict[Statement, list[Unlisted]] = {}
    for listing in every:
        ways = [[each for each in way if not _is_unknown(each, repository)] for way in listing]
        sums = [sum(_stands(each, repository) for each in way) for way in ways]
        count, known = max(zip(sums, ways, strict=True), key=lambda one: (one[0], -len(one[1])))
        if count < FEWEST_FOUND or count < NEARLY_ALL * len(known):
            continue
        there = {each.thing.text for each in known if _is_there(each, repository)}
        for each in known:
            is_file = (
                extension_of(each.thing.text) in repository.extensions
                or each.thing.text.endswith("/")
                or not _is_path(each)
            )
            if each.thing.text not in there and is_file and (not each.under or repository.finds(each.under)):
                found.setdefault(each.statement, []).append(Unlisted(each.thing, count, len(known)))
    return {statement: tuple(things) for statement, things in found.items()}


def _is_path(listed: ListedPath) -> bool:
    return listed.thing.kind is ThingKind.PATH


def _is_there(listed: ListedPath, repository: Repository) -> bool:
    if not _is_path(listed):
        return listed.thing.text in (repository.words or ())
    return repository.finds(listed.thing.text, listed.statement.file.rpartition("/")[0])


def _stands(listed: ListedPath, repository: Repository) -> bool:
    """Whether a path is there as it is named: what merely ends so elsewhere speaks for nothing."""
    if not _is_path(listed):
        return _is_there(listed, repository)
    return repository.stands(listed.thing.text, listed.statement.file.rpartition("/")[0])


def _is_unknown(listed: ListedPath, repository: Repository) -> bool:
    """Whether a path may be there at times, by itself or where it stands."""
    if not _is_path(listed):
        return repository.words is None
    inside = (listed.under, *repository.inside(listed.under, listed.thing.text)) if listed.under else ()
    meant = repository.meant(listed.thing.text, listed.statement.file.rpartition("/")[0])
    return any(repository.is_unknown(each) for each in (*meant, *inside))


class _Above:
    """What the items above an item are about, by how far each is indented."""

    def __init__(self) -> None:
        self._file = ""
        self._items: list[tuple[int, str]] = []

    def of(self, statement: Statement, path: str) -> str:
        """The path that the item above is about; from now on this one's is known too."""
        if statement.kind is not StatementKind.ITEM:
            self._items = []
            return ""
        indent = len(statement.text) - len(statement.text.lstrip())
        self._items = self._items if statement.file == self._file else []
        self._file = statement.file
        while self._items and self._items[-1][0] >= indent:
            self._items.pop()
        under = self._items[-1][1] if self._items else ""
        self._items.append((indent, path))
        return under


def _leads(statement: Statement) -> Iterator[tuple[str, NamedThing]]:
    """The name that an item is about, as it begins with it or has it after a label; of a row, each cell that is one."""
    line = statement.text.split("\n", 1)[0]
    if statement.kind is StatementKind.ITEM:
        indent = len(line) - len(line.lstrip())
        for place, form in (("first", _FIRST), ("labelled", _LABELLED)):
            found = form.match(line)
            thing = _name_in(found.group(1), statement.line, line) if found else None
            if thing is not None:
                yield f"{place} {indent}", thing
                return
    elif statement.kind is StatementKind.ROW:
        for column, cell in enumerate(line.strip().strip("|").split("|")):
            found = _CELL.match(cell.strip())
            thing = _name_in(found.group(1), statement.line, cell) if found else None
            if thing is not None:
                yield f"cell {column}", thing


def _name_in(text: str, line: int, written: str) -> NamedThing | None:
    """The name of code that a text is, where it is written as code, or the path."""
    return (symbol_in(text, line) if f"`{text}" in written else None) or path_in(text, line)


def _enumerated(statement: Statement) -> Iterator[Listing]:
    """What one sentence enumerates: names of one kind in code that follow each other with nothing but signs and a short
    word between them.
    """
    for number, line in enumerate(statement.text.split("\n"), statement.line):
        for run in _ENUMERATION.finditer(line):
            spans = [each.strip("`") for each in _SPANS.findall(run.group())]
            for kind in (ThingKind.PATH, ThingKind.SYMBOL, ThingKind.VARIABLE):
                things = [thing for span in spans if (thing := _name_in(span, number, line)) and thing.kind is kind]
                if len(things) > FEWEST_FOUND:
                    yield (tuple(ListedPath(statement, thing) for thing in things),)


def depth_in_drawing(line: str) -> int:
    """How far in an entry of a drawing stands; 0 for what is none."""
    branch = _BRANCH.match(line)
    return branch.end() if branch else 0


def _drawings(statement: Statement) -> Iterator[Listing]:
    """The trees that are drawn, each from the name at its top on and without it: either may be what is meant."""
    lines = statement.text.split("\n")[1 : MOST_LINES + 1]
    is_drawn = any(_DRAWN.search(line) for line in lines)
    if not is_drawn and (statement.language or not _is_outline(lines)):
        return
    for top, entries in (
        _trees(lines, statement.line + 1) if is_drawn else (("", _outlined(lines, statement.line + 1)),)
    ):
        if not top.startswith(("~", "/", "$", "..")):
            yield tuple(tuple(_placed(statement, start, entries)) for start in dict.fromkeys((top, "")))


def _placed(statement: Statement, start: str, entries: list[_Entry]) -> Iterator[ListedPath]:
    for number, parts in entries:
        whole = "/".join(part.strip("/") for part in (start, *parts) if part.strip("/"))
        thing = path_in(f"{whole}/" if parts[-1].endswith("/") else whole, number)
        under = whole.rpartition("/")[0] if len(parts) > 1 else ""
        if thing is not None:
            yield ListedPath(statement, thing, f"{under}/" if under else "")


def _is_outline(lines: list[str]) -> bool:
    """Whether lines draw a tree by their indentation alone: each begins with a path, and some with a folder."""
    named = [line.split()[0] for line in lines if line.strip() and not line.lstrip().startswith(("#", "`", "~"))]
    return any(each.endswith("/") for each in named) and all(path_in(each, 0) for each in named)


def _outlined(lines: list[str], number: int) -> list[_Entry]:
    """The entries of such a tree, each below the names that stand further out."""
    stack: list[tuple[int, str]] = []
    found: list[_Entry] = []
    for place, line in enumerate(lines, number):
        if not line.strip() or line.lstrip().startswith(("#", "`", "~")):
            continue
        indent = len(line) - len(line.lstrip())
        while stack and stack[-1][0] >= indent:
            stack.pop()
        stack.append((indent, line.split()[0]))
        found.append((place, tuple(each for _, each in stack)))
    return found


def _trees(lines: list[str], number: int) -> Iterator[tuple[str, list[_Entry]]]:
    """What stands at the top of each tree, and its entries, each below the names of its folders."""
    top, found = "", list[_Entry]()
    stack: list[tuple[int, str]] = []
    for place, line in enumerate(lines, number):
        branch = _BRANCH.match(line)
        name = line[branch.end() if branch else 0 :].split()[:1]
        if branch is None and name and not line[:1].isspace():
            yield top, found
            top, found, stack = name[0].strip("./") if name[0][:1] == "." else name[0], [], []
        elif branch is not None and name:
            while stack and stack[-1][0] >= branch.end():
                stack.pop()
            stack.append((branch.end(), name[0]))
            found.append((place, tuple(each for _, each in stack)))
    yield top, found
