"""The sandbox of the terminal: bubblewrap, Landlock, sandbox-exec or none; and what each cannot hold back."""

import functools
import itertools
import os
import platform
import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from whet.agent.inspection.spots import COMMON, CONFIGS, HOOKS
from whet.agent.tools import launcher, seatbelt
from whet.agent.tools.guard import CommandBounds
from whet.agent.tools.processes import DEFAULT_PATH, Launch

LOAD, EQUAL, HAS_BITS, GIVE = 0x20, 0x15, 0x45, 0x06
ALLOW, FAIL = 0x7FFF_0000, 0x0005_0000
EPERM, EACCES, ENOSYS, EAFNOSUPPORT = 1, 13, 38, 97
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # offsets in the record that the kernel shows to a filter
SET_ID = 0o6000
X32 = 0x4000_0000
# Families of sockets that programs need. Of netlink, only what tells of interfaces and routes.
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
ROUTE = 0
# Names of system calls, each with its number on x86_64 and on aarch64; `-` where the machine has no such call.
_CALLS = (
    "socket 41 198, socketpair 53 199, open 2 -, creat 85 -, openat 257 56, openat2 437 437, mknod 133 -, "
    "mknodat 259 33, mkdir 83 -, mkdirat 258 34, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, "
    "io_uring_setup 425 425, ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, "
    "pidfd_getfd 438 438, kcmp 312 272, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, "
    "open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, "
    "mount_setattr 442 442, unshare 272 97, setns 308 268, open_by_handle_at 304 265, add_key 248 217, "
    "request_key 249 218, keyctl 250 219, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, "
    "kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273, "
    "delete_module 176 106, reboot 169 142, swapon 167 224, swapoff 168 225, acct 163 89, settimeofday 164 170, "
    "clock_settime 227 112"
)
NUMBERS: dict[str, tuple[int | None, ...]] = {
    name: tuple(int(each) if each != "-" else None for each in numbers)
    for name, *numbers in (call.split() for call in _CALLS.split(","))
}
# Answered as if the kernel had no such call, so that programs fall back to what can be checked.
ABSENT = ("io_uring_setup", "openat2", "fchmodat2")
# Which argument of a call holds the mode of a file. Set-id bits would outlive the sandbox.
MODES = {"open": 2, "creat": 1, "openat": 3, "mknod": 1, "mknodat": 2, "mkdir": 1, "mkdirat": 2}
MODES |= {"chmod": 1, "fchmod": 1, "fchmodat": 2}
MACHINES = {"x86_64": (0, 0xC000_003E), "aarch64": (1, 0xC000_00B7), "arm64": (1, 0xC000_00B7)}
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


class Instruction(NamedTuple):
    """One instruction of a filter; the jumps count the instructions to skip."""

    code: int
    value: int
    if_so: int = 0
    if_not: int = 0


def seccomp_program(*, network: bool, machine: str = "") -> bytes:
    """The filter as the kernel takes it; empty for a machine whose numbers are not known here.

    Sockets with a name in the file system lead to whatever listens there (a container engine, a desktop, a key
    agent), so they are refused; unnamed pairs work. Without `network` those of the internet are refused too, and those
    of every other family (packets, virtual machines, the kernel's ciphers, Bluetooth …) are never there.
    """
    column, own = MACHINES.get(machine or platform.machine(), (-1, 0))
    if column < 0:
        return b""
    families = {UNIX: False, INET: network, INET6: network, NETLINK: network}
    steps = [
        Instruction(LOAD, MACHINE),
        Instruction(EQUAL, own, 1, 0),
        Instruction(GIVE, FAIL | EPERM),
        Instruction(LOAD, NUMBER),
    ]
    if column == 0:
        steps += [Instruction(HAS_BITS, X32, 0, 1), Instruction(GIVE, FAIL | EPERM)]
    for name, numbers in NUMBERS.items():
        number = numbers[column]
        if number is not None:
            steps += _for(name, number, families)
    steps.append(Instruction(GIVE, ALLOW))
    return b"".join(struct.pack("<HBBI", step.code, step.if_so, step.if_not, step.value) for step in steps)


def _for(name: str, number: int, families: Mapping[int, bool]) -> list[Instruction]:
    """What becomes of one system call; any other goes on to the next steps."""
    if name == "socket":
        body = _of_family(families)
    elif name == "socketpair":
        body = _of_family({UNIX: True})
    elif name in MODES:
        body = [
            Instruction(LOAD, ARGUMENTS + 8 * MODES[name]),
            Instruction(HAS_BITS, SET_ID, 0, 1),
            Instruction(GIVE, FAIL | EPERM),
        ]
        if name in ("open", "openat"):  # the mode counts only where the file is made
            flags = ARGUMENTS + 8 * (MODES[name] - 1)
            body = [Instruction(LOAD, flags), Instruction(HAS_BITS, 0o100, 0, len(body)), *body]
        body.append(Instruction(GIVE, ALLOW))
    else:
        body = [Instruction(GIVE, FAIL | (ENOSYS if name in ABSENT else EPERM))]
    return [Instruction(EQUAL, number, 0, len(body)), *body]


