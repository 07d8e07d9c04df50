"""Statements held against each other: what is said twice, and what is for what another one is against."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from whet.lessons.statements.audit import (
    CopiedLines,
    InstructionFile,
    Statement,
    StatementFinding,
    StatementKind,
    StatementMark,
)
from whet.lessons.statements.naming import code_in, things_in
from whet.text.likeness import SAME, clauses, sense, similarity, stance_of

FEWEST_WORDS = 4  # that two statements must share to be the same one
FEWEST_LETTERS = 24
FEWEST_LINES = 4  # of a file that can be called a copy
MOST_TWINS = 30  # of those that say the same, or name one thing: more would cost more than it shows
_STEP = re.compile(r"^\d{1,3}[.)]\s")
_LABEL = re.compile(r"^(?:[-*+•][ \t]+)?\*\*[^*\n]+\*\*$")
_NOT_WORDS = re.compile(r"[\W_]+")


def compare(
    files: Iterable[InstructionFile], statements: Iterable[Statement]
) -> dict[Statement, tuple[StatementFinding, ...]]:
    """What other statements that the same agent reads show of each statement."""
    by_path, every = {file.path: file for file in files}, tuple(statements)
    found: dict[Statement, tuple[StatementFinding, ...]] = {
        each: (finding,) for each, finding in doubled(by_path.values(), every).items()
    }
    for each, finding in _opposed(every, by_path):
        found[each] = (*found.get(each, ()), finding)
    return found


def doubled(files: Iterable[InstructionFile], statements: Iterable[Statement]) -> dict[Statement, StatementFinding]:
    """Those that say what another one that the same agent reads said before them, in the same words but for their
    order and endings. Of a file that is a copy it is said once.
    """
    every = tuple(files)
    by_path, copies = {file.path: file for file in every}, copied_files(every)
    seen: dict[object, list[Statement]] = {}
    found: dict[Statement, StatementFinding] = {}
    for each in statements:
        file = by_path[each.file]
        key = None if file.is_on_demand or each.file in copies else _key(each)
        if key is None:
            continue
        before = seen.setdefault(key, [])
        first = next((one for one in before[:MOST_TWINS] if are_read_together(by_path[one.file], file)), None)
        # A row says nothing by itself: it is the same one under the same heading alone.
        if first is not None and (first.heading == each.heading or each.kind is not StatementKind.ROW):
            why = f"{first.place} says the same"
            found[each] = StatementFinding(StatementMark.DOUBLED, why, each.line, where=first.place)
        before.append(each)
    return found


def _key(statement: Statement) -> object | None:
    """What two statements share that say the same; None where one says too little by itself."""
    plain, meant = _NOT_WORDS.sub(" ", statement.text).strip().lower(), sense(statement.text)
    if _is_part(statement) or len(plain) < FEWEST_LETTERS or len(meant.words) < FEWEST_WORDS:
        return None
    if statement.kind is StatementKind.CODE:
        return plain  # in code the order counts
    return meant.words, meant.forbids, frozenset(thing.text for thing in things_in(statement))


def copied_files(files: Iterable[InstructionFile]) -> dict[str, CopiedLines]:
    """The files that are for the larger part another one before them."""
    found: dict[str, CopiedLines] = {}
    first: dict[str, str] = {}
    for file in files:
        lines = {line.strip() for line in file.text.splitlines() if len(line.strip()) >= FEWEST_LETTERS}
        others = Counter(first[line] for line in lines if line in first)
        other, shared = max(others.items(), key=lambda one: one[1], default=("", 0))
        if len(lines) >= FEWEST_LINES and shared > len(lines) / 2:
            found[file.path] = CopiedLines(other, shared, len(lines))
        first |= {line: file.path for line in lines if line not in first}
    return found


def are_read_together(one: InstructionFile, other: InstructionFile) -> bool:
    """Whether one agent has both before it in one session, whatever it works on."""
    if one.path == other.path:
        return True
    if one.is_on_demand or other.is_on_demand or not set(one.agents) & set(other.agents):
        return False
    above, below = sorted((posixpath.dirname(one.path), posixpath.dirname(other.path)), key=len)
    return not above or above == below or below.startswith(f"{above}/") or one.path.startswith("~")


def _is_part(statement: Statement) -> bool:
    """Whether a statement says what it says of others: an item below another, a step, a lead-in, a label."""
    return (
        statement.text[:1].isspace()
        or _STEP.match(statement.text) is not None
        or statement.text.rstrip().endswith(":")
        or _LABEL.match(statement.text.strip()) is not None
    )


class _Named(NamedTuple):
    """A statement that names a thing, and whether it is for it."""

    statement: Statement
    is_for: bool


def _opposed(
    statements: Iterable[Statement], by_path: Mapping[str, InstructionFile]
) -> Iterator[tuple[Statement, StatementFinding]]:
    """Those that are for what another one is against, in much the same words."""
    by_name: dict[str, list[_Named]] = {}
    for each in statements:
        if each.kind in (StatementKind.CODE, StatementKind.ROW) or _is_part(each):
            continue
        stance = stance_of(each.text.replace("**", ""))
        coded = {" ".join(name.lower().split()) for name in code_in(each)} & (stance.wanted | stance.unwanted)
        for name in sorted(coded):
            for other, was_for in by_name.get(name, ())[:MOST_TWINS]:
                is_read = are_read_together(by_path[each.file], by_path[other.file])
                if was_for is not (name in stance.wanted) and is_read and _are_alike(each, other, name):
                    why = f"{other.place} is {'for' if was_for else 'against'} `{name}`, and this is not"
                    yield each, StatementFinding(StatementMark.CONTRADICTED, why, each.line, name, where=other.place)
                    break
            by_name.setdefault(name, []).append(_Named(each, name in stance.wanted))


def _are_alike(one: Statement, other: Statement, name: str) -> bool:
    """Whether two statements say much the same, and of what both name one forbids it and the other does not."""
    first, second = (sense(_clause(each.text, name)).forbids for each in (one, other))
    return first is not second and similarity(sense(one.text).words, sense(other.text).words) >= SAME


def _clause(text: str, name: str) -> str:
    plain = text.replace("**", "")
    return next((each for each in clauses(plain) if name in " ".join(each.lower().split())), plain)
