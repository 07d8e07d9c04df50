"""A run of a job as a session: skills first, then the script's output as data, then the prompt as it was written.

The context window of a model that nobody told of: its endpoint is asked, where that is the person's own.

What a job is made from, looked up where it stands, and the programs that a person named, run to their end.
"""

import contextlib
import os
import select
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from whet.agent.assembling import RunPlace, RunRequest
from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import Supply, at_base, provider_for
from whet.agent.session import OpenSession, SessionRequest
from whet.agent.tools.processes import BoundedOutput
from whet.agent.warm_start import AUTO
from whet.errors import WhetError
from whet.net.http import LOOPBACK, Client, Timeouts, real_timing, route_to
from whet.net.wire import Interrupted, TransportFailed
from whet.own.jobs.job import LEAST_WINDOW, Job, tools_of
from whet.own.jobs.runs import JobRecord, JobResult, missed_words, moment, report_in, result_of
from whet.own.runs.models import Model, address_of
from whet.own.runs.run import Ended, Spent, together
from whet.own.runs.settings import Endpoint, ModelFacts, Settings
from whet.own.told.passages import Circumstances, is_small
from whet.sessions.transcripts import Ending, Message, Origin, Purpose, Role, Text, session_id
from whet.sessions.trust import Trust
from whet.shipped import guidance
from whet.store import skill_files, template_files
from whet.store.database import Database
from whet.store.home import Home
from whet.store.recording import SOURCE
from whet.store.sessions import stored
from whet.store.settings_file import load
from whet.text import fields
from whet.text.quoting import mark_for, quoted, shortened, visible
from whet.text.words import names
from whet.values import Value

WAITS = Timeouts(connect_seconds=3.0, bytes_seconds=10.0)
MOST_BYTES = 1 << 22
OK = 200
SHARE_OF_ROOM = 0.4
UNKNOWN_ROOM_TOKENS = 50_000
INTERPRETERS = names("sh bash zsh dash env python python3 node ruby perl nice timeout")
SHELL = ("/bin/sh", "-c")
GLANCE_SECONDS = 0.05
PIECE_BYTES = 65_536
OUTPUT_BYTES = 200_000


def with_window(chosen: Chosen, settings: Settings, *, environment: Mapping[str, str], interrupt: Event) -> Chosen:
    """The model with the window that its own server tells, where none is known."""
    address = address_of(settings)
    endpoint = at_base(address.endpoint, settings, environment)
    # One on this machine, or whose address the person gave: no vendor is asked.
    is_given = any(each.name == endpoint.name and each.base_url for each in settings.providers)
    is_own = is_given or (urlsplit(endpoint.base_url).hostname or "").startswith(LOOPBACK)
    if chosen.model.window is not None or endpoint.kind != "openai" or not is_own:
        return chosen
    window = ask_window(endpoint, address.model, environment=environment, interrupt=interrupt)
    return chosen._replace(model=replace(chosen.model, window=window)) if window else chosen


def ask_window(endpoint: Endpoint, model: str, *, environment: Mapping[str, str], interrupt: Event) -> int | None:
    """How many tokens the server takes, in the ways that servers tell it, asked in turn; None where none does."""
    key = environment.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
    headers = {"Authorization": f"Bearer {key}" if key else ""}
    route = route_to(endpoint.base_url, environment)
    client = Client(route._replace(path=""), now=real_timing().steady, waits=WAITS)

    def ask(path: str) -> Mapping[str, Any]:
        response, body = client.get(path, headers, interrupt=interrupt), bytearray()
        try:
            for chunk in response.chunks():
                body += chunk
                if len(body) > MOST_BYTES:
                    break
        finally:
            response.end()
        with contextlib.suppress(msgspec.MsgspecError, RecursionError):
            return msgspec.json.decode(body, type=dict[str, Any]) if response.status == OK else {}
        return {}

    def entry(path: str, key: str) -> dict[str, Any]:
        """The model in a list of them; a server that has one alone may call it otherwise."""
        listed = fields.objects(ask(path), key)
        named = [each for each in listed if fields.text(each, "id", "name") in (model, f"{model}:latest")]
        only = listed if len(listed) == 1 and "id" in listed[0] else []
        return next(iter(named or only), {})

    ways: tuple[Callable[[], tuple[dict[str, Any], str]], ...] = (
        lambda: (entry(f"{route.path}/models", "data"), "max_model_len"),  # vLLM
        lambda: (fields.mapping(ask("/props"), "default_generation_settings"), "n_ctx"),  # llama.cpp, of one slot
        lambda: (entry("/api/v0/models", "data"), "loaded_context_length"),  # LM Studio
        lambda: (entry("/api/ps", "models"), "context_length"),  # Ollama
    )
    try:
        return next((window for way in ways if (window := fields.whole(*way())) > 0), None)
    except (TransportFailed, Interrupted):  # the run itself says why
        return None


