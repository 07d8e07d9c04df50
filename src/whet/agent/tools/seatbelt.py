"""The sandbox of macOS: a profile for `sandbox-exec` from the same bounds that the walls of Linux get.

In a profile the last rule that fits decides. Paths are compared as the disk spells them, letter by letter.
"""

import os
import re
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from whet.agent.inspection.spots import COMMON, CONFIGS, HOOKS
from whet.agent.tools.guard import CommandBounds, Guard
from whet.store.folders import spelled
from whet.text.words import names

PROGRAM = "/usr/bin/sandbox-exec"
SECONDS = 10.0
PEOPLES = ("/Users", "/Volumes", "/private/tmp", "/private/var/folders")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/stdout", "/dev/stderr")
# Services that programs ask for names of users and zones. None starts a program or opens a keychain.
SERVICES = names(
    "com.apple.system.opendirectoryd.libinfo com.apple.system.opendirectoryd.membership com.apple.bsd.dirhelper"
    " com.apple.system.notification_center com.apple.system.logger com.apple.logd"
)
# Names of machines, and whether a certificate is to be trusted.
SERVICES_OF_NETWORK = names(
    "com.apple.trustd.agent com.apple.SystemConfiguration.configd com.apple.SystemConfiguration.DNSConfiguration"
)
RESOLVER = "/private/var/run/mDNSResponder"
# Facts of the machine. Other processes' arguments and variables (kern.procargs2) are not among them.
FACTS = names(
    "kern.argmax kern.boottime kern.hostname kern.maxfiles kern.maxfilesperproc kern.maxproc kern.ngroups kern.ostype"
    " kern.osproductversion kern.osrelease kern.osvariant_status kern.osversion kern.secure_kernel kern.usrstack64"
    " kern.version kern.willshutdown sysctl.proc_cputype sysctl.proc_translated security.mac.lockdown_mode_state"
)
FACTS_BENEATH = names("hw. machdep.cpu. vm. net.routetable.")
# Works in its folder, then tries to leave: to write beside it, to read what is hidden, to change git's settings there,
# and to reach a port of this machine. Each way out has its own exit code.
TRY = """
echo x > "$1/file" && mkdir -p "$1/.git" || exit 3
echo x > "$2/file" && exit 4
cat "$3/file" && exit 5
echo x > "$1/.git/config" && exit 6
if [ -n "$4" ]; then (exec 3<> "/dev/tcp/127.0.0.1/$4") && exit 7; fi
exit 0
"""


def profile(bounds: CommandBounds) -> str:
    """The rules for a command within these bounds, whose paths are spelled as on the disk (`as_spelled`)."""
    writable = (*bounds.folders, bounds.temporary)
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-exec)",
        "(allow process-fork)",
        "(allow signal (target same-sandbox))",
        "(allow process-info* (target same-sandbox))",
        "(allow ipc-posix-sem)",
        "(allow ipc-posix-shm)",
        _rule("allow sysctl-read", [*_each("sysctl-name", FACTS), *_each("sysctl-name-prefix", FACTS_BENEATH)]),
        _rule("allow mach-lookup", _each("global-name", SERVICES)),
        *(_network() if bounds.network else ()),
        "(allow file-read*)",
        *_seen(bounds),
        _rule("allow file-write* file-ioctl", [*_each("literal", DEVICES), '(subpath "/dev/fd")']),
        _rule("allow file-write*", _each("subpath", map(str, writable))),
        # Terminals belong to the person: what is typed there, and what appears there.
        '(deny file-read* file-write* file-ioctl (regex "^/dev/(tty|pty)"))',
        *_hidden(bounds.guard),
        # Hooks and settings, whether or not they are there yet: others would run them.
        *(
            line
            for each in bounds.kept_repositories
            for line in _kept([each / name for name in (HOOKS, *CONFIGS, COMMON)], writable)
        ),
        *(line for each in bounds.kept_pointers for line in _kept([each], writable)),
    ]
    return "\n".join(lines) + "\n"


def as_spelled(bounds: CommandBounds) -> CommandBounds:
    """The same bounds with every path as the disk spells it, and without hidden places that are not there."""
    guard = bounds.guard
    return CommandBounds(
        Guard(
            spelled(guard.folder),
            frozenset(map(_by_folder, filter(os.path.exists, guard.hidden))),
            tuple(spelled(place) for place in guard.readable if place.exists()),
            tuple(spelled(place) for place in guard.visible if place.exists()),
        ),
        spelled(bounds.temporary),
        bounds.network,
        tuple(map(spelled, bounds.writable)),
        tuple(map(_by_folder, bounds.repositories)),
        tuple(map(_by_folder, bounds.pointers)),
    )


