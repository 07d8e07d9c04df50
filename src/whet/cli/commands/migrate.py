"""whet migrate: take over what another agent keeps in its home, in one go."""

import contextlib
import os
import re
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
import msgspec
from msgspec.structs import replace

from whet.agents.hermes import config, jobs, templates
from whet.changes import writing
from whet.changes.apply import settle
from whet.changes.pending import need_person
from whet.changes.writing import PERSONS, Author, keep_job, keep_template, notes_of, remember
from whet.cli.acting import actor_of, careful, person_at, trust_at, why_waits
from whet.cli.options import json_command
from whet.cli.output import fields, give, plain, say
from whet.errors import WhetError
from whet.ledger import marked_block
from whet.ledger.entries import Entry, Step
from whet.ledger.patches import Action, Form, PatchOrigin, PatchWriter
from whet.own.jobs.job import Job
from whet.own.runs.settings import check, dotted, leaves, read
from whet.own.told import skills
from whet.own.told.memory import NoteChange, Reason, Refusal
from whet.secrets.redactor import Redactor
from whet.sessions.trust import Trust
from whet.store import files, skill_files
from whet.store.folders import text_given
from whet.store.home import Home, find_home, prepare_home
from whet.store.ledger import ledger_of
from whet.store.memory_files import HERMES, NAMES, MemoryFolder, add_to_hermes, hermes_shelf, load
from whet.store.opening import opened
from whet.store.settings_file import assign, loaded
from whet.telling.context.gathering import SOUL
from whet.telling.context.zone import local_zone
from whet.text.front_matter import with_field
from whet.text.showing import shown
from whet.text.words import many

FROM_HERMES = PatchOrigin(PatchWriter.IMPORT, "hermes", said="imported from Hermes")
AT_ONCE = ("identity", "setting")  # what takes effect at once and is not in the ledger
HUB = (".hub", "lock.json")  # what Hermes downloaded, by name
HIDDEN = (".hub", ".archive", ".git", "node_modules")
SCANNED = 12
JOBS_BYTES, FILE_BYTES = 20_000_000, 2_000_000
LINE_LETTERS = 400
NOBODY = "it needs a person: run this in your own terminal, or set trust.commands to true and give --yes"


class HermesPiece(NamedTuple):
    """One thing in Hermes' home. `take` takes it over; without it, `why` says why it stays there."""

    kind: str
    name: str
    take: Callable[[Author], Iterable[Entry]] | None = None
    why: str = ""
    is_known: bool = False  # taken before, or the same here already
    note: str = ""


class TakenPiece(NamedTuple):
    """A piece that is here now or waits, with its entries in the ledger."""

    piece: HermesPiece
    entries: tuple[Entry, ...]


