"""Cases on disk: a TOML file each, in the home folder or in a project's own folder, a conversation beside it."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from whet.errors import WhetError
from whet.store.files import Place, beneath, names_in, read, text_of, write
from whet.trials import cases
from whet.trials.cases import Case

FOLDER = "cases"
ENDING = ".toml"
CONVERSATION = ".json"
TAG = "tag:"


class CaseFile(NamedTuple):
    """A file with what is in it: a case, or the fault that keeps it from being one."""

    name: str
    path: Path
    case: Case | None
    fault: str = ""


def list_cases(folder: Path) -> tuple[CaseFile, ...]:
    """The cases of a folder in the order of names; one that cannot be read is listed with its fault."""
    names = names_in(beneath(folder.parent.absolute(), folder.name), ENDING)
    return tuple(_found(folder, name) for name in names)


def home_cases(home: Path) -> tuple[CaseFile, ...]:
    return list_cases(home / FOLDER)


def load_case(folder: Path, name: str) -> Case:
    """One case; raises WhetError where there is none, or none that can be read."""
    text = text_of(_place(folder, name, ENDING))
    if text is None:
        known = ", ".join(found.name for found in list_cases(folder)) or "none yet"
        raise WhetError(
            f"There is no case {name}.", advice=f"Cases: {known}. To create it, run `whet cases add --new {name}`."
        )
    conversation = text_of(_place(folder, name, CONVERSATION)) or ""
    return cases.read(text, name=name, conversation=conversation)


def keep_case(folder: Path, case: Case) -> Path:
    """Write a new case, its conversation first; one that is there is never overwritten."""
    _expect_new(folder, case.name)
    if case.conversation:
        beside = _place(folder, case.name, CONVERSATION)
        body = msgspec.json.format(msgspec.json.encode(case.conversation), indent=1)
        write(beside, body, expected=read(beside))
    return keep_text(folder, case.name, cases.write(case))


def keep_text(folder: Path, name: str, text: str) -> Path:
    """Write the file of a new case as it is, comments included."""
    place = _expect_new(folder, name)
    write(place, text.encode(), expected=None)
    return place.path


def _expect_new(folder: Path, name: str) -> Place:
    place = _place(folder, name, ENDING)
    if read(place) is not None:
        raise WhetError(f"A case named {name} already exists.", advice="Choose another name, or remove its file.")
    return place


def chosen(home: Path, wanted: Sequence[str]) -> tuple[Case, ...]:
    """The cases that are meant: folders, files, names of the home's cases, `tag:WORD`; nothing means all of the home's.

    The home's standing cases are always among them.
    """
    own = {found.name: found for found in home_cases(home)}
    found = [each for one in wanted for each in _meant(own, one)] if wanted else list(own.values())
    standing = [each for each in own.values() if each.case is not None and each.case.guard]
    unique = {each.path.resolve(): each for each in (*found, *standing)}
    return tuple(_sound(each) for each in unique.values())


def folders_of(home: Path, wanted: Iterable[str]) -> tuple[str, ...]:
    """Where the cases lie, so that no attempt can look its check up."""
    places = (Path(one).absolute() for one in wanted if not one.startswith(TAG))
    given = {str(place if place.is_dir() else place.parent) for place in places if place.exists()}
    return (str(home / FOLDER), *sorted(given))


def _meant(own: dict[str, CaseFile], wanted: str) -> tuple[CaseFile, ...]:
    path = Path(os.path.expanduser(wanted))
    if wanted.startswith(TAG):
        tag = wanted.removeprefix(TAG)
        found = tuple(each for each in own.values() if each.case is not None and tag in each.case.tags)
    elif wanted in own:
        found = (own[wanted],)
    elif path.is_dir():
        found = list_cases(path)
    elif path.suffix == ENDING and path.is_file():
        found = (_found(path.parent, path.stem),)
    else:
        known = ", ".join(own) or "none yet"
        raise WhetError(
            f"{wanted} is not a case, a case file or a folder of cases.", advice=f"The home's cases: {known}."
        )
    if not found:
        raise WhetError(f"There are no cases in {wanted}.", advice="To create one, run `whet cases add --new NAME`.")
    return found


def _sound(found: CaseFile) -> Case:
    if found.case is None:
        raise WhetError(f"{found.path}: {found.fault}", advice="Correct it, or leave it out.")
    return found.case


def _found(folder: Path, name: str) -> CaseFile:
    path = folder / f"{name}{ENDING}"
    try:
        return CaseFile(name, path, load_case(folder, name))
    except WhetError as error:
        return CaseFile(name, path, None, error.message)


def _place(folder: Path, name: str, ending: str) -> Place:
    if not cases.NAME.fullmatch(name):
        raise WhetError(
            f"{name[:80]!r} is not a valid case name.",
            advice="Use lower-case words joined by hyphens, such as fix-the-port.",
        )
    return beneath(folder.parent.absolute(), folder.name, f"{name}{ending}")
