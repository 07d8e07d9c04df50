"""Changes to the text of a settings file that leave its comments, its order and its other lines as they are."""

import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from whet.errors import WhetError
from whet.runs.setting_keys import dotted
from whet.runs.settings import FILE_NAME, NAMED, read

HEAD = "# Settings of Whet. `whet config --explain` says what there is; `whet config set` changes this file.\n"


class Statement(NamedTuple):
    """One header or assignment: its lines, and the names that lead to what it opens or sets."""

    first: int
    last: int
    path: tuple[str, ...]
    is_header: bool


def path_of(key: str) -> tuple[str, ...]:
    """The names in a key as people type it; the name of a provider, model or server may hold dots and slashes."""
    first, _, rest = key.partition(".")
    if first in NAMED and "." in rest and '"' not in key:
        name, _, field = rest.rpartition(".")
        return (first, name, field)
    try:
        return _only_path(tomllib.loads(f"{key} = 0"))
    except tomllib.TOMLDecodeError as error:
        raise WhetError(f"{key!r} is not the key of a setting.", advice="Such as model, or budget.tokens.") from error


def assigned(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with one setting given a value; raises WhetError where only a person can make the change."""
    before = read(text)
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    known = list(_statements(lines))
    same = next((each for each in known if each.path == path and not each.is_header), None)
    if same:
        lines[same.first : same.last] = [_replaced(lines[same.first : same.last], value)]
    else:
        _insert(lines, known, path, f"{dotted(path[-1:])} = {encoded(value)}\n")
    return _verified("".join(lines), _with(before, path, value), path)


def removed(text: str, path: tuple[str, ...]) -> str:
    """The text without one setting, or without a whole table of settings."""
    before = read(text)
    after = _without(before, path)
    if after == before:
        raise WhetError(f"{dotted(path)} is not set.", advice="`whet config` shows what is.")
    lines = text.splitlines(keepends=True)
    known = list(_statements(lines))
    gone = [each for each in known if each.path[: len(path)] == path]
    left = [each for each in known if each not in gone and not each.is_header]
    gone += [
        each
        for each in known
        # A header above nothing would still make a provider or a server of that name.
        if each.is_header and each not in gone and not any(one.path[: len(each.path)] == each.path for one in left)
        if path[: len(each.path)] == each.path
    ]
    for each in sorted(gone, reverse=True):
        del lines[each.first : each.last]
    return _verified("".join(lines), after, path)


def encoded(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, str):
        # A JSON string is a TOML string, but for the delete character, which JSON leaves as it is.
        return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(encoded(each) for each in value)}]"
    return repr(value)


def _statements(lines: list[str]) -> Iterator[Statement]:
    table: tuple[str, ...] = ()
    first = 0
    while first < len(lines):
        last, document = _whole(lines, first)
        if document:
            is_header = lines[first].lstrip().startswith("[")
            path = _only_path(document)
            table = path if is_header else table
            yield Statement(first, last, path if is_header else (*table, *path), is_header)
        first = last


def _whole(lines: list[str], first: int) -> tuple[int, dict[str, Any]]:
    """The end of the statement that begins here, which is the first line up to which TOML is content."""
    for last in range(first + 1, len(lines) + 1):
        try:
            return last, tomllib.loads("".join(lines[first:last]))
        except tomllib.TOMLDecodeError:
            continue
    return len(lines), {}


def _only_path(document: dict[str, Any]) -> tuple[str, ...]:
    """The names down to the first value, or to the empty table, of a document of one statement."""
    path: tuple[str, ...] = ()
    node: Any = document
    while isinstance(node, dict) and len(node) == 1:
        [(name, node)] = node.items()
        path = (*path, name)
    return path


def _replaced(lines: list[str], value: Any) -> str:
    """The assignment with another value, with its own indentation, name and comment."""
    whole = "".join(lines)
    name = next(
        whole[:position] for position, letter in enumerate(whole) if letter == "=" and _reads(f"{whole[:position]}= 0")
    )
    comments = [position for position, letter in enumerate(whole) if letter == "#" and "\n" not in whole[position:-1]]
    kept = next((whole[at:].rstrip() for at in comments if _reads(whole[:at])), "")
    return f"{name.rstrip()} = {encoded(value)}{'  ' if kept else ''}{kept}\n"


def _reads(text: str) -> bool:
    try:
        return bool(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return False


def _insert(lines: list[str], known: list[Statement], path: tuple[str, ...], line: str) -> None:
    table = path[:-1]
    beside = [each for each in known if (each.path == table and each.is_header) or each.path[:-1] == table]
    beside = [each for each in beside if each.path == table or not each.is_header]
    if beside:
        lines.insert(max(each.last for each in beside), line)
        return
    headers = [each.first for each in known if each.is_header]
    if table:
        lines += ["\n"] * bool(lines) + [f"[{dotted(table)}]\n", line]
    elif headers:
        place = headers[0]
        while place and lines[place - 1].lstrip().startswith("#"):
            place -= 1
        lines[place:place] = [line, "\n"]
    else:
        lines.append(line)


def _with(document: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    name, *rest = path
    if not rest:
        return {**document, name: list(value) if isinstance(value, tuple) else value}
    inner = document.get(name, {})
    return {**document, name: _with(inner if isinstance(inner, dict) else {}, tuple(rest), value)}


def _without(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    name, *rest = path
    if name not in document:
        return document
    if not rest:
        return {key: value for key, value in document.items() if key != name}
    inner = _without(document[name], tuple(rest)) if isinstance(document[name], dict) else document[name]
    return {key: inner if key == name else value for key, value in document.items() if key != name or inner}


def _verified(text: str, wanted: dict[str, Any], path: tuple[str, ...]) -> str:
    """The text, if it says what it should and nothing else."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        found = None
    if found != wanted:
        raise WhetError(
            f"{dotted(path)} stands in a form that only you can change.", advice=f"Edit {FILE_NAME} itself."
        )
    return text
