"""The terminal: commands in the sandbox, which of them are dangerous, their limits, processes in the background."""

import contextlib
import functools
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import re2
from msgspec import Meta

from whet.agent.tools.guard import CommandBounds
from whet.agent.tools.processes import Launch, Process, cleaned
from whet.agent.tools.sandbox import launch, temporary_for
from whet.agent.tools.situation import ApprovalQuestion, CallContext, ToolOutput, ToolState, failed, refused
from whet.sessions.shell_lines import LENGTH_LIMIT, Stage, split
from whet.sessions.transcripts import Disposition
from whet.sessions.trust import Trust
from whet.store.folders import ordinary_file

# Where a simple command begins: after a separator or a word that runs the next, with assignments before it.
_START = (
    r"(?:^|[;&|({\n`!]|\$\(|\b(?:then|do|else|exec|time|nohup|env|command|xargs|timeout\s+\S+)\s)\s*"
    r"(?:[A-Za-z_]\w*=\S*\s+)*(?:\S*/)?"
)
_SHELL = r"(?:(?:ba|z|da|k|fi)?sh|python[0-9.]*|perl|ruby|node|php)"
_DISK = r"/dev/(?:[shv]d|nvme|mmcblk|disk|mapper|loop|mem|kmem|port)"
_GIT = r"(?i)\bgit\b[^;|&\n]*\b"
# What is looked for anywhere in the command line, by the reason that a person reads.
PATTERNS: dict[str, tuple[str, ...]] = {
    "runs what it downloads": (
        rf"(?i)\b(?:curl|wget|aria2c)\b[^;\n]*\|\s*(?:sudo\s+)?(?:\S*/)?{_SHELL}\b",
        rf"(?i)(?:{_SHELL}|source|eval|\.)\s+[^;\n]{{0,20}}(?:<\(|\$\(|`)\s*(?:curl|wget)\b",
    ),
    "runs hidden text": (
        rf"(?i)\b(?:base64\s+(?:-d|--decode)|xxd\s+-r|openssl\s+enc)\b[^;\n]*\|\s*(?:\S*/)?{_SHELL}\b",
    ),
    "runs as another account": (rf"{_START}(?:sudo|doas|pkexec|su|runuser)(?:\s|$)",),
    "stops the machine": (rf"{_START}(?:shutdown|reboot|halt|poweroff|telinit|init\s+[06])(?:[\s;]|$)",),
    "writes to a disk directly": (
        rf"{_START}(?:mkfs|mke2fs|fdisk|sfdisk|parted|wipefs|blkdiscard|shred|badblocks)\b",
        rf"\bof=\s*['\"]?{_DISK}",
        rf">\s*['\"]?{_DISK}",
    ),
    "changes the system": (
        rf"{_START}(?:mount|umount|losetup|insmod|modprobe|rmmod|swapoff|nsenter|chroot|pivot_root)\b",
        rf"{_START}(?:iptables|ip6tables|nft|ufw|setenforce|visudo|useradd|userdel|usermod|passwd|chpasswd)\b",
        rf"{_START}systemctl\s+(?:\S+\s+)*(?:stop|disable|mask|enable|start|restart|poweroff|reboot|halt|edit)\b",
    ),
    "leaves something that runs later": (rf"{_START}(?:crontab\s+(?:-(?:[^l]|$)|[^-\s])|at\s+(?:now|\d)|batch\b)",),
    "overwrites other people's work": (
        rf"{_GIT}push\b[^;|&\n]*\s(?:--force(?:-with-lease)?\b|-\w*f\b|--mirror\b|--delete\b|-d\b|\+\S)",
    ),
    "rewrites history": (rf"{_GIT}(?:filter-branch|filter-repo|reflog\s+expire|update-ref\s+-d)\b",),
    "makes git run commands": (
        rf"{_GIT}config\b[^;|&\n]*(?:core\.(?:hookspath|fsmonitor|sshcommand|pager|editor)|\balias\.|filter\.)",
    ),
    "publishes something": (
        rf"{_START}(?:npm|pnpm|yarn|cargo|poetry|hatch|flit|uv)\s+publish\b",
        rf"{_START}(?:twine\s+upload|gem\s+push|docker\s+push)\b",
    ),
    "stops other processes": (
        rf"{_START}(?:pkill|killall|skill)\b",
        rf"{_START}kill\s+(?:-\S+\s+)*(?:--\s+)?(?:-1|1|0)\b",
    ),
    "takes over the machine": (r"\bdocker\b[^;\n]*(?:--privileged|-v\s*/:|--volume[= ]/:|--pid[= ]host|docker\.sock)",),
    "lets a program run with its owner's rights": (r"\bchmod\s+(?:-\S+\s+)*(?:[ugoa]*\+\w*s|[2467][0-7]{3})\b",),
    "hides that an agent is running": (r"\benv\s+-u\s*WHET_RUN|\bunset\s+WHET_RUN|\bWHET_RUN=",),
    "decides in your place": (
        r"\bwhet\s+(?:\S+\s+)*(?:(?:lessons|pending)\s+(?:approve|edit|refuse|never|undo)|live\s+(?:start|stop)"
        r"|config\s+(?:set\b|[\w.]+\s+\S)|ledger\s+(?:undo|redo|revert))",
    ),
}
_ORDERS = (
    r"\.(?:bash|zsh|k?sh)rc$|\.(?:bash_|z)?(?:profile|login|logout)$|\.zshenv$|\.xinitrc$|\.ssh/|\.gnupg/|\.gitconfig$"
    r"|\.config/(?:autostart|systemd|fish)|LaunchAgents|LaunchDaemons|\.git/hooks|\.git/config$"
    r"|^['\"]?/(?:etc|boot|usr|lib|bin|sbin)/|/spool/cron|\.whet(?:/|$)"
)
_FUNCTION = re.compile(r"(?<![\w:.])([\w:.]{1,200})\s*\(\)\s*\{([^}]{0,200})\}")
_WHOLE = re.compile(r"(?:/\*?|/[A-Za-z0-9_.-]+/?\*?|~/?\*?|\$\{?HOME\}?/?\*?|\.\./?.*|\./?|\*|\.\*|\./\*)")
_TEMPORARY = re.compile(r"/(?:tmp|var/tmp)(?:/|$)")
LAST_WORD_WRITERS = frozenset({"cp", "mv", "ln", "install", "rsync", "scp"})
EVERY_WORD_WRITERS = frozenset({"tee", "touch", "chmod", "chown", "truncate", "rm", "unlink"})
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


