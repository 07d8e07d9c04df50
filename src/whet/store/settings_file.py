"""The settings file in the home, read once at the edge, and changed so that the person's comments stay."""

from typing import Any, NamedTuple

from whet.errors import WhetError
from whet.own.runs.settings import FILE_NAME, Settings, dotted, parse, read
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


HEAD = "# Settings of Whet. To list all settings, run `whet config --explain`; to change one, `whet config`.\n"


def assign(home: Home, path: tuple[str, ...], value: Any) -> Settings:
    """Give a setting a value, which must make valid settings together with the rest of the file."""
    prepare_home(home)
    with files.locked(home.folder) as folder:  # two commands at once both count
        body = folder.read(FILE_NAME)
        text = decoded(home, body) or HEAD
        read(text)
        from whet.text.toml_edits import assigned  # noqa: PLC0415 - only what changes settings loads the library

        return _write(folder, assigned(text, path, value), body)


def remove(home: Home, path: tuple[str, ...]) -> Settings:
    """Let a setting have its default again."""
    prepare_home(home)
    with files.locked(home.folder) as folder:
        body = folder.read(FILE_NAME)
        text = decoded(home, body)
        read(text)
        from whet.text.toml_edits import removed  # noqa: PLC0415 - only what changes settings loads the library

        changed = removed(text, path)
        if changed == text:
            raise WhetError(f"{dotted(path)} is not set.", advice="To list the settings, run `whet config`.")
        return _write(folder, changed, body)


def _write(folder: files.Folder, text: str, expected: bytes | None) -> Settings:
    settings = parse(text)
    folder.write(FILE_NAME, text.encode(), expected=expected)
    return settings
