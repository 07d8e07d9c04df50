"""Which paths tools and commands may use: to write, beneath the folder; to read, anywhere but where secrets lie."""

import contextlib
import itertools
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from whet.agent.inspection.triggers import REPOSITORY, is_repository_name
from whet.agent.tools.processes import TOOLCHAINS, installations
from whet.errors import WhetError
from whet.shipped.data import secret_places as table
from whet.store.folders import place_of
from whet.store.home import Home
from whet.text.words import names

# Programs look in another folder for what they keep there, where the variable says so.
MOVED = (("XDG_CONFIG_HOME", ".config/"), ("XDG_DATA_HOME", ".local/share/"), ("XDG_STATE_HOME", ".local/state/"))
# Not files but windows into processes and devices: reading them can hang, or show another process's environment.
WINDOWS = ("/proc", "/dev", "/sys")
OPENABLE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Where a system keeps its programs, libraries and settings.
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap", "/sys",
    "/run/current-system", "/var/lib/ca-certificates", "/var/cache/fontconfig", "/System", "/Library", "/Applications",
    "/private/etc", "/private/var/db", "/private/var/select",
)  # fmt: skip
# Where tools for building lie in a person's own folder, and what git asks for there. Secrets in them stay hidden.
TOOLS = names(
    ".pyenv .rbenv .nodenv .nvm .volta .fnm .asdf .rvm .sdkman .jenv .cargo .rustup .elan go .go .gem .bundle .m2"
    " .gradle .ivy2 .sbt .coursier .nuget .dotnet .composer .pub-cache .stack .cabal .ghcup .opam .julia .juliaup .mix"
    " .hex .conda miniconda3 anaconda3 miniforge3 mambaforge .npm .npm-global .yarn .pnpm-store .bun .deno .linuxbrew"
    " .nix-profile .nix-defexpr .swiftpm bin .local/bin .local/lib .local/pipx .local/share/pipx .local/share/uv"
    " .local/share/mise .local/share/fnm .local/share/pnpm .local/share/virtualenvs .local/state/nix .gitconfig"
    " .config/git .gitignore .gitignore_global .gitattributes"
)
MOST_REPOSITORIES = 200  # that a wall keeps; what is done to others is found afterwards
LINKS = (40, 20, 62)  # ELOOP of Linux, ENOTDIR, ELOOP of macOS


