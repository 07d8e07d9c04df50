"""A run of a job as a session: skills first, then the script's output as data, then the prompt as it was written."""

import time
from collections.abc import Iterable, Mapping
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.assembling import RunPlace, RunRequest
from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import provider_for
from whet.agent.session import SessionRequest, Talk
from whet.errors import WhetError
from whet.jobs.job import LEAST_WINDOW, Job, tools_of
from whet.jobs.runs import JobRecord, JobResult, missed_words, moment, report_in, result_of
from whet.proving.attempt import Supply
from whet.runs.models import Model, address_of
from whet.runs.run import Ended, Spent, together
from whet.runs.settings import ModelFacts, Settings
from whet.scheduling.material import folder_of
from whet.scheduling.windows import with_window
from whet.sessions.transcripts import Ending, Message, Origin, Purpose, Role, Text, session_id
from whet.sessions.trust import Trust
from whet.shipped.guidance import jobs as words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.recording import SOURCE
from whet.store.sessions import stored
from whet.store.settings_file import load
from whet.text.quoting import mark_for, quoted, shortened, visible
from whet.told.passages import Circumstances, is_small
from whet.values import Value

SHARE_OF_ROOM = 0.4
UNKNOWN_ROOM_TOKENS = 50_000


class LoadedSkill(Value, frozen=True):
    """A skill as it was when the run began."""

    name: str
    body: str


class JobTask(Value, frozen=True):
    """What a run gives the agent."""

    prompt: str
    skills: tuple[LoadedSkill, ...] = ()
    material: str = ""  # what the script printed


class JobScene(NamedTuple):
    """What a session is carried out with."""

    home: Home
    database: Database
    environment: Mapping[str, str]
    interrupt: Event
    supply: Supply | None = None  # who answers; None: as the settings say


def carry_out(scene: JobScene, record: JobRecord, task: JobTask) -> JobResult:
    """Give the agent the task and say what came of it. A session that a worker left behind is gone on with."""
    job = record.job
    known = stored(scene.database, session_id(SOURCE, _id(record)))
    before = spent_on(scene.database, record)
    settings, folder = settings_for(load(scene.home), job), folder_of(job)
    chosen = _chosen(scene, settings)
    expect_window(chosen.model, settings, job)
    request = RunRequest(
        settings, RunPlace(folder, scene.environment), purpose=Purpose.JOB, id=_id(record), chosen=chosen
    )
    asked = SessionRequest(request, resumed=known.id if known else "", template=job.warm)
    talk = Talk(scene.home, scene.database, asked)
    try:
        ended = _resume(scene, talk) if known else _begin(scene, talk, record, task)
        spent = together((before, ended.spent))
        if ended.ending is Ending.FINISHED and ended.report is None:
            ended = _remind(scene, talk)
            spent = together((spent, ended.spent))
    finally:
        talk.close()
    said = [message for message in talk.run.messages if message.role is Role.AGENT]
    answer = next((message.text for message in reversed(said) if message.text.strip()), "")
    return replace(
        result_of(replace(ended, spent=spent), answer),
        session=session_id(SOURCE, talk.run.id),
        notes=tuple(talk.news),
        model=next((message.model for message in reversed(said) if message.model), talk.served.model.name),
        provider=talk.served.provider.name,
    )


def spent_on(database: Database, record: JobRecord) -> Spent:
    """What a run has cost so far, as its session and those that continue it tell."""
    [counts] = database.query(
        "WITH RECURSIVE own(id, input, output, cached, dollars) AS ("
        " SELECT id, input_tokens, output_tokens, cached_tokens, cost_dollars FROM sessions WHERE id = ?"
        " UNION ALL SELECT s.id, s.input_tokens, s.output_tokens, s.cached_tokens, s.cost_dollars"
        " FROM sessions AS s JOIN own ON s.parent_id = own.id WHERE s.purpose = ?)"
        " SELECT coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cached), 0), sum(dollars) FROM own",
        (session_id(SOURCE, _id(record)), Purpose.JOB.value),
    )
    tokens, dollars = [int(count) for count in counts[:3]], counts[3]
    return Spent(input=tokens[0], output=tokens[1], cached=tokens[2], dollars=dollars)


def settings_for(settings: Settings, job: Job) -> Settings:
    """The settings with what the job says over them."""
    known = (ModelFacts("", window=job.window),) if job.window else ()
    return replace(
        settings,
        model=job.model or settings.model,
        tools=tools_of(job),
        models=(*settings.models, *known),
        budget=replace(settings.budget, seconds=job.seconds or settings.budget.seconds),
        prompt=replace(settings.prompt, platform=""),
    )


