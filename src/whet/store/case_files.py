"""Cases on disk: a TOML file each, in the home folder or in a project's own folder, a conversation beside it."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from whet.errors import WhetError
from whet.store.files import FoundFile, NamedFiles, Place, read, text_of, write
from whet.trials import cases
from whet.trials.cases import Case

FOLDER = "cases"
ENDING = ".toml"
CONVERSATION = ".json"
TAG = "tag:"


CaseFile = FoundFile[Case]


def list_cases(folder: Path) -> tuple[CaseFile, ...]:
    """The cases of a folder in the order of names; one that cannot be read is listed with its fault."""
    return _files(folder).all(_root(folder))


def home_cases(home: Path) -> tuple[CaseFile, ...]:
    return list_cases(home / FOLDER)


def load_case(folder: Path, name: str) -> Case:
    """One case; raises WhetError where there is none, or none that can be read."""
    return _files(folder).load(_root(folder), name)


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
    standing = [each for each in own.values() if each.value is not None and each.value.guard]
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
        found = tuple(each for each in own.values() if each.value is not None and tag in each.value.tags)
    elif wanted in own:
        found = (own[wanted],)
    elif path.is_dir():
        found = list_cases(path)
    elif path.suffix == ENDING and path.is_file():
        found = (_files(path.parent).look(_root(path.parent), path.stem),)
    else:
        known = ", ".join(own) or "none yet"
        raise WhetError(
            f"{wanted} is not a case, a case file or a folder of cases.", advice=f"The home's cases: {known}."
        )
    if not found:
        raise WhetError(f"There are no cases in {wanted}.", advice="To create one, run `whet cases add --new NAME`.")
    return found


def _sound(found: CaseFile) -> Case:
    if found.value is None:
        raise WhetError(f"{found.path}: {found.fault}", advice="Correct it, or leave it out.")
    return found.value


def _files(folder: Path) -> NamedFiles[Case]:
    def read_case(text: str, name: str) -> Case:
        return cases.read(text, name=name, conversation=text_of(_place(folder, name, CONVERSATION)) or "")

    return NamedFiles("case", folder.name, ENDING, read_case, _name_fault)


def _root(folder: Path) -> Path:
    return folder.parent.absolute()


def _name_fault(name: str) -> str:
    return "" if cases.NAME.fullmatch(name) else f"{name[:80]!r} is not a valid case name"


def _place(folder: Path, name: str, ending: str) -> Place:
    return _files(folder)._replace(ending=ending).place(_root(folder), name)
