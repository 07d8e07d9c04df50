"""An errand carried out: the program behind walls, stopped when its time is over, and its record read."""

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple

from whet.agent.tools import launcher
from whet.agent.tools.guard import SYSTEM, CommandBounds, Guard, secret_places
from whet.agent.tools.processes import Launch, Process, safe_path
from whet.agent.tools.sandbox import Wall, Walls, advice, launch, probe, temporary_for
from whet.agents.executor import Carried, ProgramLaunch, ProgramResult, ProgramTask, Validity
from whet.agents.formats.source import Skipped
from whet.errors import WhetError
from whet.intake.reading import read_transcripts
from whet.own.runs.settings import Settings
from whet.proving.executors import Runner, runner_named, settings_of
from whet.proving.relay import Relay, endpoints_in
from whet.sessions.transcripts import Message, Role, Text, Transcript, Usage, total
from whet.sessions.trust import Trust

OUTPUT_LIMIT = 8 << 20
LOOK_SECONDS = 1.0
LARGEST_CONFIG = 1 << 20
CERTIFICATES = ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
ALLOWED = (
    "LANG", "LC_ALL", "TERM", "TZ", "USER", "LOGNAME", "SHELL", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy",
    "https_proxy", "no_proxy", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
# Where version managers keep what their shims start. They look in the home, and an agent's is another.
MANAGERS = {
    "PYENV_ROOT": ".pyenv", "RBENV_ROOT": ".rbenv", "NODENV_ROOT": ".nodenv", "RUSTUP_HOME": ".rustup",
    "VOLTA_HOME": ".volta", "ASDF_DATA_DIR": ".asdf", "MISE_DATA_DIR": ".local/share/mise", "SDKMAN_DIR": ".sdkman",
}  # fmt: skip
# Its output goes to files, for a pipe has one end: what it prints for people must not mix with what it reports.
SCRIPT = 'ulimit -c 0; left=$1; shift; exec "$@" >"$left/output" 2>"$left/errors"'


class AgentAccess(NamedTuple):
    """What an agent is given of this machine: variables by name, files for its config home, folders it may read.

    All else of the person's own folder is hidden from it, and so is what `hidden` names.
    """

    environment: Mapping[str, str]
    variables: tuple[str, ...] = ()
    config: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    endpoints: tuple[str, ...] = ()  # addresses that it may reach; none: those that its variables and files name
    walls: Walls | None = None  # None: the best that this machine has


def carry_out(
    runner: Runner,
    errand: ProgramTask,
    *,
    program: str,
    grounds: AgentAccess,
    interrupt: Event,
    is_decided: Callable[[Transcript], bool] | None = None,
) -> Carried:
    """Start the agent, wait for it, and read what it left. It sees its workspace and its own home, and no other.

    It is stopped as soon as its record decides what is to be known; what it used until then is in the record.
    """
    errand.config.mkdir(parents=True, exist_ok=True)
    _seed(runner, errand, grounds)
    executor = runner.executor
    variables = (*executor.variables, *grounds.variables)
    own = _endpoints(runner, errand, grounds._replace(variables=variables))
    given = grounds._replace(variables=variables, endpoints=own)
    folder, pattern = executor.record
    watch = RecordWatch(errand.config / folder, pattern, is_decided) if is_decided else None
    left = run(executor.launch(errand, program), errand, given, program, interrupt, watch=watch)
    transcript = newest_transcript(errand.config / folder, pattern)
    if watch and watch.has_ended and transcript is not None:
        used = transcript.usage or total(message.usage for message in transcript.messages) or Usage()
        facts = (transcript.version, transcript.model, left.seconds)
        return Carried(transcript, used, Validity.VALID, "", *facts)
    if transcript is None and runner.agent is None:
        transcript = spoken(runner.name, errand, left)
    return executor.carried(left, transcript)


class RecordWatch:
    """Looks at the record of an agent while it works, and says when enough is known."""

    def __init__(self, folder: Path, pattern: str, is_decided: Callable[[Transcript], bool]) -> None:
        self._record = (folder, pattern)
        self._is_decided = is_decided
        self._seen: tuple[int, int] = (0, 0)
        self.has_ended = False

    def look(self) -> bool:
        """Whether what is to be known is known. A record that did not grow is not read again."""
        folder, pattern = self._record
        sizes = [_size_of(path) for path in folder.rglob(f"{pattern}*")]  # also a database's log beside it
        seen = (len(sizes), sum(sizes))
        if seen == self._seen:
            return False
        self._seen = seen
        transcript = newest_transcript(folder, pattern)
        self.has_ended = transcript is not None and self._is_decided(transcript)
        return self.has_ended


def _size_of(path: Path) -> int:
    """How large a file is that may go at any time."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _wait(process: Process, seconds: float, interrupt: Event, watch: RecordWatch | None) -> str:
    """How the wait for a process ended: `done`, `time`, `interrupt`, or `decided`."""
    if watch is None:
        return process.wait(seconds, interrupt)
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        ended = process.wait(min(LOOK_SECONDS, left), interrupt)
        if ended != "time":
            return ended
        if watch.look():
            return "decided"
    return "time"


def run(
    started: ProgramLaunch,
    errand: ProgramTask,
    grounds: AgentAccess,
    program: str,
    interrupt: Event,
    *,
    watch: RecordWatch | None = None,
) -> ProgramResult:
    """Run a program behind walls; all that it started ends with it."""
    walls = grounds.walls or probe(safe_path(grounds.environment.get("PATH", "")))
    if walls.wall is Wall.NONE:
        raise WhetError(
            "Another agent cannot be tried here: no sandbox is available.",
            advice=advice(),
        )
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        relay = None
        if is_confined(walls, grounds.endpoints):
            relay = stack.enter_context(Relay(endpoints_in(grounds.endpoints), grounds.environment).serving())
        launched = _launch(started, errand, grounds, _Behind(walls, relay, program))
        process = Process(launched, started.words[0], limit=OUTPUT_LIMIT)
        stack.callback(process.stop)
        ended = _wait(process, errand.seconds, interrupt, watch)
    code = process.exit_code if ended == "done" else None
    errors = text_of(errand.config / "errors") or process.fault or process.tape.take().text
    return ProgramResult(text_of(errand.config / "output"), errors, code, time.monotonic() - began)


class _Behind(NamedTuple):
    """What a program runs behind: walls, and the relay that is its only network. None: the network is open."""

    walls: Walls
    relay: Relay | None
    program: str


def is_confined(walls: Walls, endpoints: tuple[str, ...]) -> bool:
    """Whether an agent reaches its model's endpoints and no others: only a network of its own can do that."""
    return walls.wall is Wall.BUBBLEWRAP and bool(endpoints)


def _endpoints(runner: Runner, errand: ProgramTask, grounds: AgentAccess) -> tuple[str, ...]:
    """Where an agent's model answers: as the settings say, its variables and its files; else where it usually does."""
    environment = {**grounds.environment, **errand.environment}
    values = [environment[name] for name in grounds.variables if "://" in environment.get(name, "")]
    files = [path for path in errand.config.rglob("*") if path.is_file() and not path.is_symlink()]
    written = [text_of(path) for path in files if path.stat().st_size < LARGEST_CONFIG]
    usual = () if values else runner.executor.endpoints
    return tuple(text for text in (*grounds.endpoints, *values, *written, *usual) if "://" in text)


def _launch(started: ProgramLaunch, errand: ProgramTask, grounds: AgentAccess, behind: _Behind) -> Launch:
    walls, relay, program = behind
    temporary = errand.config / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = grounds.environment
    passed = {name: environment[name] for name in (*ALLOWED, *grounds.variables) if name in environment}
    variables = {
        **_managers(environment),
        **passed,
        **errand.environment,
        "PATH": safe_path(environment.get("PATH", "")),
        "HOME": str(errand.config),
        "TMPDIR": temporary_for(walls, temporary),
        **started.variables,
        **(relay.variables if relay else {}),
    }
    if os.geteuid() == 0:
        variables["IS_SANDBOX"] = "1"  # without it Claude Code refuses to work for root
    bounds = CommandBounds(
        _guard(errand, grounds, program),
        temporary,
        network=relay is None,
        writable=(errand.config,),
        ports=relay.ports if relay else (),
        door=relay.door if relay else -1,
    )
    argv = ("/bin/sh", "-c", SCRIPT, "sh", str(errand.config), *started.words)
    return launch(walls, bounds, argv, folder=errand.workspace, environment=variables)


def _guard(errand: ProgramTask, grounds: AgentAccess, program: str) -> Guard:
    """In sight are the system, the workspace and what the program itself is made of, and nothing else."""
    person = _person(grounds.environment)
    if errand.workspace.is_relative_to(person) or errand.config.is_relative_to(person):
        raise WhetError(
            f"The workspaces of a trial lie in {person}, which the agent must not see.",
            advice="Set TMPDIR to a folder outside it, such as /tmp.",
        )
    secrets = tuple(secret_places(grounds.environment, errand.workspace))
    path = map(Path, safe_path(grounds.environment.get("PATH", "")).split(os.pathsep))
    certificates = (Path(grounds.environment[name]) for name in CERTIFICATES if grounds.environment.get(name))
    managers = map(Path, _managers(grounds.environment).values())
    own = (*_parts_of(Path(program)), *path, *managers, *certificates, Path(sys.base_prefix), Path(launcher.__file__))
    harmless = (place for place in own if not any(secret.is_relative_to(place) for secret in (person, *secrets)))
    hidden = frozenset(Path(os.path.realpath(place)) for place in (person, *grounds.hidden, *secrets))
    return Guard(errand.workspace, hidden, (*harmless, *grounds.readable), tuple(map(Path, SYSTEM)))


def _person(environment: Mapping[str, str]) -> Path:
    return Path(os.path.realpath(environment.get("HOME") or os.path.expanduser("~")))


def _managers(environment: Mapping[str, str]) -> dict[str, str]:
    """The folders of version managers that are there, by the variables that name them."""
    person = _person(environment)
    places = {name: environment.get(name) or str(person / place) for name, place in MANAGERS.items()}
    return {name: place for name, place in places.items() if os.path.isabs(place) and os.path.isdir(place)}


def _parts_of(program: Path) -> Iterator[Path]:
    """What an installed program is made of: its packages, its virtual environment with its Python, or itself alone."""
    for each in (program, Path(os.path.realpath(program))):
        packages = next((above for above in reversed(each.parents) if above.name == "node_modules"), None)
        environment = next((above for above in each.parents if (above / "pyvenv.cfg").is_file()), None)
        yield packages or environment or each
        if environment:
            yield Path(os.path.realpath(environment / "bin" / "python")).parent.parent


def _seed(runner: Runner, errand: ProgramTask, grounds: AgentAccess) -> None:
    """Copy what the person named into the agent's config home; it is gone with the attempt. So are the examples."""
    if errand.examples:
        errand.prefill.write_text(errand.examples, encoding="utf-8")
    for source in grounds.config:
        folder = errand.config / runner.executor.places.get(source.name, "")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            if source.is_dir():
                shutil.copytree(source, folder / source.name, dirs_exist_ok=True)
            else:
                shutil.copyfile(source, folder / source.name)
        except OSError as error:
            raise WhetError(
                f"{source} cannot be copied for {runner.name}: {error.strerror}.",
                advice=f"Correct agents.{runner.name}.config in the settings.",
            ) from error


def newest_transcript(folder: Path, pattern: str) -> Transcript | None:
    """The main session of the newest record below a folder; None where there is none that can be read."""
    files = sorted(
        (path for path in folder.rglob(pattern) if path.is_file() and not path.is_symlink()),
        key=lambda path: path.stat().st_mtime_ns,
    )
    for path in reversed(files):
        found = [item for item in read_transcripts(path) if not isinstance(item, Skipped)]
        own = [item for item in found if not item.parent and item.messages]
        if own:
            return max(own, key=lambda item: item.started or 0.0)
    return None


def text_of(path: Path) -> str:
    """What a program left in a file; a link that it put there is not followed."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(OUTPUT_LIMIT).decode("utf-8", "replace")
    return ""


def spoken(name: str, errand: ProgramTask, left: ProgramResult) -> Transcript:
    """What stands for a record where a command leaves none that Whet can read: what it printed is its answer."""
    said = (
        Message(Role.USER, (Text(errand.task),), Trust.USER),
        Message(Role.AGENT, (Text(left.output.strip()),), Trust.AGENT),
    )
    return Transcript(name, errand.workspace.parent.name, said, folder=str(errand.workspace))


def network_said(name: str, settings: Settings, environment: Mapping[str, str], *, walls: Walls | None = None) -> str:
    """What an agent will reach of the network, for those who decide whether it may start."""
    runner = runner_named(name, settings)
    grounds = grounds_of(name, settings, environment, hidden=())
    walls = walls or probe(safe_path(environment.get("PATH", "")))
    if walls.wall is not Wall.BUBBLEWRAP:
        return (
            f"Its network is open: under {walls.wall.value} it can send anything anywhere. Bubblewrap can prevent that."
        )
    named = [environment.get(each, "") for each in (*runner.executor.variables, *grounds.variables)]
    values = [value for value in named if "://" in value]
    files = [text_of(path) for path in grounds.config if path.is_file()]
    found = endpoints_in((*grounds.endpoints, *(values or runner.executor.endpoints), *files))
    if not found:
        return f"Its network is open, for no address of its model is known: name it in agents.{name}.endpoints."
    return f"Of the network it reaches only {', '.join(sorted({each.host for each in found}))}."


def grounds_of(
    name: str, settings: Settings, environment: Mapping[str, str], *, hidden: tuple[Path, ...]
) -> AgentAccess:
    """What an agent gets of this machine, as its settings say."""
    chosen = settings_of(name, settings)
    return AgentAccess(
        environment,
        variables=chosen.variables,
        config=tuple(Path(os.path.expanduser(each)) for each in chosen.config),
        readable=tuple(Path(os.path.expanduser(each)) for each in chosen.readable),
        hidden=hidden,
        endpoints=tuple(each if "://" in each else f"https://{each}" for each in chosen.endpoints),
    )
