"""Where tools work: what is fixed for a session, what its tools share and change, and what a tool gives."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple

from whet.agent.inspection.inspecting import Inspection
from whet.agent.inspection.quarantine import FOLDER as QUARANTINE
from whet.agent.tools.guard import Guard, guard_of
from whet.agent.tools.lookout import Lookout
from whet.agent.tools.plans import plan_in
from whet.agent.tools.processes import Processes
from whet.agent.tools.sandbox import Walls, holds_network, probe
from whet.agent.tools.surroundings import safe_path
from whet.agent.tools.trust_so_far import Lineage
from whet.context.projects import SETTING
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.runs.run import WorkReport
from whet.runs.settings import McpServer, Sandbox, Terminal
from whet.sessions.transcripts import Disposition, Message
from whet.sessions.trust import Trust
from whet.store.home import Home


class Question(NamedTuple):
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


class Situation(NamedTuple):
    """What is fixed for a session. Tools write beneath `folder` only; `ask` is None where nobody can answer.

    `told` is the lowest trust of what the prompt holds: what the agent writes derives from it. Unless somebody says
    better, it is taken for a stranger's.
    """

    folder: Path
    home: Home
    session: str  # the run's id
    environment: Mapping[str, str]
    ask: Callable[[Question], bool] | None = None
    sandbox: Sandbox = Sandbox()
    terminal: Terminal = Terminal()
    servers: tuple[McpServer, ...] = ()
    told: Trust = Trust.EXTERNAL
    project: Path | None = None  # that the folder lies in, and that its owner declared their own
    actor: Actor = Actor.AGENT
    occasion: str = "a session"  # in which the agent writes, for those who ask why a change was made
    now: Callable[[], float] = time.time
    walls: Walls | None = None  # what holds commands back; None: the best that this machine has
    hidden: tuple[Path, ...] = ()  # what no tool may see, besides what none ever does


class Given(NamedTuple):
    """What a tool gives: its words, whether it failed, and how far the words may be believed."""

    text: str
    error: bool | None = False
    exit_code: int | None = None
    disposition: Disposition | None = None
    trust: Trust = Trust.TOOL
    report: WorkReport | None = None


class Workplace:
    """What the tools of one session share and change: the plan, the lineage, the processes, the shell's folder."""

    def __init__(self, situation: Situation, messages: Iterable[Message]) -> None:
        if not situation.folder.is_dir():
            raise WhetError(f"There is no folder {situation.folder}.", advice="Choose a working folder that exists.")
        self.situation = situation._replace(folder=situation.folder.resolve())
        self.guard: Guard = guard_of(
            self.situation.folder, situation.home, situation.environment, hidden=situation.hidden
        )
        held = tuple(messages)
        self.lineage = Lineage(situation.told, held, project=str(situation.project or ""))
        self.plan = plan_in(held)
        self.processes = Processes()
        self.writable = tuple(_folders(situation.sandbox.writable))
        self.inspection = Inspection(
            (self.guard.folder, *self.writable),
            left_out=self.guard.hidden,
            quarantine=situation.home.folder / QUARANTINE / situation.session,
        )
        self.lookout = Lookout(self.inspection)
        self.told: list[str] = []  # what the person is told at the end of the turn
        self.reported: dict[str, None] = {}  # triggers that were changed in this turn
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
        is_offline = holds_network(self.walls, network=self.situation.sandbox.network)
        return Trust.TOOL if is_offline else Trust.EXTERNAL

    @property
    def walls(self) -> Walls:
        return self.situation.walls or probe(safe_path(self.situation.environment.get("PATH", "")))

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


class Occasion(NamedTuple):
    """One call: where it is carried out, and what stops it."""

    workplace: Workplace
    interrupt: Event

    @property
    def situation(self) -> Situation:
        return self.workplace.situation


def _folders(named: Iterable[str]) -> Iterator[Path]:
    for each in named:
        folder = Path(os.path.expanduser(each))
        if folder.is_dir():
            yield folder.resolve()


def failed(text: str) -> Given:
    """A failure in Whet's own words, which nobody else had a part in."""
    return Given(text, error=True, trust=Trust.AGENT)
