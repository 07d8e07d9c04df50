"""A filter of system calls: what no build or test needs, and what would lead around the sandbox."""

import platform
import struct
from collections.abc import Mapping
from typing import NamedTuple

LOAD, EQUAL, HAS_BITS, GIVE = 0x20, 0x15, 0x45, 0x06
ALLOW, FAIL = 0x7FFF_0000, 0x0005_0000
EPERM, EACCES, ENOSYS, EAFNOSUPPORT = 1, 13, 38, 97
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # offsets in the record that the kernel shows to a filter
SET_ID = 0o6000
X32 = 0x4000_0000
# Families of sockets that programs need. Of netlink, only what tells of interfaces and routes.
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
ROUTE = 0

# Numbers of system calls: x86_64, aarch64. None where the machine has no such call.
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "open": (2, None),
    "creat": (85, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "io_uring_setup": (425, 425),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
}
# Answered as if the kernel had no such call, so that programs fall back to what can be checked.
ABSENT = ("io_uring_setup", "openat2", "fchmodat2")
# Which argument of a call holds the mode of a file. Set-id bits would outlive the sandbox.
MODES = {"open": 2, "creat": 1, "openat": 3, "mknod": 1, "mknodat": 2, "mkdir": 1, "mkdirat": 2}
MODES |= {"chmod": 1, "fchmod": 1, "fchmodat": 2}
MACHINES = {"x86_64": (0, 0xC000_003E), "aarch64": (1, 0xC000_00B7), "arm64": (1, 0xC000_00B7)}


class Instruction(NamedTuple):
    """One instruction of a filter; the jumps count the instructions to skip."""

    code: int
    value: int
    if_so: int = 0
    if_not: int = 0


def program(*, network: bool, unix_sockets: bool = False, machine: str = "") -> bytes:
    """The filter as the kernel takes it; empty for a machine whose numbers are not known here.

    Sockets with a name in the file system lead to whatever listens there (a container engine, a desktop, a key
    agent), so they are refused; unnamed pairs work. Without `network` those of the internet are refused too, and those
    of every other family (packets, virtual machines, the kernel's ciphers, Bluetooth …) are never there.
    """
    column, own = MACHINES.get(machine or platform.machine(), (-1, 0))
    if column < 0:
        return b""
    families = {UNIX: unix_sockets, INET: network, INET6: network, NETLINK: network}
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
