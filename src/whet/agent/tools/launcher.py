"""Runs one command behind Landlock and a filter, and ends all that it started. Run as a script, by itself.

It stands alone and loads little, for it starts with every command: `python -I -S launcher.py --plan FD --leash FD`.

In a network of its own, `launcher.py --open FD PORT,PORT` opens ports for a command that has no other network, and
hands them through that descriptor to whoever serves them outside.
"""

import ctypes
import os
import select
import signal
import struct
import sys

CREATE, ADD_RULE, RESTRICT = 444, 445, 446
VERSION_FLAG, BENEATH = 1, 1
NO_NEW_PRIVILEGES, SECCOMP, FILTER, SUBREAPER, DROP_BOUND = 38, 22, 2, 36, 24
CAPSET_X86, CAPSET_ARM, CAP_VERSION = 126, 91, 0x2008_0522
LAST_CAPABILITY = 63

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8
MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV = (1 << shift for shift in range(9, 16))
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE
WRITE |= MAKE_SOCK
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
# What each version of Landlock brought: rights on files, on TCP ports, and scopes (abstract sockets, signals).
RIGHTS_OF_VERSION = ((1, (1 << 13) - 1), (2, REFER), (3, TRUNCATE), (5, IOCTL_DEV))
BIND_AND_CONNECT, SCOPES = 0b11, 0b11


def version() -> int:
    """The version of Landlock that the kernel offers; 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc().syscall(CREATE, None, 0, VERSION_FLAG)))


def rights(abi: int) -> int:
    return sum(mask for since, mask in RIGHTS_OF_VERSION if abi >= since)


def restrict(rules: "list[tuple[str, int]]", *, network: bool, abi: int) -> None:
    """Confine this process and all that it will start, for good."""
    libc = _libc()
    handled = rights(abi)
    ports = BIND_AND_CONNECT if abi >= 4 and not network else 0
    scopes = SCOPES if abi >= 6 else 0
    attributes = struct.pack("<QQQ", handled, ports, scopes)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = _checked(libc.syscall(CREATE, attributes, ctypes.c_size_t(len(attributes)), 0))
    for path, access in rules:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there needs no right
        allowed = access & handled & (~0 if os.path.isdir(path) else OF_FILES)
        _checked(libc.syscall(ADD_RULE, ruleset, BENEATH, struct.pack("<Qi", allowed, descriptor), 0))
        os.close(descriptor)
    _checked(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(libc.syscall(RESTRICT, ruleset, 0))
    os.close(ruleset)


def drop_capabilities() -> None:
    """Give up what root may do besides owning files."""
    libc = _libc()
    for capability in range(LAST_CAPABILITY):
        libc.prctl(DROP_BOUND, capability, 0, 0, 0)
    number = CAPSET_X86 if os.uname().machine == "x86_64" else CAPSET_ARM
    libc.syscall(number, struct.pack("<Ii", CAP_VERSION, 0), struct.pack("<6I", *[0] * 6))


def filter_calls(program: bytes) -> None:
    libc = _libc()
    body = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(body))
    _checked(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(libc.prctl(SECCOMP, FILTER, header, 0, 0))


def supervise(child: int, leash: int) -> int:
    """Wait for the command, or for the end of whoever started us; then end everything that is left."""
    watched = os.pidfd_open(child)
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    poll.register(leash, select.POLLIN | select.POLLHUP)
    ready = {descriptor for descriptor, _ in poll.poll()}
    code = 137
    if watched in ready:
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
    _end_all()
    return code if code >= 0 else 128 - code


def _end_all() -> None:
    while True:
        for pid in _children():
            os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> "list[int]":
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _parent(pid) == os.getpid()]


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _plan(descriptor: int) -> "tuple[list[bytes], dict[str, int], bytes]":
    """Rules, numbers and filter, as `plan` wrote them."""
    with os.fdopen(descriptor, "rb") as file:
        head, _, rest = file.read().partition(b"\n")
        numbers = {word.split("=")[0]: int(word.split("=")[1]) for word in head.decode().split()}
        filtered, listed = rest[: numbers["filter"]], rest[numbers["filter"] :]
        return [each for each in listed.split(b"\0") if each], numbers, filtered


def plan(rules: "list[tuple[str, int]]", *, network: bool, abi: int, program: bytes) -> bytes:
    """What the launcher reads from its descriptor."""
    head = f"abi={abi} network={int(network)} filter={len(program)}\n".encode()
    return head + program + b"\0".join(b"%d %s" % (access, os.fsencode(path)) for path, access in rules)


def open_ports(arguments: "list[str]") -> None:
    """Open the ports, hand them over, and become the command."""
    import socket  # noqa: PLC0415 - most commands start without it

    with socket.socket(fileno=int(arguments[0])) as door:
        listening = [socket.create_server(("127.0.0.1", int(port))) for port in arguments[1].split(",") if port]
        socket.send_fds(door, [b"open"], [each.fileno() for each in listening])
        for each in listening:
            each.close()
    os.execvp(arguments[2], arguments[2:])


def main(arguments: "list[str]") -> int:
    if arguments[0] == "--open":
        open_ports(arguments[1:])
    options = dict(zip(arguments[0:4:2], map(int, arguments[1:4:2]), strict=True))
    command, leash = arguments[4:], options["--leash"]
    listed, numbers, filtered = _plan(options["--plan"])
    on_linux = sys.platform == "linux"
    if on_linux:
        _libc().prctl(SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child:
        os.set_inheritable(leash, False)
        return supervise(child, leash)
    try:
        os.close(leash)
        if numbers["abi"]:
            rules = [(os.fsdecode(path), int(access)) for access, path in (each.split(b" ", 1) for each in listed)]
            restrict(rules, network=bool(numbers["network"]), abi=numbers["abi"])
            drop_capabilities()
        if filtered:
            filter_calls(filtered)
        os.execv(command[0], command)
    except OSError as error:
        print(f"whet: the command could not be started: {error.strerror}", file=sys.stderr)  # noqa: T201 - its output
    os._exit(126)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
