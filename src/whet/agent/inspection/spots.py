"""Spots: every place in a folder from which another program would run something, with what stands there."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from whet.agent.inspection.reach import Reach
from whet.agent.inspection.triggers import HIDDEN, Tree, Trigger, TriggerAction, mark_of, settled
from whet.text.words import names

# Sections without a part of its own, each with the settings that only describe. All others count as orders.
DESCRIBING: dict[str, frozenset[str]] = {
    "core": names(
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol"
        " safecrlf abbrev quotepath compression untrackedcache preloadindex longpaths trustctime checkstat whitespace"
        " sharedrepository sparsecheckout sparsecheckoutcone"
    ),
    "extensions": names("objectformat compatobjectformat refstorage worktreeconfig noop preciousobjects"),
    "user": names("name email useconfigonly"),
    "author": names("name email"),
    "committer": names("name email"),
    "init": names("defaultbranch"),
    "index": names("sparse version threads skiphash"),
    "feature": names("manyfiles"),
    "pull": names("rebase ff"),
    "push": names("default autosetupremote followtags"),
    "fetch": names("prune prunetags parallel"),
    "merge": names("ff conflictstyle"),
    "rebase": names("autostash autosquash updaterefs"),
    "diff": names("renames algorithm colormoved noprefix mnemonicprefix"),
    "commit": names("verbose gpgsign"),
    "tag": names("gpgsign sort"),
    "rerere": names("enabled autoupdate"),
    "gc": names("auto autodetach"),
    "maintenance": names("auto strategy"),
    "log": names("date decorate"),
    "lfs": names("repositoryformatversion"),
}
# The same of sections with a name in quotes.
DESCRIBING_NAMED: dict[str, frozenset[str]] = {
    "remote": names("url pushurl fetch tagopt prune gh-resolved"),
    "branch": names("remote merge rebase pushremote vscode-merge-base gk-merge-base gk-last-accessed"),
    "submodule": names("url active branch ignore"),
}
ADDRESSES = names("url pushurl remote pushremote")
# Nothing but these two forms is read; whatever git may take another way counts as an order.
_SECTION = re.compile(r"[ \t]*\[([A-Za-z0-9-]+)(?: \"([^\"\\\n]*)\")?\][ \t]*")
_SETTING = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*=[ \t]*([^\"\\;#\x00-\x08\x0a-\x1f\x7f]*)")
_BLANK = re.compile(r"[ \t]*(?:[#;].*)?")
LARGEST_BYTES = 1_000_000
KEPT_BYTES = 64_000_000
GIT = "git"
HOOKS, CONFIGS, COMMON = "hooks", ("config", "config.worktree"), "commondir"
SAMPLE, WORKTREES = ".sample", "worktrees"
REBASE = "rebase-merge/git-rebase-todo"
_GITFILE = re.compile(r"gitdir: (.+?)\s*")
_EXECUTES = re.compile(r"^[ \t]*(?:x|exec)\s.*$", re.MULTILINE)
STRICTER = (TriggerAction.REFUSED, TriggerAction.ASKED, TriggerAction.REPORTED, TriggerAction.REMOVED)
PACKAGE = "/package.json"
# The keys of a package's file that run something: by name, when it is installed, or when a commit is made.
PACKAGE_KEYS = ("scripts", "husky", "simple-git-hooks", "lint-staged", "gitHooks", "pre-commit", "gypfile")
# Settings of git whose value is a path, whether or not something stands there yet.
PATHS = frozenset({"hookspath", "path", "fsmonitor", "templatedir"})
LARGEST_INDEX = 256_000_000
INDEX_HEAD, BEFORE_HASH = 12, 40  # bytes before the first entry; of an entry, before its hash
MODE = 24
REPOSITORY_MODE = b"\x00\x00\xe0\x00"
EXTENDED = 0x40


class GitOrder(NamedTuple):
    """A setting that makes git run something, read more settings or go elsewhere; or a line that is not understood."""

    section: str
    name: str
    value: str

    @property
    def is_address(self) -> bool:
        """Whether it only says where to fetch from and push to, which no order is for a new repository."""
        return self.section.startswith("remote.") and self.name in ("url", "pushurl") and is_plain_address(self.value)

    @property
    def said(self) -> str:
        return f"{self.section}.{self.name}" if self.name else self.value.strip()[:60]


def orders(text: str) -> frozenset[GitOrder]:
    """All orders that a file of settings holds."""
    found: list[GitOrder] = []
    section, where, named = "", "", False
    for line in text.split("\n"):
        if _BLANK.fullmatch(line):
            continue
        if match := _SECTION.fullmatch(line):
            section, named = match[1].lower(), match[2] is not None
            where = f"{section}.{match[2]}" if named else section
            continue
        match = _SETTING.fullmatch(line)
        if match is None or not section:
            found.append(GitOrder(section, "", line))
        elif not _describes(section, match[1].lower(), match[2].strip(), named=named):
            found.append(GitOrder(where, match[1].lower(), match[2].strip()))
    return frozenset(found)


def _describes(section: str, name: str, value: str, *, named: bool) -> bool:
    if name not in (DESCRIBING_NAMED if named else DESCRIBING).get(section, ()):
        return False
    if section == "remote" and name in ("url", "pushurl"):
        return False
    return name not in ADDRESSES or is_plain_address(value)


def is_plain_address(value: str) -> bool:
    """Whether it names no program: `helper::address` would, and a dash begins an option."""
    return not (value.startswith("-") or "::" in value)


class Content(NamedTuple):
    """What stands at a place: a file's bytes, or where a link leads. `whole` is False for a file that is too large."""

    body: bytes
    kind: str = "file"
    runnable: bool = False
    whole: bool = True


