"""No known way leads out of the sandbox, and each of them does lead out of a plain shell."""

import contextlib
import shutil
import subprocess
import sys

import pytest

from agent.tools.escapes import ESCAPES, Escape
from agent.tools.rooms import Room, ask_for
from patience import PATIENCE_SECONDS, until
from whet.agent.tools.situation import Terminal

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("bash") is None, reason="the ways are written for bash on Linux"
)


def test_there_are_at_least_forty_ways_that_every_sandbox_holds_back() -> None:
    assert len([escape for escape in ESCAPES if len(escape.walls) == 2]) >= 40
    assert len({escape.name for escape in ESCAPES}) == len(ESCAPES)


CASES = [(wall, escape) for escape in ESCAPES for wall in escape.walls]


@pytest.mark.parametrize(
    ("shell", "escape"), CASES, ids=[f"{wall}: {each.name}" for wall, each in CASES], indirect=["shell"]
)
def test_a_way_out_is_closed(shell: Room, escape: Escape) -> None:
    with contextlib.contextmanager(escape.make)(shell) as way:
        shell.environment |= way.variables
        box = shell.box(person_agrees=True, terminal=Terminal(timeout_seconds=PATIENCE_SECONDS))
        answer = ask_for(box, "terminal", command=way.command)
        assert answer.result.disposition is None
        assert not way.led_out(answer.result.text)


@pytest.mark.parametrize("escape", ESCAPES, ids=lambda escape: escape.name)
def test_the_way_leads_out_of_a_plain_shell(room: Room, escape: Escape) -> None:
    with contextlib.contextmanager(escape.make)(room) as way:
        printed = room.base / "printed"
        with printed.open("wb") as file:  # a pipe would be held open by what outlives the shell
            subprocess.run(
                ["bash", "-c", way.command],
                cwd=room.work,
                env={**room.environment, **way.variables},
                stdout=file,
                stderr=file,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        if escape.rare and not way.led_out(printed.read_text()):
            pytest.skip("this machine lets no plain shell do it")
        until(lambda: way.led_out(printed.read_text()))  # what was left running may need a moment to come up
