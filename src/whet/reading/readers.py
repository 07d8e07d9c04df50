"""Who reads: the program of another agent on the person's own login, or a model of the settings. Neither has tools."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple, Protocol

from whet import doors
from whet.agent.assembling import new_id, says
from whet.agent.loop import execute
from whet.agent.metering import Meter
from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import Supply, missing_key
from whet.agents.agent import Agent
from whet.agents.executor import MARK, ProgramReader, ProgramResult, ReaderAnswer, ReadingLaunch, ReadingTask
from whet.agents.registry import agents, known
from whet.errors import WhetError
from whet.own.runs.models import Amount, cost
from whet.own.runs.run import Budget, Ended, Run
from whet.own.runs.settings import Settings
from whet.proving.attempt import Replay
from whet.proving.executing import OUTPUT_LIMIT, text_of
from whet.proving.executors import settings_of
from whet.secrets.redactor import Redactor, secret_values
from whet.sessions.transcripts import Ending, Message, Purpose, Role, Usage
from whet.sessions.trust import Trust
from whet.shipped.data import list_price
from whet.store.home import Home

PROGRAM_SECONDS = 1_200.0
LOOK_SECONDS = 0.1
STOPPED = "it was stopped"


class ReaderQuestion(NamedTuple):
    """What a reader is asked: who it is, in our words, and the order with its data."""

    system: str
    order: str


class LessonReader(Protocol):
    """Somebody who can be asked: once, without tools, and nothing of it is left as a session."""

    @property
    def name(self) -> str:
        """As people name it: an agent, or a model with its provider."""
        ...

    @property
    def is_in_plan(self) -> bool:
        """Whether what it uses is part of what the person pays for anyway."""
        ...

    def price(self, usage: Usage) -> float | None:
        """What that would cost in dollars; None where nobody knows."""
        ...

    def ask(self, question: ReaderQuestion, *, interrupt: Event, dollars: float | None = None) -> ReaderAnswer:
        """Its answer, which costs at most so many dollars where it can keep to that."""
        ...


class AgentReader:
    """Another agent's program, which answers one question in an empty folder."""

    def __init__(self, agent: Agent, program: str, settings: Settings, environment: Mapping[str, str]) -> None:
        self.name = agent.name
        self._reader: ProgramReader = doors.named(agent.reader)
        self._program = program
        self._model = settings_of(agent.name, settings).model
        hidden = {*agent.shell, "WHET_RUN"}  # inside a session of its own a program may refuse to start
        self._environment = {name: value for name, value in environment.items() if name not in hidden}

    @property
    def is_in_plan(self) -> bool:
        return not any(self._environment.get(key) for key in self._reader.keys)

    def price(self, usage: Usage) -> float | None:
        return usage.cost_dollars if usage.cost_dollars is not None else list_price(usage, self._model)

    def ask(self, question: ReaderQuestion, *, interrupt: Event, dollars: float | None = None) -> ReaderAnswer:
        clean = Redactor(secret_values(self._environment)).text
        with tempfile.TemporaryDirectory(prefix="whet-reading-", ignore_cleanup_errors=True) as place:
            folder = Path(place, "work")
            folder.mkdir()
            errand = ReadingTask(question.system, folder, self._environment, self._model, dollars)
            launch = self._reader.launch(errand, self._program)
            _furnish(folder, launch)
            (Path(place) / "prompt").write_text(f"{MARK}\n\n{clean(question.order)}", encoding="utf-8")
            left = _run(launch, Path(place), folder, self._environment, interrupt)
            is_endless = (Path(place) / "output").stat().st_size > OUTPUT_LIMIT
        if is_endless:
            return ReaderAnswer(left.output)  # an answer, though of no use
        answer = self._reader.answer(left)
        return answer._replace(why=STOPPED) if interrupt.is_set() and not answer.text else answer


