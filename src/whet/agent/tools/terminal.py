"""The terminal: commands in the sandbox, with limits of time and output, and processes in the background."""

import contextlib
import functools
import os
import shutil
import stat
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from whet.agent.tools.guard import Bounds
from whet.agent.tools.processes import Launch, Process, cleaned, installations
from whet.agent.tools.sandbox import launch, temporary_for
from whet.agent.tools.situation import Given, Occasion, Question, Workplace, failed
from whet.runs.dangerous_commands import dangers
from whet.sessions.transcripts import Disposition
from whet.sessions.trust import Trust

LONGEST_COMMAND = 100_000
FILE_BLOCKS = 16 * 1024 * 1024  # of 512 or 1,024 bytes, as the shell counts: at least 8 GB
MOST_PROCESSES = 4_096
FOLDER_FILE = ".whet-folder"
# Runs the command as given, and leaves the folder that it ends in where the next command finds it.
SCRIPT = (
    f"ulimit -c 0; ulimit -f {FILE_BLOCKS} 2>/dev/null; ulimit -u {MOST_PROCESSES} 2>/dev/null;"
    f' trap \'pwd -P > "$TMPDIR/{FOLDER_FILE}"\' EXIT; eval "$1"'
)
STARTING_SECONDS = 0.5


def terminal(
    occasion: Occasion,
    *,
    command: Annotated[str, Meta(description="a bash command line")],
    timeout_seconds: Annotated[int, Meta(ge=0, le=3600, description="0: as the settings say")] = 0,
    background: Annotated[bool, Meta(description="return at once, with a handle for `process`")] = False,
) -> Given:
    """Run a command in the working folder, in a sandbox that writes only there and in /tmp. `cd` lasts; variables do
    not. Nothing can be typed into it."""
    refused = _refused(occasion, command)
    if refused:
        return refused
    workplace = occasion.workplace
    start = functools.partial(_start, workplace, command, attended=not background)
    if background:
        return _in_background(workplace, occasion, start)
    seconds = float(timeout_seconds) or occasion.situation.terminal.timeout_seconds
    process = start()
    end = process.wait(seconds, occasion.interrupt)
    process.stop()
    printed = process.tape.take().text.rstrip()
    if end == "interrupt":
        stopped = Disposition.INTERRUPTED
        return Given(_with(printed, "interrupted"), error=True, disposition=stopped, trust=workplace.trust_of_commands)
    if end == "time":
        advice = "it and all it started were ended; give more time, or run it in the background"
        text = _with(printed, f"no end after {seconds:g} seconds: {advice}")
        return Given(text, error=True, trust=workplace.trust_of_commands)
    if process.fault:
        return failed(f"The command could not be started: {process.fault}.")
    text, trust = _with(printed, _ending(workplace, process)), workplace.trust_of_commands
    return Given(text, error=None, exit_code=process.exit_code, trust=trust)


def process(
    occasion: Occasion,
    *,
    action: Literal["list", "read", "wait", "kill"],
    handle: str = "",
    timeout_seconds: Annotated[int, Meta(ge=1, le=3600, description="how long to wait")] = 60,
) -> Given:
    """Look after background commands: list them, read what one printed since, wait for its end, or kill it."""
    processes = occasion.workplace.processes
    if action == "list":
        lines = [f"{name}  {_state(each)}  {each.command[:100]}" for name, each in processes.all()]
        return Given("\n".join(lines) or "Nothing runs in the background.", trust=Trust.AGENT)
    found = processes.get(handle)
    if found is None:
        known = ", ".join(name for name, _ in processes.all()) or "none"
        return failed(f"There is no process {handle!r}. Known: {known}.")
    if action == "wait":
        found.wait(timeout_seconds, occasion.interrupt)
    if action == "kill":
        found.stop()
    printed = found.tape.take().text.rstrip()
    code = found.exit_code if found.done.is_set() and action != "kill" else None
    trust = occasion.workplace.trust_of_commands
    return Given(_with(printed, _state(found)), error=None, exit_code=code, trust=trust)


