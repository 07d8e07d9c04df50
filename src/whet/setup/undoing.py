"""Taking back what `whet setup` did, exactly; what a person changed since is left, and named."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.author import Author
from whet.changes.job_changes import remove
from whet.errors import WhetError
from whet.hooks.installing import has_plugin, remove_hooks
from whet.jobs.nightly import NAME
from whet.ledger.entries import Actor
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.sessions.trust import Trust
from whet.setup.looking import SetupPlace
from whet.setup.plugins import clear_away, remove_plugin
from whet.setup.records import HookedAgent, SetupRecord, WrittenFile, is_as_left, load_record, save_record
from whet.setup.services import Control, control
from whet.store import files
from whet.store.opening import opened
from whet.targets import settings as targets
from whet.targets.readers import forget_calls
from whet.targets.sync import TargetChange, withdraw
from whet.targets.telling import order_of

LEFT = ("conflict", "skipped")


class Undone(NamedTuple):
    """One thing that was taken back, or left because a person changed it since."""

    words: str
    is_left: bool = False


def undo(here: SetupPlace, *, run: Control = control) -> tuple[Undone, ...]:
    """Take all of it back, the last first. Imported sessions stay: they are Whet's own copy."""
    record = load_record(here.home)
    done: list[Undone] = []
    if record.job is not None:
        done.append(_remove_job(here, record.job))
        if not done[-1].is_left:
            record = replace(record, job=None)
            save_record(here.home, record)
    if record.service is not None:
        done.append(_remove_service(here, record.service, run))
        if not done[-1].is_left:
            record = replace(record, service=None)
            save_record(here.home, record)
    for name in reversed(record.targets):
        done.append(_remove_target(here, name))
        if not done[-1].is_left:
            record = replace(record, targets=tuple(each for each in record.targets if each != name))
            save_record(here.home, record)
    done += _undo_hooks(here, record, run)
    return tuple(done)


def _undo_hooks(here: SetupPlace, record: SetupRecord, run: Control) -> Iterator[Undone]:
    for hooked in reversed(record.hooks):
        try:
            undone = take_back_hooks(hooked, run)
        except WhetError as error:
            yield Undone(f"The hooks of {hooked.agent} stay: {error.message} {error.advice}".strip(), is_left=True)
            continue
        yield undone
        if undone.is_left and hooked.program:
            continue  # its program has to remove it, from the copy that it knows
        forget_calls(here.home, hooked.agent)
        record = replace(record, hooks=tuple(each for each in record.hooks if each != hooked))
        save_record(here.home, record)
    if not any(each.program for each in record.hooks):
        clear_away(here.home)


def take_back_hooks(hooked: HookedAgent, run: Control) -> Undone:
    """Take the plugin or the hooks of one agent back."""
    return _remove_plugin(hooked, run) if hooked.program else _remove_hooks(hooked)


def _remove_job(here: SetupPlace, job: WrittenFile) -> Undone:
    if not Path(job.path).exists():
        return Undone(f"The job {NAME} was gone already.")
    if not is_as_left(job):
        return Undone(f"{job.path} was changed since, so the job stays. To remove it: `whet jobs remove {NAME}`.", True)
    with opened(here.home) as database:
        remove(
            Author(
                here.home,
                database,
                Actor.PERSON,
                Trust.OPERATOR,
                here.now,
                origin=PatchOrigin(PatchWriter.PERSON, said="setup undone"),
            ),
            NAME,
        )
    return Undone(f"Removed the job {NAME}.")


def _remove_service(here: SetupPlace, service: WrittenFile, run: Control) -> Undone:
    path = Path(service.path)
    if not path.exists():
        return Undone(f"{path} was gone already.")
    if not is_as_left(service):
        stop = " ".join(here.service.stop[0]) if here.service.stop else "its own program"
        return Undone(f"{path} was changed since, so the service stays. To stop it: `{stop}`.", True)
    for command in here.service.stop:
        run(command)
    _put_back(service)
    for command in here.service.after_removal:
        run(command)
    return Undone(f"Stopped the worker's service and removed {path}.")


def _remove_target(here: SetupPlace, name: str) -> Undone:
    standing = targets.load(here.home)
    target = next((each for each in standing if each.name == name), None)
    if target is None:
        return Undone(f"The target {name} was gone already.")
    others = tuple(each for each in standing if each is not target)
    with opened(here.home) as database:
        changes = withdraw(order_of(here.home, database, now=here.now), target, others)
    left = [change for change in changes if change.kind in LEFT]
    if left:
        return Undone(f"The target {name} stays: {left[0].note}", True)
    targets.remove(here.home, name)
    return Undone(f"Removed the target {name}: {_taken_out(changes, target)}.")


def _taken_out(changes: Iterable[TargetChange], target: targets.Target) -> str:
    """What was taken out of an agent's files, in words: never more than Whet's own."""
    removed = {change.path for change in changes if change.kind == "removed"}
    skills = [path for path in removed if path != target.file]
    words = [f"took Whet's skills out of {target.skills}"] if skills else []
    if target.file in removed and not Path(target.file).exists():
        words.insert(0, f"deleted {target.file}, which had Whet's own block alone")
    elif target.file in removed:
        words.insert(0, f"took Whet's own block out of {target.file}, the rest stays")
    return "; ".join(words) or f"Whet had written nothing to {target.file or target.skills}"


def _remove_hooks(hooked: HookedAgent) -> Undone:
    """The file as it was before; where it was changed since, Whet's hooks alone are taken out of it."""
    path = hooked.file.path
    if is_as_left(hooked.file):
        _put_back(hooked.file)
        return Undone(f"Put {path} back as it was.")
    changed = remove_hooks(hooked.agent, Path(hooked.config)).is_changed
    what = "Whet's hooks were taken out, the rest stays" if changed else "it has none of Whet's hooks"
    return Undone(f"{path} was changed since: {what}.", is_left=True)


def _remove_plugin(hooked: HookedAgent, run: Control) -> Undone:
    """By the program that installed it; its notes as they were before, where nobody changed them since."""
    is_untouched = is_as_left(hooked.file)
    failed = remove_plugin(hooked.agent, hooked.program, run)
    if failed and has_plugin(hooked.agent, Path(hooked.config)):
        return Undone(f"The plugin stays in {hooked.agent}. To remove it: `{failed}`.", is_left=True)
    if is_untouched:
        _put_back(hooked.file)
    return Undone(f"Removed the plugin from {hooked.agent}.")


def _put_back(written: WrittenFile) -> None:
    place = files.at(Path(written.path))
    body = files.read(place)
    if body is None:
        return
    if written.before is not None:
        files.write(place, written.before, expected=body)
        return
    files.remove(place, expected=body)
    for folder in written.folders:  # the innermost first; one that others use by now is not empty
        with contextlib.suppress(OSError):
            os.rmdir(folder)
