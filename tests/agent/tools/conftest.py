"""Rooms for tools to work in."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.tools.rooms import Room, walls_here

WALLS = walls_here()


@pytest.fixture
def room_folder(request: pytest.FixtureRequest) -> Path:
    """A folder of its own that does not lie beneath /tmp, which a sandbox replaces as a whole."""
    assert request.config.cache is not None
    return Path(tempfile.mkdtemp(dir=request.config.cache.mkdir("rooms"))).resolve()


@pytest.fixture
def room(room_folder: Path) -> Iterator[Room]:
    room = Room(room_folder)
    yield room
    room.leave()


@pytest.fixture(params=["bubblewrap", "landlock"])
def shell(request: pytest.FixtureRequest, room_folder: Path) -> Iterator[Room]:
    """A room behind one kind of sandbox."""
    if request.param not in WALLS:
        pytest.skip(f"{request.param} does not work on this machine")
    room = Room(room_folder, WALLS[request.param])
    yield room
    room.leave()
