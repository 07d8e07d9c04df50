"""Statements held against the repository: what is named and not there, and what its own files say anyway.

A path is wrong where something shows that it was meant to be: its removal since, a name nearly the same, a link to it.
Who gives a command says that it can be run: what it runs of this repository is wrong where it is not there.
"""

import datetime
import difflib
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from whet.lessons.statements.audit import (
    LastChange,
    Statement,
    StatementFinding,
    StatementKind,
    StatementMark,
)
from whet.lessons.statements.naming import (
    NamedThing,
    ThingKind,
    extension_of,
    is_placeholder,
    path_in,
    stages_of,
    things_in,
)
from whet.lessons.statements.repository import RemovedPath, Repository, ScriptCall, scripts_in
from whet.text.likeness import sense, stance_of

FEW_TWINS = 3
SHORT_COMMIT = 8
FEW = 3
FEW_WORDS = 2  # that a statement may add to a script's own name and still say nothing more
ALIKE = 0.75
MOST_COMPARED = 100
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx")
INTERPRETERS = {
    "python": (".py",), "python3": (".py",), "node": _JAVASCRIPT, "tsx": _JAVASCRIPT, "ts-node": _JAVASCRIPT,
    "bun": _JAVASCRIPT, "bash": (".sh", ".bash"), "sh": (".sh",), "zsh": (".sh", ".zsh"), "ruby": (".rb",),
    "perl": (".pl",), "php": (".php",), "pwsh": (".ps1",), "powershell": (".ps1",), "Rscript": (".R", ".r"),
    "lua": (".lua",),
}  # fmt: skip
"""Programs that run the file that they are given first, and how such files end."""


class NameWriting(NamedTuple):
    """When a name was first written, and when the line that it stands in was last changed."""

    first: LastChange
    last: LastChange


Written = Mapping[str, NameWriting]
"""When the names of a statement that are not there were written."""


def check_statement(
    statement: Statement, repository: Repository, written: Written = MappingProxyType({})
) -> tuple[StatementFinding, ...]:
    """What a statement names and is not there, each thing once; else whether the repository's own files say it."""
    unwanted: frozenset[str] | None = None
    found: dict[str, StatementFinding] = {}
    for each in _missing(statement, repository, written):
        if unwanted is None:
            unwanted = stance_of(statement.text).unwanted
        if not any(each.named.lower().rstrip("/") in name for name in unwanted):  # it says itself that it is not there
            found.setdefault(each.named, each)
    return tuple(found.values()) or tuple(_known(statement, repository))


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


def _missing(statement: Statement, repository: Repository, written: Written) -> Iterator[StatementFinding]:
    things = things_in(statement)
    if statement.kind is StatementKind.CODE and _is_elsewhere(things, repository):
        return
    named = {thing.text.rstrip("/") for thing in things}
    for thing in things:
        found = _wrong_path(thing, statement, repository, written) if thing.kind is ThingKind.PATH else None
        # A statement that names both what was and what is tells of the change.
        if found is not None and (not found.instead or found.instead.rstrip("/") not in named):
            yield found
    for thing, removed in _run_and_removed(statement, repository):
        if not repository.is_unknown(removed.path) and _stood(removed, written.get(thing.text)):
            yield _removed_path(thing, removed, repository, posixpath.dirname(statement.file))
    yield from _wrong_commands(statement, repository)


def _is_elsewhere(things: Iterable[NamedThing], repository: Repository) -> bool:
    """Whether a block goes to a folder that is not of this repository: what follows is said of that one."""
    stages = (stage for thing in things if thing.kind is ThingKind.COMMAND for stage in stages_of(thing.text))
    folders = (stage.words[1] for stage in stages if stage.words[:1] == ("cd",) and len(stage.words) > 1)
    return any(folder != "-" and not repository.finds(folder) for folder in folders)


