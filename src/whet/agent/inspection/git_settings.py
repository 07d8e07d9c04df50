"""Git's own settings: which of them only describe, and which would make git run something or go elsewhere."""

import re
from typing import NamedTuple

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