def _chosen(scene: JobScene, settings: Settings) -> Chosen:
    """Who answers; a window that nobody told of is asked for."""
    home, environment = scene.home, scene.environment
    chosen = (
        scene.supply(home, settings, "") if scene.supply else provider_for(settings, environment=environment, home=home)
    )
    return with_window(chosen, settings, environment=environment, interrupt=scene.interrupt, least=LEAST_WINDOW)


def limits_of(model: Model, tools: Iterable[str]) -> tuple[str, ...]:
    """What a run must do without: no request carries pictures, and the rest depends on the model and its tools."""
    lacks = {
        "pictures": True,
        "window": model.window is not None and model.window < LEAST_WINDOW,
        "calls": model.tools == "text",
        "size": is_small(Circumstances(model=model.name, size=model.size)),
        "terminal": "terminal" not in tools,
    }
    return tuple(name for name, lacking in lacks.items() if lacking)


def expect_window(model: Model, settings: Settings, job: Job) -> None:
    """Raise WhetError for a model that reads too little for work without a person, unless a length is configured."""
    if model.window is None or model.window >= LEAST_WINDOW:
        return
    told = any(facts.window for facts in settings.models if facts.name in (model.name, ""))
    is_local = address_of(settings).endpoint.kind == "local"
    if told or (is_local and settings.local.context_tokens):
        return
    setting = "local.context_tokens" if is_local else f"models.{model.name}.window"
    raise WhetError(
        f"The context window of {model.name} is {model.window:,} tokens; a job needs {LEAST_WINDOW:,}.",
        advice="Choose another model, give its server a larger context if it is yours, or accept this window:"
        f" `whet config {setting} NUMBER`, or `window = {model.window}` in the job {job.name}.",
    )


def _begin(scene: JobScene, talk: Talk, record: JobRecord, task: JobTask) -> Ended:
    """What stands before the prompt is the program's; the prompt alone is the person's, and what choices go by."""
    missed = f" {missed_words(record)}" if record.missed_count else ""
    model = talk.served.model
    lacks = limits_of(model, (tool.name for tool in talk.run.shown))
    order = words.order(
        name=record.job.name,
        scheduled=moment(record.scheduled),
        missed=missed,
        model=model.name,
        provider=talk.served.provider.name,
        limits=words.limits(*lacks, window=model.window),
    )
    before = (
        *(_inserted(words.skill(skill.name, skill.body), Trust.AGENT) for skill in task.skills),
        *((_material(task.material, talk.run.room),) if task.material.strip() else ()),
        _inserted(order, Trust.OPERATOR),
    )
    return _last(list(talk.turn(task.prompt, interrupt=scene.interrupt, before=before)))


def _resume(scene: JobScene, talk: Talk) -> Ended:
    """How the session ended, if it had; else it goes on. A call without a result is told that it may have happened."""
    session = stored(scene.database, session_id(SOURCE, talk.run.id))
    if session is not None and session.ending not in (Ending.UNKNOWN.value, Ending.INTERRUPTED.value):
        return Ended(Ending(session.ending), session.facts.ending_detail, report=report_in(talk.run.messages))
    report = report_in(talk.run.messages)
    if report is not None:
        return Ended(Ending.FINISHED, report=report)
    return _last(list(talk.go_on(interrupt=scene.interrupt)))


def _remind(scene: JobScene, talk: Talk) -> Ended:
    """Ask once for the call that was forgotten: words do not stand in for it."""
    return _last(list(talk.go_on(_inserted(words.reminder(), Trust.OPERATOR), interrupt=scene.interrupt)))


def _material(output: str, room: int | None) -> Message:
    """The script's output between marks that it cannot forge; it may hold anybody's words."""
    text = visible(output)
    mark = mark_for((text,))
    body, _ = shortened(text, int((room or UNKNOWN_ROOM_TOKENS) * SHARE_OF_ROOM), mark=mark)
    return _inserted(words.material(quoted("output of the script", body, mark=mark)), Trust.EXTERNAL)


def _inserted(text: str, trust: Trust) -> Message:
    return Message(Role.USER, (Text(text),), trust, at=time.time(), origin=Origin.INSERTED)


def _last(said: list[object]) -> Ended:
    return next((each for each in reversed(said) if isinstance(each, Ended)), Ended(Ending.UNKNOWN))


def _id(record: JobRecord) -> str:
    """The same for a run, whichever worker goes on with it."""
    return f"job-{record.job.name}-{record.id}"
