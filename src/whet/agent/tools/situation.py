"""Where tools work: what is fixed for a session, what its tools share (lineage, lookout), what a tool gives."""

import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple

from whet.agent.inspection.inspecting import QUARANTINE, Inspection, Leftover
from whet.agent.inspection.triggers import MOST_FOLDERS, TriggerAction
from whet.agent.tools.guard import Guard, guard_of
from whet.agent.tools.processes import Process, Processes, safe_path
from whet.agent.tools.sandbox import Walls, holds_network, probe
from whet.errors import WhetError
from whet.own.runs.run import WorkReport
from whet.own.runs.settings import McpServer, Sandbox
from whet.own.told.memory import normalised
from whet.sessions.lineage import is_typed
from whet.sessions.transcripts import Disposition, Message
from whet.sessions.trust import Trust, lowest
from whet.store.home import Home
from whet.telling.context.finding import SETTING
from whet.values import Value

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_LEAD = re.compile(
    r"^(?:please\s+)?(?:remember|note|memori[sz]e|save|keep in mind)(?:\s+(?:this|that)\b)?\s*[:,]?\s+", re.IGNORECASE
)
SHORTEST_WORDS = 3
PAUSE_SECONDS = 0.25
PAUSES_A_LOOK = 20  # so that looking takes a twentieth of the time at most
REST_SECONDS = 30.0


class Lineage:
    """The lowest trust of what was seen, and the user's own sentences. Safe to use from several threads.

    In a `project` that the owner declared their own, what its tools and files print counts as the user's. What comes
    from further away never does: that is why the two are told apart.
    """

    def __init__(self, told: Trust, messages: Iterable[Message] = (), *, project: str = "") -> None:
        self._lock = threading.Lock()
        self._lowest = told
        self._foreign = self._counted(told, project)
        self._sentences: list[tuple[str, ...]] = []
        self.project = project
        self.attend(messages)

    def attend(self, messages: Iterable[Message]) -> None:
        """Take in what the session now holds. Taking in a message twice changes nothing."""
        for message in messages:
            self.lower(message.trust)
            if is_typed(message):
                with self._lock:
                    self._sentences.append(tuple(sentences(message.text)))

    def lower(self, trust: Trust) -> None:
        with self._lock:
            self._lowest = min(self._lowest, trust)
            self._foreign = min(self._foreign, self._counted(trust, self.project))

    @property
    def lowest(self) -> Trust:
        """Of all that was seen, whatever the owner declared."""
        with self._lock:
            return self._lowest

    def trust_of(self, text: str) -> Trust:
        """How far a text that the agent writes now may be believed.

        What the user said in these very words is theirs, whatever else was read since; anything else may have been
        made from all that the session has seen.
        """
        if self._is_users(text):
            return Trust.USER
        with self._lock:
            return lowest((Trust.AGENT, self._foreign))

    def needs_project(self, text: str) -> bool:
        """Whether a text is believed only because the owner declared the project their own."""
        with self._lock:
            is_lower = self._lowest < self._foreign and self._lowest < Trust.AGENT
        return is_lower and not self._is_users(text)

    def _is_users(self, text: str) -> bool:
        with self._lock:
            said = list(self._sentences)
        return any(is_said(text, each) for each in said)

    @staticmethod
    def _counted(trust: Trust, project: str) -> Trust:
        return Trust.USER if project and trust is Trust.TOOL else trust


def sentences(text: str) -> list[str]:
    """The sentences of a text in one spelling: a lead such as "remember that" is not part of what is to be kept."""
    found = (_LEAD.sub("", _plain(each), count=1) for each in _SENTENCE.split(normalised(text)))
    return [each for each in found if each]


def is_said(text: str, said: tuple[str, ...]) -> bool:
    """Whether a text is nothing but whole sentences in a row of what was said: half a sentence may mean the reverse."""
    wanted = tuple(sentences(text))
    if sum(len(each.split()) for each in wanted) < SHORTEST_WORDS:
        return False
    return any(said[start : start + len(wanted)] == wanted for start in range(len(said) - len(wanted) + 1))


def _plain(sentence: str) -> str:
    return " ".join(sentence.split()).strip(" \t-*>\"'“”").rstrip(".!。！").casefold()