@json_command("migrate", epilog="Example: whet migrate hermes --dry-run")
@click.argument("agent", type=click.Choice(["hermes"]))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--back", is_flag=True, help="Add your notes to Hermes' own memory instead; its own notes are kept.")
@click.option("--dry-run", is_flag=True, help="Show what would be taken, without taking it.")
@click.option("--yes", is_flag=True, help="Do not ask; without a terminal, see the setting trust.commands.")
def command(agent: str, path: Path | None, back: bool, dry_run: bool, yes: bool) -> int:
    """Take over a Hermes home: notes, skills, jobs, templates, model, MCP servers, enforcement and SOUL.md. You see
    what there is first and confirm. Hermes' home stays as it is; running it again takes only what is new. Keys and
    passwords are not copied. To take back notes, skills, jobs or templates, run `whet ledger undo`.
    """
    named = path or os.environ.get("HERMES_HOME") or "~/.hermes"
    folder = Path(os.path.expanduser(named)).absolute()
    if not folder.is_dir():
        raise WhetError(f"There is no folder {folder}.", advice=f"Name its home: `whet migrate {agent} PATH`.")
    home = find_home(os.environ)
    if back:
        return _give_notes(home, folder)
    prepare_home(home)
    with opened(home) as database:
        # Hermes' agent wrote most of it, whoever asks for it.
        author = person_at(home, database)._replace(trust=Trust.AGENT, origin=FROM_HERMES)
        found = list(_pieces(author, folder))
        wanted = [each for each in found if each.take and not each.is_known]
        say(*_plan_lines(folder, wanted))
        if wanted and not dry_run and not yes:
            click.confirm("Take all of this?", abort=True, err=True)
        may_decide = trust_at(home, author.actor, yes=yes) is Trust.OPERATOR
        taken: list[TakenPiece] = []
        left = [each for each in found if not each.take and not each.is_known]
        for each in () if dry_run else wanted:
            made = _taken(each, careful(author, yes=yes), may_decide=may_decide)
            if isinstance(made, TakenPiece):
                taken.append(made)
            else:
                left.append(each._replace(why=made))
    needed = [name for name in _variables(folder) if name not in os.environ]
    known = [each for each in found if each.is_known]
    record = {
        "would_take": [fields(each, "kind", "name") for each in wanted if dry_run],
        "taken": [
            {
                **fields(each.piece, "kind", "name"),
                "note": each.piece.note or None,
                "entries": [entry.number for entry in each.entries],
                "waits": any(entry.step is Step.PROPOSED for entry in each.entries),
            }
            for each in taken
        ],
        "known": [fields(each, "kind", "name") for each in known],
        "left": [{**fields(each, "kind", "name"), "reason": each.why} for each in left],
        "variables": needed,
    }
    lines = (
        "Nothing was changed. To take it, run it without --dry-run." if dry_run else f"Taken: {_counted(taken)}.",
        *((f"{many(len(known), 'piece')} taken before or the same here already.",) if known else ()),
        *(f"Left there: {each.kind} {_line(each.name)}: {_line(each.why)}" for each in left),
        *(
            (f"Secrets were not copied. Variables to set where you need them: {plain(', '.join(needed))}.",)
            if needed
            else ()
        ),
        *why_waits(entry for each in taken for entry in each.entries),
        "To take back what is in the ledger, run `whet ledger undo`; for settings, `whet config --unset`.",
        "Next: `whet lessons --waiting` shows what waits; `whet import` takes in Hermes' sessions.",
    )
    return give(record, lines)


def _taken(piece: HermesPiece, author: Author, *, may_decide: bool) -> TakenPiece | str:
    """Every piece by itself: one that is refused, with the reason, keeps no other out."""
    if piece.take is None or (piece.kind in AT_ONCE and not may_decide):
        return NOBODY
    try:
        return TakenPiece(piece, tuple(piece.take(author)))
    except WhetError as error:
        return error.message


def _plan_lines(folder: Path, wanted: list[HermesPiece]) -> Iterator[str]:
    yield f"Found in {plain(str(folder))}:" if wanted else f"Nothing new in {plain(str(folder))}."
    for each in wanted:
        note = f" ({each.note})" if each.note else ""
        # Whole, however long: the person agrees to it.
        yield f"  [bold]{each.kind}[/] {plain(shown(' '.join((each.name + note).split())))}"


def _line(words: str) -> str:
    """Words of another's file, on a line of bearable length."""
    return plain(shown(textwrap.shorten(words, LINE_LETTERS, placeholder=" …")))


def _counted(taken: list[TakenPiece]) -> str:
    counts = Counter(each.piece.kind for each in taken)
    return ", ".join(many(number, kind) for kind, number in counts.items()) or "nothing"


def _pieces(author: Author, hermes: Path) -> Iterator[HermesPiece]:
    """Everything in Hermes' home that has a place here. What a person undid or refused does not come again."""
    ledger = ledger_of(author.home, author.database)
    settle(author.home, ledger, now=author.now)  # what a sudden stop left of a migration before
    ours = [each for each in ledger.entries() if each.patch.origin.named == FROM_HERMES.named]
    done = [each.patch for each in ours if each.step not in (Step.BEGUN, Step.ABANDONED)]
    before = frozenset((patch.form, words) for patch in done for words in (patch.name, patch.text))
    yield from _apart("identity", SOUL, _identity(author, hermes))
    for page in NAMES:
        yield from _apart("note", HERMES[page], _notes(author, hermes, page, before))
    yield from _skills(author, hermes, before)
    yield from _apart("job", "/".join(jobs.FILE), _jobs(hermes, before))
    for path in [path for name in templates.FOLDERS for path in sorted((hermes / name).glob("*.json"))]:
        yield from _apart("template", path.stem, _template(path, before))
    yield from _apart("setting", config.FILE, _settings(author, hermes))


