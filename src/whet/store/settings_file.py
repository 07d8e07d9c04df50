"""The settings file in the home, read once at the edge, and changed so that the person's comments stay."""

from collections.abc import Callable
from typing import Any, NamedTuple

from whet.errors import WhetError
from whet.own.runs.settings import FILE_NAME, Settings, dotted, parse, read
from whet.store import files
from whet.store.home import Home, prepare_home

HEAD = "# Settings of Whet. To list all settings, run `whet config --explain`; to change one, `whet config`.\n"
BYTE_ORDER_MARK = "\ufeff"


class LoadedSettings(NamedTuple):
    """The settings, and the text that they were read from."""

    settings: Settings
    text: str


def load(home: Home) -> Settings:
    """What the person chose; every default where there is no file. Raises WhetError that names the file."""
    return loaded(home).settings


def loaded(home: Home) -> LoadedSettings:
    text = files.text_in(home, FILE_NAME)
    try:
        return LoadedSettings(parse(text), text)
    except WhetError as error:
        raise WhetError(f"{error.message} See {place(home).path}.", advice=error.advice) from error


def place(home: Home) -> files.Place:
    return files.beneath(home.folder, FILE_NAME)


def assign(home: Home, path: tuple[str, ...], value: Any) -> Settings:
    """Give a setting a value, which must make valid settings together with the rest of the file."""
    from whet.text.toml_edits import assigned  # noqa: PLC0415 - only what changes settings loads the library

    return _change(home, lambda text: assigned(text or HEAD, path, value))


def remove(home: Home, path: tuple[str, ...]) -> Settings:
    """Let a setting have its default again."""
    from whet.text.toml_edits import removed  # noqa: PLC0415

    def without(text: str) -> str:
        changed = removed(text, path)
        if changed == text:
            raise WhetError(f"{dotted(path)} is not set.", advice="To list the settings, run `whet config`.")
        return changed

    return _change(home, without)


def _change(home: Home, change: Callable[[str], str]) -> Settings:
    prepare_home(home)
    with files.locked(home.folder) as folder:  # two commands at once both count
        body = folder.read(FILE_NAME)
        text = files.decoded(body or b"", place(home).path).removeprefix(BYTE_ORDER_MARK)
        read(text)
        changed = change(text)
        settings = parse(changed)
        folder.write(FILE_NAME, changed.encode(), expected=body)
        return settings