class JobTask(Value, frozen=True):
    """What a run gives the agent."""

    prompt: str
    skills: tuple[tuple[str, str], ...] = ()  # name and body of each, as they were when the run began
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
    settings, folder, environment = settings_for(load(scene.home), job), folder_of(job), scene.environment
    supply = scene.supply or (lambda home, settings, _: provider_for(settings, environment=environment, home=home))
    chosen = supply(scene.home, settings, "")
    chosen = with_window(chosen, settings, environment=environment, interrupt=scene.interrupt)
    expect_window(chosen.model, settings, job)
    request = RunRequest(
        settings, RunPlace(folder, scene.environment), purpose=Purpose.JOB, id=_id(record), chosen=chosen
    )
    asked = SessionRequest(request, resumed=known.id if known else "", template=job.warm)
    talk = OpenSession(scene.home, scene.database, asked)
    try:
        ended = _resume(scene, talk) if known else _begin(scene, talk, record, task)
        spent = together((before, ended.spent))
        if ended.ending is Ending.FINISHED and ended.report is None:
            # Asked once for the call that was forgotten: words do not stand in for it.
            reminder = _inserted(guidance.text("jobs/reminder"), Trust.OPERATOR)
            ended = _last(talk.go_on(reminder, interrupt=scene.interrupt))
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
    [(read, written, cached, dollars)] = database.query(
        "WITH RECURSIVE own(id, input, output, cached, dollars) AS ("
        " SELECT id, input_tokens, output_tokens, cached_tokens, cost_dollars FROM sessions WHERE id = ?"
        " UNION ALL SELECT s.id, s.input_tokens, s.output_tokens, s.cached_tokens, s.cost_dollars"
        " FROM sessions AS s JOIN own ON s.parent_id = own.id WHERE s.purpose = ?)"
        " SELECT coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cached), 0), sum(dollars) FROM own",
        (session_id(SOURCE, _id(record)), Purpose.JOB.value),
    )
    return Spent(input=int(read), output=int(written), cached=int(cached), dollars=dollars)


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


def limits_of(model: Model, tools: Iterable[str]) -> tuple[str, ...]:
    """What a run must do without: no request carries pictures, and the rest depends on the model and its tools."""
    lacks = {
        "pictures": True,
        "window": model.window is not None and model.window < LEAST_WINDOW,
        "calls": model.tools == "text",
        "size": is_small(Circumstances(model=model.name, size=model.size)),
        "terminal": "terminal" not in tools,
    }
    return tuple(name for name, is_lacking in lacks.items() if is_lacking)


def expect_window(model: Model, settings: Settings, job: Job) -> None:
    """Raise WhetError for a model that reads too little for work without a person, unless a length is configured."""
    if model.window is None or model.window >= LEAST_WINDOW:
        return
    kind = address_of(settings).endpoint.kind
    if any(facts.window for facts in settings.models if facts.name in (model.name, "", kind)):
        return
    setting = f"models.{kind if kind == 'local' else model.name}.window"
    raise WhetError(
        f"The context window of {model.name} is {model.window:,} tokens; a job needs {LEAST_WINDOW:,}.",
        advice="Choose another model, give its server a larger context if it is yours, or accept this window:"
        f" `whet config {setting} NUMBER`, or `window = {model.window}` in the job {job.name}.",
    )


def _begin(scene: JobScene, talk: OpenSession, record: JobRecord, task: JobTask) -> Ended:
    """What stands before the prompt is the program's; the prompt alone is the person's, and what choices go by."""
    missed = f" {missed_words(record)}" if record.missed_count else ""
    model = talk.served.model
    lacks = limits_of(model, (tool.name for tool in talk.run.shown))
    order = guidance.text(
        "jobs/order",
        name=record.job.name,
        scheduled=moment(record.scheduled),
        missed=missed,
        model=model.name,
        provider=talk.served.provider.name,
        limits=" ".join(guidance.text(f"jobs/limit_{name}", window=f"{model.window or 0:,}") for name in lacks),
    )
    before = [
        _inserted(guidance.text("jobs/skill", name=name, body=body.strip()), Trust.AGENT) for name, body in task.skills
    ]
    if task.material.strip():
        before.append(_material(task.material, talk.run.room))
    before.append(_inserted(order, Trust.OPERATOR))
    return _last(talk.turn(task.prompt, interrupt=scene.interrupt, before=tuple(before)))


def _resume(scene: JobScene, talk: OpenSession) -> Ended:
    """How the session ended, if it had; else it goes on. A call without a result is told that it may have happened."""
    session, report = stored(scene.database, session_id(SOURCE, talk.run.id)), report_in(talk.run.messages)
    if session is not None and session.ending not in (Ending.UNKNOWN.value, Ending.INTERRUPTED.value):
        return Ended(Ending(session.ending), session.facts.ending_detail, report=report)
    if report is not None:
        return Ended(Ending.FINISHED, report=report)
    return _last(talk.go_on(interrupt=scene.interrupt))