def _refused(occasion: Occasion, command: str) -> Given | None:
    """Why a command is not run, if it is not."""
    situation = occasion.situation
    if not command.strip() or "\0" in command or len(os.fsencode(command)) > LONGEST_COMMAND:
        return failed(f"The command is empty, holds a zero byte, or is longer than {LONGEST_COMMAND:,} bytes.")
    reasons = dangers(command)
    if not reasons:
        return None
    named = "; ".join(reasons)
    if situation.ask is None:
        text = f"Not run, because nobody can be asked here: {named}. Do it another way, or leave it and say so."
        return Given(text, error=True, disposition=Disposition.BLOCKED, trust=Trust.AGENT)
    if situation.ask(Question("terminal", command, reasons)):
        return None
    text = f"Not run, the person refused it: {named}."
    return Given(text, error=True, disposition=Disposition.REJECTED, trust=Trust.AGENT)


def _in_background(workplace: Workplace, occasion: Occasion, start: "functools.partial[Process]") -> Given:
    kept = workplace.processes.keep(start)
    if kept is None:
        return failed("Too many commands run in the background. Kill one first.")
    handle, process = kept
    process.wait(STARTING_SECONDS, occasion.interrupt)  # what fails at once should be told at once
    printed = process.tape.take().text.rstrip()
    text, trust = _with(printed, f"{handle}: {_state(process)}"), workplace.trust_of_commands
    return Given(text, error=None, exit_code=process.exit_code, trust=trust)


def _start(workplace: Workplace, command: str, *, attended: bool) -> Process:
    planned = plan_of(workplace, command)
    process = Process(planned, command, limit=workplace.situation.terminal.output_characters)
    return workplace.lookout.watch(process, attended=attended)


def plan_of(workplace: Workplace, command: str) -> Launch:
    """How a command of this session is started."""
    situation, walls = workplace.situation, workplace.walls
    environment = cleaned(
        situation.environment,
        session=situation.session,
        temporary=temporary_for(walls, workplace.temporary),
        network=situation.sandbox.network,
        kept=situation.sandbox.variables,
    )
    inspection = workplace.inspection
    inspection.ensure_begun()
    bounds = Bounds(
        workplace.guard,
        workplace.temporary,
        situation.sandbox.network,
        workplace.writable,
        tuple(map(Path, inspection.repositories)),
        tuple(map(Path, inspection.pointers)),
        installations(environment["PATH"]),
    )
    folder = workplace.shell_folder if workplace.shell_folder.is_dir() else workplace.guard.folder
    argv = (_shell(environment["PATH"]), "--noprofile", "--norc", "-c", SCRIPT, "bash", command)
    return launch(walls, bounds, argv, folder=folder, environment=environment)


def _shell(path: str) -> str:
    return shutil.which("bash", path=path) or "/bin/sh"


def _ending(workplace: Workplace, process: Process) -> str:
    """What is said below the output: a bad exit code, and a folder that was not kept."""
    said = [f"exit code {process.exit_code}"] if process.exit_code else []
    left = _left_in(workplace)
    folder = workplace.guard.folder
    if left is not None:
        inside = left == folder or folder in left.parents
        workplace.shell_folder = left if inside else folder
        if not inside:
            said.append(f"the next command starts in {folder} again")
    return "; ".join(said)


def _left_in(workplace: Workplace) -> Path | None:
    """The folder that the command ended in, as it says itself: believed only as far as it is a folder."""
    place = workplace.temporary / FOLDER_FILE
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        named = Path(os.fsdecode(file.read(4_096).rstrip(b"\n").replace(b"\0", b"")))
    with contextlib.suppress(OSError):
        place.unlink()
    return named.resolve() if named.is_absolute() and named.is_dir() else None


def _state(process: Process) -> str:
    if not process.done.is_set():
        return "running"
    return f"could not be started: {process.fault}" if process.fault else f"ended with exit code {process.exit_code}"


def _with(printed: str, said: str) -> str:
    return f"{printed}\n[{said}]".lstrip("\n") if said else printed
