"""The files of a project on this machine: what it tells agents, line by line with its age, and which names it has.

What is claimed of each project, and what it is checked against: its sessions, its files, what a person refused.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.ledger.entries import Step
from whet.ledger.patches import Form
from whet.lessons.claims import LoggedClaim
from whet.lessons.instructions import NamedThings, RepositoryNames, SeenInstruction, instruction_lines
from whet.proving.repositories import has_word, line_times, listed_files, resolved
from whet.store.claims import claims_of
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.rows import Session
from whet.telling.context.finding import find_files
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import repository_root

SKILLS = ("*/skills/*/SKILL.md", "skills/*/SKILL.md")  # .claude/skills/NAME, .agents/skills/NAME
MOST_SKILLS = 40
MOST_BYTES = 100_000
# Files at the top of a repository that may set up a linter: by what they are written in, not by whose they are.
SETTINGS = frozenset((".toml", ".cfg", ".ini", ".json", ".jsonc", ".yml", ".yaml", ".js", ".cjs", ".mjs", ".ts", ""))
MOST_SETTINGS = 60
OF_PERSON = Filters(without_own_work=True)
TOLD = frozenset((Form.RULE, Form.NOTE, Form.SKILL))


class ProjectFiles(NamedTuple):
    """What a project has for agents and for linters, by path, and its state, by which all of it is known again."""

    root: Path | None = None
    state: str = ""  # the commit, and when each file was last written
    told: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


def project_files(folder: str) -> ProjectFiles:
    """The files of a project; none where the folder is not on this machine."""
    place = Path(folder) if folder else None
    if place is None or not place.is_dir():
        return ProjectFiles()
    root = repository_root(place.resolve()) or place.resolve()
    told, settings = tuple(_agent_files(place, root)), tuple(_settings(root))
    written = [(path, written_at(root / path)) for path, _ in (*told, *settings)]
    commit = ""
    with contextlib.suppress(WhetError):  # without git the files alone tell
        commit = resolved(root, "HEAD")
    return ProjectFiles(root, f"{commit} {written}", told, settings)


def told_lines(files: ProjectFiles) -> tuple[SeenInstruction, ...]:
    """What the files tell agents, a line each, with since when it stands there."""
    if files.root is None:
        return ()
    return tuple(line for path, text in files.told for line in _aged(files.root, path, text))


def setting_lines(files: ProjectFiles) -> tuple[SeenInstruction, ...]:
    """What is set up for linters and other programs, a line each."""
    return tuple(SeenInstruction(path, line) for path, text in files.settings for line in text.splitlines())


def repository_names(root: Path | None, asked: NamedThings) -> RepositoryNames | None:
    """The files of a repository and those of the asked symbols that stand in it; None where there is no repository."""
    if root is None or not (asked.paths or asked.symbols):
        return None
    with contextlib.suppress(WhetError):
        files = listed_files(root)
        if files:
            return RepositoryNames(frozenset(files), frozenset(each for each in asked.symbols if has_word(root, each)))
    return None


def _agent_files(folder: Path, root: Path) -> Iterator[tuple[str, str]]:
    for each in find_files(folder):
        yield each.path, each.text
    for pattern in SKILLS:
        for path in sorted(root.glob(pattern))[:MOST_SKILLS]:
            if text := _text(path, root):
                yield str(path.relative_to(root)), text


def _settings(root: Path) -> Iterator[tuple[str, str]]:
    with contextlib.suppress(OSError):
        named = sorted(path for path in root.iterdir() if path.suffix in SETTINGS or path.name.startswith("."))
        for path in named[:MOST_SETTINGS]:
            if text := _text(path, root):
                yield path.name, text


def _text(path: Path, root: Path) -> str:
    """What an ordinary file of a moderate size says; nothing of a link that leaves the repository."""
    try:
        actual = path.resolve(strict=True)
        if not actual.is_file() or not actual.is_relative_to(root) or actual.stat().st_size > MOST_BYTES:
            return ""
        return actual.read_bytes().decode("utf-8", "replace")
    except (OSError, RuntimeError):
        return ""


def _aged(root: Path, path: str, text: str) -> Iterator[SeenInstruction]:
    """The lines of a file with since when they stand there: as git has it, else since the file was last written."""
    written = written_at(root / path)
    times: dict[str, float] = {}
    with contextlib.suppress(WhetError):
        times = line_times(root, path)
    for line in instruction_lines(path, text, written):
        yield SeenInstruction(path, line.line, times.get(line.line, written))


def written_at(file: Path) -> float | None:
    """When a file was last written."""
    try:
        return file.stat().st_mtime
    except OSError:  # it went meanwhile
        return None


class ProjectClaims(NamedTuple):
    """What the log has of a project, and what it is checked against: the sessions, the oldest first, and its files."""

    project: str
    log: tuple[LoggedClaim, ...]
    sessions: Sequence[Session]
    files: ProjectFiles = ProjectFiles()
    refused: tuple[str, ...] = ()  # rules that a person refused
    declared: tuple[str, ...] = ()  # folders whose owner vouches for what commands print there


def project_claims(
    database: Database,
    project: str,
    sessions: Sequence[Session],
    *,
    refused: tuple[str, ...] = (),
    declared: tuple[str, ...] = (),
) -> ProjectClaims:
    """What is claimed of a project, with what it is checked against."""
    folder = next((each.folder for each in reversed(sessions) if each.folder), "")
    return ProjectClaims(project, claims_of(database, project), sessions, project_files(folder), refused, declared)


def project_sessions(database: Database, filters: Filters = OF_PERSON) -> dict[str, list[Session]]:
    """The sessions of each project that can teach something, the oldest first."""
    known = KnownProjects(database)
    found: dict[str, list[Session]] = {}
    for session in listed(database, filters):
        if project := known.identity(session.folder):
            found.setdefault(project, []).append(session)
    return found


def refused_rules(home: Home, database: Database) -> tuple[str, ...]:
    """The words of every lesson that a person refused, and did not open again since."""
    ledger = ledger_of(home, database)
    state = ledger.state()
    refused = (each.patch for each in ledger.entries() if each.step is Step.REFUSED and each.patch.id in state.refused)
    return tuple(patch.text for patch in refused if patch.form in TOLD)


def listed(database: Database, filters: Filters) -> list[Session]:
    """The sessions that match, the oldest first."""
    return list_sessions(database, filters, limit=count_sessions(database, filters))[::-1]
