"""The sandbox of the terminal: bubblewrap, Landlock, sandbox-exec or none; and what each cannot hold back."""

import functools
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from whet.agent.inspection.spots import COMMON, CONFIGS, HOOKS
from whet.agent.tools import launcher, seatbelt, seccomp
from whet.agent.tools.guard import Bounds
from whet.agent.tools.processes import DEFAULT_PATH, Launch

PROBE_SECONDS = 10.0
SHARED_PLACES = ("/tmp", "/var/tmp")
# Terminals are not among them: what is written to one appears on the person's screen.
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Through these root would change the kernel's settings, from whichever namespace.
CONTROLS = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/scsi", "/proc/fs")
SEATBELT_GAPS = (
    "a process that starts a session of its own goes on after the command",
    "commands go on where Whet itself is killed",
    "they share memory by name with your other programs",
)
SEALED = ("--unshare-user", "--disable-userns")


class Wall(StrEnum):
    """What holds commands back."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    SEATBELT = "sandbox-exec"
    NONE = "none"


class Walls(NamedTuple):
    """What this machine offers, found out by trying it once."""

    wall: Wall
    program: str = ""
    sealed: bool = False  # whether bubblewrap can forbid further namespaces
    abi: int = 0  # of Landlock


@functools.cache
def probe(path: str = DEFAULT_PATH, *, platform: str = sys.platform, program: str = seatbelt.PROGRAM) -> Walls:
    """The best that works here. A program that is installed may still lack the right to make namespaces."""
    if platform == "darwin":
        return Walls(Wall.SEATBELT, program) if seatbelt.holds(program) else Walls(Wall.NONE)
    found = shutil.which("bwrap", path=path) or ""
    for sealed in (True, False):
        if found and _works(found, sealed=sealed):
            return Walls(Wall.BUBBLEWRAP, found, sealed)
    abi = launcher.version()
    return Walls(Wall.LANDLOCK, abi=abi) if abi else Walls(Wall.NONE)


def note(walls: Walls, *, network: bool, required: bool = True) -> str:
    """What a person should know about it, in a sentence or two; empty where everything holds."""
    if walls.wall is Wall.NONE:
        if not required:
            return f"No sandbox works here: the agent's commands can write wherever you can. {advice()}"
        unconfined = "to run commands without a sandbox, run `whet config set sandbox.required false`"
        return f"No sandbox works here, so the agent has no terminal. {advice().rstrip('.')}; {unconfined}."
    if walls.wall is Wall.BUBBLEWRAP:
        return ""
    if walls.wall is Wall.SEATBELT:
        return f"Commands run under sandbox-exec, which restricts less than bubblewrap: {'; '.join(SEATBELT_GAPS)}."
    gaps = ["commands can change the modes and times of files outside the working folder"]
    gaps.append("they can change a repository's settings for a moment before Whet restores them")
    if walls.abi < 2:
        gaps.append("files cannot be moved between folders")
    if walls.abi < 3:
        gaps.append("they can empty files outside the folder")
    if walls.abi < 6:
        gaps.append("they can send signals to your other processes")
    if not seccomp.program(network=network):
        gaps.append("they can use sockets other than TCP" if walls.abi >= 4 else "they can use the network")
    return f"Commands run under Landlock, which restricts less than bubblewrap: {'; '.join(gaps)}."


def advice(platform: str = sys.platform) -> str:
    """What a person can do for a sandbox, or for a better one."""
    if platform == "darwin":
        return "Run `whet doctor` outside any other sandbox: sandbox-exec does not work within one."
    return "Install bubblewrap, or use a kernel with Landlock (Linux 5.13 or later)."


def holds_network(walls: Walls, *, network: bool) -> bool:
    """Whether commands behind the wall reach no network."""
    if network or walls.wall is Wall.NONE:
        return False
    return walls.wall in (Wall.BUBBLEWRAP, Wall.SEATBELT) or bool(seccomp.program(network=False))


def launch(walls: Walls, bounds: Bounds, argv: tuple[str, ...], *, folder: Path, environment: dict[str, str]) -> Launch:
    """How a command is started behind the wall. On Linux every wall ends what the command leaves running."""
    if walls.wall is Wall.BUBBLEWRAP:
        return _bubblewrapped(walls, bounds, argv, folder=folder, environment=environment)
    if walls.wall is Wall.SEATBELT:
        told = seatbelt.profile(seatbelt.as_spelled(bounds))
        return Launch((walls.program, "-p", told), argv, environment, folder)
    if sys.platform != "linux":
        return Launch(argv, (), environment, folder)
    program = b""
    rules: list[tuple[str, int]] = []
    if walls.wall is Wall.LANDLOCK:
        program = seccomp.program(network=bounds.network)
        rules = list(landlock_rules(bounds))
    plan = launcher.plan(rules, network=bounds.network, abi=walls.abi, program=program)
    start = (sys.executable, "-I", "-S", launcher.__file__)
    return Launch(start, argv, environment, folder, (("--plan", plan),), leash="--leash")


def _bubblewrapped(
    walls: Walls, bounds: Bounds, argv: tuple[str, ...], *, folder: Path, environment: dict[str, str]
) -> Launch:
    program = seccomp.program(network=True)  # a network namespace holds the rest back, and leaves the loopback
    files = (("--seccomp", program),) if program else ()
    options = (*bubblewrap_options(bounds, sealed=walls.sealed), "--chdir", str(folder), "--", *argv)
    return Launch((walls.program,), options, environment, bounds.guard.folder, files, tells="--info-fd")


def temporary_for(walls: Walls, temporary: Path) -> str:
    """The name under which a command sees its private temporary folder."""
    return SHARED_PLACES[0] if walls.wall is Wall.BUBBLEWRAP else str(temporary)


def bubblewrap_options(bounds: Bounds, *, sealed: bool) -> tuple[str, ...]:
    """What bubblewrap is told. A later mount covers an earlier one: what is hidden comes after what is writable."""
    options = [*(SEALED if sealed else ()), "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    options += [] if bounds.network else ["--unshare-net"]
    options += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
    for control in CONTROLS:
        options += ["--ro-bind-try", control, control]
    resolver = os.path.realpath("/etc/resolv.conf")
    options += ["--ro-bind-try", resolver, resolver] if bounds.network else []
    for shared in SHARED_PLACES:
        options += ["--bind", str(bounds.temporary), shared]
        inside = (each for each in bounds.programs if Path(shared) in each.parents)
        options += itertools.chain.from_iterable(("--ro-bind-try", str(each), str(each)) for each in inside)
    for each in bounds.folders:
        options += ["--bind", str(each), str(each)]
    for place in sorted(bounds.guard.hidden):
        if place.is_dir():
            options += ["--tmpfs", str(place)]
        elif place.exists():
            options += ["--ro-bind", "/dev/null", str(place)]
    for place in bounds.guard.readable:
        options += ["--ro-bind-try", str(place), str(place)]
    for each in bounds.kept_repositories:
        options += _kept_repository(each)
    for each in bounds.kept_pointers:
        options += ["--ro-bind-try", str(each), str(each)]
    return tuple(options)


def landlock_rules(bounds: Bounds) -> Iterator[tuple[str, int]]:
    """What a command may reach behind Landlock, which knows only what is allowed: all but what is hidden."""
    hidden = [str(place) for place in sorted(bounds.guard.hidden) if place.exists()]
    for path in _around("/", [*hidden, "/dev", "/proc"]):
        yield path, launcher.READ
    # Without this nobody could list the folder around a hidden place. It shows names in there, and no content.
    for above in sorted({str(above) for place in hidden for above in Path(place).parents} - {"/"}):
        yield above, launcher.READ_DIR
    yield "/proc", launcher.READ
    for place in bounds.guard.readable:
        yield str(place), launcher.READ
    for device in DEVICES:
        yield device, launcher.DEVICE | launcher.READ
    for folder in (*bounds.folders, bounds.temporary):
        for path in _around(str(folder), hidden):
            yield path, launcher.WRITE


def _around(path: str, left_out: list[str]) -> Iterator[str]:
    """The folder, or where something in it is left out, everything beneath it besides that."""
    beneath = path.rstrip("/") + "/"
    out = [each for each in left_out if each == path or each.startswith(beneath)]
    if not out:
        yield path
    if not out or path in out:
        return
    try:
        with os.scandir(path) as inside:
            found = [entry.path for entry in inside if not entry.is_symlink()]
    except OSError:
        return
    for each in found:
        yield from _around(each, out)


def _kept_repository(repository: Path) -> list[str]:
    """A repository in the working folder keeps its hooks and its settings, which others would run."""
    if not repository.is_dir() or repository.is_symlink():
        return []
    hooks, common = repository / HOOKS, repository / COMMON
    kept = ["--ro-bind", str(hooks), str(hooks)] if hooks.is_dir() and not hooks.is_symlink() else []
    if not hooks.exists() and not hooks.is_symlink() and not common.exists():
        kept = ["--tmpfs", str(hooks), "--remount-ro", str(hooks)]
    for name in (*CONFIGS, COMMON):
        kept += ["--ro-bind-try", str(repository / name), str(repository / name)]
    # Itself a mount, for what is one cannot be renamed away.
    return ["--bind", str(repository), str(repository), *kept]


def _works(program: str, *, sealed: bool) -> bool:
    options = [*(SEALED if sealed else ()), "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/"]
    options += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--die-with-parent", "--new-session"]
    try:
        done = subprocess.run(
            [program, *options, "--", "/bin/sh", "-c", ":"], capture_output=True, timeout=PROBE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