@functools.cache
def _compiled(pattern: str) -> Any:
    """A pattern, made at the first command: dozens of them take milliseconds, which every start would pay."""
    return re2.compile(pattern)


def dangers(command: str) -> tuple[str, ...]:
    """Why a person should be asked before this command runs, each reason once; nothing for an ordinary one."""
    text = command[:LENGTH_LIMIT].replace("\\\n", " ")
    found = [reason for reason, patterns in PATTERNS.items() if any(_compiled(each).search(text) for each in patterns)]
    found += [reason for stage in split(text) for test, reason in STAGE_TESTS if test(stage)]
    if any("&" in body and "|" in body and body.count(name) >= 2 for name, body in _FUNCTION.findall(text)):
        found.append("starts itself endlessly")
    if len(command) > LENGTH_LIMIT:
        found.append("is too long to check")
    return tuple(dict.fromkeys(found))


def _removes_whole(stage: Stage) -> bool:
    """Deletes a root: the system's, a person's, or all that is in the folder."""
    if stage.program == "find":
        deletes = "-delete" in stage.words or "rm" in stage.words
        return deletes and len(stage.words) > 1 and _is_whole(stage.words[1]) and stage.words[1] not in (".", "./")
    flags = [word for word in stage.words[1:] if word.startswith("-")]
    recursive = any(word == "--recursive" or ("r" in word.lower() and not word.startswith("--")) for word in flags)
    return stage.program == "rm" and recursive and any(_is_whole(word) for word in stage.words[1:])


