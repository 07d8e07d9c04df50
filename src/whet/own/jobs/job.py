"""Jobs: orders that recur, as the files that people edit, and when each is due.

The job that improves every night: its script leaves the work to the worker, which survives a crash.
"""

import datetime
import difflib
import itertools
import math
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, get_type_hints
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError

from whet.errors import WhetError
from whet.ledger.patches import NAMES, Form
from whet.own.runs.settings import words
from whet.text import toml
from whet.text.words import names
from whet.values import Value

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
UNIT_NAMES = names("second sec minute min hour hr day week")  # each begins with the letter of its unit
SHORTEST_SECONDS = 60
SLIP = 120.0  # seconds that a clock may be behind without having been set back
COUNTED = 10_000
_SPAN = re.compile(r"(?<!\d)(\d+)\s*([a-z]+)")
ALLOWED = (
    'Write "every 2h", "in 30m", a date and time such as "2026-12-01 09:00", or five fields of a crontab'
    ' such as "0 9 * * mon-fri".'
)
FOLDER = "jobs"
ENDING = ".toml"
HEAD = "# A job of Whet. To list the jobs, run `whet jobs`. Changes to this file apply from the next run.\n"
NAME_WORDS = 5
NAME_CHARACTERS = 40
LEAST_WINDOW = 64_000  # tokens: an unattended run reads a lot, and nobody is there to shorten it
Deliver = Literal["none", "file", "command", "stdout"]
# What a run may be given. Nobody is there to be asked or written to, and a job that makes jobs would never end.
TOOLS = ("files", "terminal", "memory", "skills", "search", "plan", "finish")
SETS = (*TOOLS, "reading", "templates")
_WITHHELD = names(
    "message send reply notify notification sms post cron cronjob schedule scheduler remind reminder"
    " clarify ask question questions confirm"
)
_WORD = re.compile(r"[a-z0-9]+")
_VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")
NAME = "improve"  # of the job that improves every night
# The keys of a job, and what each is.
SENSES: Mapping[str, str] = {
    "schedule": "when it runs",
    "timezone": "the time zone of the schedule",
    "added": "the start of its intervals",
    "prompt": "the task for the agent",
    "skills": "skills to load first",
    "script": "a command line whose output the agent gets as data",
    "script_seconds": "the time limit of the script, in seconds",
    "model": "the model to use instead of the one in the settings",
    "window": "the context window of the model, in tokens",
    "workdir": "the agent's working folder",
    "tools": "tool sets to allow",
    "remote": "whether it runs on someone else's machine",
    "warm": "a template to start from",
    "seconds": "the time limit of a run, in seconds",
    "deliver": "where its report goes",
    "to": "the file or command line for the report",
    "repeat": "the number of runs after which it ends",
    "paused": "whether it is paused",
}


class Schedule(Value, frozen=True):
    """When a job runs. `at` is a moment for once, and where intervals are counted from."""

    kind: Literal["once", "interval", "cron"]
    at: float = 0.0
    seconds: int = 0
    cron: str = ""
    zone: str = "UTC"


class DueRun(Value, frozen=True):
    """A run that is to be made now: for which moment, and how many before it were missed."""

    at: float
    missed_count: int = 0


def parse(text: str, *, zone: str, now: float) -> Schedule:
    """A schedule from a person's words; raises WhetError with what is allowed."""
    words, place = " ".join(text.lower().split()), zone_of(zone)
    if words.startswith("every "):
        seconds = _span(words.removeprefix("every "), text)
        if seconds < SHORTEST_SECONDS:
            raise WhetError(f"{text!r} runs too often.", advice="The shortest interval is one minute.")
        return Schedule("interval", at=now, seconds=seconds, zone=zone)
    if words.startswith("in "):
        return Schedule("once", at=now + _span(words.removeprefix("in "), text), zone=zone)
    moment = _moment(text.strip(), place)
    if moment is not None:
        if moment <= now:
            raise WhetError(f"{text!r} is in the past.", advice="Give a time in the future.")
        return Schedule("once", at=moment, zone=zone)
    return _crontab(text, words, zone, now)


def times(schedule: Schedule, moment: float) -> Iterator[float]:
    """Every time after a moment, the earliest first.

    At a change of clocks Debian's cron is followed: a job neither runs twice nor is left out.
    """
    if schedule.kind == "once":
        if schedule.at > moment:
            yield schedule.at
    elif schedule.kind == "interval":
        for step in itertools.count(max(math.floor((moment - schedule.at) / schedule.seconds) + 1, 1)):
            yield schedule.at + step * schedule.seconds
    else:
        start = datetime.datetime.fromtimestamp(moment, zone_of(schedule.zone))
        for found in CronSim(schedule.cron, start):
            if found.timestamp() > moment:  # of an hour that comes twice, the first one may be before
                yield found.timestamp()


