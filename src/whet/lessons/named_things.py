"""Paths and symbols that a rule names, and those of them that a repository does not have."""

from collections.abc import Iterable

import re2

from whet.values import Value

MOST_NAMES = 12  # of a rule
_SPAN = re2.compile(r"`([^`\n]{2,200})`")
_PATH = re2.compile(r"^(?:\./)?[\w.@+-]+(?:/[\w.@+*-]+)+/?$|^[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,4}$")
_SYMBOL = re2.compile(r"^[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*(?:\(\))?$")
_MARKED = re2.compile(r"_|[a-z][A-Z]|\(\)$|::")  # a plain word is no symbol
_PARTS = re2.compile(r"\.|::|#|\(\)")


class NamedThings(Value, frozen=True):
    """What rules name: paths within a repository, and symbols of its code."""

    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()


class RepositoryNames(Value, frozen=True):
    """The files of a repository, and those of the symbols that were asked for which stand in one of them."""

    files: frozenset[str] = frozenset()
    symbols: frozenset[str] = frozenset()


def named_things(text: str) -> NamedThings:
    """The paths and symbols in code marks that can be a repository's own: no commands, flags or home folders."""
    paths: dict[str, None] = {}
    symbols: dict[str, None] = {}
    for span in _SPAN.findall(text):
        words = span.split()
        for word in words:
            plain = word.strip("\"',;:")
            if plain.startswith("-") or "://" in plain:
                continue
            if _PATH.search(plain):
                paths[plain.removeprefix("./").rstrip("/")] = None
            elif len(words) == 1 and _SYMBOL.search(plain) and _MARKED.search(plain):
                symbols[last_part(plain)] = None
    return NamedThings(tuple(paths)[:MOST_NAMES], tuple(symbols)[:MOST_NAMES])


def code_spans(text: str) -> tuple[str, ...]:
    """The single words in code marks."""
    return tuple(span for span in _SPAN.findall(text) if not any(map(str.isspace, span)))


def last_part(symbol: str) -> str:
    """The name that stands in the code, where a symbol is written with what it belongs to."""
    return next((part for part in reversed(_PARTS.split(symbol)) if part), symbol)


def missing_names(named: NamedThings, repository: RepositoryNames) -> tuple[str, ...]:
    """What a rule names and a repository has nowhere."""
    known = _places(repository.files, {path.rpartition("/")[2] for path in named.paths})
    paths = (path for path in named.paths if "*" not in path and path not in known)
    return (*paths, *(each for each in named.symbols if each not in repository.symbols))


def _places(files: Iterable[str], last: set[str]) -> set[str]:
    """Every way to name a file or a folder, from any folder above it on, that ends with one of these names."""
    found: set[str] = set()
    for file in files:
        parts = file.split("/")
        for end, part in enumerate(parts, start=1):
            if part in last:
                found.update("/".join(parts[start:end]) for start in range(end))
    return found
