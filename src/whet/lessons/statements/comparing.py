"""Statements held against each other, and against how the project's formatters are set."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from whet.lessons.statements.naming import ThingKind, code_in, stages_of, things_in
from whet.lessons.statements.repository import Repository
from whet.lessons.statements.statement import (
    CopiedLines,
    InstructionFile,
    Statement,
    StatementFinding,
    StatementKind,
    StatementMark,
)
from whet.text.likeness import SAME, TellingWords, clauses, sense, similarity, stance_of

FEWEST_WORDS = 4  # that two statements must share to be the same one
FEWEST_LETTERS = 24
FEWEST_LINES = 4  # of a file that can be called a copy
LONGEST_TEXT = 4_000
MOST_COMPARED = 30  # of those that share a name: more would cost more than it shows
_STEP = re.compile(r"^\d{1,3}[.)]\s")
_LABEL = re.compile(r"^(?:[-*+•][ \t]+)?\*\*[^*\n]+\*\*$")
_NOT_WORDS = re.compile(r"[\W_]+")
_STYLE = {
    "line-length": re.compile(
        r"(?i)\b(?:line[- ](?:length|width)|print[- ]width)\b\D{0,20}?\b(\d{2,3})\b|"
        r"\b(\d{2,3})[- ](?:char(?:acter)?s?|columns?)[- ](?:long[- ])?lines?\b|"
        r"\blines?\b[^.\d/]{0,24}\b(\d{2,3})[- ](?:char(?:acter)?s?|columns?)\b"
    ),
    "indent-size": re.compile(
        r"(?i)\b(\d)[- ]spaces?\b(?=.{0,20}\b(?:indent\w*|tabs?)\b)|\bindent\w*\b.{0,20}\b(\d)[- ]spaces?\b"
    ),
    "indent-style": re.compile(r"(?i)\bindent\w*\b.{0,20}\b(tab|space)s\b|\b(tab|space)s\b.{0,16}\bindent\w*\b"),
    "quotes": re.compile(r"(?i)\b(single|double)[- ]quotes\b"),
    "semicolons": re.compile(r"(?i)\b(semicolons)\b"),
}
"""How a sentence says what a formatter can be set to."""
_OTHER = {"single": "double", "double": "single", "tab": "space", "space": "tab"}
LONGEST_STYLE = 16  # words: who speaks of the form of code is brief
LOCK_FILES = {
    "package-lock.json": "npm", "npm-shrinkwrap.json": "npm", "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn",
    "bun.lockb": "bun", "bun.lock": "bun",
}  # fmt: skip
INSTALLS = ("install", "i", "ci", "add", "run")
"""The words of package managers that act on the repository they stand in, and so on its lock file."""


class _Meant(NamedTuple):
    """A statement with what it says, and the file that it stands in."""

    statement: Statement
    file: InstructionFile
    sense: TellingWords


def compare(
    files: Iterable[InstructionFile], statements: Iterable[Statement], repository: Repository
) -> dict[Statement, tuple[StatementFinding, ...]]:
    """What other statements that the same agent reads, and the formatters' settings, show of each statement."""
    by_path = {file.path: file for file in files}
    meant = [_Meant(each, by_path[each.file], sense(each.text)) for each in statements]
    found: dict[Statement, list[StatementFinding]] = {}
    copies = copied_files(by_path.values())
    doubled = [each for each in _doubled(meant) if each[0].file not in copies]  # of a copy it is said once
    for statement, finding in (*doubled, *_opposed(meant), *_against_settings(meant, repository)):
        found.setdefault(statement, []).append(finding)
    return {statement: tuple(findings) for statement, findings in found.items()}


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


def _doubled(meant: list[_Meant]) -> Iterator[tuple[Statement, StatementFinding]]:
    """Those that say what another one said before them, in the same words but for their order and endings."""
    seen: dict[object, list[_Meant]] = {}
    for each in meant:
        key = _key(each)
        if key is None:
            continue
        before = seen.setdefault(key, [])
        first = next((one for one in before[:MOST_COMPARED] if are_read_together(one.file, each.file)), None)
        if first is not None and (first.statement.heading == each.statement.heading or _is_whole(each)):
            place = first.statement.place
            yield (
                each.statement,
                StatementFinding(StatementMark.DOUBLED, f"{place} says the same", each.statement.line, where=place),
            )
        before.append(each)


def _is_whole(meant: _Meant) -> bool:
    """Whether a statement says something by itself, whatever stands above it."""
    return meant.statement.kind is not StatementKind.ROW


def _key(meant: _Meant) -> object | None:
    statement = meant.statement
    plain = _NOT_WORDS.sub(" ", statement.text).strip().lower()
    if meant.file.is_on_demand or _is_part(statement):
        return None
    if len(plain) < FEWEST_LETTERS or len(meant.sense.words) < FEWEST_WORDS:
        return None
    if statement.kind is StatementKind.CODE:
        return plain  # in code the order counts
    names = frozenset(thing.text for thing in things_in(statement))
    return meant.sense.words, meant.sense.forbids, names