class TriggerPlace(NamedTuple):
    """A place, who would run or obey what stands there, and how the agent's writing it is treated."""

    path: str
    program: str
    care: TriggerAction
    content: Content
    orders: frozenset[GitOrder] | None = None  # of git's settings; None for what is no such file
    leads: str = ""  # where git would go on from here, if that is in the folder
    loads: TriggerAction | None = (
        None  # the care for what it names in turn; None for what names nothing that runs on its own
    )


class TriggerPlaces(NamedTuple):
    """All spots by their paths, and the repositories among them."""

    spots: dict[str, TriggerPlace]
    repositories: tuple[str, ...]


class TriggerPlaceReader:
    """Reads the spots of a tree. Files that have not changed are not read twice."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._before: dict[str, tuple[tuple[int, ...], Content]] = {}
        self._read: dict[str, tuple[tuple[int, ...], Content]] = {}
        self._kept_bytes = 0

    def read(self, known: TriggerPlaces | None = None) -> TriggerPlaces:
        """All spots of the tree. What is known of repositories is looked at however large the tree is."""
        found: dict[str, TriggerPlace] = {}
        waiting = [each for each in known.repositories if os.path.isdir(each)] if known else []
        self._before, self._read = self._read, {}
        self._kept_bytes = 0
        for path, listing in self._tree.folders():
            if listing.is_repository:
                waiting.append(path)
            if listing.pointers or listing.triggers:
                pointers = (self._pointer(f"{path}/{name}", path) for name in listing.pointers)
                triggers = (self._triggered(f"{path}/{name}", trigger) for name, trigger in listing.triggers)
                found |= {spot.path: spot for spot in _present(*pointers, *triggers)}
        if self._tree.is_cut:
            for path in self._entered(waiting, known):
                waiting += [path] if os.path.isdir(path) and not os.path.islink(path) else []
                found |= {spot.path: spot for spot in _present(self._pointer(path, os.path.dirname(path)))}
        waiting += [spot.leads for spot in found.values() if spot.leads]
        found |= {path: TriggerPlace(path, "many programs", TriggerAction.REFUSED, Content(b"", "folder", whole=False))
                  for path in self._tree.too_many()}  # fmt: skip
        repositories: dict[str, None] = {}
        while waiting:
            path = waiting.pop()
            if path not in repositories:
                repositories[path] = None
                parts = {spot.path: spot for spot in self._parts(path)}
                found |= parts
                waiting += [spot.leads for spot in parts.values() if spot.leads]
        return TriggerPlaces(found, tuple(sorted(repositories)))

    def _entered(self, repositories: Iterable[str], known: TriggerPlaces | None) -> list[str]:
        """Where git goes on from known repositories: what pointed there before, and what their indexes list."""
        pointers = [spot.path for spot in known.spots.values() if spot.leads] if known else []
        return [*pointers, *(f"{tree}/.git" for each in repositories for tree in gitlinks(each))]

    def claimed(self, reach: Reach, found: Mapping[str, TriggerPlace]) -> dict[str, TriggerPlace]:
        """Spots of all that is run because something names it. What git itself obeys is left as it was found."""
        claimed: dict[str, TriggerPlace] = {}
        for path, claim in reach.present():
            known = found.get(path) or claimed.get(path)
            if known is None or STRICTER.index(claim.care) < STRICTER.index(known.care):
                content = self._content(path)
                if content is not None:
                    claimed[path] = TriggerPlace(
                        path, claim.program, claim.care, content, loads=known.loads if known else None
                    )
        return claimed

    def _triggered(self, path: str, trigger: Trigger) -> TriggerPlace | None:
        content = self._content(path, by_mark=trigger.care is TriggerAction.REMOVED or trigger is HIDDEN)
        if content is None:
            return None
        if path.endswith(PACKAGE):
            content = content._replace(body=_run_by_package(content.body))
        loads = trigger.loads if trigger.care is TriggerAction.ASKED else None
        return TriggerPlace(path, trigger.program, trigger.care, content, loads=loads)

    def _content(self, path: str, *, by_mark: bool = False) -> Content | None:
        """What stands there. Beyond a number of bytes only a mark of it is kept, and nothing can be put back."""
        try:
            mark = mark_of(os.lstat(path))
        except OSError:
            return None
        if by_mark or self._kept_bytes > KEPT_BYTES:
            return Content(repr(mark).encode(), whole=False)
        known = self._read.get(path) or self._before.get(path)
        content = known[1] if known and known[0] == mark else content_of(path)
        if content is not None:
            self._kept_bytes += len(content.body)
            self._read[path] = (settled(mark), content)
        return content

    def _parts(self, repository: str) -> Iterator[TriggerPlace]:
        """What in a repository's own folder makes git run something or go elsewhere."""
        yield from self._settings(repository)
        yield from _present(self._pointer(f"{repository}/{COMMON}", repository))
        todo = content_of(f"{repository}/{REBASE}")
        if todo:
            yield _rebase(f"{repository}/{REBASE}", todo)
        hooks = f"{repository}/{HOOKS}"
        names = [] if os.path.islink(hooks) else _names(hooks)
        yield from _present(_spot(hooks), *(_spot(f"{hooks}/{name}") for name in names if not name.endswith(SAMPLE)))

    def _settings(self, repository: str) -> Iterator[TriggerPlace]:
        for name in CONFIGS:
            path = f"{repository}/{name}"
            if (content := content_of(path)) is not None:
                text = content.body.decode("latin-1")
                held = frozenset(each for each in orders(text) if not self._stays(each, repository))
                clear = content.kind == "file" and content.whole
                yield TriggerPlace(path, GIT, TriggerAction.REFUSED, content, held if clear else None)

    def _stays(self, order: GitOrder, repository: str) -> bool:
        """Whether an order only names a working tree in the folder, as every submodule's does."""
        if (order.section, order.name) != ("core", "worktree"):
            return False
        return bool(self._inside(os.path.join(repository, order.value)))

    def _pointer(self, path: str, folder: str) -> TriggerPlace | None:
        """A file that tells git where to go on. Only that of a further working tree leads to what others share."""
        spot = _spot(path)
        if spot is None or spot.content.kind != "file":
            return spot
        text = spot.content.body.decode("utf-8", "surrogateescape")
        match = _GITFILE.fullmatch(text)
        target = match[1] if match else ""
        if path.endswith(f"/{COMMON}"):
            target = text.rstrip("\r\n") if os.path.basename(os.path.dirname(folder)) == WORKTREES else ""
        return spot._replace(leads=self._inside(os.path.join(folder, target))) if target else spot

    def _inside(self, path: str) -> str:
        """The real path, if it lies in the tree."""
        real = os.path.realpath(path) if "\0" not in path else ""
        return real if self._tree.holds(real) else ""


