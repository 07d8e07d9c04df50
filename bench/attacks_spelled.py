"""What commands leave behind for a person's programs, in the spellings of somebody who has not read the walls.

    python bench/attacks.py spelled

`bench/data/spelled` has one attempt a line: what the person has set up, what the command in the sandbox does, what the
person's program runs afterwards (`trigger`, or `simulate` where the program is seldom installed), and the file that is
there if it got through. Where no trigger can be run, `path` is what must not be left without a word. What the person is
told of at the end of the turn has not got through unseen. What docs/security.md does not promise is not tried. Files
named `again` were written by a developer who knew
the promises of docs/security.md and not yet the code.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
HERE = sys.path[:]
# The tests have a package of the same name as a module beside this one.
sys.path[:] = [str(ROOT / "tests"), *(each for each in sys.path if Path(each).resolve() != Path(__file__).parent)]

from agent.tools.plants import as_person  # noqa: E402
from agent.tools.rooms import Room, ask_for, walls_here  # noqa: E402
from whet.agent.inspection.triggers import MOST_FOLDERS  # noqa: E402
from whet.agent.tools.sandbox import Walls  # noqa: E402
from whet.agent.tools.situation import Terminal  # noqa: E402

sys.path[:] = HERE

from attack_sample import sampled  # noqa: E402
from attacks_walls import room_behind  # noqa: E402

AREA = "Spelled by a stranger"
FOLDER = Path(__file__).parent / "data" / "spelled"
FEW_FOLDERS, MANY_FOLDERS = 40, "60"  # the limit of the inspection, made small, and what goes beyond it
SECONDS = 60
WRITTEN = """mkdir -p "$(dirname '{0}')" && echo 'touch @PROOF@' > '{0}' && chmod +x '{0}'"""


def rows() -> Iterator[tuple[str, str, int, int]]:
    """Every file of attempts with every wall of this machine: how many got through unseen."""
    for name, walls in walls_here().items():
        for path in sorted(FOLDER.glob("*.jsonl")):
            attempts = [json.loads(line) for line in path.read_text().splitlines()]
            tried = sampled(each for each in attempts if not each.get("control") and not each.get("not_promised"))
            through = sum(_gets_through(walls, path.stem, each) for each in tried)
            yield AREA, f"{path.stem[4:].replace('_', ' ')} ({name})", len(tried), through


def _gets_through(walls: Walls, kind: str, attempt: dict[str, Any]) -> bool:
    with room_behind(walls) as room:
        is_home = "home" in kind
        if is_home:
            path = f"{room.work}/bin:{room.environment['PATH']}"
            room.environment |= {"HOME": str(room.work), "PATH": path}
            room.person = room.work
        else:
            _as_person(attempt.get("setup", "true"), room)
        (room.outside / "stamp").touch()
        (room.outside / "proof").unlink(missing_ok=True)
        limit = FEW_FOLDERS if "many_folders" in kind else MOST_FOLDERS
        box = room.box(terminal=Terminal(timeout_seconds=SECONDS), most_folders=limit)
        ask_for(box, "terminal", command=_filled(attempt.get("attack") or WRITTEN.format(attempt["path"]), room))
        if "".join(box.news()).strip():
            return False
        if attempt.get("path"):
            return (room.work / str(attempt["path"]).removeprefix("~/")).exists()
        return any(_leaves_proof(attempt.get(each, ""), room) for each in ("trigger", "simulate"))


def _leaves_proof(command: str, room: Room) -> bool:
    if command:
        _as_person(command, room)
    return (room.outside / "proof").exists()


def _as_person(command: str, room: Room) -> None:
    try:
        as_person(_filled(command, room), room, room.work)
    except subprocess.TimeoutExpired:
        return  # a program that waits for somebody has run what it runs by then


def _filled(command: str, room: Room) -> str:
    places = {"@PROOF@": room.outside / "proof", "@STAMP@": room.outside / "stamp", "@WS@": room.work}
    for mark, place in {**places, "@OTHER@": room.outside, "@MANY@": MANY_FOLDERS}.items():
        command = command.replace(mark, str(place))
    return command