class FolderWatch:
    """Looks while commands run, and once more after the end of one that nobody waits for."""

    def __init__(self, inspection: Inspection) -> None:
        self._inspection = inspection
        self._lock = threading.Lock()
        self._running: list[Process] = []
        self._thread: threading.Thread | None = None
        self._is_unattended = False
        self._needs_look = False

    def watch(self, process: Process, *, attended: bool) -> Process:
        """Look from now on until this command has ended. Whoever attends it looks at what it left."""
        with self._lock:
            self._running.append(process)
            self._needs_look = True
            self._is_unattended |= not attended
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="whet-lookout", daemon=True)
                self._thread.start()
        return process

    @property
    def is_watching(self) -> bool:
        """Whether a command runs that may still write."""
        return bool(self._alive())

    @property
    def needs_look(self) -> bool:
        """Whether a command ran, or still runs, since all had ended and what they left was seen to."""
        with self._lock:
            return self._needs_look

    def saw(self) -> None:
        """Somebody has seen to all that was left, after the last command had ended."""
        with self._lock:
            self._needs_look = self._is_unattended = False

    def take(self, found: tuple[Leftover, ...]) -> bool:
        """Move what git would run into the quarantine, if there is any.

        All commands are ended first, so that none can interfere.
        """
        if not any(each.spot.care is TriggerAction.REFUSED for each in found):
            return False
        for process in self._alive():
            process.stop()
        self._inspection.take_refused()
        return True

    def rest(self, seconds: float = REST_SECONDS) -> None:
        """Wait until there is nothing to look at any more."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _alive(self) -> list[Process]:
        with self._lock:
            self._running = [process for process in self._running if not process.done.is_set()]
            return list(self._running)

    def _look(self) -> None:
        pause = PAUSE_SECONDS
        while True:
            running = self._alive()
            if running:
                running[0].done.wait(pause)
            began = time.monotonic()
            if self._is_unattended or self._alive():
                self.take(self._inspection.find())
            pause = max(PAUSE_SECONDS, PAUSES_A_LOOK * (time.monotonic() - began))
            with self._lock:
                # A command that ended during the look may have written after it.
                if not running and all(process.done.is_set() for process in self._running):
                    self._thread = None
                    return


class ApprovalQuestion(NamedTuple):
    """What a person is asked before a call is carried out: the call in its own words, and why it is asked about.

    With `keep` it is asked afterwards, whether what a call left may stay.
    """

    tool: str
    text: str
    reasons: tuple[str, ...]
    keep: bool = False

    @property
    def lead(self) -> str:
        """The sentence that stands before the text."""
        reasons = ", ".join(self.reasons)
        return (
            f"A command left files that {reasons}:"
            if self.keep
            else f"{self.tool} needs your permission, because it {reasons}:"
        )

    @property
    def prompt(self) -> str:
        return "Keep it?" if self.keep else "Allow it?"


class Terminal(Value, frozen=True):
    """Limits of one command."""

    timeout_seconds: float = 120.0
    output_characters: int = 20_000


class ToolLimits(NamedTuple):
    """What tools may reach, as the settings say."""

    sandbox: Sandbox = Sandbox()
    terminal: Terminal = Terminal()
    servers: tuple[McpServer, ...] = ()
    walls: Walls | None = None  # what holds commands back; None: the best that this machine has
    hidden: tuple[Path, ...] = ()  # what no tool may see, besides what none ever does
    most_folders: int = MOST_FOLDERS  # that a command may make before all of them are taken aside


class Situation(NamedTuple):
    """What is fixed for a session. Tools write beneath `folder` only; `ask` is None where nobody can answer.

    `told` is the lowest trust of what the prompt holds: what the agent writes derives from it. Unless somebody says
    better, it is taken for a stranger's.
    """

    folder: Path
    home: Home
    session: str  # the run's id
    environment: Mapping[str, str]
    ask: Callable[[ApprovalQuestion], bool] | None = None
    limits: ToolLimits = ToolLimits()
    told: Trust = Trust.EXTERNAL
    project: Path | None = None  # that the folder lies in, and that its owner declared their own
    occasion: str = "a session"  # in which the agent writes, for those who ask why a change was made
    now: Callable[[], float] = time.time


class ToolOutput(NamedTuple):
    """What a tool gives: its words, whether it failed, and how far the words may be believed."""

    text: str
    error: bool | None = False
    exit_code: int | None = None
    disposition: Disposition | None = None
    trust: Trust = Trust.TOOL
    report: WorkReport | None = None


class ToolState:
    """What the tools of one session share and change: the lineage, the processes, the shell's folder."""

    def __init__(self, situation: Situation, messages: Iterable[Message]) -> None:
        if not situation.folder.is_dir():
            raise WhetError(f"There is no folder {situation.folder}.", advice="Choose a working folder that exists.")
        self.situation = situation._replace(folder=situation.folder.resolve())
        named = situation.limits.sandbox
        self.writable = tuple(_folders(named.writable))
        self.guard: Guard = guard_of(
            self.situation.folder,
            situation.home,
            situation.environment,
            hidden=situation.limits.hidden,
            visible=(*self.writable, *_folders(named.readable), *filter(None, (situation.project,))),
        )
        self.lineage = Lineage(situation.told, messages, project=str(situation.project or ""))
        self.processes = Processes()
        self.inspection = Inspection(
            (self.guard.folder, *self.writable),
            left_out=self.guard.hidden,
            quarantine=situation.home.folder / QUARANTINE / situation.session,
            environment=situation.environment,
            most_folders=situation.limits.most_folders,
        )
        self.lookout = FolderWatch(self.inspection)
        self.told: list[str] = []  # what the person is told at the end of the turn
        self.reported: dict[str, bool] = {}  # changed in this turn, and whether its program is known
        self.knows_size = False  # whether the person was told that the folder is too large to look through
        self.shell_folder = self.situation.folder
        self._temporary: Path | None = None

    def because(self, text: str) -> str:
        """What a change of this text owes to the owner's declaration, for those who ask why it was made."""
        if not self.lineage.needs_project(text):
            return ""
        return (
            f"; the output of its tools counts as the owner's words, by the setting {SETTING} ({self.lineage.project})"
        )

    def trust_of_place(self, place: Path) -> Trust:
        """How far a file, or what is found in a folder, may be believed: what is not of the project is a stranger's."""
        project = self.situation.project or self.situation.folder
        return Trust.TOOL if place.is_relative_to(project) else Trust.EXTERNAL

    @property
    def trust_of_commands(self) -> Trust:
        """How far what commands print may be believed: where they reach the network, it may be anybody's."""
        is_offline = holds_network(self.walls, network=self.situation.limits.sandbox.network)
        return Trust.TOOL if is_offline else Trust.EXTERNAL

    @property
    def walls(self) -> Walls:
        return self.situation.limits.walls or probe(safe_path(self.situation.environment.get("PATH", "")))

    @property
    def temporary(self) -> Path:
        """The private folder for temporary files, made when it is first needed and removed at the end."""
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="whet-")).resolve()
        return self._temporary

    def close(self) -> None:
        self.processes.close()
        self.lookout.rest()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None


class CallContext(NamedTuple):
    """One call: where it is carried out, and what stops it."""

    workplace: ToolState
    interrupt: Event

    @property
    def situation(self) -> Situation:
        return self.workplace.situation


def _folders(named: Iterable[str]) -> Iterator[Path]:
    for each in named:
        folder = Path(os.path.expanduser(each))
        if folder.is_dir():
            yield folder.resolve()


def failed(text: str, disposition: Disposition | None = None) -> ToolOutput:
    """A failure in Whet's own words, which nobody else had a part in."""
    return ToolOutput(text, error=True, disposition=disposition, trust=Trust.AGENT)


def refused(
    occasion: CallContext, question: ApprovalQuestion, *, act: str, why: str, instead: str
) -> ToolOutput | None:
    """The answer of a call that a person must agree to first; None where they do."""
    ask = occasion.situation.ask
    if ask is None:
        return failed(f"Not {act}, because nobody can be asked here: {why}. {instead}", Disposition.BLOCKED)
    return None if ask(question) else failed(f"Not {act}, the person refused it: {why}.", Disposition.REJECTED)