def _rebase(path: str, todo: Content) -> TriggerPlace:
    """The list of a rebase, with the lines that run something. One that cannot be read whole may hold any."""
    if todo.kind != "file" or not todo.whole:
        return TriggerPlace(path, "git rebase --continue", TriggerAction.REFUSED, todo)
    lines = _EXECUTES.findall(todo.body.decode("latin-1"))
    held = frozenset(GitOrder("rebase", "exec", line) for line in lines)
    return TriggerPlace(path, "git rebase --continue", TriggerAction.REPORTED, todo, held)


def content_of(path: str) -> Content | None:
    """What stands there, read over no link; None for nothing and for folders."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return Content(os.fsencode(os.readlink(path)), "link")
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            return Content(b"", "other")
        runnable = bool(status.st_mode & 0o111)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            body = file.read(LARGEST_BYTES + 1)
    except OSError:
        return None
    if len(body) <= LARGEST_BYTES:
        return Content(body, runnable=runnable)
    return Content(repr(mark_of(status)).encode(), runnable=runnable, whole=False)


def _spot(path: str) -> TriggerPlace | None:
    content = content_of(path)
    return TriggerPlace(path, GIT, TriggerAction.REFUSED, content) if content is not None else None


def _present(*spots: TriggerPlace | None) -> Iterator[TriggerPlace]:
    yield from (spot for spot in spots if spot is not None)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _run_by_package(body: bytes) -> bytes:
    """What a package's file runs; a hash of all of it where it cannot be read."""
    try:
        package = json.loads(body)
        return json.dumps([package.get(key) for key in PACKAGE_KEYS], sort_keys=True).encode()
    except (ValueError, AttributeError, RecursionError):
        return hashlib.sha256(body).digest()


