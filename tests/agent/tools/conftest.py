"""Rooms for tools to work in."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.tools.rooms import Room


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
