"""Changes to a TOML file that leave what people wrote beside the values. Nothing that only reads settings loads it."""

import contextlib
import tomllib
from collections.abc import Iterator
from typing import Any

import tomlkit
from tomlkit.container import Container, OutOfOrderTableProxy
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Comment, InlineTable, Item, Key, Table

from whet.errors import WhetError
from whet.text.toml import encoded

Body = list[tuple[Key | None, Item]]  # what stands in a table, in its order; comments and blank lines have no key
Holder = Container | Table | InlineTable


def assigned(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with one value, in a table that is made where there is none; raises WhetError where it has no place."""
    *tables, name = path
    with _explained(path):
        holder: Holder = (document := tomlkit.parse(text))
        for depth, each in enumerate(tables, 1):
            if each not in holder:
                holder.append(each, tomlkit.table(is_super_table=depth < len(tables)))
            holder = _held(holder, each, path)
        if name not in holder:
            _add(holder, name, tomlkit.value(encoded(value)))
        elif isinstance(holder[name], dict | AoT):
            raise _stuck(path)  # a whole table stands there
        else:
            holder[name] = tomlkit.value(encoded(value))
        return _verified(document, _with(tomllib.loads(text), path, value), path)


def removed(text: str, path: tuple[str, ...]) -> str:
    """The text without a value or a whole table, and without the tables that are empty then."""
    before = tomllib.loads(text)
    after = _without(before, path)
    if after == before:
        return text
    with _explained(path):
        holders: list[Holder] = [document := tomlkit.parse(text)]
        for each in path[:-1]:
            holders.append(_held(holders[-1], each, path))
        depth = len(path) - 1
        while depth and len(holders[depth]) == 1:
            depth -= 1
        if isinstance(holders[depth][path[depth]], OutOfOrderTableProxy | AoT):
            raise _stuck(path)
        _take(holders[depth], path[depth])
        return _verified(document, after, path)


def _held(holder: Holder, name: str, path: tuple[str, ...]) -> Holder:
    found = holder[name]
    if not isinstance(found, Table | InlineTable):
        raise _stuck(path)  # a value, or a table in several places
    return found


def _body(holder: Holder) -> Body:
    return holder.body if isinstance(holder, Container) else holder.value.body


def _add(holder: Holder, name: str, item: Item) -> None:
    """Put a value behind the last one. The comments below that stand above the next table and stay there."""
    body = _body(holder)
    end = next((number for number, (_, each) in enumerate(body) if isinstance(each, Table | AoT)), len(body))
    start = end
    while start and body[start - 1][0] is None:
        start -= 1
    if not start and not isinstance(holder, Table):  # nothing but the comments at the head of the file
        start = end
        while start and end < len(body) and isinstance(body[start - 1][1], Comment):
            start -= 1
    rest = body[start:]
    del body[start:]
    holder.append(name, item)
    body += [(None, tomlkit.nl())] if rest and not start else []
    body += rest


def _take(holder: Holder, name: str) -> None:
    """Take a value or a table away. Comments stay: those at the end of a table stand above the next one."""
    found = holder[name]
    if not isinstance(found, Table):
        holder.remove(name)
        return
    body = _body(holder)
    place = next(number for number, (key, _) in enumerate(body) if key and key.key == name)
    body[place : place + 1] = _comments(_body(found))


def _comments(body: Body) -> Iterator[tuple[None, Item]]:
    for _, item in body:
        if isinstance(item, Comment):
            yield None, item
        elif isinstance(item, Table):
            yield from _comments(_body(item))


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


def _verified(document: Container, wanted: dict[str, Any], path: tuple[str, ...]) -> str:
    """The text, if it says what it should and nothing else."""
    text = tomlkit.dumps(document)
    if tomllib.loads(text) != wanted:
        raise _stuck(path)
    return text


@contextlib.contextmanager
def _explained(path: tuple[str, ...]) -> Iterator[None]:
    """Leave to the person what the library cannot do, or does so that it cannot be read again."""
    try:
        yield
    except (TOMLKitError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise _stuck(path) from error


def _stuck(path: tuple[str, ...]) -> WhetError:
    return WhetError(f"{'.'.join(path)} is written in a way that Whet cannot edit.", advice="Edit the file itself.")
