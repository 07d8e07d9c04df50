"""Where cases are kept."""

import os
from pathlib import Path

import click

from whet.store.case_files import FOLDER
from whet.store.home import find_home, prepare_home

folder_option = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with the cases. Default: the home folder's.",
)


def cases_folder(folder: Path | None) -> Path:
    """Where cases are kept, made where it is not there yet."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return folder.absolute()
    home = find_home(os.environ)
    prepare_home(home)
    return home.folder / FOLDER
