"""What stands in a Hermes home, piece by piece: what is new, what was taken before, what stays there and why."""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agents.hermes import config as hermes_config
from whet.agents.hermes import jobs as hermes_jobs
from whet.agents.hermes import templates as hermes_templates
from whet.agents.hermes.config import FoundSetting
from whet.agents.hermes.jobs import HermesJob
from whet.changes import skill_changes
from whet.changes.apply import settle
from whet.changes.author import Author, keep_job, keep_template
from whet.changes.skill_changes import PERSONS, notes_of, remember
from whet.errors import WhetError
from whet.ledger import marked_block
from whet.ledger.entries import Entry, Step
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Form
from whet.own.examples.templates import Template
from whet.own.jobs.job import Job
from whet.own.runs.setting_keys import dotted
from whet.own.runs.settings import check, leaves, read
from whet.own.told import skills
from whet.own.told.memory import NoteChange, Refusal
from whet.secrets.redactor import Redactor
from whet.sessions.trust import Trust
from whet.store import files, skill_files
from whet.store.folders import text_given
from whet.store.job_records import list_jobs
from whet.store.ledger import ledger_of
from whet.store.memory_files import HERMES, NAMES, hermes_shelf, load
from whet.store.settings_file import assign, loaded
from whet.telling.context.gathering import SOUL
from whet.telling.context.zone import local_zone
from whet.text.front_matter import with_field

FROM_HERMES = PatchOrigin(PatchWriter.IMPORT, "hermes", said="imported from Hermes")


def hermes_home(folder: Path | None = None) -> Path:
    """The folder that was named, else the one that the environment names, else the usual one."""
    named = folder or os.environ.get("HERMES_HOME") or "~/.hermes"
    return Path(os.path.expanduser(named)).absolute()


HUB = (".hub", "lock.json")  # what Hermes downloaded, by name
HIDDEN = (".hub", ".archive", ".git", "node_modules")
SCANNED = 12
THERE = "something else of this name is here already"
TWICE = "another skill there has the same name"

JOB_REASON = "a job of Hermes"
JOBS_BYTES, FILE_BYTES = 20_000_000, 2_000_000


class HermesPiece(NamedTuple):
    """One thing in Hermes' home. `take` takes it over; without it, `why` says why it stays there."""

    kind: str
    name: str
    take: Callable[[Author], Iterable[Entry]] | None = None
    why: str = ""
    is_known: bool = False  # taken before, or the same here already
    needs_person: bool = False  # it takes effect at once and is not in the ledger
    note: str = ""


class TakenBefore(NamedTuple):
    """What the ledger has seen of Hermes: what a person undid or refused does not come again."""

    texts: frozenset[tuple[Form, str]]
    names: frozenset[tuple[Form, str]]


def pieces(author: Author, hermes: Path) -> Iterator[HermesPiece]:
    """Everything in Hermes' home that has a place here."""
    ledger = ledger_of(author.home, author.database)
    settle(author.home, ledger, now=author.now)  # what a sudden stop left of a migration before
    ours = [
        each
        for each in ledger.entries()
        if each.patch.origin.named == FROM_HERMES.named and each.step not in (Step.BEGUN, Step.ABANDONED)
    ]
    before = TakenBefore(
        frozenset((each.patch.form, each.patch.text) for each in ours),
        frozenset((each.patch.form, each.patch.name) for each in ours),
    )
    yield from _apart("identity", SOUL, _identity(author, hermes))
    for page in NAMES:
        yield from _apart("note", HERMES[page], _notes(author, hermes, page, before))
    yield from _skills(author, hermes, before)
    yield from _apart("job", "/".join(hermes_jobs.FILE), _jobs(author, hermes, before))
    yield from _templates(hermes, before)
    yield from _apart("setting", hermes_config.FILE, _settings(author, hermes))


def _apart(kind: str, name: str, found: Iterator[HermesPiece]) -> Iterator[HermesPiece]:
    """What one file holds; a file that cannot be read keeps no other out."""
    try:
        yield from found
    except WhetError as error:
        yield HermesPiece(kind, name, why=error.message)


def variables(hermes: Path) -> tuple[str, ...]:
    """The names of the variables that Hermes' settings and its .env speak of; values are never copied.

    A file that cannot be read names none: nothing depends on them.
    """
    found: list[str] = []
    with contextlib.suppress(WhetError):
        found += hermes_config.read(_text(hermes / hermes_config.FILE)).variables
    with contextlib.suppress(WhetError):
        found += hermes_config.variables_in(_text(hermes / ".env"))
    return tuple(dict.fromkeys(found))