def next_after(schedule: Schedule, moment: float) -> float | None:
    """The first time after a moment, or None where there is none."""
    return next(times(schedule, moment), None)


def due(schedule: Schedule, since: float, now: float) -> DueRun | None:
    """What to run, where `since` is the last time that was accounted for. Missed times make one run, and are told.

    A clock that went back makes nothing due again: `since` never does.
    """
    last, count = 0.0, 0
    for count, last in enumerate(itertools.takewhile(lambda time: time <= now, times(schedule, since)), start=1):
        if count == COUNTED:  # a machine that slept for years: the last time is what matters
            last = _last_before(schedule, now, last)
            break
    return DueRun(last, count - 1) if count else None


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise WhetError(
            f"There is no time zone {name!r}.",
            advice='Write it as "Europe/Berlin". If this machine has no time zone data, run `pip install tzdata`.',
        ) from None


def _crontab(text: str, words: str, zone: str, now: float) -> Schedule:
    if len(words.split()) != 5:
        raise WhetError(f"{text!r} is not a schedule.", advice=ALLOWED)
    schedule = Schedule("cron", at=now, cron=words, zone=zone)
    try:
        first = next_after(schedule, now)
    except CronSimError as error:
        raise WhetError(f"{text!r} is not a schedule: {error}.", advice=ALLOWED) from None
    if first is None:
        raise WhetError(f"{text!r} never occurs.", advice="Check its day and month.")
    return schedule


def _last_before(schedule: Schedule, now: float, known: float) -> float:
    """The last time that is not after now."""
    if schedule.kind == "interval":
        return schedule.at + math.floor((now - schedule.at) / schedule.seconds) * schedule.seconds
    backwards = CronSim(schedule.cron, datetime.datetime.fromtimestamp(now, zone_of(schedule.zone)), reverse=True)
    found = next(iter(backwards)).timestamp()
    return found if known < found <= now else known


def _span(words: str, text: str) -> int:
    """Seconds of a length of time such as 2h, 1h 30m or 90 minutes."""
    parts = _SPAN.findall(words)
    seconds = 0
    for number, unit in parts:
        singular = unit.removesuffix("s") or unit
        if unit not in UNITS and singular not in UNIT_NAMES:
            raise WhetError(f"{text!r} is not a schedule: {unit} is not a unit of time.", advice=ALLOWED)
        seconds += int(number) * UNITS[unit[0]]
    if not seconds or _SPAN.sub("", words).replace("and", "").replace(",", "").strip():
        raise WhetError(f"{text!r} is not a schedule.", advice=ALLOWED)
    return seconds


def _moment(text: str, place: ZoneInfo) -> float | None:
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=place)).timestamp()


class Job(Value, frozen=True):
    """An order that recurs. `added` is where intervals are counted from, in seconds since 1970."""

    name: str
    schedule: str = ""  # as the person wrote it
    timezone: str = "UTC"
    added: float = 0.0
    prompt: str = ""
    skills: tuple[str, ...] = ()
    script: str = ""  # a command line of the person's own, run before the agent; its output is data
    script_seconds: float = 300.0
    model: str = ""
    window: int = 0  # tokens, where the person knows better
    workdir: str = ""
    tools: tuple[str, ...] = ()
    remote: bool = False  # it runs on a machine that is not the person's own: no terminal
    warm: str = ""
    seconds: float = 3600.0
    deliver: Deliver = "none"
    to: str = ""  # a file or a command line; $NAME is taken from the environment
    repeat: int = 0  # runs by schedule, 0 for no end
    paused: bool = False


def read(text: str, *, name: str) -> Job:
    """A job from its file. Raises WhetError for what is not TOML, not a key, or not of its form."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WhetError(
            f"The job {name} cannot be read: {error}.", advice='Put text in quotes: prompt = "…".'
        ) from None
    for key, value in document.items():
        _expect(name, key, value)
    moment = document.get("added")
    # A time without a zone is meant as one of UTC.
    added = (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp() if moment else 0.0
    return check(msgspec.convert({**document, "name": name, "added": added}, Job))


def written(job: Job) -> str:
    """The text of a job's file; `read` gives the same job again."""
    usual = msgspec.structs.asdict(Job(""))
    fields = {key: getattr(job, key) for key in SENSES if key == "schedule" or getattr(job, key) != usual[key]}
    if job.added:
        fields["added"] = datetime.datetime.fromtimestamp(job.added, datetime.UTC)
    return HEAD + toml.table(fields)


