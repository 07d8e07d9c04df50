"""Changes to the settings file in the home: the person's comments stay, and it is written whole or not at all."""

from typing import Any

from whet.errors import WhetError
from whet.runs.setting_keys import dotted
from whet.runs.settings import FILE_NAME, Settings, parse, read
from whet.store import files
from whet.store.home import Home, prepare_home
from whet.store.settings_file import decoded
from whet.text.toml_edits import assigned, removed

HEAD = "# Settings of Whet. To list all settings, run `whet config --explain`; to change one, `whet config`.\n"


def assign(home: Home, path: tuple[str, ...], value: Any) -> Settings:
    """Give a setting a value, which must make valid settings together with the rest of the file."""
    prepare_home(home)
    with files.locked(home.folder) as folder:  # two commands at once both count
        body = folder.read(FILE_NAME)
        text = decoded(home, body) or HEAD
        read(text)
        return _write(folder, assigned(text, path, value), body)


def remove(home: Home, path: tuple[str, ...]) -> Settings:
    """Let a setting have its default again."""
    prepare_home(home)
    with files.locked(home.folder) as folder:
        body = folder.read(FILE_NAME)
        text = decoded(home, body)
        read(text)
        changed = removed(text, path)
        if changed == text:
            raise WhetError(f"{dotted(path)} is not set.", advice="To list the settings, run `whet config`.")
        return _write(folder, changed, body)


def _write(folder: files.Folder, text: str, expected: bytes | None) -> Settings:
    settings = parse(text)
    folder.write(FILE_NAME, text.encode(), expected=expected)
    return settings
