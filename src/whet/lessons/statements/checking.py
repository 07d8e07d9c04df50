"""Statements held against the repository: what is named and not there, and what its own files say anyway."""

import datetime
import difflib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from whet.lessons.statements.commands import wrong_commands
from whet.lessons.statements.listings import Unlisted
from whet.lessons.statements.manifests import scripts_in
from whet.lessons.statements.naming import (
    NamedThing,
    ThingKind,
    extension_of,
    path_in,
    stages_of,
    things_in,
)  # fmt: skip
from whet.lessons.statements.repository import RemovedPath, Repository
from whet.lessons.statements.statement import LastChange, Statement, StatementFinding, StatementKind, StatementMark
from whet.text.likeness import sense, stance_of

_POINTER = re.compile(r"^[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?[^`\n]{1,80}?[:：][*_]*[ \t]+`([^`\s]{2,200})`[.。]?$")
FEW_TWINS = 3
ALIKE_PACKAGES = 0.85
MOST_SCRIPTS = 100
FEW_WORDS = 2  # that a statement may add to a script's own name and still say nothing more
SHORT_COMMIT = 8


class GoneSymbol(NamedTuple):
    """A name that the code had when the line that names it was written, and has no more."""

    name: str
    line: int
    commit: str  # by which the line was written


class NameWriting(NamedTuple):
    """When a name was first written, and when the line that it stands in was last changed."""

    first: LastChange
    last: LastChange


class StatementGrounds(NamedTuple):
    """What is known of a statement beside the repository: when its names were written, what its listing lacks."""

    written: Mapping[str, NameWriting] = MappingProxyType({})  # of those that are not there
    unlisted: tuple[Unlisted, ...] = ()
    gone: tuple[GoneSymbol, ...] = ()


NO_GROUNDS = StatementGrounds()


def check_statement(
    statement: Statement, repository: Repository, grounds: StatementGrounds = NO_GROUNDS
) -> tuple[StatementFinding, ...]:
    """What the repository shows of a statement: first what it names and is not there."""
    wrong = tuple(_wrong(statement, repository, grounds))
    known = () if wrong else tuple(_known(statement, repository))
    return (*wrong, *known)


def missing_paths(statement: Statement, repository: Repository) -> Iterator[str]:
    """The paths that a statement names and that are not there: to be asked for on the disk, and of git."""
    folder = posixpath.dirname(statement.file)
    for thing in things_in(statement):
        if thing.kind is ThingKind.PATH and not repository.finds(thing.text, folder):
            yield thing.text
            yield from _places(thing.text, folder, repository)
            removed = removal_of(thing, folder, repository)
            if removed is not None:
                yield removed.path


def _places(path: str, folder: str, repository: Repository) -> Iterator[str]:
    """Where a path would lie: beside who names it, and in the folders that are called as its own is."""
    yield posixpath.normpath(posixpath.join(folder, path))
    above, name = posixpath.split(posixpath.normpath(path))
    yield from repository.inside(above, name)


def removal_of(thing: NamedThing, folder: str, repository: Repository) -> RemovedPath | None:
    """The removal of what a statement of this folder names, or of the first folder of it."""
    if thing.kind is not ThingKind.PATH or repository.finds(thing.text, folder):
        return None
    return repository.removed(thing.text, folder) or (repository.gone_folder(thing.text) if thing.is_certain else None)


def removals_in(statement: Statement, repository: Repository) -> Iterator[tuple[NamedThing, RemovedPath]]:
    """What a statement names, or has run, and that was removed."""
    folder = posixpath.dirname(statement.file)
    for thing in things_in(statement):
        found = removal_of(thing, folder, repository)
        yield from ((thing, found),) if found else ()
    yield from _run_and_removed(statement, repository)


def _run_and_removed(statement: Statement, repository: Repository) -> Iterator[tuple[NamedThing, RemovedPath]]:
    """The files that commands of a statement are given by bare names, which lay where the command is run and do not."""
    commands = [thing for thing in things_in(statement) if thing.kind is ThingKind.COMMAND]
    stages = [(thing, stage.words[stage.program :]) for thing in commands for stage in stages_of(thing.text)]
    for thing, words in stages:
        if words[:1] == ("cd",):  # what follows is run elsewhere
            return
        for word in words[1:]:
            file = (
                path_in(word, thing.line) if "/" not in word and extension_of(word) in repository.extensions else None
            )
            removed = repository.removed_from(file.text, posixpath.dirname(statement.file)) if file else None
            if file and removed:
                yield file, removed


