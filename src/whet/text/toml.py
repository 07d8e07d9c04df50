"""TOML as it is written to files that people edit."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from whet.errors import WhetError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def encoded(value: Any) -> str:
    """A value as TOML writes it. A text of several lines stays readable where its characters allow it."""
    match value:
        case str() if "\n" in value and _is_literal(value):
            return f"'''\n{value}'''"
        case str():
            return _quoted(value)
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case list() | tuple():
            return f"[{', '.join(map(encoded, value))}]"
        case dict():
            return "{" + ", ".join(f"{key_of(key)} = {encoded(inner)}" for key, inner in value.items()) + "}"
    raise TypeError(f"TOML cannot say {value!r}")


def table(fields: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """The lines of a table and its header: its plain values first, then the tables in it."""
    plain = [f"{key_of(key)} = {encoded(value)}\n" for key, value in fields.items() if not isinstance(value, dict)]
    header = [f"\n[{'.'.join(map(key_of, path))}]\n"] if path and (plain or not fields) else []
    inner = [table(value, (*path, key)) for key, value in fields.items() if isinstance(value, dict)]
    return "".join([*header, *plain, *inner])


def key_of(key: str) -> str:
    """A key as TOML writes it."""
    return key if _BARE.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> str:
    try:
        # A JSON string is a TOML string, but for the delete character, which JSON leaves as it is.
        return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
    except UnicodeEncodeError as error:
        raise WhetError(
            f"{text!r} is not valid UTF-8.", advice="Rename the file or the folder, or type it again."
        ) from error


def _is_literal(text: str) -> bool:
    """Whether a text can stand between three quotes as it is."""
    fits = all((character >= " " and character != "\x7f") or character in "\n\t" for character in text)
    return fits and "'''" not in text and not text.endswith("'")