def _wrong_path(
    thing: NamedThing, statement: Statement, repository: Repository, written: Written
) -> StatementFinding | None:
    path, folder = thing.text, posixpath.dirname(statement.file)
    if repository.finds(path, folder) or repository.is_ending(path):
        return None
    if _is_unknown(path, folder, repository):
        return None
    removed = removal_of(thing, folder, repository)
    if removed is not None and _stood(removed, written.get(path)) and not repository.is_unknown(removed.path):
        return _removed_path(thing, removed, repository, folder)
    twins = repository.endings(path, folder)
    if len(twins) == 1:
        return _finding(thing, f"there is no `{path}`{_now(twins)}", twins, twins[0])
    if thing.is_link and extension_of(path) in repository.extensions and repository.has_parent(path, folder):
        return _finding(thing, f"the link leads nowhere: there is no `{path}`", (), "")
    return None


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


def _day(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).date().isoformat()


def _wrong_commands(statement: Statement, repository: Repository) -> Iterator[StatementFinding]:
    """What commands name that the repository would have to have and does not."""
    for thing in (each for each in things_in(statement) if each.kind is ThingKind.COMMAND):
        folder = posixpath.dirname(statement.file)
        for stage in stages_of(thing.text):
            words = stage.words[stage.program :]
            if words[:1] == ("cd",):
                to = words[1] if len(words) == 2 else ""
                place = path_in(to, thing.line) if "/" in to.strip("/") else None
                yield from _not_there(place, folder, repository, "there is no folder `{}` to go to")
                folder = repository.place(to, folder) if to else ""
                if not folder:
                    return  # what follows is run elsewhere
                continue
            scripts = (_missing_script(call, thing, repository) for call in scripts_in(words))
            yield from islice(filter(None, scripts), 1)
            yield from _not_there(_file_run(thing, words), folder, repository, "there is no `{}` to run")


def _not_there(named: NamedThing | None, folder: str, repository: Repository, why: str) -> Iterator[StatementFinding]:
    """What commands enter or run and is not there, in a folder that is."""
    if named is None or repository.finds(named.text, folder) or _is_unknown(named.text, folder, repository):
        return
    if repository.has_parent(named.text, folder):
        yield _finding(named, why.format(named.text), (), "")


def _missing_script(call: ScriptCall, thing: NamedThing, repository: Repository) -> StatementFinding | None:
    known = repository.scripts.get(call.kind)
    manifests = [each for each in repository.manifests if each.kind == call.kind]
    if not call.is_certain or not manifests or any(each.is_open for each in manifests) or is_placeholder(call.script):
        return None
    if known is None or call.script in known or repository.finds(call.script):  # make builds files as well
        return None
    alike = difflib.get_close_matches(call.script, list(known)[:MOST_COMPARED], n=1, cutoff=ALIKE)
    files = ", ".join(each.path for each in manifests[:FEW])
    more = f" and {len(manifests) - FEW} more" if len(manifests) > FEW else ""
    why = f"no script `{call.script}` in {files}{more}{_now(tuple(alike))}"
    return StatementFinding(StatementMark.WRONG, why, thing.line, call.script, alike[0] if alike else "", files)


def _file_run(thing: NamedThing, words: tuple[str, ...]) -> NamedThing | None:
    """The file that a command runs: its program, or what its interpreter is given first."""
    program = "".join(words[:1])
    endings = INTERPRETERS.get(posixpath.basename(program))
    if endings:
        program = next((word for word in words[1:] if not word.startswith("-")), "")
        # What follows an option may be its value: the file's ending tells that it is none.
        if not program.endswith(endings) or "-m" in words or "-c" in words:
            return None
    is_inside = "/" in program.removeprefix("./").rstrip("/") and not program.endswith("/")
    # A word that goes on in a way that the shell fills in is no name.
    return path_in(program, thing.line) if is_inside and program in thing.text.split() else None


def _is_unknown(path: str, folder: str, repository: Repository) -> bool:
    return any(map(repository.is_unknown, (path, *_places(path, folder, repository))))


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
        named = ", ".join(f"`{each}`" for each in [*scripts][:FEW_TWINS])
        more = f" and {len(scripts) - FEW_TWINS} more" if len(scripts) > FEW_TWINS else ""
        yield StatementFinding(StatementMark.KNOWN, f"`{where}` has {named}{more}", statement.line, where=where)
