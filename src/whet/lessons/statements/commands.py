"""Commands of statements held against the repository: the scripts, files, folders and options they name.

Who gives a command says that it can be run. What it runs of this repository is wrong where it is not there.
"""

import difflib
import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from whet.lessons.statements.manifests import ScriptCall, scripts_in
from whet.lessons.statements.naming import NamedThing, ThingKind, is_placeholder, path_in, stages_of, things_in
from whet.lessons.statements.repository import Repository
from whet.lessons.statements.statement import Statement, StatementFinding, StatementMark

FEW = 3
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
_OPTION = re.compile(r"^--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?==|$)")
_DEFINED = re.compile(r"""["'`]--[a-z][\w-]+""")
_ORDER = re.compile(r"^([a-z][a-z0-9]{2,}(?:-[a-z0-9]+)*)$")
USUAL_OPTIONS = ("help", "version")


class _Run(NamedTuple):
    """One simple command, the line it stands on, and the folder of who gives it."""

    thing: NamedThing
    words: tuple[str, ...]
    folder: str


def wrong_commands(statement: Statement, repository: Repository) -> Iterator[StatementFinding]:
    """What commands name that the repository would have to have and does not."""
    for thing in (each for each in things_in(statement) if each.kind is ThingKind.COMMAND):
        folder = posixpath.dirname(statement.file)
        for stage in stages_of(thing.text):
            run = _Run(thing, stage.words[stage.program :], folder)
            if not run.words:
                continue
            if run.words[0] == "cd":
                yield from _wrong_folder(run, repository)
                folder = _entered(run, repository)
                if not folder:
                    return  # what follows is run elsewhere
                continue
            for check in (_wrong_scripts, _wrong_files, _wrong_options):
                yield from check(run, repository)


def run_files(statement: Statement, repository: Repository) -> Iterator[str]:
    """The files of the repository that commands run: their source tells which options there are."""
    for thing in (each for each in things_in(statement) if each.kind is ThingKind.COMMAND):
        for stage in stages_of(thing.text):
            file = _file_run(_Run(thing, stage.words[stage.program :], posixpath.dirname(statement.file)))
            found = repository.place(file.text, posixpath.dirname(statement.file)) if file else ""
            yield from (found,) if found else ()


def _entered(run: _Run, repository: Repository) -> str:
    return repository.place(run.words[1], run.folder) if len(run.words) == 2 else ""


def _wrong_folder(run: _Run, repository: Repository) -> Iterator[StatementFinding]:
    """A folder inside one of the repository, to go to."""
    found = path_in(run.words[1], run.thing.line) if len(run.words) == 2 and "/" in run.words[1].strip("/") else None
    if found and _is_missing(found.text, run, repository) and repository.has_parent(found.text, run.folder):
        yield _wrong(found, f"there is no folder `{found.text}` to go to")


def _wrong_scripts(run: _Run, repository: Repository) -> Iterator[StatementFinding]:
    found = (_missing_script(call, run.thing, repository) for call in scripts_in(run.words))
    yield from [each for each in found if each][:1]


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
    why = f"no script `{call.script}` in {files}{more}{_near(alike)}"
    return StatementFinding(StatementMark.WRONG, why, thing.line, call.script, alike[0] if alike else "", files)


def _file_run(run: _Run) -> NamedThing | None:
    """The file that a command runs: its program, or what its interpreter is given first."""
    program = "".join(run.words[:1])
    endings = INTERPRETERS.get(posixpath.basename(program))
    if endings:
        program = next((word for word in run.words[1:] if not word.startswith("-")), "")
        # What follows an option may be its value: the file's ending tells that it is none.
        if not program.endswith(endings) or "-m" in run.words or "-c" in run.words:
            return None
    is_inside = "/" in program.removeprefix("./").rstrip("/") and not program.endswith("/")
    # A word that goes on in a way that the shell fills in is no name.
    return path_in(program, run.thing.line) if is_inside and program in run.thing.text.split() else None


def _wrong_files(run: _Run, repository: Repository) -> Iterator[StatementFinding]:
    found = _file_run(run)
    if found is None or not _is_missing(found.text, run, repository):
        return
    is_given = posixpath.basename(run.words[0]) in INTERPRETERS
    is_here = repository.has_first_folder(found.text, run.folder) if is_given else False
    if is_here or repository.fellows(found.text, run.folder) >= FEW:
        yield _wrong(found, f"there is no `{found.text}` to run")


def _is_missing(path: str, run: _Run, repository: Repository) -> bool:
    places = (path, posixpath.normpath(posixpath.join(run.folder, path)), *repository.named_in_short(path))
    return not repository.finds(path, run.folder) and not any(map(repository.is_unknown, places))


def words_run(statement: Statement, repository: Repository) -> Iterator[str]:
    """The options and the words after a program of this repository, as they may stand in its code."""
    for thing in (each for each in things_in(statement) if each.kind is ThingKind.COMMAND):
        for stage in stages_of(thing.text):
            for word in _asked(stage.words[stage.program :], repository):
                yield from _spellings(word)


def _asked(words: tuple[str, ...], repository: Repository) -> tuple[str, ...]:
    """What a command asks of its program: its options, and of a program of this repository the word after it."""
    options = words[1 : words.index("--") if "--" in words else None]
    is_own = bool(words) and words[0] in repository.programs
    order = options[:1] if is_own and options and _ORDER.match(options[0]) else ()
    return (*order, *(word for word in options if word.startswith("--")))


def _spellings(word: str) -> tuple[str, ...]:
    """A word of a command as code may spell it: with dashes, with underscores, or its words joined."""
    found = _OPTION.match(word) or _ORDER.match(word)
    if not found or found[1] in USUAL_OPTIONS:
        return ()
    parts = found[1].split("-")
    large = "".join(map(str.capitalize, parts))
    return tuple(dict.fromkeys((found[1], "_".join(parts), parts[0] + large[len(parts[0]) :], large)))


def _wrong_options(run: _Run, repository: Repository) -> Iterator[StatementFinding]:
    """Options and orders that no code here has, of a program of this repository that has others."""
    file, program = _file_run(run), run.words[0]
    source = repository.sources.get(repository.place(file.text, run.folder), "") if file else ""
    is_own = program in repository.programs or bool(source and _DEFINED.search(source))
    for word in _asked(run.words, repository) if is_own and repository.words is not None else ():
        spellings = _spellings(word)
        if spellings and not any(each in (repository.words or ()) or each in source for each in spellings):
            what = "option" if word.startswith("-") else "command"
            shown = word.partition("=")[0]
            why = f"`{file.text if file else program}` has no {what} `{shown}`"
            yield _wrong(run.thing._replace(text=shown), why)


def _near(alike: list[str]) -> str:
    return f"; there is `{alike[0]}`" if alike else ""


def _wrong(thing: NamedThing, why: str) -> StatementFinding:
    return StatementFinding(StatementMark.WRONG, why, thing.line, thing.text)
