"""What is in force, brought to every target: one block a file, one copy a skill, and nothing else touched.

The sync log: from when on which rules stood in which file of an agent, one line of the home for each change.
"""

import difflib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from whet.agents.registry import known
from whet.errors import WhetError
from whet.ledger.entries import Item
from whet.ledger.marked_block import HASH_BYTES, Damage, find, place, take_out
from whet.store import files
from whet.store.canary_counts import Delivery, keep_delivery
from whet.store.database import Database
from whet.store.folders import NEW_FILE
from whet.store.home import Home, prepare_home
from whet.store.ledger import ledger_of
from whet.telling.targets import skill_folders
from whet.telling.targets.drawing import TextsToTell, deliveries_of, drawn, for_files, offered, text_for
from whet.telling.targets.project_names import repository_root
from whet.telling.targets.settings import FILE_AGENT, Target, hooked_agents, is_shown, load
from whet.telling.targets.skill_folders import Content, Copy, Kind, TargetFile, keep, lead, look, tidy
from whet.values import Value

Result = TypeVar("Result")
ATTEMPTS = 5
PROJECT_FILE_MODE = 0o644  # others who work in the project read it too
LOG_NAME = "sync-log.jsonl"  # a file and no table: the files that agents read are this machine's, as are their sessions


class FileTelling(Value, frozen=True):
    """The entries of the rules that stood in a file from a moment on, and for whose sessions."""

    at: float
    file: str
    agents: tuple[str, ...]
    project: str  # the folder of the project; empty: for every project
    entries: tuple[int, ...]


class FileStay(NamedTuple):
    """From when to when a rule stood in a file; until None: it stands there now, as far as Whet wrote it."""

    file: str
    since: float
    until: float | None = None


def load_log(home: Home) -> tuple[FileTelling, ...]:
    """What was noted, the oldest first. A line that a crash cut short is left out."""
    found = []
    for line in (files.read(files.beneath(home.folder, LOG_NAME)) or b"").splitlines():
        try:
            found.append(msgspec.json.decode(line, type=FileTelling))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
    return tuple(found)


def note(home: Home, telling: FileTelling) -> None:
    """Note what stands in a file now, where that is not what was noted of it last."""
    last = next((each for each in reversed(load_log(home)) if each.file == telling.file), None)
    if last is not None and msgspec.structs.replace(last, at=telling.at) == telling:
        return
    prepare_home(home)
    before = files.read(files.beneath(home.folder, LOG_NAME)) or b"\n"
    start = b"" if before.endswith(b"\n") else b"\n"  # a line that was cut short takes no other with it
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(home.folder / LOG_NAME, flags, NEW_FILE)
    try:
        os.write(descriptor, start + msgspec.json.encode(telling) + b"\n")
    finally:
        os.close(descriptor)


def entries_for(log: Iterable[FileTelling], *, agent: str, folder: str, at: float) -> frozenset[int] | None:
    """What stood at a moment in the files that an agent reads in a folder; None where nothing was noted by then."""
    latest = {
        each.file: each
        for each in log
        if each.at <= at and is_shown(each.agents, each.project, agent=agent, folder=folder)
    }
    return frozenset(number for each in latest.values() for number in each.entries) if latest else None


def stays_of(log: Iterable[FileTelling], entry: int) -> tuple[FileStay, ...]:
    """Where and when a rule stood, the first first."""
    found: list[FileStay] = []
    for each in log:
        is_there = any(stay.file == each.file and stay.until is None for stay in found)
        if entry in each.entries and not is_there:
            found.append(FileStay(each.file, each.at))
        elif entry not in each.entries and is_there:
            found = [
                stay._replace(until=each.at) if stay.file == each.file and stay.until is None else stay
                for stay in found
            ]
    return tuple(found)


class TargetChange(NamedTuple):
    """What became of one file or one skill."""

    targets: tuple[str, ...]
    path: str
    kind: Kind
    note: str = ""
    diff: str = ""


class Readers(NamedTuple):
    """The targets that share a file or folder; none are left when the one that leaves was the last."""

    targets: tuple[Target, ...]
    leaving: tuple[Target, ...] = ()

    @property
    def first(self) -> Target:
        return (*self.targets, *self.leaving)[0]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(target.name for target in self.targets or self.leaving)

    @property
    def are_gone(self) -> bool:
        """Whether their project is no more: it must not be made again."""
        return bool(self.targets and self.first.project and not Path(self.first.project).is_dir())


class SyncOrder(NamedTuple):
    """How to sync: `offer` tells what is in force now, and is asked again at the end."""

    home: Home
    offer: Callable[[], TextsToTell]
    dry_run: bool = False
    force: bool = False
    day: str = ""  # by which canaries are drawn for each file; without one they are left out
    delivered: Callable[[Delivery], None] | None = None  # told of what stands in the files now
    hooked: frozenset[str] = frozenset()  # the agents whose sessions are drawn for by their hooks
    noted: Callable[[FileTelling], None] | None = None  # told which rules stand in a file now


