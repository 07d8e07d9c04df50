"""Dependencies of a repository: installed once as its lock file says, with the network; used offline after that."""

import hashlib
import os
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec.structs import replace

from whet.agent.tools.situation import Situation, ToolLimits
from whet.errors import WhetError
from whet.proving.repositories import PROGRAM, TreeFile, contents_of, files_of, text_of
from whet.proving.workspace import run_command, write_file
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.settings_file import load
from whet.trials.cases import is_inside
from whet.trials.ways_to_test import MANIFESTS, relative

INSTALL_SECONDS = 900.0
DONE = ".whet-installed"
KEY_LETTERS = 16
MODULES, VENV, STORE = "node_modules", ".venv", ".store"
NO_SCRIPTS = "--ignore-scripts"  # nothing that a package brings is run while the network is open


class Installer(NamedTuple):
    """How what a file names is installed: by which program, the variables by which commands find it, what it makes."""

    names: str
    program: str
    command: str
    variables: tuple[str, ...]
    made: str


# The pnpm that is here does it, whichever the repository pins: another one would be fetched first.
_PNPM = f"pnpm install --frozen-lockfile {NO_SCRIPTS} --config.manage-package-manager-versions=false"
# Tests are built, so that what they share is built once, and not run.
_GO = "go mod download && go test -exec /bin/true ./... >/dev/null 2>&1; test -d $GOCACHE"
INSTALLERS = (
    Installer("pnpm-lock.yaml", "pnpm", _PNPM, ("NODE_PATH",), MODULES),
    Installer("bun.lock", "bun", f"bun install --frozen-lockfile {NO_SCRIPTS}", ("NODE_PATH",), MODULES),
    Installer("bun.lockb", "bun", f"bun install --frozen-lockfile {NO_SCRIPTS}", ("NODE_PATH",), MODULES),
    Installer("yarn.lock", "yarn", f"yarn install --frozen-lockfile {NO_SCRIPTS}", ("NODE_PATH",), MODULES),
    Installer("package-lock.json", "npm", f"npm ci {NO_SCRIPTS} --no-audit --no-fund", ("NODE_PATH",), MODULES),
    Installer("package.json", "npm", f"npm install {NO_SCRIPTS} --no-audit --no-fund", ("NODE_PATH",), MODULES),
    Installer("go.mod", "go", _GO, ("GOPATH", "GOCACHE"), STORE),
    Installer("Cargo.lock", "cargo", "cargo fetch --locked", ("CARGO_HOME",), STORE),
    Installer("uv.lock", "uv", "uv sync --frozen --no-editable", ("VIRTUAL_ENV",), VENV),
    Installer("pyproject.toml", "python3", "", ("VIRTUAL_ENV",), VENV),
    Installer("setup.py", "python3", "", ("VIRTUAL_ENV",), VENV),
)
LOCKED = frozenset(each.names for each in INSTALLERS) | MANIFESTS


class Installed(NamedTuple):
    """What is installed for a commit: commands that put it into a workspace, variables, Python with it, and more."""

    setup: tuple[str, ...] = ()
    environment: Mapping[str, str] = MappingProxyType({})
    python: str = ""
    lead: str = ""  # what a command that runs tests begins with


class _Tree(NamedTuple):
    """The files of a commit, and the folder among them whose dependencies are meant."""

    repository: Path
    commit: str
    files: list[TreeFile]
    folder: str = ""

    def text(self, name: str) -> str:
        return text_of(self.repository, self.commit, f"{self.folder}/{name}".lstrip("/"))