def check(job: Job) -> Job:
    """The job as it is; raises WhetError with what is allowed where it cannot be carried out as written."""
    if NAMES[Form.JOB].fullmatch(job.name) is None:
        raise WhetError(f"{job.name!r} is not a valid job name.", advice="Use lower-case words joined by hyphens.")
    schedule_of(job)
    if not (job.prompt.strip() or job.script.strip()):
        raise WhetError(f"The job {job.name} has nothing to do.", advice="Give it a prompt or a script.")
    if job.prompt and not job.workdir:
        raise WhetError(f"The job {job.name} has no working folder.", advice='Give a folder: workdir = "/path".')
    for key in ("script_seconds", "window", "seconds", "repeat"):
        if getattr(job, key) < 0:
            raise WhetError(f"{key} of the job {job.name} is less than 0.", advice=f"It is {SENSES[key]}.")
    if job.deliver in ("file", "command") and not job.to.strip():
        raise WhetError(
            f"The job {job.name} delivers to a {job.deliver} but does not say which one.",
            advice=f"Give {'a path' if job.deliver == 'file' else 'a command line'} in `to`.",
        )
    if job.deliver in ("none", "stdout") and job.to:
        advice = f"deliver is {words(Deliver)}."
        raise WhetError(f"The job {job.name} says where to deliver, but not how.", advice=advice)
    for tool in job.tools:
        is_served = tool.startswith("mcp__")
        if tool not in SETS and (not is_served or is_withheld(tool)):
            why = "talks to people or creates jobs, which a run may not do" if is_served else "is not known"
            advice = (
                f"Sets: {', '.join(SETS)}; or a server's tool, such as mcp__files__read. Reports go through `deliver`."
            )
            raise WhetError(f"The tool {tool} of the job {job.name} {why}.", advice=advice)
    return job


def schedule_of(job: Job) -> Schedule:
    """When the job runs; raises WhetError with what is allowed."""
    if job.schedule.lower().split()[:1] == ["in"] and not job.added:
        raise WhetError(
            f"The schedule of the job {job.name} is {job.schedule!r}, but its start is unknown.",
            advice='Write a date and time, such as "2026-12-01 09:00", or add it with `whet jobs add`.',
        )
    return parse(job.schedule, zone=job.timezone, now=job.added)


def stamp(job: Job) -> str:
    """What a person changes when the job is to run at other times."""
    return f"{job.schedule} {job.timezone}".rstrip(" ")


def tools_of(job: Job) -> tuple[str, ...]:
    """The sets of tools of its runs: always one to end with, and no terminal on another's machine."""
    chosen = dict.fromkeys((*(job.tools or TOOLS), "finish"))
    return tuple(tool for tool in chosen if not (job.remote and tool == "terminal"))


def name_for(words: str, taken: Iterable[str]) -> str:
    """A name for a job from what it is to do, that no other has."""
    found = _WORD.findall(words.lower())[:NAME_WORDS]
    name = "-".join(found)[:NAME_CHARACTERS].strip("-") or "job"
    known = frozenset(taken)
    numbered = (f"{name}-{number}" for number in range(2, len(known) + 3))
    return name if name not in known else next(each for each in numbered if each not in known)


def is_withheld(tool: str) -> bool:
    """Whether a tool of a server speaks to people, asks them, or makes further jobs, as far as its name tells."""
    return not _WITHHELD.isdisjoint(_WORD.findall(tool.lower().replace("_", " ")))


def address(target: str, environment: Mapping[str, str]) -> str:
    """Where a report goes: as it is written, or what a variable of the environment holds."""
    if not _VARIABLE.fullmatch(target):
        return target
    value = environment.get(target[1:], "")
    if not value:
        raise WhetError(f"The variable {target} is not set.", advice="Set it to where the report goes.")
    return value


def _expect(name: str, key: str, value: object) -> None:
    """Raise WhetError for what is no key of a job, or not of its form."""
    if key not in SENSES:
        near = difflib.get_close_matches(key, SENSES, n=1)
        advice = f"{f'Did you mean {near[0]}? ' if near else ''}Keys: {', '.join(SENSES)}."
        raise WhetError(f"The job {name} has the key {key}, which is unknown.", advice=advice)
    is_moment = key == "added"
    expected = datetime.datetime if is_moment else get_type_hints(Job)[key]
    try:
        msgspec.convert(value, expected)
    except msgspec.ValidationError:
        form = "a date and time such as 2026-12-01T09:00:00Z" if is_moment else words(expected)
        raise WhetError(
            f"{key} of the job {name} must be {form}, not {str(value)[:80]!r}.", advice=f"It is {SENSES[key]}."
        ) from None


def nightly_job(at: str, *, program: str, timezone: str, now: float) -> Job:
    """The job for a time of day such as 03:30; raises WhetError for what is none."""
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", at)
    if found is None:
        raise WhetError(f"{at} is not a time of day.", advice="Give a time such as 03:30.")
    script = shlex.join([program, "learn", "--background"])
    return Job(NAME, f"{int(found[2])} {int(found[1])} * * *", timezone=timezone, script=script, added=now)
