"""Nothing that a command leaves in the working folder is run by the person's own git."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from agent.tools.plants import PLANTS, Plant, as_person, filled, has_run, planting, prepare
from agent.tools.rooms import Room, ask_for, walls_here
from agent.tools.self_starting import AT_HOME, KINDS, Started
from agent.tools.spelled_plants import FEW, LARGE, ROUTES
from lengths import long

WALLS = walls_here()
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("git") is None, reason="the ways are written for bash and git on Linux"
)


SPELLED = [plant for plants in (*ROUTES.values(), LARGE) for plant in plants]
FIRST = {plants[0].name for plants in (*ROUTES.values(), LARGE)}
BEHIND = ("bubblewrap", "landlock")
MAIN = next((wall for wall in BEHIND if wall in WALLS), BEHIND[0])


def sampled(name: str, found: Iterable[tuple[object, str, bool]]) -> pytest.MarkDecorator:
    """All of them behind one wall, when long tests run; a sample behind each, always.

    What is left behind is looked for in the same way whatever the wall was.
    """
    pairs = [
        pytest.param(wall, each, marks=() if in_sample else long, id=f"{wall}-{id}")
        for each, id, in_sample in found
        for wall in BEHIND
        if in_sample or wall == MAIN
    ]
    return pytest.mark.parametrize(("enclosed", name), pairs, indirect=["enclosed"])


@pytest.fixture(params=BEHIND)
def enclosed(request: pytest.FixtureRequest, room_folder: Path) -> Iterator[Room]:
    """A room behind one kind of sandbox."""
    if request.param not in WALLS:
        pytest.skip(f"{request.param} does not work on this machine")
    room = Room(room_folder, WALLS[request.param])
    yield room
    room.leave()


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_what_a_command_plants_is_not_run(enclosed: Room, plant: Plant) -> None:
    prepare(plant, enclosed)
    box = enclosed.box(person_agrees=True, sandbox=planting(enclosed))
    answer = ask_for(box, "terminal", command=filled(plant.command, enclosed))
    assert answer.result.disposition is None
    assert not has_run(plant, enclosed)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_the_plant_grows_in_a_plain_shell(room: Room, plant: Plant) -> None:
    prepare(plant, room)
    as_person(filled(plant.command, room), room, room.work)
    assert has_run(plant, room)


@sampled("plant", ((plant, plant.name, plant.name in FIRST) for plant in SPELLED))
def test_what_git_reaches_through_other_files_is_not_run(enclosed: Room, plant: Plant) -> None:
    prepare(plant, enclosed)
    box = enclosed.box(person_agrees=True, most_folders=FEW, sandbox=planting(enclosed))
    answer = ask_for(box, "terminal", command=filled(plant.command, enclosed))
    assert answer.result.disposition is None
    assert not has_run(plant, enclosed)
    assert "Quarantined" in "".join(box.news())


@long
@pytest.mark.parametrize("plant", SPELLED, ids=lambda plant: plant.name)
def test_the_spelled_plant_grows_in_a_plain_shell(room: Room, plant: Plant) -> None:
    prepare(plant, room)
    as_person(filled(plant.command, room), room, room.work)
    assert has_run(plant, room)


def test_a_room_without_a_repository_leaves_the_one_around_it_alone(room: Room) -> None:
    as_person("rm -rf .git; git rev-parse --git-dir > found", room, room.work)
    assert (room.work / "found").read_text() == ""


def leave(room: Room, started: Started) -> bool:
    """Whether what a command wrote stays without a word."""
    as_person(started.before, room, room.work, check=True)
    box = room.box()
    ask_for(
        box,
        "terminal",
        command=f"mkdir -p $(dirname {started.path}); cat >{started.path} <<<evil; chmod +x {started.path}",
    )
    return (room.work / started.path).exists() and started.path not in "".join(box.news())


@sampled(
    "started",
    (
        (each, f"{kind}: {each.path} {place}", place % 7 == 0)
        for kind, started in KINDS.items()
        for place, each in enumerate(started)
    ),
)
def test_what_runs_on_its_own_is_never_left_unseen(enclosed: Room, started: Started) -> None:
    assert not leave(enclosed, started)


@sampled("started", ((each, each.path, place % 5 == 0) for place, each in enumerate(AT_HOME)))
def test_a_home_as_the_working_folder_is_looked_at_by_its_places(enclosed: Room, started: Started) -> None:
    enclosed.environment |= {
        "HOME": str(enclosed.work),
        "PATH": f"{enclosed.work}/bin:{enclosed.environment['PATH']}",
    }
    assert not leave(enclosed, started)