def holds(program: str = PROGRAM) -> bool:
    """Whether the program is there and keeps a command within its bounds, found out by letting one try to leave."""
    return all(_holds(program, network=network) for network in (False, True))


def _holds(program: str, *, network: bool) -> bool:
    with tempfile.TemporaryDirectory(prefix="whet-") as folder, socket.create_server(("127.0.0.1", 0)) as server:
        places = [Path(folder).resolve() / name for name in ("inside", "outside", "hidden")]
        inside, _, hidden = places
        for each in (*places, hidden / "skills"):
            each.mkdir()
        (hidden / "file").write_text("secret")
        guard = Guard(inside, frozenset({hidden}), (hidden / "skills",))
        bounds = CommandBounds(guard, inside, network, repositories=(inside / ".git",))
        port = "" if network else str(server.getsockname()[1])
        tried = ("/bin/bash", "--noprofile", "--norc", "-c", TRY, "bash", *map(str, places), port)
        try:
            done = subprocess.run(
                (program, "-p", profile(as_spelled(bounds)), *tried), capture_output=True, check=False, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0 and (inside / "file").exists()


def _network() -> Iterator[str]:
    """Every machine, and of named sockets only the one that resolves names: others lead to agents and engines."""
    yield '(allow network-bind network-inbound (local ip "*:*"))'
    yield '(allow network-outbound (remote ip "*:*"))'
    yield _rule("allow network-outbound", _each("literal", (RESOLVER,)))
    yield "(allow system-socket)"
    yield _rule("allow mach-lookup", _each("global-name", SERVICES_OF_NETWORK))


def _seen(bounds: CommandBounds) -> Iterator[str]:
    """Of where people keep their own, only what is visible. The rest of a Mac is the system's."""
    seen = (*bounds.guard.visible, *bounds.folders, bounds.temporary)
    if Path("/") in seen:
        return
    yield _rule("deny file-read*", _each("subpath", PEOPLES))
    yield _rule("allow file-read*", _each("subpath", map(str, seen)))
    yield _rule("allow file-read-metadata", _each("literal", {str(above) for each in seen for above in each.parents}))


def _hidden(guard: Guard) -> Iterator[str]:
    """What is hidden, after what is writable; and what in there is readable, after that."""
    for place in sorted(guard.hidden):
        yield _rule("deny file-read* file-write*", [_any_case(place)])
    for place in guard.readable:
        yield _rule("allow file-read*", _each("subpath", (str(place),)))
    # Programs ask for each folder on the way, by its name only.
    above = {str(above) for place in guard.readable for above in place.parents}
    if above:
        yield _rule("allow file-read-metadata", _each("literal", above))


def _kept(places: Iterable[Path], writable: tuple[Path, ...]) -> Iterator[str]:
    """Places that nobody writes; nor can a folder around one be moved away, for rules go by names."""
    around: set[Path] = set()
    for place in places:
        yield _rule("deny file-write*", [_any_case(place)])
        around |= {above for above in place.parents if any(above.is_relative_to(each) for each in writable)}
    if around:
        yield _rule("deny file-write-unlink", _each("literal", map(str, around)))


def _any_case(path: Path) -> str:
    """A filter for a path and all beneath it, whose last name may be written in small or capital letters."""
    name = re.sub(r"[a-zA-Z]", lambda found: f"[{found[0].lower()}{found[0].upper()}]", _plain(path.name))
    folder = "" if path.parent == Path("/") else _plain(str(path.parent))
    return f"(regex {_quoted(f'^{folder}/{name}(/|$)')})"


def _plain(text: str) -> str:
    return re.sub(r"([.^$*+?(){}\[\]|\\])", r"\\\1", text)


def _rule(head: str, filters: Iterable[str]) -> str:
    return f"({head} {' '.join(filters)})"


def _each(kind: str, values: Iterable[str]) -> list[str]:
    return [f"({kind} {_quoted(value)})" for value in sorted(values)]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _by_folder(place: Path) -> Path:
    """A place by the spelling of its folder: opening the place itself may be what macOS asks the person about."""
    return spelled(place.parent) / place.name
