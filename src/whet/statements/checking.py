"""Statements held against the repository: what is named and not there, and what its own files say anyway."""

import datetime
import difflib
import posixpath
from collections.abc import Iterator

from whet.lessons.stances import stance_of
from whet.statements.manifests import ScriptCall, scripts_in
from whet.statements.naming import NamedThing, ThingKind, extension_of, is_placeholder, stages_of, things_in
from whet.statements.repository import Repository
from whet.statements.statement import Statement, StatementFinding, StatementKind, StatementMark
from whet.text.likeness import sense

FEW_TWINS = 3
ALIKE_SCRIPTS = 0.75
MOST_SCRIPTS = 100
FEW_WORDS = 2  # that a statement may add to a script's own name and still say nothing more
SHORT_COMMIT = 8


def check_statement(statement: Statement, repository: Repository) -> tuple[StatementFinding, ...]:
    """What the repository shows of a statement: first what it names and is not there."""
    wrong = tuple(_wrong(statement, repository))
    known = () if wrong else tuple(_known(statement, repository))
    return (*wrong, *known)


def missing_paths(statement: Statement, repository: Repository) -> Iterator[str]:
    """The paths that a statement names and that are not there: to be asked for on the disk, and of git."""
    folder = posixpath.dirname(statement.file)
    for thing in things_in(statement):
        if thing.kind is ThingKind.PATH and not repository.finds(thing.text, folder):
            yield thing.text
            removed = repository.removed(thing.text, folder)
            if removed is not None:
                yield removed.path


def _wrong(statement: Statement, repository: Repository) -> Iterator[StatementFinding]:
    unwanted: frozenset[str] | None = None
    for thing in things_in(statement):
        found = _CHECKS[thing.kind](thing, statement, repository) if thing.kind in _CHECKS else None
        if found is None:
            continue
        if unwanted is None:
            unwanted = stance_of(statement.text).unwanted
        if not any(found.named.lower().rstrip("/") in name for name in unwanted):  # it says itself that it is not there
            yield found


def _wrong_path(thing: NamedThing, statement: Statement, repository: Repository) -> StatementFinding | None:
    path, folder = thing.text, posixpath.dirname(statement.file)
    if repository.finds(path, folder) or repository.is_ending(path) or repository.is_unknown(path):
        return None
    removed = repository.removed(path, folder)
    twins = repository.endings(path) or repository.moved(path)
    if removed is not None:
        if repository.is_unknown(removed.path):
            return None
        why = f"`{path}` was removed on {_day(removed.at)}{_now(twins)}"
        return _finding(thing, why, twins, f"commit {removed.commit[:SHORT_COMMIT]}")
    return _never_there(thing, twins, statement, repository)


def _never_there(
    thing: NamedThing, twins: tuple[str, ...], statement: Statement, repository: Repository
) -> StatementFinding | None:
    """A path that no commit removed either: wrong where what it must have meant is there, or its folder."""
    path, folder = thing.text, posixpath.dirname(statement.file)
    is_file = extension_of(path) in repository.extensions
    if len(twins) == 1 and (repository.endings(path) or (is_file and thing.is_certain)):
        return _finding(thing, f"there is no `{path}`{_now(twins)}", twins, twins[0])
    if "/" not in path.rstrip("/"):
        return None
    gone = repository.gone_folder(path) if thing.is_certain else None
    if gone is not None:
        why = f"there is no `{path}`: `{gone.path}/` was removed on {_day(gone.at)}"
        return _finding(thing, why, (), f"commit {gone.commit[:SHORT_COMMIT]}")
    near = repository.sibling(path, folder) if not extension_of(path) else ""
    if near:
        return _finding(thing, f"there is no `{path}`; there is `{near}`", (near,), near)
    says_it_is_there = statement.kind in (StatementKind.LINE, StatementKind.ITEM) and thing.is_certain
    is_here = repository.has_root(path) if is_file else repository.has_parent(path, folder)
    if says_it_is_there and is_here and (is_file or path.endswith("/")):
        return _finding(thing, f"there is no `{path}`, and no commit removed one", (), "")
    return None


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


def _wrong_script(thing: NamedThing, _: Statement, repository: Repository) -> StatementFinding | None:
    for stage in stages_of(thing.text):
        for call in scripts_in(stage.words[stage.program :]) or ():
            found = _missing_script(call, thing, repository)
            if found is not None:
                return found
    return None


def _missing_script(call: ScriptCall, thing: NamedThing, repository: Repository) -> StatementFinding | None:
    known = repository.scripts.get(call.kind)
    manifests = [each for each in repository.manifests if each.kind == call.kind]
    if not call.is_certain or not manifests or any(each.is_open for each in manifests) or is_placeholder(call.script):
        return None
    if known is None or call.script in known or repository.finds(call.script):  # make builds files as well
        return None
    alike = difflib.get_close_matches(call.script, list(known)[:MOST_SCRIPTS], n=1, cutoff=ALIKE_SCRIPTS)
    files = ", ".join(each.path for each in manifests[:FEW_TWINS])
    more = f" and {len(manifests) - FEW_TWINS} more" if len(manifests) > FEW_TWINS else ""
    near = f"; there is `{alike[0]}`" if alike else ""
    why = f"no script `{call.script}` in {files}{more}{near}"
    return StatementFinding(StatementMark.WRONG, why, thing.line, call.script, alike[0] if alike else "", files)


def _wrong_package(thing: NamedThing, _: Statement, repository: Repository) -> StatementFinding | None:
    """A package under a name that only this repository gives."""
    scope = thing.text.partition("/")[0] + "/"
    own = sorted(each for each in repository.own_packages if each.startswith(scope))
    if not own or thing.text in repository.packages:
        return None
    alike = difflib.get_close_matches(thing.text, own[:MOST_SCRIPTS], n=1, cutoff=ALIKE_SCRIPTS)
    near = f"; there is `{alike[0]}`" if alike else ""
    why = f"no package `{thing.text}` among the {len(own)} of {scope[:-1]} here{near}"
    return StatementFinding(StatementMark.WRONG, why, thing.line, thing.text, alike[0] if alike else "")


_CHECKS = {ThingKind.PATH: _wrong_path, ThingKind.COMMAND: _wrong_script, ThingKind.PACKAGE: _wrong_package}


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