def sync(order: SyncOrder, targets: tuple[Target, ...]) -> tuple[TargetChange, ...]:
    """Bring every target up to date. What cannot be written is reported and does not stop the others."""
    changes: dict[str, TargetChange] = {}
    for _ in range(ATTEMPTS):
        offer = order.offer()
        for change in _round(order, offer, targets):
            if change.path not in changes or change.kind != "unchanged":
                changes[change.path] = change
        if order.dry_run or order.offer() == offer:  # else another sync may have written what is newer before us
            break
    return tuple(changes.values())


def _round(order: SyncOrder, offer: TextsToTell, targets: tuple[Target, ...]) -> Iterator[TargetChange]:
    for path, sharing in _shared(targets, "file").items():
        fitting = for_files(offer, sharing, order.hooked)
        rules = drawn(fitting, path, order.day)
        change = deliver(order, rules, path, Readers(sharing))
        _note(order, rules, path, Readers(sharing), change)
        if order.delivered and not order.dry_run and change.kind not in ("conflict", "skipped"):
            for delivery in deliveries_of(fitting, path, order.day, sharing):
                order.delivered(delivery)
        yield change
    for folder, sharing in _shared(targets, "skills").items():
        yield from deliver_skills(order, offer.skills, folder, Readers(sharing))


def withdraw(order: SyncOrder, target: Target, others: tuple[Target, ...]) -> tuple[TargetChange, ...]:
    """Take out what was written for one target; what others share with it stays for them."""
    changes: list[TargetChange] = []
    offer = order.offer()
    if target.file:
        sharing = tuple(other for other in others if other.file and _real(other.file) == _real(target.file))
        rules = drawn(for_files(offer, sharing, order.hooked), target.file, order.day)
        readers = Readers(sharing, (target,))
        changes.append(deliver(order, rules, target.file, readers))
        _note(order, rules, target.file, readers, changes[-1])
    if target.skills and not any(other.skills and _real(other.skills) == _real(target.skills) for other in others):
        changes += deliver_skills(order, {}, target.skills, Readers((), (target,)))
    return tuple(changes)


def _note(order: SyncOrder, rules: tuple[Item, ...], path: str, readers: Readers, change: TargetChange) -> None:
    """Say which rules stand in a file now, so that it is known later what its sessions had read."""
    if order.noted is None or order.dry_run or change.kind in ("conflict", "skipped"):
        return
    agents = tuple(sorted({target.agent for target in readers.targets or readers.leaving}))
    entries = text_for(readers.targets, rules).entries
    order.noted(FileTelling(0.0, os.path.realpath(path), agents, readers.first.project, entries))


def deliver(order: SyncOrder, rules: tuple[Item, ...], path: str, readers: Readers) -> TargetChange:
    """Write the block of one file, or take it out where nobody reads it any more."""
    names = readers.names
    if readers.are_gone:
        return TargetChange(names, path, "skipped", f"The folder {readers.first.project} does not exist.")
    return _tried(
        partial(_deliver, order, rules, path, readers), path, lambda kind, note: TargetChange(names, path, kind, note)
    )


def _deliver(order: SyncOrder, rules: tuple[Item, ...], path: str, readers: Readers) -> TargetChange:
    first, names = readers.first, readers.names
    # In a repository, links are a stranger's word.
    fence = first.project or str((first.agent == FILE_AGENT and repository_root(Path(path).parent)) or "")
    found = look(Path(path), project=fence, home=order.home)
    text, left_out, _ = text_for(readers.targets, rules)
    standing = None if found.content is None else find(found.content)
    if isinstance(standing, Damage):
        advice = "Remove the lines that start with `<!-- whet:` by hand, then run `whet sync`."
        return TargetChange(names, path, "conflict", f"{path} cannot be updated: {standing.reason}. {advice}")
    if standing and standing.edited and not order.force:
        note = f"The block in {path} was edited. Undo the edit, or run `whet sync --force` to replace it."
        lines = (standing.text.splitlines(), text.splitlines())
        diff = "\n".join(difflib.unified_diff(*lines, "in the file", "Whet's", lineterm=""))
        return TargetChange(names, path, "conflict", note, diff)
    agent = known(first.agent)
    its = agent.files if agent else None
    if found.content is None and text and agent and its and its.has_default and not first.project:
        note = f"{path} does not exist. Start {agent.name} once, so that it creates the file."
        return TargetChange(names, path, "skipped", note)
    after = place(found.content, text, preamble=its.preamble if its else b"")
    note = " ".join(filter(None, (found.note, _unwritten(readers, rules, text, left_out))))
    if standing and standing.edited and not order.dry_run:
        saved = _keep_bytes(order.home, path, standing.text.encode("utf-8", "surrogateescape") + b"\n")
        note = f"The edited text was saved as {saved}. {note}".strip()
    old, new = ((each or b"").decode("utf-8", "replace").splitlines() for each in (found.content, after))
    diff = "\n".join(difflib.unified_diff(old, new, "before", "after", lineterm="", n=1))
    return _put(order, found, after, first, TargetChange(names, path, "written", note, diff))