def _opens_whole(stage: Stage) -> bool:
    """Changes the rights of all that is in a root."""
    recursive = any(word == "--recursive" or word.startswith("-R") for word in stage.words)
    roots = [word for word in stage.words[1:] if _is_whole(word) and word not in (".", "./", "*", "./*")]
    return stage.program in ("chmod", "chown", "chgrp") and recursive and bool(roots)


def _writes_orders(stage: Stage) -> bool:
    """Writes where shells, services and git take their orders from."""
    orders = _compiled(_ORDERS)
    return any(orders.search(word) for word in _written(stage))


def _written(stage: Stage) -> Iterator[str]:
    words = stage.words
    for place, word in enumerate(words):
        bare = word.lstrip("0123456789&")
        if bare.startswith(">"):
            yield bare.lstrip(">| ") or (words[place + 1] if place + 1 < len(words) else "")
    if stage.program in LAST_WORD_WRITERS and len(words) > 2:
        yield words[-1]
    edits = stage.program == "sed" and any(word.startswith(("-i", "--in-place")) for word in words)
    if stage.program in EVERY_WORD_WRITERS or edits:
        yield from (word for word in words[1:] if not word.startswith("-"))


def _is_whole(word: str) -> bool:
    return _WHOLE.fullmatch(word) is not None and not _TEMPORARY.match(word)


STAGE_TESTS: tuple[tuple[Callable[[Stage], bool], str], ...] = (
    (_removes_whole, "deletes a whole folder tree"),
    (_opens_whole, "changes the permissions of a whole folder tree"),
    (_writes_orders, "writes to files that programs obey"),
)


def terminal(
    occasion: CallContext,
    *,
    command: Annotated[str, Meta(description="a bash command line")],
    timeout_seconds: Annotated[int, Meta(ge=0, le=3600, description="0: as the settings say")] = 0,
    background: Annotated[bool, Meta(description="return at once, with a handle for `process`")] = False,
) -> ToolOutput:
    """Run a command in the working folder, in a sandbox that writes only there and in /tmp. `cd` lasts; variables do
    not. Nothing can be typed into it."""
    if (answer := _refused(occasion, command)) is not None:
        return answer
    workplace = occasion.workplace
    start = functools.partial(_start, workplace, command, attended=not background)
    if background:
        return _in_background(workplace, occasion, start)
    seconds = float(timeout_seconds) or occasion.situation.limits.terminal.timeout_seconds
    process = start()
    end = process.wait(seconds, occasion.interrupt)
    process.stop()
    printed, trust = process.tape.take().text.rstrip(), workplace.trust_of_commands
    if end == "interrupt":
        return ToolOutput(_with(printed, "interrupted"), error=True, disposition=Disposition.INTERRUPTED, trust=trust)
    if end == "time":
        advice = "it and all it started were ended; give more time, or run it in the background"
        return ToolOutput(_with(printed, f"no end after {seconds:g} seconds: {advice}"), error=True, trust=trust)
    if process.fault:
        return failed(f"The command could not be started: {process.fault}.")
    return ToolOutput(_with(printed, _ending(workplace, process)), None, process.exit_code, trust=trust)


def process(
    occasion: CallContext,
    *,
    action: Literal["list", "read", "wait", "kill"],
    handle: str = "",
    timeout_seconds: Annotated[int, Meta(ge=1, le=3600, description="how long to wait")] = 60,
) -> ToolOutput:
    """Look after background commands: list them, read what one printed since, wait for its end, or kill it."""
    processes = occasion.workplace.processes
    if action == "list":
        lines = [f"{name}  {_state(each)}  {each.command[:100]}" for name, each in processes.all()]
        return ToolOutput("\n".join(lines) or "Nothing runs in the background.", trust=Trust.AGENT)
    found = processes.get(handle)
    if found is None:
        known = ", ".join(name for name, _ in processes.all()) or "none"
        return failed(f"There is no process {handle!r}. Known: {known}.")
    if action == "wait":
        found.wait(timeout_seconds, occasion.interrupt)
    if action == "kill":
        found.stop()
    code = found.exit_code if found.done.is_set() and action != "kill" else None
    return _printed(occasion.workplace, found, _state(found), code)


