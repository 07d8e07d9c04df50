"""Triggers: files that other programs run or obey on their own, the care they get, and the walk that finds them."""

import os
import stat
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fnmatch import translate
from importlib.machinery import EXTENSION_SUFFIXES
from typing import NamedTuple

from whet.text.words import names, on_demand

MOST_FOLDERS = 100_000
EXTENSIONS, LIBRARY = tuple(EXTENSION_SUFFIXES), sys.stdlib_module_names
# A change within the same tick of the clock leaves no trace in a time that was read in that tick.
UNSETTLED_NS = 2_000_000_000
REPOSITORY = ".git"
# Directly in a repository's own folder: large, and without anything that git would run.
DULL = frozenset({"objects", "refs", "logs", "lfs"})
# What file systems leave out of a name, or make of it: all these open a repository's own folder on some machine.
_IGNORED = {ord(character): None for character in "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\ufeff"}
_SHORT = "git~1"


class TriggerAction(StrEnum):
    """What happens when the agent writes a trigger.

    Refused to commands is what git runs while it only looks. Asked about is what runs, or is obeyed, without anybody
    choosing to run it: when a folder is entered or opened, a shell, an editor or an agent is started, a commit is made.
    Reported is what runs when a person runs a build, a test or a push: writing it is ordinary work. Removed is what a
    program makes by itself, and runs in the place of what people read.
    """

    REFUSED = "refused"
    ASKED = "asked"
    REPORTED = "reported"
    REMOVED = "removed"


class Trigger(NamedTuple):
    """Files by the end of their path (`*` stands for any letters, a slash at the end for all beneath), and who runs
    them. `loads` is the care for what they name in turn."""

    pattern: str
    program: str
    care: TriggerAction = TriggerAction.ASKED
    loads: TriggerAction = TriggerAction.REPORTED


def _all(
    program: str, care: TriggerAction, patterns: str, *, loads: TriggerAction = TriggerAction.REPORTED
) -> tuple[Trigger, ...]:
    return tuple(Trigger(pattern, program, care, loads) for pattern in patterns.split())


