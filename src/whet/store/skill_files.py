"""Skills on disk: skills/NAME/SKILL.md, its support files and the archive."""

from collections.abc import Iterator
from pathlib import Path

from whet.errors import WhetError
from whet.own.told import skills
from whet.own.told.skills import FILE, FOLDERS, Skill
from whet.store.files import (
    Conflict,
    Folder,
    FoundFile,
    Place,
    below,
    beneath,
    decoded,
    entered,
    entries,
    locked,
    move,
    read,
    text_of,
)

FOLDER = "skills"
ARCHIVE = ("archive", "skills")
DEEPEST = 4


SkillFile = FoundFile[Skill]


def list_skills(home: Path) -> tuple[SkillFile, ...]:
    """Every skill in the order of names; one that cannot be read is listed with its fault."""
    names = [
        entry.name
        for entry in entries(beneath(home, FOLDER))
        if entry.kind == "folder" and not entry.name.startswith(".")
    ]
    with entered(home, (FOLDER,)) as folder:  # once for all of them: there may be hundreds
        return tuple(found for name in names if folder and (found := _found(folder, name)) is not None)


def usable(home: Path) -> tuple[Skill, ...]:
    """The skills without a fault, for the prompt."""
    return tuple(found.value for found in list_skills(home) if found.value is not None)


def load(home: Path, name: str) -> Skill:
    """One skill; raises WhetError where there is none, or none that can be read."""
    text = read_text(home, name)
    if text is None:
        known = ", ".join(found.name for found in list_skills(home)) or "none yet"
        raise WhetError(f"There is no skill {name}.", advice=f"Skills: {known}.")
    return skills.read(text)


def read_text(home: Path, name: str, file: str = FILE) -> str | None:
    """The text of a skill or of one of its support files; None where there is none."""
    return text_of(place_of(home, name, file))


def place_of(home: Path, name: str, file: str = FILE) -> Place:
    """Where a file of a skill stands; a name that could lead elsewhere is refused."""
    wrong = skills.name_faults(name)
    if wrong:
        raise WhetError(
            f"{name!r} is not a valid skill name: {wrong[0]}.",
            advice="Use lower-case words joined by hyphens, such as release-notes.",
        )
    return beneath(home, FOLDER, name, *((FILE,) if file == FILE else skills.file_names(file)))


def support_files(home: Path, name: str) -> tuple[str, ...]:
    """The names of a skill's support files, such as references/guide.md."""
    folder = _folder(home, name)
    found = (place for part in FOLDERS for place, _ in below(Place(home, (*folder.names, part)), deepest=DEEPEST))
    return tuple(sorted("/".join(place.names[len(folder.names) :]) for place in found))


def archive(home: Path, name: str, *, expected: bytes) -> Place:
    """Move a skill with all its files to the archive, if its SKILL.md still holds `expected`; nothing is deleted."""
    place = place_of(home, name)
    with locked(home, place.names[:-1], make=False) as folder:
        if folder.read(FILE) != expected:
            raise Conflict(
                f"{place.path} was changed in the meantime; it was left unchanged.",
                advice="Look at it, then try again.",
            )
        number = 1 + max((number for number, _ in _archived(home, name)), default=0)
        target = beneath(home, *ARCHIVE, name if number == 1 else f"{name}.{number}")
        move(Place(home, place.names[:-1]), target)
        return target


def archived(home: Path) -> tuple[str, ...]:
    """The names of what is in the archive and can be restored."""
    names = (entry.name.partition(".")[0] for entry in entries(beneath(home, *ARCHIVE)) if entry.kind == "folder")
    return tuple(sorted({name for name in names if not skills.name_faults(name)}))


def archived_text(home: Path, name: str) -> str:
    """The SKILL.md of the newest archived skill of a name."""
    newest = max(_archived(home, name), default=None)
    text = text_of(beneath(home, *newest[1].names, FILE)) if newest else None
    if text is None:
        known = ", ".join(archived(home)) or "nothing"
        raise WhetError(f"There is no skill {name} in the archive.", advice=f"The archive contains: {known}.")
    return text


def bring_back(home: Path, name: str, body: bytes) -> bool:
    """Bring back the archived skill whose SKILL.md holds `body`, with its other files; False where there is none."""
    skill = _folder(home, name)
    if any(entry.name == skill.name for entry in entries(beneath(home, FOLDER))):
        return False
    for _, place in sorted(_archived(home, name), reverse=True):
        if read(beneath(home, *place.names, FILE)) == body:
            move(place, skill)
            return True
    return False


def _folder(home: Path, name: str) -> Place:
    return Place(home, place_of(home, name).names[:-1])


def _archived(home: Path, name: str) -> Iterator[tuple[int, Place]]:
    for entry in entries(beneath(home, *ARCHIVE)):
        first, _, number = entry.name.partition(".")
        if first == name and entry.kind == "folder" and (not number or number.isdecimal()):
            yield int(number or 1), beneath(home, *ARCHIVE, entry.name)


def _found(folder: Folder, name: str) -> SkillFile | None:
    path = folder.path / name / FILE
    try:
        body = folder.read_in(name, FILE)
        if body is None:
            return None
        skill = skills.read(decoded(body, path))
    except WhetError as error:
        return FoundFile(name, path, None, error.message)
    wrong = "; ".join(skills.faults(skill, folder=name))
    return FoundFile(name, path, None if wrong else skill, wrong)
