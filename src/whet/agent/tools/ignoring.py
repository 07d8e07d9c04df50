"""Files that a repository's .gitignore leaves out, as far as a search needs to know."""

import re
from collections.abc import Iterable
from typing import NamedTuple


class IgnoreRule(NamedTuple):
    """One line of a .gitignore: what it matches, and whether it takes back what another left out."""

    pattern: re.Pattern[str]
    keeps: bool
    folders_only: bool


class Ignored(NamedTuple):
    """The rules of one .gitignore, for paths beneath the folder that it lies in."""

    prefix: str  # of that folder, with a slash at its end, or empty
    rules: tuple[IgnoreRule, ...]


def read_rules(text: str) -> tuple[IgnoreRule, ...]:
    return tuple(rule for line in text.splitlines()[:2_000] if (rule := _rule(line)))


def is_ignored(path: str, files: Iterable[Ignored], *, folder: bool) -> bool:
    """Whether a path is left out; the last rule that matches decides, and deeper files come later."""
    out = False
    for ignored in files:
        if not path.startswith(ignored.prefix):
            continue
        inside = path[len(ignored.prefix) :]
        for rule in ignored.rules:
            if (folder or not rule.folders_only) and rule.pattern.fullmatch(inside):
                out = not rule.keeps
    return out


def glob_pattern(glob: str) -> re.Pattern[str]:
    """A glob over paths: without a slash it means a name at any depth, `**` any number of folders."""
    return re.compile(_translated(glob.removeprefix("./")))


def _rule(line: str) -> IgnoreRule | None:
    text = line.rstrip()
    if not text or text.startswith("#") or len(text) > 500:
        return None
    keeps, folders_only = text.startswith("!"), text.endswith("/")
    body = text.removeprefix("!").removeprefix("\\").rstrip("/")
    return IgnoreRule(re.compile(_translated(body)), keeps, folders_only) if body else None


def _translated(glob: str) -> str:
    if "/" not in glob:
        glob = f"**/{glob}"
    pieces = []
    for token in re.findall(r"/?\*\*/|/\*\*$|\*+|\?|\[!?[^\]/]+\]|.", glob.removeprefix("/")):
        if token.endswith("**/"):
            pieces.append("/(?:[^/]+/)*" if token.startswith("/") else "(?:[^/]+/)*")
        elif token == "/**":
            pieces.append("/.+")
        else:
            pieces.append(_piece(token))
    return "".join(pieces)


def _piece(token: str) -> str:
    if token.startswith("*"):
        return "[^/]*"
    if token == "?":
        return "[^/]"
    if token.startswith("[") and len(token) > 2:
        inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(token)