def _identity(author: Author, hermes: Path) -> Iterator[HermesPiece]:
    body = marked_block.take_out(_text(hermes / SOUL).encode()) or b""
    words = re.sub(rb"(?s)<!--.*?-->", b"", body).strip()
    if not words:
        return
    place = files.beneath(author.home.folder, SOUL)
    standing = files.read(place)
    piece = HermesPiece("identity", SOUL)
    if standing is not None:
        yield piece._replace(is_known=True) if standing == body else piece._replace(why=THERE)
    elif Redactor().text(body.decode()) != body.decode():
        yield piece._replace(why="it contains a secret")
    else:
        yield piece._replace(take=partial(_write_identity, place, body), needs_person=True)


def _write_identity(place: files.Place, body: bytes, _author: Author) -> tuple[Entry, ...]:
    files.write(place, body, expected=None)
    return ()


def _notes(author: Author, hermes: Path, page: str, before: TakenBefore) -> Iterator[HermesPiece]:
    here = {note.text for note in notes_of(author, page).notes}
    for note in load(hermes_shelf(hermes), page).notes:
        known = note.text in here or (Form.NOTE, note.text) in before.texts
        why = "" if len(note.text) <= PERSONS.note else f"it is longer than {PERSONS.note:,} characters"
        take = None if why else partial(_remember, page, note.text)
        yield HermesPiece("note", f"{page}: {note.text}", take, why, is_known=known)


def _remember(page: str, text: str, author: Author) -> tuple[Entry, ...]:
    made = remember(author, page, [NoteChange(Action.ADD, text)], limits=PERSONS)
    if isinstance(made, Refusal):
        raise WhetError(made.message, advice="It stays in Hermes' memory.")
    return made


def _skills(author: Author, hermes: Path, before: TakenBefore) -> Iterator[HermesPiece]:
    base = hermes / "skills"
    downloaded = _downloaded(base)
    names: set[str] = set()
    for path in sorted(base.rglob(skills.FILE)):
        inside = path.relative_to(base).parts
        if any(part in HIDDEN for part in inside) or (path.parent / ".whet.json").exists():
            continue
        piece = HermesPiece("skill", path.parent.name)
        try:
            name, text = _skill(path)
            support, left = _support(path.parent)
            here = skill_files.read_text(author.home.folder, name)
        except WhetError as error:
            yield piece._replace(why=error.message)
            continue
        known = here == text or (Form.SKILL, text) in before.texts
        is_foreign = downloaded is None or path.parent.name in downloaded
        take = partial(_add_skill, name, text, support, is_foreign=is_foreign)
        why = "" if known else TWICE if name in names else THERE if here is not None else ""
        names.add(name)
        note = f"without {', '.join(left)}" if left else ""
        yield HermesPiece("skill", name, None if why else take, why, known, note=note)


def _skill(path: Path) -> tuple[str, str]:
    """A skill's name in the form that names have here, and its text."""
    if not _is_inside(path, path.parent):
        raise WhetError("it is a link to a file elsewhere")
    text = _text(path)
    told = skills.read(text).name or path.parent.name
    name = re.sub(r"[^a-z0-9]+", "-", told.lower()).strip("-")
    return name, text if told == name else with_field(text, "name", name)


