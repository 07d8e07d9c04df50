"""Ways out of the sandbox, each with the proof that it led out; every one works in a plain shell."""

import contextlib
import os
import socket
import stat
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from agent.tools.rooms import KEY, SECRET, Room, running
from patience import until

Attempt = Callable[[Room], "contextlib.AbstractContextManager[Way]"]


class Way(NamedTuple):
    """A command, and whether it led out, told from outside by what it left and by what it printed."""

    command: str
    led_out: Callable[[str], bool]
    variables: dict[str, str] = {}  # noqa: RUF012 - never changed


class Escape(NamedTuple):
    name: str
    make: Callable[[Room], Iterator[Way]]
    rare: bool = False  # needs root, or a kernel and a container that let a plain shell do it
    walls: tuple[str, ...] = ("bubblewrap", "landlock")  # those that are known to hold it back


def _writes(
    name: str,
    command: str,
    *,
    target: str = "{outside}/victim",
    before: str = ":",
    variables: Mapping[str, str] = MappingProxyType({}),
    rare: bool = False,
) -> Escape:
    """An attempt that leaves something at a path, or changes what is there, after what was there `before`."""

    def make(room: Room) -> Iterator[Way]:
        subprocess.run(["bash", "-c", _filled(before, room)], cwd=room.work, check=True)
        path = Path(_filled(target, room))
        seen = _seen(path)
        given = {key: _filled(value, room) for key, value in variables.items()}
        yield Way(_filled(command, room), lambda _: _seen(path) != seen, given)

    return Escape(name, make, rare)


def _reads(
    name: str,
    command: str,
    secret: str,
    *,
    variables: Mapping[str, str] = MappingProxyType({}),
    rare: bool = False,
) -> Escape:
    """An attempt that prints what it should not see."""

    def make(room: Room) -> Iterator[Way]:
        yield Way(_filled(command, room), lambda printed: secret in printed, dict(variables))

    return Escape(name, make, rare)


def _with_outsider(name: str, command: str, led_out: Callable[[Room, str, int], bool], *, rare: bool = False) -> Escape:
    """An attempt on another process of the person's."""

    def make(room: Room) -> Iterator[Way]:
        process = room.outsider(sys.executable, "-c", "import time; file = open('victim', 'a'); time.sleep(1000)")
        pid = process.pid
        until(lambda: _holds_victim(pid))
        yield Way(_filled(command, room).replace("{pid}", str(pid)), lambda printed: led_out(room, printed, pid))

    return Escape(name, make, rare)


def _outlives(name: str, command: str) -> Escape:
    """An attempt to leave a process behind."""

    def make(room: Room) -> Iterator[Way]:
        mark = f"3{uuid.uuid4().int % 10**8:08}"
        try:
            yield Way(_filled(command, room).replace("{mark}", mark), lambda _: bool(running(mark)))
        finally:
            for pid in running(mark):
                os.kill(pid, 9)

    return Escape(name, make)


def _connects(name: str, command: str, family: int, kind: int) -> Escape:
    """An attempt to reach somebody who listens on this machine."""

    def make(room: Room) -> Iterator[Way]:
        with socket.socket(family, kind) as listener:
            address: tuple[str, int] | str = ("127.0.0.1", 0)
            if family == socket.AF_UNIX:
                address = f"\0whet-{uuid.uuid4().hex}" if "abstract" in name else str(room.outside / "s")
            listener.bind(address)
            if kind == socket.SOCK_STREAM:
                listener.listen(8)
            bound = listener.getsockname()
            shown = str(bound[1]) if family == socket.AF_INET else os.fsdecode(bound).replace("\0", "@")
            yield Way(command.replace("{address}", shown), lambda _: _heard(listener))

    return Escape(name, make)


def _heard(listener: socket.socket) -> bool:
    listener.settimeout(0.2)
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(10)
    except TimeoutError:
        return False
    return True


def _to_terminal(_: Room) -> Iterator[Way]:
    master, slave = os.openpty()
    try:
        os.set_blocking(master, False)
        yield Way(f"echo evil > {os.ttyname(slave)}", lambda _: _got(master))
    finally:
        os.close(master)
        os.close(slave)