def gitlinks(repository: str) -> Iterator[str]:
    """The folders in which git looks for a repository whenever it looks at this one."""
    tree = os.path.dirname(repository)
    index = _bytes_of(f"{repository}/index")
    if REPOSITORY_MODE in index:
        size = 32 if b"sha256" in _bytes_of(f"{repository}/config").lower() else 20
        yield from (os.path.normpath(f"{tree}/{os.fsdecode(name)}") for name in names_in(index, size))


def names_in(index: bytes, size: int) -> Iterator[bytes]:
    """The names of all entries that are repositories; `size` is the length of a hash."""
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    place, name = INDEX_HEAD, b""
    for _ in range(count):
        if place + BEFORE_HASH + size + 2 > len(index):
            return
        mode, flags = index[place + MODE : place + MODE + 4], index[place + BEFORE_HASH + size]
        begin = place + BEFORE_HASH + size + (4 if flags & EXTENDED else 2)
        if version == 4:
            dropped, begin = _number(index, begin)
            end = index.find(b"\0", begin)
            name = name[: len(name) - dropped] + index[begin:end]
            place = end + 1
        else:
            end = index.find(b"\0", begin)
            name = index[begin:end]
            place += (end - place + 8) // 8 * 8
        if end < 0:
            return
        if mode == REPOSITORY_MODE:
            yield name


def _number(index: bytes, place: int) -> tuple[int, int]:
    """A number as git packs it, and where it ends."""
    value = index[place] & 0x7F
    while index[place] & 0x80 and place + 1 < len(index):
        place += 1
        value = ((value + 1) << 7) | (index[place] & 0x7F)
    return value, place + 1


def _bytes_of(path: str) -> bytes:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(LARGEST_INDEX)
    except OSError:
        return b""
