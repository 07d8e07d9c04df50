"""Versions that a statement gives, held against those that the repository's own files pin."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from whet.statements.statement import Statement, StatementFinding, StatementKind, StatementMark

LONGEST_LINE = 1_000
LISTED = (StatementKind.ITEM, StatementKind.ROW)
_Version = tuple[int, ...]
_ENDLESS: _Version = (10**9,)
_BREAK = re.compile(r"[,;:|()&—–]|\s[+/-]\s|(?<=[a-z])\.\s")
_STATED = re.compile(
    r"(?P<name>[A-Za-z][\w.#-]{0,40}(?: [A-Z][\w.]{0,20}){0,2})\s+(?P<least>>=|≥)?\s?v?"
    r"(?P<version>\d{1,4}(?:\.\d{1,4}){0,2})(?P<more>\+|\.x)?"
)
_LEADING = re.compile(
    r"(?P<name>[A-Z][\w.#-]{0,40}(?: [A-Z][\w.]{0,20}){0,2})\s+(?P<least>>=|≥)?\s?v?"
    r"(?P<version>\d{1,4}(?:\.\d{1,4}){0,2})(?P<more>\+|\.x|\s(?:or|and)\s(?:later|newer|above|higher|up))?(?=\s|$)"
)
_PART = re.compile(
    r"(?P<sign>[\^~<>=!]{0,3})\s{0,3}v?(?P<version>\d+(?:\.\d+)*)(?P<any>(?:\.[x*])*)(?P<rest>[-+][\w.+-]*)?$"
)
_SIGN = re.compile(r"([<>=^~!]+)\s+")
_MARKS = re.compile(r"[*_`]")
_BETWEEN = re.compile(r"[^a-z0-9]")


class VersionRange(NamedTuple):
    """The versions from one on, up to another that is not among them."""

    low: _Version
    high: _Version
    is_least: bool = False  # the first is given as the least


class VersionPin(NamedTuple):
    """What one file says of the versions of one thing; no ranges: it cannot be told."""

    path: str
    written: str
    ranges: tuple[VersionRange, ...]


def pins_by_name(written: Iterable[tuple[str, str, str]]) -> dict[str, tuple[VersionPin, ...]]:
    """The pins of each thing, from its name, what is written of it, and the file."""
    found: dict[str, list[VersionPin]] = {}
    for name, said, path in written:
        found.setdefault(_plain(name), []).append(VersionPin(path, said, _ranges(said)))
    return {name: tuple(pins) for name, pins in found.items()}


def other_versions(statement: Statement, pins: Mapping[str, tuple[VersionPin, ...]]) -> Iterator[StatementFinding]:
    """The versions that a statement gives by name alone, where every file that pins that thing allows none of them."""
    if statement.kind is StatementKind.CODE:
        return
    found: dict[tuple[VersionPin, ...], list[tuple[int, re.Match[str]]]] = {}
    for number, line in enumerate(statement.text.split("\n"), statement.line):
        for piece in _BREAK.split(line[:LONGEST_LINE]) if any(letter.isdigit() for letter in line) else ():
            plain = _MARKS.sub("", piece).strip(" .-")
            # An item or a row that begins with a version says that this one is used; a sentence may tell of any.
            stated = _STATED.fullmatch(plain) or (_LEADING.match(plain) if statement.kind in LISTED else None)
            known = _pins_of(stated["name"], pins) if stated else ()
            if stated and known:
                found.setdefault(known, []).append((number, stated))
    for known, every in found.items():
        number, stated = every[0]
        # Who gives two versions of a thing tells of a change, or of what is supported.
        if len({each["version"] for _, each in every}) == 1 and not any(_agrees(stated, each) for each in known):
            name, pin = stated["name"], known[0]
            why = f"{pin.path} has {name} {pin.written}"
            yield StatementFinding(StatementMark.WRONG, why, number, f"{name} {stated['version']}", where=pin.path)


def _pins_of(name: str, pins: Mapping[str, tuple[VersionPin, ...]]) -> tuple[VersionPin, ...]:
    return pins.get(_plain(name)) or pins.get(_plain(name.removesuffix(".js"))) or ()


def _agrees(stated: re.Match[str], pin: VersionPin) -> bool:
    version = _numbers(stated["version"])
    is_least = bool(stated["least"] or (stated["more"] and stated["more"] != ".x"))
    return not pin.ranges or any(_meets(version, is_least, each) for each in pin.ranges)


def _meets(version: _Version, is_least: bool, allowed: VersionRange) -> bool:
    if is_least and allowed.is_least and version < allowed.low[: len(version)]:
        return False
    return version < allowed.high and (is_least or _next(version) > allowed.low)


def _ranges(written: str) -> tuple[VersionRange, ...]:
    """The ranges of what a file pins, in the forms of npm, PEP 440 and Cargo; none where one cannot be read."""
    every = [_range(_SIGN.sub(r"\1", each).replace(",", " ").split()) for each in written.split("||")]
    return tuple(each for each in every if each) if all(every) else ()


def _range(parts: list[str]) -> VersionRange | None:
    low: _Version = (0,)
    high, is_least = _ENDLESS, False
    for part in parts:
        found = _PART.match(part)
        if not found or "!" in found["sign"]:
            return None
        version, sign = _numbers(found["version"]), found["sign"]
        if sign.startswith(">"):
            low, is_least = max(low, version), True
        elif sign.startswith("<"):
            high = min(high, _next(version) if sign == "<=" else version)
        else:
            low, high = max(low, version), min(high, _end(version, sign))
    return VersionRange(low, high, is_least) if parts else None


def _end(version: _Version, sign: str) -> _Version:
    if sign == "^":
        place = next((place for place, number in enumerate(version) if number), 0)
        return _next(version[: place + 1])
    return _next(version[:-1] if sign == "~=" else version[:2] if sign == "~" else version)


def _next(version: _Version) -> _Version:
    return (*version[:-1], version[-1] + 1)


def _numbers(version: str) -> _Version:
    return tuple(int(each) for each in version.split("."))


def _plain(name: str) -> str:
    return _BETWEEN.sub("", name.lower())