ASKED, REPORTED = TriggerAction.ASKED, TriggerAction.REPORTED
TRIGGERS: tuple[Trigger, ...] = (
    *_all("direnv", ASKED, ".envrc .envrc.* .direnvrc .config/direnv/", loads=ASKED),
    *_all("mise", ASKED, "mise.toml .mise.toml mise.*.toml .mise.*.toml mise/config.toml .mise/ .config/mise/"
          " .mise-tasks/ mise-tasks/ .miserc.toml", loads=ASKED),
    *_all("mise and asdf", ASKED, ".tool-versions .asdfrc .default-*-packages .default-gems"),
    *_all("devenv and Nix", ASKED, "devenv.nix devenv.local.nix .devenv/"),
    *_all("autoenv", ASKED, ".autoenv .autoenv.zsh .autoenv_leave.zsh", loads=ASKED),
    *_all("bash", ASKED, ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .inputrc", loads=ASKED),
    *_all("bash", ASKED, ".bash_completion .bash_completion.d/ .local/share/bash-completion/ .bashrc.d/", loads=ASKED),
    *_all("zsh", ASKED, ".zshrc .zshenv .zprofile .zlogin .zlogout .oh-my-zsh/ .zshrc.d/ .zsh/ *.zwc", loads=ASKED),
    *_all("other shells", ASKED, ".kshrc .cshrc .tcshrc .login .config/fish/ .config/nushell/ .config/powershell/"),
    *_all("shells", ASKED, ".cargo/env .cargo/env.* .local/bin/ .local/share/zsh/ .local/share/fish/", loads=ASKED),
    *_all("Python", ASKED, "usercustomize.py .pythonrc .pythonrc.py .pythonstartup .config/pip/ .pip/"),
    *_all("Python, Perl and Emacs", ASKED, "*.pyc *.pyo *.pmc *.elc"),
    *_all("the desktop", ASKED, "*.desktop .directory autorun.inf"),
    *_all("the desktop", ASKED, ".config/autostart/ .config/systemd/ .xinitrc .xprofile .xsession .xsessionrc"),
    *_all("the desktop", ASKED, ".config/environment.d/ .pam_environment .local/share/applications/"
          " .config/plasma-workspace/ .local/share/systemd/ .local/share/dbus-1/ .config/dbus-1/ .kde/Autostart/"),
    *_all("macOS", ASKED, "Library/LaunchAgents/ Library/LaunchDaemons/"),
    *_all("git", ASKED, ".gitconfig .config/git/ .githooks/ .git-hooks/ .git_hooks/"),
    *_all("husky", ASKED, ".husky/ .huskyrc .huskyrc.*"),
    *_all("pre-commit", ASKED, ".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml"),
    *_all("lefthook", ASKED, "lefthook.* .lefthook.* lefthook-local.* .lefthook/ .lefthook-local/"),
    *_all("overcommit", ASKED, ".overcommit.yml .local-overcommit.yml"),
    *_all("simple-git-hooks", ASKED, ".simple-git-hooks.* simple-git-hooks.*"),
    *_all("Subversion, CVS and Perforce", ASKED, ".subversion/ .cvsrc CVS/Root .p4config .p4enviro"),
    *_all("repo", ASKED, ".repo/"),
    *_all("Mercurial", ASKED, ".hgsub .hgsubstate"),
    *_all("Monotone", ASKED, "_MTN/"),
    *_all("Mercurial", ASKED, ".hg/hgrc .hg/hgrc-not-shared .hgrc .hg/sharedpath .config/hg/", loads=ASKED),
    *_all("Fossil", ASKED, ".fossil-settings/"),
    *_all("Bazaar", ASKED, ".bzr/branch/branch.conf .bzr/branch-format .config/breezy/"),
    *_all("Sapling", ASKED, ".sl/config"),
    *_all("Jujutsu", ASKED, ".jj/repo/config.toml .jj/config.toml .jj/workspace-config.toml"),
    *_all("Darcs and Pijul", ASKED, "_darcs/prefs/ .pijul/config"),
    *_all("VS Code", ASKED, ".vscode/ *.code-workspace"),
    *_all("dev containers", ASKED, ".devcontainer/ .devcontainer.json"),
    *_all("JetBrains", ASKED, ".idea/runConfigurations/ .idea/startup.xml .idea/watcherTasks.xml .idea/tools/"),
    *_all("JetBrains", ASKED, ".fleet/ .run/"),
    *_all("Zed", ASKED, ".zed/"),
    *_all("Sublime Text", ASKED, "*.sublime-project"),
    *_all("Vim", ASKED, ".exrc .vimrc .gvimrc .nvimrc .nvim.lua .lvimrc .vim/ .config/nvim/"),
    *_all("Emacs", ASKED, ".dir-locals.el .dir-locals-2.el .emacs .emacs.d/ .config/emacs/"),
    *_all("Claude Code", ASKED, ".claude/ .mcp.json"),
    *_all("Codex", ASKED, ".codex/"),
    *_all("Gemini CLI", ASKED, ".gemini/ .qwen/"),
    *_all("Cursor", ASKED, ".cursor/"),
    *_all("OpenCode", ASKED, ".opencode/ opencode.json opencode.jsonc"),
    *_all("Copilot", ASKED, ".github/hooks/ .copilot/"),
    *_all("other agents", ASKED, ".kiro/ .windsurf/ .roo/ .continue/ .amazonq/ .junie/ .goose/ .factory/ .pi/"),
    *_all("other agents", ASKED, ".hermes/ .crush.json crush.json .aider.conf.yml .agents/"),
    *_all("R", ASKED, ".Rprofile .Renviron"),
    *_all("debuggers", ASKED, ".gdbinit .lldbinit .pdbrc .perldb"),
    *_all("interpreters", ASKED, ".irbrc .pryrc .ghci .ocamlinit .iex.exs .tmux.conf .screenrc"),
    *_all("agents", REPORTED, "AGENTS.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md agents/*.md commands/*.md"
          " hooks/hooks.json"),
    *_all("builds", REPORTED, "GNUmakefile justfile SConstruct BUILD WORKSPACE CMakeLists.txt compile_flags.txt"
          " rust-toolchain build.rs meson_options.txt conanfile.txt"),
    *_all("Python", REPORTED, "setup.py conftest.py noxfile.py tasks.py fabfile.py dodo.py sitecustomize.py"
          " *requirements*.txt *constraints*.txt"),
    *_all("npm", REPORTED, "package.json Gruntfile.* gulpfile.* *.config.*js *.conf.*js *.config.ts"),
    *_all("builds", REPORTED, "composer.json build.xml *compose.y*ml *compose.*.y*ml"),
)  # fmt: skip
# Python runs such a file in the place of the source beside it, and makes it again where it is gone.
COMPILED = Trigger("__pycache__/*.pyc", "Python", TriggerAction.REMOVED)
# A name that begins with a dot is some program's, and so is all beneath such a folder: whose, and what it runs, no list
# knows. The same holds of a text with an ending that neither documents nor the sources of programs have, and of scripts
# without an ending. Data has some of these formats too; only at the top of a project it is settings.
HIDDEN = Trigger(".*", "the program that reads it", TriggerAction.REPORTED)
SETTINGS = Trigger("*", "programs that look for it", TriggerAction.REPORTED)
# A text whose name is in capitals is meant to be noticed: by people, where it has one of these names, else by agents.
INSTRUCTIONS = Trigger("*.md", "agents", TriggerAction.REPORTED)
FOR_PEOPLE = names(
    "README LICENSE LICENCE COPYING NOTICE PATENTS CHANGELOG CHANGES HISTORY NEWS RELEASE RELEASES RELEASING"
    " VERSIONING CONTRIBUTING CONTRIBUTORS CODE_OF_CONDUCT SECURITY SUPPORT GOVERNANCE AUTHORS MAINTAINERS"
    " OWNERS THANKS CREDITS ACKNOWLEDGEMENTS ACKNOWLEDGMENTS INSTALL INSTALLATION INSTALLING UPGRADING UPGRADE"
    " MIGRATION MIGRATING TODO ROADMAP FAQ ARCHITECTURE DESIGN HACKING DEVELOPMENT DEVELOPING BUILD BUILDING"
    " TESTING DEPLOYMENT USAGE GUIDE TUTORIAL INDEX SUMMARY RESULTS API BUG_REPORT ISSUE_TEMPLATE"
    " PULL_REQUEST_TEMPLATE"
)
DATA_ENDINGS = names(".json .yaml .yml .xml")
SOURCES = names(
    ".py .pyi .ipynb .js .jsx .ts .tsx .mts .cts .vue .svelte .astro .c .h .cc .cpp .cxx .hh .hpp .hxx .inl .m"
    " .mm .cs .fs .vb .java .kt .scala .groovy .clj .cljs .go .rs .rb .erb .php .pl .pm .t .lua .r .jl .swift .zig"
    " .nim .hs .ml .mli .ex .erl .hrl .elm .dart .d .pas .f .f90 .sql .prisma .proto .graphql .sh .bash .zsh .fish"
    " .ps1 .bat .cmd .awk .asm .s .sol .v .sv .vhd .cu .glsl .wgsl .el .lisp .rkt .scss .sass .less .htm .hbs .ejs"
    " .j2 .jinja .tmpl .tpl .tex .bib"
)
# Python finds a compiled module or a package before the source of that name, and what lies beside a script before its
# own library.
STAND_IN = Trigger("*.py", "Python, in the place of another module", TriggerAction.REPORTED)
GITS_OWN = (REPOSITORY, ".gitattributes", ".gitmodules")
OBEYED_BY_NOBODY = ("ignore", "keep", "lock", ".log", ".editorconfig", ".DS_Store", ".coverage", ".swp", ".tmp")
# What people and tables are made of. A program may read such a file; none runs it as it stands.
TEXTS = names(
    ".md .mdx .rst .txt .adoc .org .csv .tsv .jsonl .ndjson .geojson .html .css .lock .sum .log .out .output .err .diff"
    " .patch .orig .rej .bak .backup .sample .example .snap .map .po .pot .svg .png .jpg .pdf"
)
DOCUMENTS = TEXTS | DATA_ENDINGS | names(".jsonc .toml .ini .cfg .conf")
ORDINARY = TEXTS | SOURCES
# What is installed in there is code that its owner runs; thousands of packages bring such files along, and no program
# looks for them there.
DEPENDENCIES = names(
    "node_modules bower_components site-packages vendor .venv venv .tox .nox __pypackages__ .terraform pods"
)
PROGRAMS = ("bin", "sbin")  # what a folder of programs is called on every system
Find = Callable[[str, bool], Trigger | None]
Table = dict[str, list[tuple[tuple[str, ...], Trigger]]]


class Triggers:
    """The triggers of a folder by their names."""

    def __init__(self) -> None:
        self._files, self._folders, self._ways, odd = Table(), Table(), Table(), Table()
        for trigger in (*TRIGGERS, COMPILED):
            parts = tuple(trigger.pattern.lower().strip("/").split("/"))
            table = self._folders if trigger.pattern.endswith("/") else odd if "*" in parts[-1] else self._files
            table.setdefault(parts[-1], []).append((parts, trigger))
            for length in range(1, len(parts)):
                self._ways.setdefault(parts[length - 1], []).append((parts[:length], trigger))
        self._odd = tuple((on_demand(translate(name)), known) for name, known in odd.items())
        self._is_odd = on_demand("|".join(translate(name) for name in odd))

    def of(self, parts: Sequence[str], *, link: bool = False) -> Trigger | None:
        """The trigger that a path is, from the folder down."""
        return self.within(parts[:-1])(parts[-1], link)

    def within(self, above: Sequence[str]) -> Find:
        """What tells by a name, and by whether it is a link, which trigger it is in this folder."""
        folders = tuple(part.lower() for part in above)
        if not DEPENDENCIES.isdisjoint(folders):
            return lambda _name, _link: None
        lengths = range(1, len(folders) + 1)
        around = next((found for each in lengths if (found := _ending(self._folders, folders[:each]))), None)
        if around:
            return lambda _name, _link: around

        def find(name: str, link: bool) -> Trigger | None:
            path = (*folders, name.lower())
            found = _ending(self._files, path) if path[-1] in self._files else None
            if found is None and self._is_odd().match(path[-1]):
                tables = (known for pattern, known in self._odd if pattern().match(path[-1]))
                found = next((each for known in tables for parts, each in known if _fits(parts[:-1], folders)), None)
            # A link may stand for a folder of triggers, or for one on the way to them.
            found = found or (_ending(self._folders, path) or _ending(self._ways, path) if link else None)
            if found is None and instructs(name):
                return INSTRUCTIONS
            return HIDDEN if found is None and (is_hidden or is_hidden_order(name)) else found

        is_hidden = any(is_hidden_order(part) and "cache" not in part for part in folders)
        return find


def is_hidden_order(name: str) -> bool:
    """Whether a file is some program's by its name alone. What git reads is looked at for itself."""
    return name.startswith(".") and name not in GITS_OWN and not name.endswith(OBEYED_BY_NOBODY)


def instructs(name: str) -> bool:
    """Whether a text is one that agents look for by its name."""
    stem, *_, ending = name.split(".") if "." in name else (name, "")
    return ending.lower() in ("md", "mdx", "mdc") and stem.isupper() and stem not in FOR_PEOPLE


def is_settings(folder: str, name: str, *, at_top: bool) -> bool:
    """Whether a file is settings by its format. One without an ending is a script, or is called like Makefile."""
    ending = os.path.splitext(name)[1].lower()
    if ending in DATA_ENDINGS:
        return at_top
    if ending:
        return ending not in ORDINARY and not ending[1:].isdigit() and _is_text(f"{folder}/{name}")
    path = f"{folder}/{name}"
    return name.istitle() or (os.access(path, os.X_OK) and _is_text(path))


def _is_text(path: str) -> bool:
    """Whether a file is a text: what a build makes is not. What is not there yet may become one."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return b"\0" not in file.read(512)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def stands_in(folder: str, name: str, beside: Collection[str]) -> bool:
    """Whether Python would load this file where a person expects another module of the same name."""
    stem = name.partition(".")[0]
    if name.endswith(EXTENSIONS):
        return f"{stem}.py" in beside
    if name == "__init__.py":
        above, package = os.path.split(folder)
        is_own = os.path.lexists(f"{above}/__init__.py")
        return os.path.lexists(f"{folder}.py") or (package in LIBRARY and not is_own)
    return name == f"{stem}.py" and stem in LIBRARY and "__init__.py" not in beside


def _ending(table: Table, path: tuple[str, ...]) -> Trigger | None:
    return next((trigger for parts, trigger in table.get(path[-1], ()) if _fits(parts, path)), None)


def _fits(parts: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return not parts or path[-len(parts) :] == parts


class Listing(NamedTuple):
    """What of a folder matters: its folders, its triggers, and whether git would take it for a repository."""

    folders: tuple[str, ...]
    triggers: tuple[tuple[str, Trigger], ...]
    pointers: tuple[str, ...]  # of the name .git, and no folders
    is_repository: bool


def is_repository_name(name: str) -> bool:
    """Whether some file system takes a name for `.git`."""
    plain = name if name.isascii() else name.translate(_IGNORED)
    return plain.lower().rstrip(". ") in (REPOSITORY, _SHORT)


YOURS = Trigger("*", "programs of yours")
YOURS_FURTHER = Trigger("*", "programs of yours", TriggerAction.REPORTED)
SEARCHED = Trigger("*", "your search path", loads=TriggerAction.ASKED)
AT_EVERY_START = Trigger("*.pth", "Python")


class MeaningfulFolders(NamedTuple):
    """Folders in which everything has a meaning by its place alone, whatever it is called.

    A person's own folder, where every name that begins with a dot is some program's, and the folders on the search
    path. `is_open`: the person's own folder is worked in, or lies in what is.
    """

    person: str = ""
    searched: frozenset[str] = frozenset()
    is_open: bool = False

    def of(self, folder: str, name: str) -> Trigger | None:
        if folder in self.searched:
            return SEARCHED
        if not self.person:
            return None
        if name.endswith((".pth", "customize.py")) and self._holds(folder, ".local"):
            return AT_EVERY_START
        if (folder == self.person and name.startswith(".")) or self._holds(folder, ".config"):
            return YOURS
        is_kept = self._keeps(folder) or (self.is_open and self._is_loose(folder, name))
        return YOURS_FURTHER if is_kept else None

    def _holds(self, folder: str, *places: str) -> bool:
        return _lies_in(folder, [f"{self.person}/{place}".rstrip("/") for place in places])

    def _keeps(self, folder: str) -> bool:
        """Whether it lies beneath the person's hidden folders, but for caches, or is one of programs."""
        if os.path.basename(folder) in PROGRAMS and not is_installed(folder):
            return self._holds(folder, "")
        return folder.startswith(f"{self.person}/.") and not self._holds(folder, ".cache", ".local/share/Trash")

    def _is_loose(self, folder: str, name: str) -> bool:
        """Whether it lies further beneath, is no document, and is in no repository."""
        is_document = os.path.splitext(name)[1].lower() in TEXTS
        if is_document or is_installed(folder) or folder.startswith(f"{self.person}/."):
            return False
        while self._holds(folder, "") and folder != self.person and not os.path.lexists(f"{folder}/{REPOSITORY}"):
            folder = os.path.dirname(folder)
        return folder == self.person


class Tree:
    """Folders and all beneath them, over no link. `left_out` are places that no command can write to.

    Folders that were there when the person's own were taken down come first; of new ones there is a limit.
    """

    def __init__(
        self,
        roots: Iterable[str],
        left_out: Iterable[str],
        triggers: Triggers,
        *,
        anchors: MeaningfulFolders = MeaningfulFolders(),  # noqa: B008 - it is frozen
        most: int = MOST_FOLDERS,
    ) -> None:
        self.roots = tuple(roots)
        self._most = most
        self._left_out = frozenset(left_out)
        self._triggers, self._anchors = triggers, anchors
        self._known: dict[str, tuple[tuple[int, ...], Listing]] = {}
        self._own: Mapping[str, object] = {}
        self._passed_over: frozenset[str] = frozenset()  # of the person's own folders those beyond the limit
        self._shut: dict[str, tuple[int, ...]] = {}  # folders that could not be listed from the beginning
        self._has_looked = False
        self.unseen: tuple[str, ...] = ()  # folders that were found and not looked into

    @property
    def is_cut(self) -> bool:
        """Whether there were more folders than are looked through."""
        return bool(self._passed_over or self.unseen)

    def take_as_own(self) -> None:
        """Take every folder of the last walk for the person's own."""
        self._own, self._passed_over = self._known, self._passed_over | set(self.unseen)
        self.unseen = ()

    def too_many(self) -> frozenset[str]:
        """New folders of the last walk with more in them than is looked through, each as a whole."""
        return frozenset(self._newest_above(path) for path in self.unseen)

    def _newest_above(self, path: str) -> str:
        while (above := os.path.dirname(path)) not in self._own and above not in self.roots:
            path = above
        return path

    def holds(self, real: str) -> bool:
        """Whether a path lies in the tree, where commands can write."""
        return _lies_in(real, self.roots) and not _lies_in(real, self._left_out)

    def folders(self) -> Iterator[tuple[str, Listing]]:
        """Every folder, those above before those beneath."""
        before, self._known = self._known, {}
        own: deque[tuple[str, tuple[str, ...]]] = deque((root, ()) for root in self.roots)
        new: deque[tuple[str, tuple[str, ...]]] = deque()
        count = 0
        while own or new:
            if not own and count >= self._most:
                break
            path, parts = own.popleft() if own else new.popleft()
            listing = self._listing(path, parts, before.get(path))
            if listing is None:
                continue
            count += path not in self._own
            for name in listing.folders:
                beneath = f"{path}/{name}"
                if beneath not in self._passed_over:
                    (own if beneath in self._own else new).append((beneath, (*parts, name)))
            yield path, listing
        self.unseen = tuple(path for path, _ in new)
        self._has_looked = True

    def _listing(
        self, path: str, parts: tuple[str, ...], known: tuple[tuple[int, ...], Listing] | None
    ) -> Listing | None:
        try:
            mark = mark_of(os.lstat(path))
            if known is None or known[0] != mark:
                known = (settled(mark), self._read(path, parts))
        except OSError:
            return None  # gone again, or not ours to read
        self._known[path] = known
        return known[1]

    def _read(self, path: str, parts: tuple[str, ...]) -> Listing:
        entries = self._entries(path)
        names = frozenset(entry.name for entry in entries)
        find = self._finder(path, parts, names)
        is_own = bool(parts) and is_repository_name(parts[-1])
        folders, triggers, pointers = [], [], []
        for entry in entries:
            name, is_folder = entry.name, entry.is_dir(follow_symlinks=False)
            if is_folder:
                if not (is_own and name in DULL) and entry.path not in self._left_out:
                    folders.append(name)
            elif is_repository_name(name):
                pointers.append(name)
            elif trigger := find(name, entry.is_symlink()):
                triggers.append((name, trigger))
        has_shape = "HEAD" in names and ("commondir" in names or {"objects", "refs"} <= names)
        return Listing(tuple(folders), tuple(triggers), tuple(pointers), is_own or has_shape)

    def trigger_of(self, parts: Sequence[str]) -> Trigger | None:
        """The trigger that a path is, from the first of the roots down, whether or not something stands there."""
        folder = "/".join((self.roots[0], *parts[:-1]))
        names = frozenset(os.listdir(folder)) if os.path.isdir(folder) else frozenset[str]()
        return self._finder(folder, parts[:-1], names)(parts[-1], False)

    def _finder(self, path: str, parts: Sequence[str], beside: frozenset[str]) -> Find:
        """What tells by a name which trigger it is in this folder: by itself, by its place, by what lies beside it."""
        by_name, of_place = self._triggers.within(parts), self._anchors.of
        is_top = not parts or any(map(is_repository_name, beside))
        is_exempt = is_installed(path) or any(map(is_repository_name, parts))  # git's own are looked at for themselves

        def find(name: str, link: bool) -> Trigger | None:
            named = by_name(name, link)
            found = (of_place(path, name) if named in (None, HIDDEN) else None) or named
            if found or is_exempt:
                return found
            if stands_in(path, name, beside):
                return STAND_IN
            return SETTINGS if is_settings(path, name, at_top=is_top) and name not in GITS_OWN else None

        return find

    def _entries(self, path: str) -> list["os.DirEntry[str]"]:
        """What is in a folder. One that a command shut is opened again, for git finds its way in without a list."""
        try:
            return _listed(path)
        except PermissionError:
            status = os.lstat(path)
            if not self._has_looked:
                self._shut[path] = mark_of(status)
            if self._shut.get(path) == mark_of(status):
                raise
            os.chmod(path, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
            return _listed(path)


def is_installed(path: str) -> bool:
    """Whether a path lies among dependencies, which are code that its owner installs."""
    return not DEPENDENCIES.isdisjoint(path.lower().split("/"))


def _lies_in(real: str, folders: Iterable[str]) -> bool:
    return any(real == folder or real.startswith(f"{folder}/") for folder in folders)


def _listed(path: str) -> list["os.DirEntry[str]"]:
    with os.scandir(path) as found:
        return list(found)


def mark_of(status: os.stat_result) -> tuple[int, ...]:
    """What changes with every change: nobody but the kernel sets the time of the last one."""
    return (status.st_dev, status.st_ino, status.st_ctime_ns, status.st_size, status.st_mode)


def settled(mark: tuple[int, ...]) -> tuple[int, ...]:
    """The mark, or none where a change may have come right after the look without leaving a trace."""
    return mark if mark[2] < time.time_ns() - UNSETTLED_NS else ()