def _is_part(statement: Statement) -> bool:
    """Whether a statement says what it says of others: an item below another, a step, a lead-in, a label."""
    return (
        statement.text[:1].isspace()
        or _STEP.match(statement.text) is not None
        or statement.text.rstrip().endswith(":")
        or _LABEL.match(statement.text.strip()) is not None
    )


def _opposed(meant: list[_Meant]) -> Iterator[tuple[Statement, StatementFinding]]:
    """Those that are for what another one is against, in much the same words."""
    by_name: dict[str, list[tuple[_Meant, bool]]] = {}
    for each in meant:
        if each.statement.kind in (StatementKind.CODE, StatementKind.ROW) or _is_part(each.statement):
            continue
        stance = stance_of(each.statement.text.replace("**", ""))
        coded = {" ".join(name.lower().split()) for name in code_in(each.statement)}
        named = [(name, name in stance.wanted) for name in coded & (stance.wanted | stance.unwanted)]
        found = next(_contraries(each, named, by_name), None)
        if found is not None:
            yield each.statement, found
        for name, is_for in named:
            by_name.setdefault(name, []).append((each, is_for))


def _contraries(
    meant: _Meant, named: list[tuple[str, bool]], by_name: Mapping[str, list[tuple[_Meant, bool]]]
) -> Iterator[StatementFinding]:
    for name, is_for in sorted(named):
        for other, was_for in by_name.get(name, ())[:MOST_COMPARED]:
            if was_for is not is_for and _are_alike(meant, other, name) and are_read_together(meant.file, other.file):
                place = other.statement.place
                why = f"{place} is {'against' if is_for else 'for'} `{name}`, and this is not"
                yield StatementFinding(StatementMark.CONTRADICTED, why, meant.statement.line, name, where=place)


def _are_alike(one: _Meant, other: _Meant, name: str) -> bool:
    """Whether two statements say much the same, and of what both name one forbids it and the other does not."""
    first, second = (sense(_clause(each.statement.text, name)).forbids for each in (one, other))
    return first is not second and similarity(one.sense.words, other.sense.words) >= SAME


def _clause(text: str, name: str) -> str:
    plain = text.replace("**", "")
    return next((each for each in clauses(plain) if name in " ".join(each.lower().split())), plain)


def _against_settings(meant: list[_Meant], repository: Repository) -> Iterator[tuple[Statement, StatementFinding]]:
    settings = repository.settings()
    manager, lock = _package_manager(repository, settings)
    for each in meant:
        if each.statement.kind is not StatementKind.CODE:
            yield from ((each.statement, finding) for finding in _said_otherwise(each.statement, settings))
        elif manager and not each.file.is_on_demand:  # a sentence, or a skill, may speak of another place
            yield from ((each.statement, finding) for finding in _other_manager(each.statement, manager, lock))


def _said_otherwise(
    statement: Statement, settings: Mapping[str, tuple[tuple[str, str], ...]]
) -> Iterator[StatementFinding]:
    """What a statement says of the form of code, where every file that sets it says something else."""
    for clause in clauses(statement.text) if len(statement.text) < LONGEST_TEXT else ():
        for name, pattern in _STYLE.items():
            known = settings.get(name)
            found = pattern.search(clause) if known and len(clause.split()) <= LONGEST_STYLE else None
            if not known or not found:
                continue
            said = _said(name, next(part for part in found.groups() if part).lower(), sense(clause).forbids)
            if all(value != said for value, _ in known):
                value, path = known[0]
                why = f"{path} sets {name.replace('-', ' ')} to {value}"
                yield StatementFinding(StatementMark.CONTRADICTED, why, statement.line, said, value, path)


def _said(name: str, word: str, forbids: bool) -> str:
    if name == "semicolons":
        return "no" if forbids else "yes"
    return _OTHER.get(word, word) if forbids else word


def _package_manager(repository: Repository, settings: Mapping[str, tuple[tuple[str, str], ...]]) -> tuple[str, str]:
    """The one package manager that the repository has a lock file of, and what shows it."""
    declared = {value for value, _ in settings.get("package-manager", ())}
    locks = {posixpath.basename(path): path for path in repository.files if posixpath.basename(path) in LOCK_FILES}
    managers = {LOCK_FILES[name] for name in locks} | declared
    if len(managers) != 1 or not locks:
        return "", ""
    return managers.pop(), min(locks.values(), key=len)


def _other_manager(statement: Statement, manager: str, lock: str) -> Iterator[StatementFinding]:
    for thing in things_in(statement):
        if thing.kind is not ThingKind.COMMAND:
            continue
        for stage in stages_of(thing.text):
            words = stage.words[stage.program :]
            is_here = words[1:2] and words[1] in INSTALLS and "-g" not in words and "--global" not in words
            if is_here and words[0] in LOCK_FILES.values() and words[0] != manager:
                why = f"{lock} is the only lock file: it is {manager}'s"
                yield StatementFinding(StatementMark.CONTRADICTED, why, thing.line, words[0], manager, lock)
                return
