"""Setting up, step by step, each on record before it is done; and taking back what was done, exactly."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from whet.changes.writing import Author, keep_job, remove_named
from whet.errors import WhetError
from whet.intake.reading import ReadOrder
from whet.intake.taking import Progress, take
from whet.ledger.entries import Actor
from whet.ledger.patches import Form, PatchOrigin, PatchWriter
from whet.machine.looking import (
    HOOKS,
    IMPORT,
    NIGHTLY,
    SERVICE,
    TARGET,
    SetupPlace,
    SetupStep,
    StepState,
    find_agents,
    hooks_file,
    new_files,
    target_for,
)
from whet.machine.plugins import add_plugin, clear_away, digest_of_plugin, plugin_of, program_for, remove_plugin
from whet.machine.records import HookedAgent, SetupRecord, WrittenFile, is_as_left, load_record, save_record
from whet.machine.services import Control, control, start
from whet.own.jobs.job import NAME, nightly_job, written
from whet.secrets.redactor import secret_values
from whet.sessions.trust import Trust
from whet.store import files
from whet.store.database import Database
from whet.store.job_records import place_of
from whet.store.opening import opened
from whet.store.records import hash_of
from whet.store.settings_file import load
from whet.telling.context.zone import local_zone
from whet.telling.hooks.installing import are_outdated, has_plugin, install_hooks, remove_hooks
from whet.telling.targets import settings as targets
from whet.telling.targets.settings import forget_calls
from whet.telling.targets.sync import TargetChange, order_of, tell, withdraw
from whet.work.life import is_worker_alive

LEFT = ("conflict", "skipped")
READABLE = 0o644


class Undone(NamedTuple):
    """One thing that was taken back, or left because a person changed it since."""

    words: str
    is_left: bool = False


class StepResult(NamedTuple):
    """What became of a step: words for people, and whether it could not be done."""

    step: SetupStep
    words: str
    has_failed: bool = False


def set_up(
    here: SetupPlace, steps: tuple[SetupStep, ...], *, progress: Progress, run: Control = control
) -> tuple[StepResult, ...]:
    """Do every step that is to do; one that fails keeps no other from being done."""
    doing: dict[str, Callable[[SetupStep], str]] = {
        IMPORT: lambda step: _import(here, step, progress),
        HOOKS: lambda step: _add_hooks(here, step, run),
        TARGET: lambda step: _add_target(here, step),
        SERVICE: lambda _: _add_service(here, run),
        NIGHTLY: lambda _: _add_job(here),
    }
    results = []
    for step in steps:
        if step.state is StepState.TO_DO:
            try:
                results.append(StepResult(step, doing[step.kind](step)))
            except WhetError as error:
                results.append(StepResult(step, f"{error.message} {error.advice}".strip(), has_failed=True))
    return tuple(results)


def _import(here: SetupPlace, step: SetupStep, progress: Progress) -> str:
    paths = list(new_files(here).get(step.name, ()))
    order = ReadOrder(secrets=secret_values(here.environment))
    with opened(here.home) as database:
        report = take(database, here.home, paths, order, progress=progress)
    left_out = f"; {len(report.skipped):,} left out" if report.skipped else ""
    return f"Imported {report.imported + report.updated:,} sessions of {step.name}{left_out}."


def _add_hooks(here: SetupPlace, step: SetupStep, run: Control) -> str:
    """By the plugin where the agent's own program can install it, else by the hooks alone; hooks of old stay hooks."""
    config = next(each.config for each in find_agents(here.person, here.environment) if each.name == step.name)
    assert config is not None  # the plan has hooks for agents with a folder alone
    program, why = program_for(step.name, here.environment), ""
    if are_outdated(step.name, config):
        program = ""
    _take_back_older(here, step.name, run)
    if program:
        notes = config / plugin_of(step.name).notes
        try:
            _note_around(here, step, config, notes, partial(add_plugin, step.name, program, here.home, run), program)
            return f"Installed the plugin in {step.name}."
        except WhetError as error:
            why = f" The plugin could not be installed: {error.message}"
    path = hooks_file(step.name, config)
    _note_around(here, step, config, path, partial(install_hooks, step.name, config, here.home, here.program))
    return f"Added hooks to {path}.{why}"