class ModelReading:
    """A model of the settings, asked by Whet itself. Nothing of it is stored."""

    def __init__(self, name: str, chosen: Chosen) -> None:
        self.name = name
        self._chosen = chosen
        self.is_in_plan = False

    def price(self, usage: Usage) -> float | None:
        return cost(usage, self._chosen.model.prices)

    def ask(self, question: ReaderQuestion, *, interrupt: Event, dollars: float | None = None) -> ReaderAnswer:
        clean = Redactor(secret_values(os.environ)).text
        run = Run(
            new_id(time.time()),
            self._chosen.model.name,
            question.system,
            (says(clean(question.order), now=time.time(), trust=Trust.EXTERNAL),),
            purpose=Purpose.REVIEW,
            budget=Budget(model_calls=1, dollars=dollars),
        )
        said, ended = "", Ended(Ending.UNKNOWN)
        for each in execute(run, self._chosen.provider, Replay((), ()), interrupt=interrupt, now=time.time):
            if isinstance(each, Message) and each.role is Role.AGENT:
                said = each.text
            elif isinstance(each, Ended):
                ended = each
        spent = ended.spent
        usage = Usage(spent.input, spent.output, cached=spent.cached, cost_dollars=spent.dollars)
        is_whole = ended.ending in (Ending.FINISHED, Ending.BUDGET) and said
        why = "" if is_whole else ended.detail or (STOPPED if interrupt.is_set() else f"it ended: {ended.ending}")
        return ReaderAnswer(said, usage, self._chosen.model.name, why)


class MeteredReading:
    """A reader whose every answer fits into the daily limit of background work."""

    def __init__(self, reader: LessonReader, meter: Meter, most: Amount) -> None:
        self._reader = reader
        self._meter = meter
        self._most = most
        self.name = reader.name
        self.is_in_plan = reader.is_in_plan

    def price(self, usage: Usage) -> float | None:
        return self._reader.price(usage)

    def ask(self, question: ReaderQuestion, *, interrupt: Event, dollars: float | None = None) -> ReaderAnswer:
        call = self._meter.begin(Purpose.REVIEW, self._most, interrupt)
        answer = self._reader.ask(question, interrupt=interrupt, dollars=dollars)
        usage = answer.usage
        if usage.input or usage.output:  # one that tells nothing keeps what was set aside for it
            paid = None if self.is_in_plan else self.price(usage)
            self._meter.end(call, Amount(usage.input + usage.output, paid))
        return answer


def reading_agents() -> tuple[Agent, ...]:
    """The agents whose program can read."""
    return tuple(agent for agent in agents() if agent.reader)


def found_agents(environment: Mapping[str, str]) -> tuple[Agent, ...]:
    """Those of them that are on this machine."""
    return tuple(agent for agent in reading_agents() if _program(agent, environment))


def reader_named(
    name: str, home: Home, settings: Settings, environment: Mapping[str, str], *, supply: Supply
) -> LessonReader:
    """The reader of this name: an agent, or a model of the settings. Raises WhetError with what to do."""
    agent = known(name)
    if agent is not None and agent.reader:
        program = _program(agent, environment)
        if not program:
            raise WhetError(
                f"The program of {agent.name} is not on this machine.", advice="Install it, or name another: --with."
            )
        return AgentReader(agent, program, settings, environment)
    if agent is not None:
        raise WhetError(f"{agent.name} cannot read.", advice=_advice())
    if not name or (":" not in name and name != "local" and name != settings.model):
        raise WhetError(f"There is no reader {name}.", advice=_advice())
    if variable := missing_key(settings, environment, name):
        raise WhetError(f"{name} needs the key in {variable}, which is not set.", advice=f"Run `export {variable}=…`.")
    return ModelReading(name, supply(home, settings, name))


def _advice() -> str:
    names = ", ".join(agent.name for agent in reading_agents())
    return f"Readers are {names}, or a model as provider:name (`whet config reading.reader NAME` keeps the choice)."


def _program(agent: Agent, environment: Mapping[str, str]) -> str | None:
    reader: ProgramReader = doors.named(agent.reader)
    return shutil.which(reader.program, path=environment.get("PATH"))


def _furnish(folder: Path, launch: ReadingLaunch) -> None:
    for name, text in launch.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for name, target in launch.links.items():
        if target.exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(target)


def _run(
    launch: ReadingLaunch, place: Path, folder: Path, environment: Mapping[str, str], interrupt: Event
) -> ProgramResult:
    """Run a program to its end, or until it is stopped, its time is over or it says too much."""
    began = time.monotonic()
    output, errors = place / "output", place / "errors"
    with (place / "prompt").open("rb") as said, output.open("wb") as out, errors.open("wb") as err:
        try:
            process = subprocess.Popen(
                launch.words, stdin=said, stdout=out, stderr=err, cwd=folder, env={**environment, **launch.variables},
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return ProgramResult("", error.strerror or str(error), 127, 0.0)
        try:
            while process.poll() is None:
                is_over = time.monotonic() - began > PROGRAM_SECONDS or output.stat().st_size > OUTPUT_LIMIT
                if is_over or interrupt.wait(LOOK_SECONDS):
                    break
            code = process.poll()
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # and with it whatever it started
            process.wait()
    return ProgramResult(text_of(output), text_of(errors), code, time.monotonic() - began)