def secret_places(environment: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """Every place that neither tools nor commands may see, whether or not something is there.

    A variable that names the working folder, or one around it, hides nothing.
    """
    own = Path(environment.get("HOME") or os.path.expanduser("~"))
    for place, _ in table():
        if place.startswith("$"):
            for path in _named(place, environment):
                if path != folder and path not in folder.parents and not path.is_relative_to("/dev"):
                    yield path
            continue
        yield own / place
        for name, usual in MOVED:
            if place.startswith(usual) and environment.get(name):
                yield Path(environment[name]) / place.removeprefix(usual)


def _named(place: str, environment: Mapping[str, str]) -> Iterator[Path]:
    name, _, part = place.removeprefix("$").partition("/")
    for each in environment.get(name, "").removeprefix("FILE:").split(os.pathsep):
        if each.startswith("/"):
            yield Path(each) / part


class Guard(NamedTuple):
    """The working folder, what else tools see, and the places in it that none does: Whet's home, where secrets lie."""

    folder: Path
    hidden: frozenset[Path]
    readable: tuple[Path, ...] = ()  # in what is hidden, and still readable: skills bring scripts along
    visible: tuple[Path, ...] = (Path("/"),)

    def path(self, text: str) -> Path:
        """The path that a call names, made absolute from the working folder, and not yet checked."""
        if not text or "\0" in text:
            raise WhetError("The path is empty or contains a zero byte.", advice="Give a path.")
        return self.folder / os.path.expanduser(text)

    def is_hidden(self, real: Path) -> bool:
        """Whether a resolved path is, or lies in, a place that no tool sees; however that place was reached."""
        if any(real == Path(window) or Path(window) in real.parents for window in WINDOWS):
            return True
        if not any(real.is_relative_to(place) for place in (self.folder, *self.visible, *self.readable)):
            return True
        marks = self.marks()
        readable = [mark for place in self.readable if (mark := mark_of_place(place))]
        for each in (real, *real.parents):
            mark = mark_of_place(each)
            if mark in readable:
                return False
            if mark in marks or each in self.hidden:
                return True
        return False

    def marks(self) -> frozenset[tuple[int, int]]:
        """What tells the hidden places that are there, by whatever name one comes upon them."""
        return frozenset(mark for place in self.hidden if (mark := mark_of_place(place)))

    @contextlib.contextmanager
    def reading(self, text: str) -> Iterator[int]:
        """A descriptor of an ordinary file, open for reading; links are followed, what they lead to is checked."""
        path = self.path(text)
        real = Path(os.path.realpath(path))
        descriptor = -1
        try:
            self.expect_seen(real)
            descriptor = os.open(real, OPENABLE)
            self.expect_seen(place_of(descriptor, real))  # a link may have been put in between
            kind = os.fstat(descriptor).st_mode
            if stat.S_ISDIR(kind):
                raise WhetError(f"{text} is a folder.", advice="search_files lists what is in it.")
            if not stat.S_ISREG(kind):
                raise WhetError(f"{text} is not an ordinary file.", advice="Only ordinary files can be read.")
            yield descriptor
        except OSError as error:
            raise WhetError(f"{text} cannot be read: {error.strerror}.", advice=self._near(path)) from error
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def expect_seen(self, real: Path) -> None:
        if self.is_hidden(real):
            raise WhetError(
                f"{real} is off limits to tools: they see the working folder, system folders and toolchains, without"
                " secrets and Whet's own files.",
                advice="Ask the person, who can add a folder to the setting sandbox.readable.",
            )

    def names(self, text: str) -> tuple[str, ...]:
        """The names that lead from the working folder to a path that may be written; raises WhetError otherwise."""
        path = self.path(text)
        if ".." in path.parts:
            raise WhetError(f"{text} holds `..`.", advice="Name the file from the working folder.")
        for root in (self.folder, Path(os.path.realpath(self.folder))):
            if root in path.parents:
                names = path.relative_to(root).parts
                break
        else:
            raise WhetError(
                f"{text} is outside the working folder {self.folder}.", advice="Files are written in it only."
            )
        if any(map(is_repository_name, names)):
            raise WhetError(f"{text} is in a repository's own folder.", advice="Use git in the terminal for that.")
        return names

    @contextlib.contextmanager
    def writing(self, text: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """The open folder in which a file may be written, and its name there. Every step is taken over no link."""
        *above, name = self.names(text)
        with contextlib.ExitStack() as stack:
            try:
                folder = os.open(self.folder, FOLDER)
                stack.callback(os.close, folder)
                for each in above:
                    if make:
                        with contextlib.suppress(FileExistsError):
                            os.mkdir(each, dir_fd=folder)
                    folder = os.open(each, FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                    stack.callback(os.close, folder)
                self.expect_seen(place_of(folder, self.folder.joinpath(*above)))
                self.expect_seen(place_of(folder, self.folder.joinpath(*above)) / name)
                yield folder, name
            except OSError as error:
                link = "a part of the path is a link" if error.errno in LINKS else error.strerror
                raise WhetError(f"{text} cannot be written: {link}.", advice=self._near(self.path(text))) from error

    def _near(self, path: Path) -> str:
        """What is there instead of a path that is not."""
        if path.exists():
            return "Check the path and its permissions."
        above = next(each for each in path.parents if each.is_dir())
        real = Path(os.path.realpath(above))
        with contextlib.suppress(OSError):
            # Names of files are words too, and elsewhere they are a stranger's.
            if real.is_relative_to(os.path.realpath(self.folder)) and not self.is_hidden(real):
                found = sorted(os.listdir(above))
                return f"{above} holds: {', '.join(found[:20])}{' …' if len(found) > 20 else ''}."
        return "Check the path."


def guard_of(
    folder: Path,
    home: Home,
    environment: Mapping[str, str],
    *,
    hidden: tuple[Path, ...] = (),
    visible: tuple[Path, ...] = (),
) -> Guard:
    """The guard of a session; raises WhetError for a working folder in which nothing may be written."""
    places = (home.folder, *hidden, *secret_places(environment, folder))
    seen = (*visible_places(environment, folder), *visible)
    guard = Guard(
        folder,
        _resolved(places),
        (home.folder / "skills",),
        tuple(dict.fromkeys(place for each in seen for place in (each, Path(os.path.realpath(each))))),
    )
    if guard.is_hidden(folder) or home.folder.resolve() == folder:
        raise WhetError(f"The agent may not work in {folder}.", advice="Start it in another folder.")
    return guard


def _resolved(places: Iterable[Path]) -> frozenset[Path]:
    """Where the places are, links followed. They are hundreds in few folders, so each folder is resolved once."""
    known: dict[str, str] = {}

    def resolved(path: str) -> str:
        if path not in known:
            above, name = os.path.split(path)
            if name in ("", ".."):
                known[path] = os.path.realpath(path)
            else:
                inside = os.path.join(resolved(above), name)
                known[path] = os.path.realpath(inside) if os.path.islink(inside) else inside
        return known[path]

    return frozenset(Path(resolved(str(place.absolute()))) for place in places)


def visible_places(environment: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """What tools see besides the working folder: the system, what builds need, and the repository that it lies in."""
    yield from map(Path, SYSTEM)
    yield from installations(environment.get("PATH", ""))
    own = Path(environment.get("HOME") or os.path.expanduser("~"))
    yield from (own / place for place in sorted(TOOLS))
    for name in sorted(TOOLCHAINS):
        for each in environment.get(name, "").split(os.pathsep):
            if each.startswith("/") and not own.is_relative_to(each):
                yield Path(each)
    yield from _repository(folder, own)


def _repository(folder: Path, own: Path) -> Iterator[Path]:
    """The repository around a folder, and where it keeps its history if that is elsewhere."""
    for above in (folder, *folder.parents):
        if above in (own, *own.parents) and above != folder:
            return
        pointer = above / REPOSITORY
        if not pointer.exists():
            continue
        yield above
        if pointer.is_file():
            history = _pointed(pointer, "gitdir:")
            yield from (place for place in (history, _pointed(history / "commondir", "")) if place != above)
        return


def _pointed(file: Path, lead: str) -> Path:
    """Where a file of git's says to go on; its own folder where it says nothing."""
    with contextlib.suppress(OSError, ValueError):
        return Path(os.path.realpath(file.parent / file.read_text().removeprefix(lead).strip()))
    return file.parent


def mark_of_place(path: Path) -> tuple[int, int] | None:
    """What tells that two names are the same thing: a link, a mount or another spelling does not hide it."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


class CommandBounds(NamedTuple):
    """What a command may touch: written are the folder, the temporary folder and `writable`; hidden is never seen."""

    guard: Guard
    temporary: Path
    network: bool = False
    writable: tuple[Path, ...] = ()
    repositories: tuple[Path, ...] = ()  # git's own folders, which keep their settings and hooks
    pointers: tuple[Path, ...] = ()  # files that tell git where its folder is
    ports: tuple[int, ...] = ()  # where there is no network, ports of its own that somebody outside serves
    door: int = -1  # the descriptor by which that somebody gets them

    @property
    def folders(self) -> tuple[Path, ...]:
        return (self.guard.folder, *self.writable)

    @property
    def kept_repositories(self) -> tuple[Path, ...]:
        named = (each for each in self.repositories if REPOSITORY in each.parts)  # others may be a project's own files
        return tuple(itertools.islice(named, MOST_REPOSITORIES))

    @property
    def kept_pointers(self) -> tuple[Path, ...]:
        return self.pointers[:MOST_REPOSITORIES]