def installed(home: Home, repository: Path, commit: str, *, beneath: Path, inside: str, runner: str) -> Installed:
    """Install what the commit's lock file names, once for each content of it. Raises WhetError where that fails.

    Where a package manager is missing, the next that can read the package's files stands in for it.
    """
    files = [file for file in files_of(repository, commit) if is_inside(file.path)]
    for folder in dict.fromkeys((inside, "")):
        there = frozenset(relative((file.path for file in files), folder))
        rows = [each for each in INSTALLERS if each.names in there and (each.made == VENV) is (runner == "pytest")]
        by = next((each for each in rows if shutil.which(each.program)), None)
        if by is not None:
            return _installed_by(home, by, _Tree(repository, commit, files, folder), beneath)
        if rows:
            raise WhetError(f"{rows[0].program} is not installed.", advice=f"{rows[0].names} needs it.")
    return Installed()


def _installed_by(home: Home, by: Installer, tree: _Tree, beneath: Path) -> Installed:
    told = sorted((file.path, file.hash) for file in tree.files if file.path.rpartition("/")[2] in LOCKED)
    place = beneath / hashlib.sha256(repr((by, tree.folder, told)).encode()).hexdigest()[:KEY_LETTERS]
    top = place / tree.folder
    if not (place / DONE).exists():
        shutil.rmtree(place, ignore_errors=True)
        top.mkdir(parents=True, mode=0o700)
        contents = contents_of(tree.repository, [file.hash for file in tree.files])
        for file, content in zip(tree.files, contents, strict=True):
            write_file(place, file.path, content, mode=0o755 if file.mode == PROGRAM else 0o644)
        line = by.command or _pip_line(tree)
        if by.program == "uv":
            line += _groups(tree.text("pyproject.toml"))
        _install(home, place, top, line, _stores(by, top))
        _keep_only_installed(place)
        (place / DONE).touch()
    if by.made == MODULES:
        return Installed(tuple(_links(place)), {"NODE_PATH": str(place)})
    if by.made == STORE:
        stores = _stores(by, top)
        built = stores.pop("GOCACHE", "")  # Go writes to it: each command has links to it in its own place
        lead = f'mkdir -p "$TMPDIR/go" && cp -as {shlex.quote(built)}/. "$TMPDIR/go" && GOCACHE="$TMPDIR/go" '
        return Installed((), stores, lead=lead if built else "")
    return Installed((), {"VIRTUAL_ENV": str(top / VENV)}, str(top / VENV / "bin" / "python"))


def _stores(by: Installer, top: Path) -> dict[str, str]:
    """Where a program of a language keeps what it fetched and built, by its own variables."""
    first, *more = by.variables if by.made == STORE else ("",)
    inner = {name: str(top / STORE / name.lower()) for name in more}
    return {first: str(top / STORE), **inner} if first else {}


def _install(home: Home, place: Path, folder: Path, line: str, variables: Mapping[str, str]) -> None:
    """Run the installer in the sandbox, with the network, in a folder that holds nothing but the commit's files."""
    sandbox = replace(load(home).sandbox, required=True, network=True)
    sandbox = replace(sandbox, variables=(*sandbox.variables, *variables))
    around = {**os.environ, **variables}
    situation = Situation(place, home, "install", around, limits=ToolLimits(sandbox), told=Trust.OPERATOR)
    inside = f"cd {shlex.quote(str(folder.relative_to(place)))} && " if folder != place else ""
    ended = run_command(situation, inside + line, seconds=INSTALL_SECONDS)
    if ended.exit_code != 0:
        said = [each.strip() for each in ended.text.splitlines() if each.strip()]
        wrong = next((each for each in said if "err" in each.lower()), said[-1] if said else str(ended.exit_code))
        raise WhetError(f"`{line[:60]}` failed: {wrong[:160]}", advice="Is the network reachable? Install by hand.")


