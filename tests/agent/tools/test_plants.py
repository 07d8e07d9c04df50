"""Nothing that a command leaves in the working folder is run by the person's own git."""

import shutil
import sys

import pytest

from agent.tools.plants import PLANTS, Plant, as_person, filled, has_run, planting, prepare
from agent.tools.rooms import Room, ask_for

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("git") is None, reason="the ways are written for bash and git on Linux"
)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_what_a_command_plants_is_not_run(shell: Room, plant: Plant) -> None:
    prepare(plant, shell)
    box = shell.box(person_agrees=True, sandbox=planting(shell))
    answer = ask_for(box, "terminal", command=filled(plant.command, shell))
    assert answer.result.disposition is None
    assert not has_run(plant, shell)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_the_plant_grows_in_a_plain_shell(room: Room, plant: Plant) -> None:
    prepare(plant, room)
    as_person(filled(plant.command, room), room, room.work)
    assert has_run(plant, room)


def test_a_room_without_a_repository_leaves_the_one_around_it_alone(room: Room) -> None:
    as_person("rm -rf .git; git rev-parse --git-dir > found", room, room.work)
    assert (room.work / "found").read_text() == ""
