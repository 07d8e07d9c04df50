"""Steps without an engine: further orders side by side, up to a limit, their values in the order of the asking."""

import threading

import pytest

from whet.errors import WhetError
from whet.work.orders import DirectSteps

PATIENCE_SECONDS = 60.0


def test_orders_run_side_by_side_and_come_back_in_their_order() -> None:
    meeting = threading.Barrier(2, timeout=PATIENCE_SECONDS)  # nobody passes alone

    def procedure(_steps: DirectSteps, _kind: str, ask: object) -> str:
        meeting.wait()
        return str(ask)

    steps = DirectSteps("one", procedure, at_once=2)
    assert steps.spread("kind", [(str(number), str(number)) for number in range(6)], str) == tuple("012345")


def test_one_that_fails_stops_those_beside_it() -> None:
    begun = threading.Event()
    stopped: list[bool] = []

    def procedure(steps: DirectSteps, _kind: str, ask: object) -> str:
        if ask == "bad":
            assert begun.wait(PATIENCE_SECONDS)
            raise WhetError("It cannot be done.")
        begun.set()
        stopped.append(steps.interrupt.wait(PATIENCE_SECONDS))
        return "late"

    with pytest.raises(WhetError, match="cannot be done"):
        DirectSteps("one", procedure, at_once=2).spread("kind", [("a", "bad"), ("b", "good"), ("c", "bad")], str)
    assert stopped == [True]