def _pip_line(tree: _Tree) -> str:
    """Python's own way: a virtual environment with the project, pytest, and the lists that name pytest."""
    given = _table(tree.text("pyproject.toml"))
    extras = [name for name, listed in _project(given).get("optional-dependencies", {}).items() if _runs(listed)]
    project = f".[{','.join(extras)}]" if extras else "."
    groups = "".join(f" --group {shlex.quote(name)}" for name in _testing_groups(given))
    lists = (
        path
        for path in relative((each.path for each in tree.files), tree.folder)
        if path.endswith(".txt") and "requirements" in path
    )
    named = "".join(f" -r {shlex.quote(path)}" for path in lists if "test" in path.rpartition("requirements")[2])
    pip = f"{VENV}/bin/python -m pip install -q --disable-pip-version-check"
    return f"python3 -m venv {VENV} && {pip} -U 'pip>=25.1' && {pip} pytest {shlex.quote(project)}{groups}{named}"


def _groups(pyproject: str) -> str:
    """The options by which uv takes what brings pytest, and nothing else that is only for developers."""
    given = _table(pyproject)
    extras = [name for name, listed in _project(given).get("optional-dependencies", {}).items() if _runs(listed)]
    told = [f"--group {name}" for name in _testing_groups(given)] + [f"--extra {name}" for name in extras]
    return "".join(f" {each}" for each in (["--no-default-groups", *told] if told else []))


def _table(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _project(given: dict[str, Any]) -> dict[str, Any]:
    found = given.get("project")
    return found if isinstance(found, dict) else {}


def _testing_groups(given: dict[str, Any]) -> list[str]:
    groups = given.get("dependency-groups")
    return [name for name, listed in groups.items() if _runs(listed)] if isinstance(groups, dict) else []


def _runs(listed: object) -> bool:
    """Whether a list of requirements names the runner itself."""
    found = listed if isinstance(listed, list) else []
    return any(isinstance(each, str) and each.replace(" ", "").startswith("pytest") for each in found)


def _keep_only_installed(place: Path) -> None:
    """Remove the commit's own files, also where they were installed: the work of one commit is no case's to see."""
    for above, folders, names in os.walk(place):
        if Path(above).name == "site-packages":
            _remove_own(Path(above))
        is_made = any(part in (MODULES, VENV, STORE) for part in Path(above).relative_to(place).parts)
        for name in () if is_made else names:
            Path(above, name).unlink()
        if Path(above).name == MODULES:
            folders.clear()


def _remove_own(packages: Path) -> None:
    """The sources of what was installed from the folder itself; what it says of itself and what was built stay."""
    for told in packages.glob("*.dist-info/direct_url.json"):
        for line in (told.parent / "RECORD").read_text().splitlines():
            name = line.split(",")[0]
            if name.endswith((".py", ".pth")) and is_inside(name):
                (packages / name).unlink(missing_ok=True)


def _links(place: Path) -> Iterator[str]:
    """Commands that link what is installed into a workspace; links among the repository's own packages stay its own."""
    for above, folders, _ in os.walk(place):
        if MODULES not in folders:
            continue
        folders.remove(MODULES)
        source = Path(above, MODULES)
        name = source.relative_to(place).as_posix()
        yield _link_all(source, name)
        for scope in (source, *(each for each in source.glob("@*") if each.is_dir())):
            own = [each for each in scope.iterdir() if each.is_symlink() and _is_own(place, each)]
            target = scope.relative_to(place).as_posix()
            if own and scope != source:
                yield f"rm {shlex.quote(target)}"
                yield _link_all(scope, target)
            for each in own:
                yield f"ln -sfn {shlex.quote(os.readlink(each))} {shlex.quote(f'{target}/{each.name}')}"


def _is_own(place: Path, link: Path) -> bool:
    """Whether a link leads to a package of the repository, which is none of what was installed."""
    target = Path(os.path.realpath(link))
    return target.is_relative_to(place.resolve()) and MODULES not in target.relative_to(place.resolve()).parts


def _link_all(source: Path, name: str) -> str:
    quoted, into = shlex.quote(str(source)), shlex.quote(name)
    return f"mkdir -p {into} && find {quoted} -mindepth 1 -maxdepth 1 -exec ln -s -t {into} {{}} +"