def _support(folder: Path) -> tuple[dict[str, str], list[str]]:
    """The support files that are text, and the names of those that stay behind."""
    found: dict[str, str] = {}
    left: list[str] = []
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and each != folder / skills.FILE):
        name = path.relative_to(folder).as_posix()
        try:
            skills.file_names(name)
            if not _is_inside(path, folder):
                raise WhetError("it is a link to a file elsewhere")
            found[name] = _text(path)
        except WhetError:
            left.append(name)
    return found, left


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether what a path leads to lies in a folder: a skill brings no file along that stands elsewhere."""
    return path.resolve().is_relative_to(folder.resolve())


def _add_skill(name: str, text: str, support: dict[str, str], author: Author, *, is_foreign: bool) -> tuple[Entry, ...]:
    hand = author._replace(trust=Trust.EXTERNAL) if is_foreign else author
    return skill_changes.add(hand, name, text, support)


def _downloaded(base: Path) -> frozenset[str] | None:
    """The skills that Hermes downloaded: nobody here wrote them, so they wait. None where nobody can tell."""
    try:
        lock = msgspec.json.decode(_text(base.joinpath(*HUB)) or '{"installed": {}}')
    except (msgspec.DecodeError, RecursionError, WhetError):
        return None
    installed = lock.get("installed") if isinstance(lock, dict) else None
    return frozenset(str(each) for each in installed) if isinstance(installed, dict) else None


def _jobs(author: Author, hermes: Path, before: TakenBefore) -> Iterator[HermesPiece]:
    file = hermes.joinpath(*hermes_jobs.FILE)
    if not file.is_file():
        return
    here = {each.name for each in list_jobs(author.home.folder)}
    for each in read_jobs(file, workdir="", taken=()):
        known = (Form.JOB, each.name) in before.names
        why = each.fault or (THERE if each.name in here and not known else "")
        take = partial(_keep_job, file, each.job) if each.job and not why else None
        yield HermesPiece("job", each.name, take, why, known and not each.fault, note="; ".join(each.notes))


def _keep_job(file: Path, job: Job, author: Author) -> tuple[Entry, ...]:
    hand = author._replace(trust=Trust.EXTERNAL, origin=replace(FROM_HERMES, said=f"{JOB_REASON} in {file}"))
    return (keep_job(hand, job),)


def _templates(hermes: Path, before: TakenBefore) -> Iterator[HermesPiece]:
    names: set[str] = set()
    for path in template_files(hermes):
        try:
            found = hermes_templates.read(read_text(path), stem=path.stem)
        except WhetError as error:
            yield HermesPiece("template", path.stem, why=error.message)
            continue
        name = free_name(found.template.name, names)
        names.add(name)
        known = (Form.TEMPLATE, name) in before.names
        take = partial(_keep_template, replace(found.template, name=name))
        yield HermesPiece("template", name, take, is_known=known)


def _keep_template(template: Template, author: Author) -> tuple[Entry, ...]:
    return (keep_template(author, template),)


def _settings(author: Author, hermes: Path) -> Iterator[HermesPiece]:
    found = hermes_config.read(_text(hermes / hermes_config.FILE))
    here = dict(leaves(read(loaded(author.home).text)))
    for what, why in found.left:
        yield HermesPiece("setting", what, why=why)
    for what, group in found.groups:
        piece = HermesPiece("setting", what, note=", ".join(f"{dotted(each.path)} = {each.value}" for each in group))
        other = [each for each in group if here.get(each.path, each.value) != each.value]
        if all(here.get(each.path) == each.value for each in group):
            yield piece._replace(is_known=True)
        elif other:
            yield piece._replace(why=f"{dotted(other[0].path)} is set to something else here", note="")
        elif fault := _setting_fault(group):
            yield piece._replace(why=fault, note="")
        else:
            yield piece._replace(take=partial(_assign, group), needs_person=True)


def _setting_fault(group: tuple[FoundSetting, ...]) -> str:
    redactor = Redactor()
    for each in group:
        try:
            check(each.path, each.value)
        except WhetError as error:
            return error.message
        texts = each.value if isinstance(each.value, list) else [each.value]
        if any(len(str(text)) >= SCANNED and redactor.text(str(text)) != str(text) for text in texts):
            return f"{dotted(each.path)} contains a secret"
    return ""


def _assign(group: tuple[FoundSetting, ...], author: Author) -> tuple[Entry, ...]:
    for each in group:
        assign(author.home, each.path, each.value)
    return ()


def _text(path: Path) -> str:
    """The text of a file; empty where there is none."""
    return read_text(path) if os.path.lexists(path) else ""


def read_jobs(file: Path, *, workdir: str, taken: tuple[str, ...]) -> tuple[HermesJob, ...]:
    """The jobs in a file of Hermes; `taken` are names that none of them gets."""
    place = hermes_jobs.HermesPlace(
        file.absolute().parent.parent,
        str(Path(os.path.expanduser(workdir or ".")).absolute()),
        local_zone(os.environ),
        time.time(),
    )
    text = text_given(file, advice="Give Hermes' cron/jobs.json.", most=JOBS_BYTES)
    return hermes_jobs.read(text, place, taken=taken)


def template_files(hermes: Path) -> list[Path]:
    """The files of templates in a Hermes home."""
    return [path for name in hermes_templates.FOLDERS for path in sorted((hermes / name).glob("*.json"))]


def free_name(name: str, names: set[str]) -> str:
    """The name itself, or with a number: two files may call theirs the same, and neither is to be lost."""
    return next(each for each in (name, *(f"{name[:58]}-{n}" for n in range(2, len(names) + 3))) if each not in names)


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