def _material(output: str, room: int | None) -> Message:
    """The script's output between marks that it cannot forge; it may hold anybody's words."""
    text = visible(output)
    mark = mark_for((text,))
    body, _ = shortened(text, int((room or UNKNOWN_ROOM_TOKENS) * SHARE_OF_ROOM), mark=mark)
    said = quoted("output of the script", body, mark=mark)
    return _inserted(guidance.text("jobs/material", body=said), Trust.EXTERNAL)


def _inserted(text: str, trust: Trust) -> Message:
    return Message(Role.USER, (Text(text),), trust, at=time.time(), origin=Origin.INSERTED)


def _last(said: Iterable[object]) -> Ended:
    ended = Ended(Ending.UNKNOWN)
    for each in said:
        ended = each if isinstance(each, Ended) else ended
    return ended


def _id(record: JobRecord) -> str:
    """The same for a run, whichever worker goes on with it."""
    return f"job-{record.job.name}-{record.id}"


def expect_ready(home: Home, job: Job) -> None:
    """Raise WhetError, with what is allowed, for a job that could not be carried out as things are."""
    for name in job.skills:
        skill_files.load(home.folder, name)
    if job.warm and job.warm != AUTO:
        template_files.load(home.folder, job.warm)
    if job.model:
        address_of(load(home), job.model)
    folder_of(job)
    expect_script(job)
    expect_outside(home, job)


def folder_of(job: Job) -> Path:
    folder = Path(os.path.expanduser(job.workdir)) if job.workdir else Path.home()
    if not folder.is_dir():
        advice = f"Set the workdir of job {job.name} to an existing folder."
        raise WhetError(f"There is no folder {folder}.", advice=advice)
    return folder


def expect_script(job: Job) -> None:
    """Raise where the job's own agent could change its script, which runs outside of the sandbox.

    Its file is told from the command line, as far as it can be.
    """
    try:
        words = shlex.split(job.script) if job.prompt and job.workdir else []
    except ValueError:
        return
    name = next((word for word in words if Path(word).name not in INTERPRETERS and not word.startswith("-")), "")
    folder = Path(os.path.expanduser(job.workdir))
    path = folder / os.path.expanduser(name)
    if "/" in name and path.is_file() and path.resolve().is_relative_to(folder.resolve()):
        raise WhetError(
            f"{path} is in {job.workdir}, where the job's agent can write: it could change its own task.",
            advice="Move it to another folder, or set workdir to another folder.",
        )


def expect_outside(home: Home, job: Job) -> None:
    """Raise where a report would stand in the home: its files tell agents what to do, and nobody approved the words."""
    named = os.environ.get(job.to[1:], "") if job.to.startswith("$") else job.to
    target = Path(os.path.expanduser(job.workdir)) / os.path.expanduser(named)
    if job.deliver == "file" and target.resolve().is_relative_to(home.folder.resolve()):
        said = f"{target} is in Whet's home, and agents read what is there."
        raise WhetError(said, advice="Deliver to a file elsewhere.")


class ProgramEnd(Value, frozen=True):
    """How a program ended. Without an exit code it was killed: it took too long, or somebody stopped it."""

    exit_code: int | None
    output: str


class Program(NamedTuple):
    """A command line, where it runs, with what, and for how long."""

    line: str
    folder: Path
    environment: Mapping[str, str]
    seconds: float
    given: str = ""  # on standard input


def run(program: Program, *, interrupt: Event) -> ProgramEnd:
    """Run a program. One that takes too long is killed with its whole process group."""
    with tempfile.TemporaryFile() as given:
        given.write(program.given.encode(errors="replace"))
        given.seek(0)
        try:
            popen = subprocess.Popen(
                [*SHELL, program.line],
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=program.folder,
                env=dict(program.environment),
                start_new_session=True,
            )
        except OSError as error:
            raise WhetError(
                f"{program.line!r} cannot be run in {program.folder}: {error.strerror or error}.",
                advice="Check the folder and the command line.",
            ) from error
    assert popen.stdout is not None
    tape, deadline, is_killed = BoundedOutput(OUTPUT_BYTES), time.monotonic() + program.seconds, False
    look = select.poll()
    with popen.stdout as pipe:
        look.register(pipe, select.POLLIN)
        # Until the program itself ends: what it leaves running in the background is not waited for.
        while not is_killed:
            has_ended, piece = popen.poll() is not None, b""
            if look.poll(0 if has_ended else GLANCE_SECONDS * 1_000):
                piece = os.read(pipe.fileno(), PIECE_BYTES)
                tape.add(piece)
                if not piece:
                    look.unregister(pipe)
            if has_ended and not piece:
                break
            is_killed = not has_ended and (interrupt.is_set() or time.monotonic() >= deadline)
    if is_killed:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(popen.pid, signal.SIGKILL)
    code = popen.wait()
    return ProgramEnd(None if is_killed else code if code >= 0 else 128 - code, tape.take().text)