def _of_family(families: Mapping[int, bool]) -> list[Instruction]:
    """Sockets of these families, as far as each is allowed; a family that is not named does not exist."""
    steps = [Instruction(LOAD, ARGUMENTS)]
    for family, allowed in families.items():
        verdict = [Instruction(GIVE, ALLOW if allowed else FAIL | EACCES)]
        if family == NETLINK and allowed:
            protocol = [Instruction(LOAD, ARGUMENTS + 16), Instruction(EQUAL, ROUTE, 1, 0)]
            verdict = [*protocol, Instruction(GIVE, FAIL | EAFNOSUPPORT), *verdict]
        steps += [Instruction(EQUAL, family, 0, len(verdict)), *verdict]
    return [*steps, Instruction(GIVE, FAIL | EAFNOSUPPORT)]


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


_PROBING = threading.Lock()


def probe(path: str = DEFAULT_PATH, *, platform: str = sys.platform, program: str = seatbelt.PROGRAM) -> Walls:
    """The best that works here. A program that is installed may still lack the right to make namespaces."""
    with _PROBING:  # whoever comes while another probes takes what that one finds
        return _probed(path, platform, program)


def probe_ahead(path: str) -> None:
    """Begin to probe, beside what is done meanwhile."""
    threading.Thread(target=probe, args=(path,), daemon=True).start()


@functools.cache
def _probed(path: str, platform: str, program: str) -> Walls:
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
        unconfined = "to run commands without a sandbox, run `whet config sandbox.required false`"
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
    if not seccomp_program(network=network):
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
    return walls.wall in (Wall.BUBBLEWRAP, Wall.SEATBELT) or bool(seccomp_program(network=False))


def launch(
    walls: Walls, bounds: CommandBounds, argv: tuple[str, ...], *, folder: Path, environment: dict[str, str]
) -> Launch:
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
        program = seccomp_program(network=bounds.network)
        rules = list(landlock_rules(bounds))
    plan = launcher.plan(rules, network=bounds.network, abi=walls.abi, program=program)
    start = (sys.executable, "-I", "-S", launcher.__file__)
    return Launch(start, argv, environment, folder, (("--plan", plan),), leash="--leash")


def _bubblewrapped(
    walls: Walls, bounds: CommandBounds, argv: tuple[str, ...], *, folder: Path, environment: dict[str, str]
) -> Launch:
    program = seccomp_program(network=True)  # a network namespace holds the rest back, and leaves the loopback
    files = (("--seccomp", program),) if program else ()
    keeps = (bounds.door,) if bounds.ports else ()
    if bounds.ports:
        ports = ",".join(map(str, bounds.ports))
        argv = (
            os.path.realpath(sys.executable),
            "-I",
            "-S",
            launcher.__file__,
            "--open",
            str(bounds.door),
            ports,
            *argv,
        )
    options = (*bubblewrap_options(bounds, sealed=walls.sealed), "--chdir", str(folder), "--", *argv)
    return Launch((walls.program,), options, environment, bounds.guard.folder, files, keeps, tells="--info-fd")


def temporary_for(walls: Walls, temporary: Path) -> str:
    """The name under which a command sees its private temporary folder."""
    return SHARED_PLACES[0] if walls.wall is Wall.BUBBLEWRAP else str(temporary)


def bubblewrap_options(bounds: CommandBounds, *, sealed: bool) -> tuple[str, ...]:
    """What bubblewrap is told. A later mount covers an earlier one: what is hidden comes after what is writable."""
    options = [*(SEALED if sealed else ()), "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    options += [] if bounds.network else ["--unshare-net"]
    options += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += [*_seen(bounds), "--dev", "/dev", "--proc", "/proc"]
    for control in CONTROLS:
        options += ["--ro-bind-try", control, control]
    resolver = os.path.realpath("/etc/resolv.conf")
    options += ["--ro-bind-try", resolver, resolver] if bounds.network else []
    for shared in SHARED_PLACES:
        options += ["--bind", str(bounds.temporary), shared]
        inside = (each for each in bounds.guard.visible if Path(shared) in each.parents)
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


def _seen(bounds: CommandBounds) -> list[str]:
    """What there is at all: an empty root, and in it what is visible, folders above before those beneath."""
    options = ["--tmpfs", "/"]
    links: list[str] = []
    for place in sorted(bounds.guard.visible):
        if place.is_symlink():
            links += ["--symlink", os.readlink(place), str(place)] if place.parent == Path("/") else []
        elif place.exists():
            options += ["--ro-bind", str(place), str(place)]
    return [*options, *links, "--tmpfs", "/run"]


def landlock_rules(bounds: CommandBounds) -> Iterator[tuple[str, int]]:
    """What a command may reach behind Landlock, which knows only what is allowed: what is visible and not hidden."""
    hidden = [str(place) for place in sorted(bounds.guard.hidden) if place.exists()]
    visible = [str(place) for place in bounds.guard.visible if not place.is_symlink()]
    for path in (each for place in visible for each in _around(place, [*hidden, "/dev", "/proc"])):
        yield path, launcher.READ
    # Without this nobody could list the folder around a hidden place. It shows names in there, and no content.
    for above in sorted({str(above) for place in hidden for above in Path(place).parents} - {"/"}):
        if any(Path(above).is_relative_to(place) for place in (*bounds.guard.visible, *bounds.folders)):
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