def _wrong(statement: Statement, repository: Repository, grounds: StatementGrounds) -> Iterator[StatementFinding]:
    unwanted: frozenset[str] | None = None
    said: set[str] = set()
    for found in _missing(statement, repository, grounds):
        if found.named in said:
            continue
        said.add(found.named)
        if unwanted is None:
            unwanted = stance_of(statement.text).unwanted
        if not any(found.named.lower().rstrip("/") in name for name in unwanted):  # it says itself that it is not there
            yield found


def _missing(statement: Statement, repository: Repository, grounds: StatementGrounds) -> Iterator[StatementFinding]:
    things = things_in(statement)
    if statement.kind is StatementKind.CODE and _is_elsewhere(things, repository):
        return
    named = {thing.text.rstrip("/") for thing in things}
    for thing in things:
        if thing.kind is ThingKind.PATH:
            found = _wrong_path(thing, statement, repository, grounds)
        else:
            found = _wrong_package(thing, repository) if thing.kind is ThingKind.PACKAGE else None
        # A statement that names both what was and what is tells of the change.
        if found is not None and (not found.instead or found.instead.rstrip("/") not in named):
            yield found
    for thing, removed in _run_and_removed(statement, repository):
        if not repository.is_unknown(removed.path) and _stood(removed, grounds.written.get(thing.text)):
            yield _removed_path(thing, removed, repository, posixpath.dirname(statement.file))
    yield from wrong_commands(statement, repository)
    for each in grounds.unlisted:
        where = "in the code" if each.thing.kind in (ThingKind.SYMBOL, ThingKind.VARIABLE) else "there"
        why = f"there is no `{each.thing.text}`; of the {each.listed} listed beside it {each.found} are {where}"
        yield _finding(each.thing, why, (), "")
    yield from _gone_names(statement, grounds.gone)


def _gone_names(statement: Statement, gone: Iterable[GoneSymbol]) -> Iterator[StatementFinding]:
    """The names that the code had, those of one line and commit together."""
    unwanted = stance_of(statement.text).unwanted if gone else frozenset[str]()
    groups: dict[tuple[int, str], list[str]] = {}
    for each in gone:
        if not any(each.name.lower() in name for name in unwanted):
            groups.setdefault((each.line, each.commit), []).append(each.name)
    for (line, commit), names in groups.items():
        listed = ", ".join(f"`{name}`" for name in names[:FEW_TWINS]) + (" and more" if len(names) > FEW_TWINS else "")
        why = f"no code has {listed} any more; it did when the line was written"
        yield StatementFinding(StatementMark.WRONG, why, line, names[0], where=f"commit {commit[:SHORT_COMMIT]}")


def _is_elsewhere(things: Iterable[NamedThing], repository: Repository) -> bool:
    """Whether a block goes to a folder that is not of this repository: what follows is said of that one."""
    stages = (stage for thing in things if thing.kind is ThingKind.COMMAND for stage in stages_of(thing.text))
    folders = (stage.words[1] for stage in stages if stage.words[:1] == ("cd",) and len(stage.words) > 1)
    return any(folder != "-" and not repository.finds(folder) for folder in folders)


def _wrong_path(
    thing: NamedThing, statement: Statement, repository: Repository, grounds: StatementGrounds
) -> StatementFinding | None:
    """A path that is not there is wrong where something shows that it was meant to be: its removal since, a name nearly
    the same, or a link to it.
    """
    path, folder = thing.text, posixpath.dirname(statement.file)
    if repository.finds(path, folder) or repository.is_ending(path):
        return None
    if any(repository.is_unknown(each) for each in (path, *_places(path, folder, repository))):
        return None
    removed = removal_of(thing, folder, repository)
    if (
        removed is not None
        and _stood(removed, grounds.written.get(thing.text))
        and not repository.is_unknown(removed.path)
    ):
        return _removed_path(thing, removed, repository, folder)
    twins = repository.endings(path, folder)
    if len(twins) == 1:
        return _finding(thing, f"there is no `{path}`{_now(twins)}", twins, twins[0])
    near = repository.sibling(path, folder) if "/" in path.rstrip("/") and not extension_of(path) else ""
    if not near and thing.is_certain and not repository.removed(path, folder):
        near = repository.respelt(path, folder)
    if near and statement.kind is not StatementKind.CODE:
        return _finding(thing, f"there is no `{path}`; there is `{near}`", (near,), near)
    there = repository.elsewhere(path) if thing.is_certain and repository.has_parent(path, folder) else ""
    if there and not removed and extension_of(path) and statement.kind is not StatementKind.CODE:
        return _finding(thing, f"there is no `{path}`; the only file of that name is `{there}`", (), there)
    is_sent = thing.is_link or _is_pointed_at(thing, statement)
    if is_sent and extension_of(path) in repository.extensions and repository.has_parent(path, folder):
        what = "the link leads nowhere: " if thing.is_link else ""
        return _finding(thing, f"{what}there is no `{path}`", (), "")
    return None