def _got(descriptor: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        return b"evil" in os.read(descriptor, 100)
    return False


def _shared(folder: str) -> Callable[[Room], Iterator[Way]]:
    """An attempt to leave a message where every program looks."""

    def make(_: Room) -> Iterator[Way]:
        path = Path(folder) / f"whet-{uuid.uuid4().hex}"
        try:
            yield Way(f"echo evil > {path}", lambda _: path.exists())
        finally:
            path.unlink(missing_ok=True)

    return make


def _sets_id(name: str, command: str) -> Escape:
    """An attempt to leave a program that runs with its owner's rights."""

    def make(room: Room) -> Iterator[Way]:
        program = room.work / "program"
        yield Way(command, lambda _: bool(program.exists() and program.stat().st_mode & stat.S_ISUID))

    return Escape(name, make)


def _mode_outside(room: Room) -> Iterator[Way]:
    room.victim.chmod(0o600)
    yield Way(f"chmod 666 {room.victim}", lambda _: room.victim.stat().st_mode & 0o777 == 0o666)


def _mounted(room: Room) -> Iterator[Way]:
    try:
        yield Way(f"mount -t tmpfs none {room.outside}", lambda _: os.path.ismount(room.outside))
    finally:
        if os.path.ismount(room.outside):
            os.system(f"umount {room.outside}")


PTRACE = f"{sys.executable} -c 'import ctypes; print(\"attached\", ctypes.CDLL(None).ptrace(0x4206, {{pid}}, 0, 0))'"
KEYRING = (
    f"{sys.executable} -c 'import ctypes; libc = ctypes.CDLL(None);"
    ' print("kept" if libc.syscall(248, b"user", b"whet", b"evil", 4, -3) > 0 else "refused")\''
)
CONNECT = (
    f"{sys.executable} -c 'import socket; s = socket.socket(socket.AF_UNIX);"
    ' s.connect("{address}".replace("@", chr(0)))\''
)
DOUBLE_FORK = (
    f"{sys.executable} -c 'import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0);"
    ' os.closerange(0, 9); open("up", "w").close(); time.sleep(1000)\' sleep {mark};'
    " until [ -e up ]; do sleep 0.05; done"
)
SQL = '"{home}/whet.db"'
BORN = f"{sys.executable} -c 'import os; os.umask(0); os.open(\"program\", os.O_CREAT | os.O_WRONLY, 0o4755)'"
RAN, TOUCH, HOOK = "{work}/ran", r"printf '#!/bin/sh\ntouch {work}/ran\n'", ".git/hooks/pre-commit"

ESCAPES: tuple[Escape, ...] = (
    _writes("an absolute path", "echo evil > {outside}/victim"),
    _writes("a path with ..", "echo evil > ../outside/victim"),
    _writes("appending", "echo evil >> {outside}/victim"),
    _writes("a link to a file", "ln -s {outside}/victim link; echo evil > link"),
    _writes("a link to a folder", "ln -s {outside} folder; echo evil > folder/new", target="{outside}/new"),
    _writes("a hard link", "ln {outside}/victim hard && echo evil > hard"),
    _writes("renaming over", "echo evil > mine; mv -f mine {outside}/victim"),
    _writes("linking out", "echo evil > mine; ln -f mine {outside}/victim"),
    _writes("moving a folder in", "mv {outside} taken"),
    _writes("removing", "rm -f {outside}/victim"),
    _writes("cutting to nothing", "truncate -s 0 {outside}/victim"),
    _writes("making a folder", "mkdir {outside}/new", target="{outside}/new"),
    _writes("making a link outside", "ln -s /etc/passwd {outside}/new", target="{outside}/new"),
    _writes("dd in place", "dd if=/dev/zero of={outside}/victim bs=1 count=1 conv=notrunc status=none"),
    _writes("an editor in place", "sed -i s/old/evil/ {outside}/victim"),
    _writes("the root by /proc/self", "echo evil > /proc/self/root{outside}/victim"),
    _writes("the folder by /proc/self", "echo evil > /proc/self/cwd/../outside/victim"),
    _writes("the root of the parent", "echo evil > /proc/$PPID/root{outside}/victim"),
    _writes("Whet's settings", "echo 'sandbox.network = true' > {home}/settings.toml", target="{home}/settings.toml"),
    _writes("Whet's memory", "echo '- evil' >> {home}/memory.md", target="{home}/memory.md"),
    _writes("Whet's ledger", f"echo evil >> {SQL}", target="{home}/whet.db"),
    _writes("a skill of Whet's", "mkdir {home}/skills/evil", target="{home}/skills/evil"),
    _writes("a script of a skill", "echo evil > {home}/skills/known/helper.sh", target="{home}/skills/known/helper.sh"),
    _writes("a home in the place of Whet's", "mv {home} {home}.old", target="{home}.old"),
    _writes("a shell's profile", "echo evil >> {person}/.bashrc", target="{person}/.bashrc"),
    _writes(
        "a key of the person's", "echo evil >> {person}/.ssh/authorized_keys", target="{person}/.ssh/authorized_keys"
    ),
    _writes("a program that starts by itself", "mkdir -p {person}/.config/autostart", target="{person}/.config"),
    _writes("Whet's home by a link", "ln -s {home} h; echo evil > h/settings.toml", target="{home}/settings.toml"),
    _reads("Whet's database", f"cat {SQL}", SECRET),
    _reads("Whet's database by a link", f"ln -s {SQL} data; cat data", SECRET),
    _reads("a key", "cat {person}/.ssh/id_rsa", KEY.splitlines()[1]),
    _reads("a key by /proc/self/root", "cat /proc/self/root{person}/.ssh/id_rsa", KEY.splitlines()[1]),
    _reads("a secret variable", "echo $SERVICE_API_KEY", SECRET),
    _reads("the variables of the shell's own start", "cat /proc/$$/environ | tr '\\0' '\\n'", SECRET),
    _with_outsider(
        "another's variables", "tr '\\0' '\\n' < /proc/{pid}/environ", lambda _, printed, __: SECRET in printed
    ),
    _with_outsider("another's folder", "echo evil > /proc/{pid}/cwd/victim", lambda room, *_: _evil(room)),
    _with_outsider("another's root", "echo evil > /proc/{pid}/root{outside}/victim", lambda room, *_: _evil(room)),
    _with_outsider(
        "another's open file", "for f in /proc/{pid}/fd/*; do echo evil >> $f; done", lambda room, *_: _evil(room)
    ),
    _with_outsider("another's life", "kill -9 {pid}", lambda room, _, __: _is_dead(room)),
    _with_outsider("tracing another", PTRACE, lambda _, printed, __: "attached 0" in printed, rare=True),
    _outlives("a background process", "sleep {mark} & disown; true"),
    _outlives("a session of its own", "setsid sleep {mark} > /dev/null 2>&1 < /dev/null & true"),
    _outlives("nohup", "(nohup sleep {mark} > /dev/null 2>&1 &)"),
    _outlives("a daemon", DOUBLE_FORK),
    _connects("a server", "echo evil > /dev/tcp/127.0.0.1/{address}", socket.AF_INET, socket.SOCK_STREAM),
    _connects("a datagram", "echo evil > /dev/udp/127.0.0.1/{address}", socket.AF_INET, socket.SOCK_DGRAM),
    _connects("a socket with a path", CONNECT, socket.AF_UNIX, socket.SOCK_STREAM),
    _connects("an abstract socket", CONNECT, socket.AF_UNIX, socket.SOCK_STREAM),
    Escape("the person's terminal", _to_terminal),
    Escape("shared memory", _shared("/dev/shm")),
    Escape("the folder for temporary files", _shared(tempfile.gettempdir())),
    _sets_id("a set-id program", "cp /bin/true program && chmod 4755 program"),
    _sets_id("a set-id program from its birth", BORN),
    _writes("a device", "mknod disk b 8 0", target="{work}/disk", rare=True),
    Escape("a mount", _mounted, rare=True),
    # Become root of a new namespace, undo what covers the home there, and read it.
    _reads("a namespace of its own", f"unshare -Urm sh -c 'umount {{home}}; cat {SQL}'", SECRET, rare=True),
    _writes(
        "a file for every bash",
        "true",
        target=RAN,
        before="echo touch ran > env.sh",
        variables={"BASH_ENV": "{work}/env.sh"},
    ),
    _writes("a function for every bash", "date", target=RAN, variables={"BASH_FUNC_date%%": "() { touch ran; }"}),
    _writes(
        "a program by a relative path",
        "date",
        target=RAN,
        before=f"{TOUCH} > date; chmod 755 date",
        variables={"PATH": f".:{os.environ['PATH']}"},
    ),
    _writes(
        "a variable of git",
        "git diff --no-index one two",
        target=RAN,
        before=f"echo one > one; echo two > two; {TOUCH} > differ; chmod 755 differ",
        variables={"GIT_EXTERNAL_DIFF": "{work}/differ"},
    ),
    # The loader names the library that it cannot load, if it looks at the variable at all.
    _reads(
        "a library for every program", "/bin/true", "of-another", variables={"LD_PRELOAD": "/library-of-another.so"}
    ),
    _reads("the kernel's keyring", KEYRING, "kept", rare=True),
    _reads(
        "a setting of the kernel",
        'cd /proc/sys/kernel; v=$(cat core_pattern); echo "$v" > core_pattern && echo changed',
        "changed",
        rare=True,
    ),
    Escape("modes outside", _mode_outside, walls=("bubblewrap",)),
    _writes("a hook", f"echo evil > {HOOK}", target=f"{{work}}/{HOOK}", before="mkdir -p .git/hooks"),
    _writes(
        "a folder of hooks",
        f"mkdir -p .git/hooks && echo evil > {HOOK}",
        target=f"{{work}}/{HOOK}",
        before="mkdir .git",
    ),
    _writes(
        "another repository in its place",
        f"mv .git old; mkdir -p .git/hooks; echo evil > {HOOK}",
        target=f"{{work}}/{HOOK}",
        before="mkdir -p .git/hooks",
    ),
    _writes(
        "settings of git",
        "echo '\tfsmonitor = evil' >> .git/config",
        target="{work}/.git/config",
        before="mkdir .git; echo '[core]' > .git/config",
    ),
)


def _filled(text: str, room: Room) -> str:
    places = {"outside": room.outside, "home": room.home.folder, "person": room.person, "work": room.work}
    for name, path in places.items():
        text = text.replace(f"{{{name}}}", str(path))
    return text


def _seen(path: Path) -> object:
    """What stands at a path: the content of a file, and of anything else whether it is there."""
    if path.is_symlink() or not path.is_file():
        return os.path.lexists(path)
    return path.read_bytes()


def _evil(room: Room) -> bool:
    return "evil" in room.victim.read_text()


def _holds_victim(pid: int) -> bool:
    try:
        return any("victim" in os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir())
    except FileNotFoundError:  # it closed one while we looked
        return False


def _is_dead(room: Room) -> bool:
    try:
        room.outsiders[-1].wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        return False
    return True
