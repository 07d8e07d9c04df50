"""Commands have the sockets that programs need, and none of any other family."""

import ast
import sys

import pytest

from agent.tools.rooms import Room, ask_for, walls_here
from whet.own.runs.settings import Sandbox

WALLS = walls_here()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")
# Families by the kernel's numbers: amateur radio, IPX, X.25, bridges, packets, RDS, LLC, CAN, TIPC, Bluetooth, RxRPC,
# phones, IEEE 802.15.4, CAIF, ciphers, NFC, virtual machines, KCM, Qualcomm, SMC, XDP, MCTP.
OTHERS = (3, 4, 9, 7, 17, 21, 26, 29, 30, 31, 33, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45)
TRY = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def errno(family, kind, protocol):
    return 0 if libc.socket(family, kind, protocol) >= 0 else ctypes.get_errno()
made = {}
for family in (1, 2, 10, 16, *%r):
    made[family] = min(errno(family, kind, 0) for kind in (1, 2, 3, 5))
made["diagnosis"], made["events"] = errno(16, 3, 4), errno(16, 3, 15)
pair = (ctypes.c_int * 2)()
made["pair"] = libc.socketpair(1, 1, 0, pair)
made["another pair"] = libc.socketpair(30, 1, 0, pair)
print(made)
"""


def made(room: Room, *, network: bool) -> dict[object, int]:
    (room.work / "try.py").write_text(TRY % (OTHERS,))
    box = room.box(sandbox=Sandbox(network=network))
    answer = ask_for(box, "terminal", command=f"{sys.executable} -I try.py")
    found: dict[object, int] = ast.literal_eval(answer.result.text)
    return found


@pytest.mark.parametrize("network", [True, False])
def test_sockets_that_no_build_needs_are_not_there(shell: Room, network: bool) -> None:
    found = made(shell, network=network)
    assert {family: found[family] for family in OTHERS} == dict.fromkeys(OTHERS, 97)
    assert found["diagnosis"] == found["events"] != 0
    assert found["another pair"] == -1
    assert found[1] == 13


def test_sockets_that_programs_need_are_there(shell: Room) -> None:
    found = made(shell, network=True)
    assert (found[2], found[16], found["pair"]) == (0, 0, 0)


def test_without_a_network_only_the_machine_itself_is_reached(shell: Room) -> None:
    """Bubblewrap has a loopback of its own; Landlock knows none, and so refuses all."""
    found = made(shell, network=False)
    own = shell.walls == WALLS.get("bubblewrap")
    assert found[2] == (0 if own else 13)
    assert found["pair"] == 0