def _unwritten(readers: Readers, rules: tuple[Item, ...], text: str, left_out: int) -> str:
    """What a person may wonder about: rules in force that are not in the file."""
    if left_out:
        return f"{left_out} rules do not fit into the limit."
    is_empty = readers.targets and rules and not text
    return f"No active rule applies to {', '.join(readers.names)}." if is_empty else ""


def _put(order: SyncOrder, found: TargetFile, after: bytes | None, first: Target, change: TargetChange) -> TargetChange:
    if after == found.content:
        return change._replace(kind="unchanged")
    removed = after is None or (found.content is not None and after == take_out(found.content))
    if not order.dry_run and after is None and found.content is not None:
        files.remove(found.place, expected=found.content)
        tidy(found.place.path.parent, first.project)
    elif not order.dry_run and after is not None:
        mode = PROJECT_FILE_MODE if first.project else NEW_FILE
        files.write(found.place, after, expected=found.content, mode=mode)
    return change._replace(kind="removed" if removed else "written")


def deliver_skills(
    order: SyncOrder, wanted: Mapping[str, Content], folder: str, readers: Readers
) -> list[TargetChange]:
    """Copy the skills into one folder, and take those out that are no more."""
    home = str(order.home.folder)
    if readers.are_gone:
        return []
    try:
        real = lead(Path(folder), project=readers.first.project)
        gone = [name for name in skill_folders.copied(real, home, project=readers.first.project) if name not in wanted]
    except WhetError as error:
        return [TargetChange(readers.names, folder, "skipped", f"{error.message} {error.advice}".strip())]
    save = partial(_keep_bytes, order.home) if order.force else None
    hand = skill_folders.CopyOptions(home, order.dry_run, save, readers.first.project)
    acts = {name: partial(skill_folders.copy, real, name, content, hand) for name, content in wanted.items()}
    acts |= {name: partial(skill_folders.withdraw, real, name, hand) for name in gone}
    copies = [_tried(act, name, partial(Copy, name)) for name, act in acts.items()]
    if not readers.targets and not order.dry_run:
        tidy(real, readers.first.project)
    return [TargetChange(readers.names, str(Path(folder) / each.name), each.kind, each.note) for each in copies]


def _tried(act: Callable[[], Result], name: str, otherwise: Callable[[Kind, str], Result]) -> Result:
    """What came of a write, tried again where another one came in between."""
    for _ in range(ATTEMPTS):
        try:
            return act()
        except files.Conflict:
            continue
        except WhetError as error:
            return otherwise("skipped", f"{error.message} {error.advice}".strip())
    return otherwise("conflict", f"{name} kept changing while Whet was writing it.")


def _shared(targets: tuple[Target, ...], field: str) -> dict[str, tuple[Target, ...]]:
    """The targets by the file or folder that they really share, under the first name for it."""
    groups: dict[Path, tuple[Target, ...]] = {}
    for target in targets:
        path = target.file if field == "file" else target.skills
        if path:
            groups[_real(path)] = (*groups.get(_real(path), ()), target)
    return {(each[0].file if field == "file" else each[0].skills): each for each in groups.values()}


def _real(path: str) -> Path:
    return Path(os.path.realpath(path))


def _keep_bytes(home: Home, path: str, body: bytes) -> Path:
    """Saved under its name and its hash."""
    name = hashlib.blake2b(body, digest_size=HASH_BYTES).hexdigest()
    return keep(home, f"{Path(path).stem}-{name}{Path(path).suffix}", body)


def tell(home: Home, database: Database, *, now: float) -> tuple[TargetChange, ...]:
    """Bring every target up to date; each day draws anew which files have a canary."""
    targets = load(home)
    return sync(order_of(home, database, now=now), targets) if targets else ()


def order_of(home: Home, database: Database, *, now: float, dry_run: bool = False, force: bool = False) -> SyncOrder:
    """How targets are written: what is in force with the canaries of the day, and what stood there kept on record."""

    def keep(delivery: Delivery) -> None:
        keep_delivery(database, delivery._replace(at=now))

    def log(telling: FileTelling) -> None:
        note(home, replace(telling, at=now))

    offer = partial(offered, home, ledger_of(home, database))
    hooked = hooked_agents(home, now=now)
    return SyncOrder(home, offer, dry_run, force, day=day_of(now), delivered=keep, hooked=hooked, noted=log)


def day_of(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).date().isoformat()