def _take_back_older(here: SetupPlace, agent: str, run: Control) -> None:
    """What an older Whet installed, so that what stood there before both is what undoing leads back to."""
    for older in load_record(here.home).hooks:
        done = take_back_hooks(older, run) if older.agent == agent else None
        if done is not None and done.is_left and older.program:
            raise WhetError(done.words)


def _note_around(
    here: SetupPlace, step: SetupStep, config: Path, path: Path, act: Callable[[], object], program: str = ""
) -> None:
    """Have a file changed, on record before and after."""
    noted = HookedAgent(step.name, str(config), _before(path), program, digest_of_plugin() if program else "")
    record = load_record(here.home)
    others = tuple(each for each in record.hooks if each.agent != step.name)
    save_record(here.home, replace(record, hooks=(*others, noted)))
    try:
        act()
    except WhetError:
        if _before(path).before == noted.file.before:  # nothing was done, so there is nothing to take back
            save_record(here.home, replace(record, hooks=others))
        raise
    done = replace(noted, file=replace(noted.file, digest=hash_of(files.read(files.at(path)) or b"")))
    save_record(here.home, replace(record, hooks=(*others, done)))


def _add_target(here: SetupPlace, step: SetupStep) -> str:
    agent = next(each for each in find_agents(here.person, here.environment) if each.name == step.name)
    target = target_for(here, agent)
    assert target is not None
    record = load_record(here.home)
    save_record(here.home, replace(record, targets=(*record.targets, target.name)))
    targets.add(here.home, target)
    with opened(here.home) as database:
        tell(here.home, database, now=here.now)
    return f"Rules for {step.name} go to {target.file}."


def _add_service(here: SetupPlace, run: Control) -> str:
    service = here.service
    body = service.text.encode()
    noted = replace(_before(service.path), digest=hash_of(body))
    save_record(here.home, replace(load_record(here.home), service=noted))
    service.path.parent.mkdir(parents=True, exist_ok=True)
    files.write(files.at(service.path), body, expected=None, mode=READABLE)
    start(service, run)
    return f"The worker runs as a {service.kind} service: {service.path}."


def _add_job(here: SetupPlace) -> str:
    zone = local_zone(here.environment)
    job = nightly_job(here.nightly_at, program=str(here.program), timezone=zone, now=here.now)
    path = place_of(here.home.folder, job.name).path
    noted = WrittenFile(str(path), hash_of(written(job).encode()))
    save_record(here.home, replace(load_record(here.home), job=noted))
    with opened(here.home) as database:
        keep_job(_author(here, database, "set up"), job)
    return f"The job {job.name} is set for every night at {here.nightly_at} ({zone}).{_missing(here)}"


def undo(here: SetupPlace, *, run: Control = control) -> tuple[Undone, ...]:
    """Take all of it back, the last first. Imported sessions stay: they are Whet's own copy."""
    record = load_record(here.home)
    done: list[Undone] = []

    def note(undone: Undone, **rest: Any) -> None:
        nonlocal record
        done.append(undone)
        if not undone.is_left:
            record = replace(record, **rest)
            save_record(here.home, record)

    if record.job is not None:
        note(_remove_job(here, record.job), job=None)
    if record.service is not None:
        note(_remove_service(here, record.service, run), service=None)
    for name in reversed(record.targets):
        note(_remove_target(here, name), targets=tuple(each for each in record.targets if each != name))
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
        remove_named(_author(here, database, "setup undone"), Form.JOB, NAME)
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


def _author(here: SetupPlace, database: Database, said: str) -> Author:
    origin = PatchOrigin(PatchWriter.PERSON, said=said)
    return Author(here.home, database, Actor.PERSON, Trust.OPERATOR, here.now, origin=origin)


def _missing(here: SetupPlace) -> str:
    """What reading every night needs and this machine does not have yet."""
    has_worker = load_record(here.home).service is not None or is_worker_alive(here.home.folder)
    worker = "" if has_worker else " It needs a worker, which does not run here: start `whet worker`."
    is_set = load(here.home).reading.reader
    reader = "" if is_set else " No reader is set, so nothing is read: `whet config reading.reader claude`."
    return worker + reader


def _before(path: Path) -> WrittenFile:
    """A file as it stands now, and the folders that have to be made for it."""
    folders = tuple(str(each) for each in path.parents if not each.exists())
    body = files.read(files.at(path)) if path.parent.is_dir() else None
    return WrittenFile(str(path), "", body, folders)
