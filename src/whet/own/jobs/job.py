"""Jobs: orders that recur, as the files that people edit.

The job that improves every night: its script leaves the work to the worker, which survives a crash.
"""

import datetime
import difflib
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, get_args, get_type_hints

import msgspec

from whet.errors import WhetError
from whet.ledger.patches import NAMES, Form
from whet.own.jobs import schedules
from whet.own.jobs.schedules import Schedule
from whet.text import toml
from whet.text.words import names
from whet.values import Value

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


class KeyMeaning(NamedTuple):
    """What a key of the file is for, and what stands there."""

    text: str
    form: str


SENSES: Mapping[str, KeyMeaning] = {
    "schedule": KeyMeaning("when it runs", "text in quotes"),
    "timezone": KeyMeaning("the time zone of the schedule", "text in quotes"),
    "added": KeyMeaning("the start of its intervals", "a date and time"),
    "prompt": KeyMeaning("the task for the agent", "text in quotes"),
    "skills": KeyMeaning("skills to load first", "a list of texts"),
    "script": KeyMeaning("a command line whose output the agent gets as data", "text in quotes"),
    "script_seconds": KeyMeaning("the time limit of the script, in seconds", "a number"),
    "model": KeyMeaning("the model to use instead of the one in the settings", "text in quotes"),
    "window": KeyMeaning("the context window of the model, in tokens", "a whole number"),
    "workdir": KeyMeaning("the agent's working folder", "text in quotes"),
    "tools": KeyMeaning("tool sets to allow", "a list of texts"),
    "remote": KeyMeaning("whether it runs on someone else's machine", "true or false"),
    "warm": KeyMeaning("a template to start from", "text in quotes"),
    "seconds": KeyMeaning("the time limit of a run, in seconds", "a number"),
    "deliver": KeyMeaning("where its report goes", f"one of {', '.join(get_args(Deliver))}"),
    "to": KeyMeaning("the file or command line for the report", "text in quotes"),
    "repeat": KeyMeaning("the number of runs after which it ends", "a whole number"),
    "paused": KeyMeaning("whether it is paused", "true or false"),
}


def read(text: str, *, name: str) -> Job:
    """A job from its file. Raises WhetError for what is not TOML, not a key, or not of its form."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WhetError(
            f"The job {name} cannot be read: {error}.", advice='Put text in quotes: prompt = "…".'
        ) from None
    for key in document:
        _expect_known(name, key)
    moment = document.pop("added", None)
    added = 0.0 if moment is None else _seconds(name, moment)
    for key, value in document.items():
        _expect_fitting(name, key, value)
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
            raise WhetError(f"{key} of the job {job.name} is less than 0.", advice=f"It is {SENSES[key].text}.")
    _expect_delivery(job)
    for tool in job.tools:
        _expect_tool(job, tool)
    return job


def schedule_of(job: Job) -> Schedule:
    """When the job runs; raises WhetError with what is allowed."""
    if job.schedule.lower().split()[:1] == ["in"] and not job.added:
        raise WhetError(
            f"The schedule of the job {job.name} is {job.schedule!r}, but its start is unknown.",
            advice='Write a date and time, such as "2026-12-01 09:00", or add it with `whet jobs add`.',
        )
    return schedules.parse(job.schedule, zone=job.timezone, now=job.added)


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


def _expect_known(name: str, key: str) -> None:
    if key in SENSES:
        return
    near = difflib.get_close_matches(key, SENSES, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise WhetError(f"The job {name} has the key {key}, which is unknown.", advice=f"{meant}Keys: {', '.join(SENSES)}.")


def _expect_fitting(name: str, key: str, value: object) -> None:
    try:
        msgspec.convert(value, get_type_hints(Job)[key])
    except msgspec.ValidationError:
        raise WhetError(
            f"{key} of the job {name} must be {SENSES[key].form}, not {str(value)[:80]!r}.",
            advice=f"It is {SENSES[key].text}.",
        ) from None


def _seconds(name: str, value: object) -> float:
    if not isinstance(value, datetime.datetime):
        raise WhetError(f"added of the job {name} must be a date and time.", advice="Such as 2026-12-01T09:00:00Z.")
    return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()


def _expect_delivery(job: Job) -> None:
    if job.deliver in ("file", "command") and not job.to.strip():
        what = {"file": "a path", "command": "a command line"}[job.deliver]
        raise WhetError(
            f"The job {job.name} delivers to a {job.deliver} but does not say which one.",
            advice=f"Give {what} in `to`.",
        )
    if job.deliver in ("none", "stdout") and job.to:
        raise WhetError(
            f"The job {job.name} says where to deliver, but not how.", advice=f"deliver is {SENSES['deliver'].form}."
        )


def _expect_tool(job: Job, tool: str) -> None:
    if tool in SETS or (tool.startswith("mcp__") and not is_withheld(tool)):
        return
    why = "talks to people or creates jobs, which a run may not do" if tool.startswith("mcp__") else "is not known"
    raise WhetError(
        f"The tool {tool} of the job {job.name} {why}.",
        advice=f"Sets: {', '.join(SETS)}; or a server's tool, such as mcp__files__read. Reports go through `deliver`.",
    )


NAME = "improve"
BUDGET = "--budget"


def nightly_job(at: str, options: Iterable[str] = (), *, program: str, timezone: str, now: float) -> Job:
    """The job for a time of day such as 03:30; raises WhetError for what is none."""
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", at)
    if found is None:
        raise WhetError(f"{at} is not a time of day.", advice="Give a time such as 03:30.")
    given = tuple(options)
    words = ("try", "--background", *given) if BUDGET in given else ("learn", "--background")
    script = shlex.join([program, *words])
    return Job(NAME, f"{int(found[2])} {int(found[1])} * * *", timezone=timezone, script=script, added=now)
