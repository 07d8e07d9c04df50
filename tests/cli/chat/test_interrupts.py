"""Ctrl-C while the agent works."""

import os
import signal

import pytest

from whet.cli.chat.inputs import interruptible


def test_the_first_asks_to_stop_and_the_second_leaves() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
