"""whet templates import-hermes: templates of the original's two forms, each of which waits for a person."""

import os
from pathlib import Path
from typing import NamedTuple

import click
from msgspec.structs import replace

from whet.agents.hermes import templates as hermes_templates
from whet.agents.hermes.templates import HermesTemplate, reasons_in_words
from whet.changes.author import Author
from whet.changes.templates import keep
from whet.cli.authoring import person_at
from whet.cli.hermes_home import FROM_HERMES, hermes_home, hermes_option
from whet.cli.options import json_option
from whet.cli.output import many, plain, print_json, say
from whet.errors import WhetError
from whet.store.home import find_home, prepare_home
from whet.store.opening import opened

FILE_BYTES = 2_000_000


class Taken(NamedTuple):
    """A file whose template waits, under a name that no other of this import has."""

    path: Path
    found: HermesTemplate
    entry: int


class RefusedFile(NamedTuple):
    """A file that was left out."""

    path: Path
    reason: str


@click.command(
    "import-hermes",
    epilog="Example: whet templates import-hermes",
    help="Import the session templates and warm sessions of a Hermes home. The origin of their text is unknown, "
    "so each needs your approval (`whet lessons --waiting`).",
)
@hermes_option
@json_option
def import_command(folder: Path | None, as_json: bool) -> int:
    base = hermes_home(folder)
    paths = template_files(base)
    if not paths:
        places = " or ".join(f"{base / name}" for name in hermes_templates.FOLDERS)
        raise WhetError(f"There are no templates in {places}.", advice="Give Hermes' home with --folder.")
    home = find_home(os.environ)
    prepare_home(home)
    with opened(home) as database:
        author = person_at(home, database)._replace(origin=FROM_HERMES)
        taken, refused = _take(author, paths)
    if as_json:
        print_json({"waiting": [_record(one) for one in taken], "left_out": [_left(one) for one in refused]})
    else:
        _tell(taken, refused)
    return 0 if taken else 1


def template_files(hermes: Path) -> list[Path]:
    """The files of templates in a Hermes home."""
    return [path for name in hermes_templates.FOLDERS for path in sorted((hermes / name).glob("*.json"))]


def _take(author: Author, paths: list[Path]) -> tuple[list[Taken], list[RefusedFile]]:
    """Every file by itself: one that cannot be used keeps no other out."""
    taken: list[Taken] = []
    refused: list[RefusedFile] = []
    names: set[str] = set()
    for path in paths:
        try:
            found = hermes_templates.read(read_text(path), stem=path.stem)
            name = free_name(found.template.name, names)
            names.add(name)
            found = found._replace(template=replace(found.template, name=name))
            taken.append(Taken(path, found, keep(author, found.template).number))
        except WhetError as error:
            refused.append(RefusedFile(path, error.message))
    return taken, refused


def free_name(name: str, names: set[str]) -> str:
    """The name itself, or with a number: two files may call theirs the same, and neither is to be lost."""
    return next(each for each in (name, *(f"{name[:58]}-{n}" for n in range(2, len(names) + 3))) if each not in names)


def _tell(taken: list[Taken], refused: list[RefusedFile]) -> None:
    for one in taken:
        template = one.found.template
        many_of = many(len(template.examples), "example")
        say(f"{plain(template.name)}: {many_of}, about {many(template.tokens, 'token')}, from {plain(str(one.path))}")
        if one.found.left_out:
            say(f"  Examples left out{plain(reasons_in_words(one.found.left_out))}.")
    for left in refused:
        say(f"Left out: {plain(str(left.path))}: {plain(left.reason)}")
    need = "needs" if len(taken) == 1 else "need"
    if taken:
        say(f"{many(len(taken), 'template')} {need} your approval: `whet lessons --waiting`.")


def _record(one: Taken) -> dict[str, object]:
    template = one.found.template
    return {
        "entry": one.entry,
        "name": template.name,
        "examples": len(template.examples),
        "tokens": template.tokens,
        "file": str(one.path),
        "examples_left_out": one.found.left_out,
    }


def _left(one: RefusedFile) -> dict[str, str]:
    return {"file": str(one.path), "reason": one.reason}


def read_text(path: Path) -> str:
    """The text of a file; raises WhetError where it has none that can be read."""
    try:
        if not path.is_file():
            raise WhetError(f"{path.name} is not a file.", advice="It is left out.")
        if path.stat().st_size > FILE_BYTES:
            raise WhetError(f"{path.name} is larger than {FILE_BYTES // 1_000_000} MB.", advice="It is left out.")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WhetError(f"{path.name} is not UTF-8 text.", advice="It is left out.") from error
    except OSError as error:
        raise WhetError(f"{path.name} cannot be read: {error.strerror}.", advice="It is left out.") from error
