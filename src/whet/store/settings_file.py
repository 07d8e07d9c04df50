"""The settings file in the home: read once at the edge, changed line by line and written whole or not at all."""

from typing import Any, NamedTuple

from whet.errors import WhetError
from whet.runs.settings import FILE_NAME, Settings, parse
from whet.runs.settings_edits import HEAD, assigned, removed
from whet.store import files
from whet.store.home import Home, prepare_home


class LoadedSettings(NamedTuple):
    """The settings, and the text that they were read from."""

    settings: Settings
    text: str


def load(home: Home) -> Settings:
    """What the person chose; every default where there is no file. Raises WhetError that names the file."""
    return loaded(home).settings


def loaded(home: Home) -> LoadedSettings:
    text = _text(home, files.read(place(home)))
    try:
        return LoadedSettings(parse(text), text)
    except WhetError as error:
        path = place(home).path
        raise WhetError(f"{error.message} It stands in {path}.", advice=error.advice) from error


def assign(home: Home, path: tuple[str, ...], value: Any) -> Settings:
    """Give a setting a value, which must make valid settings together with the rest of the file."""
    prepare_home(home)
    body = files.read(place(home))
    return _write(home, assigned(_text(home, body) or HEAD, path, value), body)


def remove(home: Home, path: tuple[str, ...]) -> Settings:
    """Let a setting have its default again."""
    body = files.read(place(home))
    return _write(home, removed(_text(home, body), path), body)


def place(home: Home) -> files.Place:
    return files.beneath(home.folder, FILE_NAME)


def _write(home: Home, text: str, expected: bytes | None) -> Settings:
    settings = parse(text)
    files.write(place(home), text.encode(), expected=expected)
    return settings


def _text(home: Home, body: bytes | None) -> str:
    try:
        return (body or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WhetError(f"{place(home).path} is not text in UTF-8.", advice="Save it as UTF-8.") from error