def _apart(kind: str, name: str, found: Iterator[HermesPiece]) -> Iterator[HermesPiece]:
    """What one file holds; a file that cannot be read keeps no other out."""
    try:
        yield from found
    except WhetError as error:
        yield HermesPiece(kind, name, why=error.message)


def _variables(hermes: Path) -> tuple[str, ...]:
    """The names of the variables that Hermes' settings and its .env speak of; values are never copied.

    A file that cannot be read names none: nothing depends on them.
    """
    found: list[str] = []
    with contextlib.suppress(WhetError):
        found += config.read(_text(hermes / config.FILE)).variables
    with contextlib.suppress(WhetError):
        found += config.variables_in(_text(hermes / ".env"))
    return tuple(dict.fromkeys(found))


def _identity(author: Author, hermes: Path) -> Iterator[HermesPiece]:
    body = marked_block.take_out(_text(hermes / SOUL).encode()) or b""
    place = files.beneath(author.home.folder, SOUL)
    standing = files.read(place)
    if not re.sub(rb"(?s)<!--.*?-->", b"", body).strip():
        return
    if Redactor().text(body.decode()) != body.decode():
        raise WhetError("it contains a secret")
    if standing not in (None, body):
        raise WhetError("something else of this name is here already")

    def write(_: Author) -> tuple[Entry, ...]:
        files.write(place, body, expected=None)
        return ()

    yield HermesPiece("identity", SOUL, write, is_known=standing == body)


def _notes(author: Author, hermes: Path, page: str, before: frozenset[tuple[Form, str]]) -> Iterator[HermesPiece]:
    def take(text: str, hand: Author) -> tuple[Entry, ...]:
        made = remember(hand, page, [NoteChange(Action.ADD, text)], limits=PERSONS)
        if isinstance(made, Refusal):
            raise WhetError(made.message)
        return made

    here = {note.text for note in notes_of(author, page).notes}
    for note in load(hermes_shelf(hermes), page).notes:
        is_known = note.text in here or (Form.NOTE, note.text) in before
        yield HermesPiece("note", f"{page}: {note.text}", partial(take, note.text), is_known=is_known)


def _skills(author: Author, hermes: Path, before: frozenset[tuple[Form, str]]) -> Iterator[HermesPiece]:
    base = hermes / "skills"
    downloaded = _downloaded(base)
    for path in sorted(base.rglob(skills.FILE)):
        folder = path.parent
        if any(part in HIDDEN for part in path.relative_to(base).parts) or (folder / ".whet.json").exists():
            continue
        # What nobody here wrote waits, and so does all where nobody can tell.
        is_foreign = downloaded is None or folder.name in downloaded
        yield from _apart("skill", folder.name, _skill(author, folder, before, is_foreign=is_foreign))


def _skill(
    author: Author, folder: Path, before: frozenset[tuple[Form, str]], *, is_foreign: bool
) -> Iterator[HermesPiece]:
    text = _text_inside(folder / skills.FILE, folder)
    told = skills.read(text).name or folder.name
    name = re.sub(r"[^a-z0-9]+", "-", told.lower()).strip("-")
    text = text if told == name else with_field(text, "name", name)
    support, left = _support(folder)
    is_known = skill_files.read_text(author.home.folder, name) == text or (Form.SKILL, text) in before

    def take(hand: Author) -> Iterable[Entry]:
        return writing.add(hand._replace(trust=Trust.EXTERNAL) if is_foreign else hand, name, text, support)

    yield HermesPiece("skill", name, take, is_known=is_known, note=f"without {', '.join(left)}" if left else "")


def _support(folder: Path) -> tuple[dict[str, str], list[str]]:
    """The support files that are text, and the names of those that stay behind."""
    found: dict[str, str] = {}
    left: list[str] = []
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and each != folder / skills.FILE):
        name = path.relative_to(folder).as_posix()
        try:
            skills.file_names(name)
            found[name] = _text_inside(path, folder)
        except WhetError:
            left.append(name)
    return found, left


