"""Jobs of Hermes: cron/jobs.json in its home, whose fields differ a little from version to version."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from whet.errors import WhetError
from whet.own.jobs.job import Job, check, name_for, schedule_of
from whet.text import fields

FILE = ("cron", "jobs.json")
SCRIPTS = "scripts"
LOCAL = ("", "local", "none")
PAUSED = ("paused", "disabled")
ENDED = ("completed", "done", "expired")


class HermesJob(NamedTuple):
    """A job as Whet can have it, and what of it was left behind; or why there is none."""

    name: str
    job: Job | None
    notes: tuple[str, ...] = ()
    fault: str = ""


class HermesPlace(NamedTuple):
    """Where Hermes lives, where a job works that names no folder, and the zone of the machine."""

    home: Path
    workdir: str
    zone: str
    now: float


def read(text: str, place: HermesPlace, *, taken: tuple[str, ...] = ()) -> tuple[HermesJob, ...]:
    """Every job in the file, each with what cannot be had here; raises WhetError where it is no such file."""
    try:
        document = msgspec.json.decode(text.removeprefix("\ufeff"))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise WhetError(f"The jobs of Hermes cannot be read: {error}.", advice="Give its cron/jobs.json.") from error
    listed = fields.objects(document, "jobs") if isinstance(document, dict) else document
    if not isinstance(listed, list) or (isinstance(document, dict) and "jobs" not in document):
        raise WhetError("This is not a Hermes jobs file.", advice="It is cron/jobs.json in Hermes' home.")
    found: list[HermesJob] = []
    for record in listed:
        if isinstance(record, dict):
            known = (*taken, *(each.name for each in found))
            found.append(_found(record, place, known))
    return tuple(found)


def _found(record: dict[str, Any], place: HermesPlace, taken: tuple[str, ...]) -> HermesJob:
    name = name_for(fields.text(record, "name", "id") or fields.text(record, "prompt"), taken)
    if fields.text(record, "state") in ENDED:
        return HermesJob(name, None, fault="it has ended")
    notes: list[str] = []
    try:
        job = _job(record, place, name, notes)
        schedule = schedule_of(job)
        if schedule.kind == "once" and schedule.at <= place.now:
            return HermesJob(name, None, fault="its time has passed")
        return HermesJob(name, check(job), tuple(notes))
    except WhetError as error:
        return HermesJob(name, None, fault=error.message)


def _job(record: dict[str, Any], place: HermesPlace, name: str, notes: list[str]) -> Job:
    skills = [each for each in fields.items(record, "skills") if isinstance(each, str) and each]
    times, done = (fields.whole(fields.mapping(record, "repeat"), key) for key in ("times", "completed"))
    is_once = fields.mapping(record, "schedule").get("kind") == "once"
    is_script_only = record.get("no_agent") is True
    job = Job(
        name=name,
        schedule=_schedule(record),
        timezone=fields.text(record, "timezone") or place.zone,
        added=float(int(place.now)),
        prompt="" if is_script_only else fields.text(record, "prompt"),
        skills=tuple(skills or filter(None, (fields.text(record, "skill"),))),
        script=_script(record, place),
        model=_model(record, notes),
        workdir=fields.text(record, "workdir") or place.workdir,
        repeat=0 if is_once else max(times - done, 0),
        paused=record.get("enabled") is False or fields.text(record, "state") in PAUSED,
    )
    delivered = fields.text(record, "deliver")
    if delivered not in LOCAL:
        notes.append(f"it was delivered to {delivered}; here Whet only stores its reports: set deliver")
    left = [key for key in ("context_from", "enabled_toolsets", "base_url", "profile") if record.get(key)]
    if left:
        notes.append(f"not imported: {', '.join(left)}")
    return replace(job, skills=tuple(dict.fromkeys(job.skills)))


def _schedule(record: dict[str, Any]) -> str:
    schedule = record.get("schedule")
    if isinstance(schedule, str):
        return schedule
    known = fields.mapping(record, "schedule")
    match known.get("kind"):
        case "once":
            return fields.text(known, "run_at")
        case "interval":
            return f"every {max(fields.whole(known, 'minutes'), 1)}m"
        case "cron":
            return fields.text(known, "expr")
    return fields.text(record, "schedule_display") or fields.text(known, "display")


def _script(record: dict[str, Any], place: HermesPlace) -> str:
    """The script's own file: Hermes keeps them in a folder of its own."""
    script = fields.text(record, "script")
    if not script:
        return ""
    path = Path(os.path.expanduser(script))
    path = path if path.is_absolute() else place.home / SCRIPTS / path
    quoted = "'" + str(path).replace("'", "'\\''") + "'"
    program = {".py": "python3 ", ".sh": "bash ", ".bash": "bash "}.get(path.suffix, "")
    return f"{program}{quoted}"


def _model(record: dict[str, Any], notes: list[str]) -> str:
    model, provider = fields.text(record, "model"), fields.text(record, "provider")
    if model and provider:
        return f"{provider}:{model}"
    if model or provider:
        notes.append(f"it named only {model or provider}; here it uses the model from the settings: set model")
    return ""
