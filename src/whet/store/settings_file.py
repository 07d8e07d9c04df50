"""The settings file in the home, read once at the edge."""

from typing import NamedTuple

from whet.errors import WhetError
from whet.runs.settings import FILE_NAME, Settings, parse
from whet.store import files
from whet.store.home import Home


class LoadedSettings(NamedTuple):
    """The settings, and the text that they were read from."""

    settings: Settings
    text: str


def load(home: Home) -> Settings:
    """What the person chose; every default where there is no file. Raises WhetError that names the file."""
    return loaded(home).settings


def loaded(home: Home) -> LoadedSettings:
    text = decoded(home, files.read(place(home)))
    try:
        return LoadedSettings(parse(text), text)
    except WhetError as error:
        path = place(home).path
        raise WhetError(f"{error.message} See {path}.", advice=error.advice) from error


def place(home: Home) -> files.Place:
    return files.beneath(home.folder, FILE_NAME)


def decoded(home: Home, body: bytes | None) -> str:
    try:
        return (body or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WhetError(f"{place(home).path} is not UTF-8 text.", advice="Save it as UTF-8.") from error