def _refused(occasion: CallContext, command: str) -> ToolOutput | None:
    """Why a command is not run, if it is not."""
    if not command.strip() or "\0" in command or len(os.fsencode(command)) > LONGEST_COMMAND:
        return failed(f"The command is empty, holds a zero byte, or is longer than {LONGEST_COMMAND:,} bytes.")
    reasons = dangers(command)
    if not reasons:
        return None
    instead = "Do it another way, or leave it and say so."
    question = ApprovalQuestion("terminal", command, reasons)
    return refused(occasion, question, act="run", why="; ".join(reasons), instead=instead)


def _in_background(workplace: ToolState, occasion: CallContext, start: "functools.partial[Process]") -> ToolOutput:
    kept = workplace.processes.keep(start)
    if kept is None:
        return failed("Too many commands run in the background. Kill one first.")
    handle, process = kept
    process.wait(STARTING_SECONDS, occasion.interrupt)  # what fails at once should be told at once
    return _printed(workplace, process, f"{handle}: {_state(process)}", process.exit_code)


def _printed(workplace: ToolState, process: Process, said: str, code: int | None) -> ToolOutput:
    """What a process printed since the last time."""
    printed = process.tape.take().text.rstrip()
    return ToolOutput(_with(printed, said), None, code, trust=workplace.trust_of_commands)


def _start(workplace: ToolState, command: str, *, attended: bool) -> Process:
    planned = plan_of(workplace, command)
    process = Process(planned, command, limit=workplace.situation.limits.terminal.output_characters)
    return workplace.lookout.watch(process, attended=attended)


def plan_of(workplace: ToolState, command: str) -> Launch:
    """How a command of this session is started."""
    situation, walls = workplace.situation, workplace.walls
    environment = cleaned(
        situation.environment,
        session=situation.session,
        temporary=temporary_for(walls, workplace.temporary),
        network=situation.limits.sandbox.network,
        kept=situation.limits.sandbox.variables,
    )
    inspection = workplace.inspection
    inspection.ensure_begun()
    bounds = CommandBounds(
        workplace.guard,
        workplace.temporary,
        situation.limits.sandbox.network,
        workplace.writable,
        tuple(map(Path, inspection.repositories)),
        tuple(map(Path, inspection.pointers)),
    )
    folder = workplace.shell_folder if workplace.shell_folder.is_dir() else workplace.guard.folder
    shell = shutil.which("bash", path=environment["PATH"]) or "/bin/sh"
    argv = (shell, "--noprofile", "--norc", "-c", SCRIPT, "bash", command)
    return launch(walls, bounds, argv, folder=folder, environment=environment)


def _ending(workplace: ToolState, process: Process) -> str:
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


def _left_in(workplace: ToolState) -> Path | None:
    """The folder that the command ended in, as it says itself: believed only as far as it is a folder."""
    place = workplace.temporary / FOLDER_FILE
    try:
        with ordinary_file(place) as file:
            named = Path(os.fsdecode(file.read(4_096).rstrip(b"\n").replace(b"\0", b"")))
    except OSError:
        return None
    with contextlib.suppress(OSError):
        place.unlink()
    return named.resolve() if named.is_absolute() and named.is_dir() else None


def _state(process: Process) -> str:
    if not process.done.is_set():
        return "running"
    return f"could not be started: {process.fault}" if process.fault else f"ended with exit code {process.exit_code}"


def _with(printed: str, said: str) -> str:
    return f"{printed}\n[{said}]".lstrip("\n") if said else printed