def _is_pointed_at(thing: NamedThing, statement: Statement) -> bool:
    """Whether a line is a label and then this path alone: as good as a link."""
    found = _POINTER.match(statement.text.split("\n")[thing.line - statement.line].rstrip())
    return bool(found and thing.is_certain and found[1].removeprefix("./") == thing.text)


def _stood(removed: RemovedPath, written: NameWriting | None) -> bool:
    """Whether a path was there when its name was written, and was removed after that: who removes it and writes the
    line at once knows.
    """
    is_known = written is None or written.last.commit == removed.commit
    return not is_known and any(removed.since <= each.at <= removed.at for each in written or ())


def _removed_path(thing: NamedThing, removed: RemovedPath, repository: Repository, folder: str) -> StatementFinding:
    path, commit = thing.text, f"commit {removed.commit[:SHORT_COMMIT]}"
    plain = posixpath.normpath(path)
    if removed.path != plain and not removed.path.endswith(f"/{plain}"):
        why = f"there is no `{path}`: `{removed.path}/` was removed on {_day(removed.at)}"
        return _finding(thing, why, (), commit)
    new = repository.renamed.get(removed.path, "")
    twins = (new,) if new in repository.files else repository.endings(path, folder) or repository.moved(path)
    return _finding(thing, f"`{path}` was removed on {_day(removed.at)}{_now(twins)}", twins, commit)


def _finding(thing: NamedThing, why: str, twins: tuple[str, ...], where: str) -> StatementFinding:
    instead = _in_form(thing.text, twins[0]) if len(twins) == 1 else ""
    return StatementFinding(StatementMark.WRONG, why, thing.line, thing.text, instead, where)


def _in_form(path: str, twin: str) -> str:
    """What is there, named as the statement names it: from where it does, where only the last name differs."""
    folder, name = posixpath.split(posixpath.normpath(path))
    is_there = posixpath.dirname(twin) == folder or posixpath.dirname(twin).endswith(f"/{folder}")
    found = posixpath.join(folder, posixpath.basename(twin)) if not folder or is_there else twin
    return f"{found}/" if path.endswith("/") and name else found


def _now(twins: tuple[str, ...]) -> str:
    if not twins or len(twins) > FEW_TWINS:
        return ""
    return f"; there is {' and '.join(f'`{each}`' for each in twins)}"


def _wrong_package(thing: NamedThing, repository: Repository) -> StatementFinding | None:
    """A package under a name that only this repository gives."""
    scope = thing.text.partition("/")[0] + "/"
    own = sorted(each for each in repository.own_packages if each.startswith(scope))
    if not own or any(thing.text == each or thing.text.startswith(f"{each}.") for each in repository.packages):
        return None
    alike = difflib.get_close_matches(thing.text, own[:MOST_SCRIPTS], n=1, cutoff=ALIKE_PACKAGES)
    if not alike:  # it may be one that is to come
        return None
    near = f"; there is `{alike[0]}`"
    why = f"no package `{thing.text}` among the {len(own)} of {scope[:-1]} here{near}"
    return StatementFinding(StatementMark.WRONG, why, thing.line, thing.text, alike[0])


def _known(statement: Statement, repository: Repository) -> Iterator[StatementFinding]:
    """Whether a statement says no more than the name of a script does, which stands in the file that has it."""
    commands = [thing for thing in things_in(statement) if thing.kind is ThingKind.COMMAND]
    calls = [
        call
        for thing in commands
        for stage in stages_of(thing.text)
        for call in scripts_in(stage.words[stage.program :])
    ]
    scripts = {call.script: repository.scripts.get(call.kind, {}).get(call.script) for call in calls}
    if not calls or len(calls) < len(commands) or not all(scripts.values()):
        return
    said = set(sense(statement.text).words)
    for call in calls:
        where, body = scripts[call.script] or ("", "")
        said -= sense(f"{call.runner} run {call.script.replace(':', ' ')} {body} {statement.language}").words
    lines = statement.text.count("\n") - 1 if statement.kind is StatementKind.CODE else 1
    if len(said) <= FEW_WORDS * max(lines, 1):
        yield StatementFinding(StatementMark.KNOWN, f"`{where}` has {_listed(scripts)}", statement.line, where=where)


def _listed(scripts: dict[str, tuple[str, str] | None]) -> str:
    names = [f"`{each}`" for each in scripts]
    return ", ".join(names[:FEW_TWINS]) + (f" and {len(names) - FEW_TWINS} more" if len(names) > FEW_TWINS else "")


def _day(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).date().isoformat()