def _text_inside(path: Path, folder: Path) -> str:
    """A file of a skill, which brings none along that stands elsewhere."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise WhetError("it is a link to a file elsewhere")
    return _text(path)


def _downloaded(base: Path) -> frozenset[str] | None:
    """The skills that Hermes downloaded; None where nobody can tell."""
    try:
        lock = msgspec.json.decode(_text(base.joinpath(*HUB)) or '{"installed": {}}')
    except (msgspec.DecodeError, RecursionError, WhetError):
        return None
    installed = lock.get("installed") if isinstance(lock, dict) else None
    return frozenset(str(each) for each in installed) if isinstance(installed, dict) else None


def _jobs(hermes: Path, before: frozenset[tuple[Form, str]]) -> Iterator[HermesPiece]:
    file = hermes.joinpath(*jobs.FILE)
    if not file.is_file():
        return
    place = jobs.HermesPlace(hermes, str(Path.cwd()), local_zone(os.environ), time.time())

    def take(job: Job, author: Author) -> tuple[Entry, ...]:
        origin = replace(FROM_HERMES, said=f"a job of Hermes in {file}")
        return (keep_job(author._replace(trust=Trust.EXTERNAL, origin=origin), job),)

    for each in jobs.read(text_given(file, advice="Give Hermes' cron/jobs.json.", most=JOBS_BYTES), place):
        is_known = (Form.JOB, each.name) in before and not each.fault
        found = partial(take, each.job) if each.job and not each.fault else None
        yield HermesPiece("job", each.name, found, each.fault, is_known, note="; ".join(each.notes))


def _template(path: Path, before: frozenset[tuple[Form, str]]) -> Iterator[HermesPiece]:
    found = templates.read(_text(path), stem=path.stem).template
    is_known = (Form.TEMPLATE, found.name) in before
    yield HermesPiece("template", found.name, lambda author: (keep_template(author, found),), is_known=is_known)


def _settings(author: Author, hermes: Path) -> Iterator[HermesPiece]:
    found = config.read(_text(hermes / config.FILE))
    here = dict(leaves(read(loaded(author.home).text)))
    yield from (HermesPiece("setting", what, why=why) for what, why in found.left)
    for what, group in found.groups:
        is_known = all(here.get(each.path) == each.value for each in group)
        note = ", ".join(f"{dotted(each.path)} = {each.value}" for each in group)
        piece = HermesPiece("setting", what, partial(_assign, group), is_known=is_known, note=note)
        other = [each for each in group if here.get(each.path, each.value) != each.value]
        why = f"{dotted(other[0].path)} is set to something else here" if other else _fault(group)
        yield piece._replace(take=None, why=why, note="") if why else piece


def _fault(group: tuple[config.FoundSetting, ...]) -> str:
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


def _assign(group: tuple[config.FoundSetting, ...], author: Author) -> tuple[Entry, ...]:
    for each in group:
        assign(author.home, each.path, each.value)
    return ()


def _text(path: Path) -> str:
    """The text of a file, empty where there is none; raises WhetError where it has none that can be read."""
    try:
        if not os.path.lexists(path):
            return ""
        if not path.is_file():
            raise WhetError(f"{path.name} is not a file.")
        if path.stat().st_size > FILE_BYTES:
            raise WhetError(f"{path.name} is larger than {FILE_BYTES // 1_000_000} MB.")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WhetError(f"{path.name} is not UTF-8 text.") from error
    except OSError as error:
        raise WhetError(f"{path.name} cannot be read: {error.strerror}.") from error


def _give_notes(home: Home, hermes: Path) -> int:
    """Add the notes of this home to Hermes' own memory."""
    need_person(actor_of(os.environ))
    notes = [(name, note.text) for name in NAMES for note in load(MemoryFolder(home.folder), name).notes]
    tried = [(text, add_to_hermes(hermes, name, text)) for name, text in notes]
    refused = [(text, made) for text, made in tried if isinstance(made, Refusal)]
    left = [{"note": text, "reason": made.message} for text, made in refused if made.reason is not Reason.DUPLICATE]
    added = len(tried) - len(refused)
    lines = (f"Left out: {plain(each['note'])}\n  {plain(each['reason'])}" for each in left)
    told = f"Added {many(added, 'note')} to {plain(hermes)}; {len(refused) - len(left)} were already there."
    record = {"added": added, "known": len(refused) - len(left), "left_out": left}
    return give(record, (*lines, told), code=int(bool(left)))
