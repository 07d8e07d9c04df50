"""Steps: the parts of durable work, each of which is done once and remembered."""

from collections.abc import Callable
from threading import Event
from typing import Protocol


class Unsure(Exception):
    """A step that may not be repeated was begun by a worker that died: nobody knows whether it had its effect."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the step {name} was begun by a worker that died; it may have had its effect")
        self.name = name


class Steps(Protocol):
    """What a procedure is given. Between steps it may only decide: after a crash it is run again from its start."""

    @property
    def id(self) -> str:
        """The same for this work, whichever worker goes on with it: the source of ids that must not change."""
        ...

    @property
    def interrupt(self) -> Event:
        """Set when the work is cancelled, so that a long step can stop."""
        ...

    def do(self, name: str, function: Callable[[], str]) -> str:
        """Run a step, or give what it gave before. After a crash within it, it is run again: it must be idempotent."""
        ...

    def once(self, name: str, function: Callable[[], str]) -> str:
        """Run a step that must never be repeated; raises Unsure where a worker died in it."""
        ...

    def spread(self, kind: str, bodies: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
        """Give further orders of a kind, as pairs of key and body, and wait for their values, in the same order."""
        ...


class Direct:
    """Steps without an engine: in this process, at once, and gone with it."""

    def __init__(self, id: str, procedure: Callable[["Direct", str, str], str] | None = None) -> None:
        self.id = id
        self.interrupt = Event()
        self._procedure = procedure

    def do(self, name: str, function: Callable[[], str]) -> str:  # noqa: ARG002 - a name is for those who remember
        return function()

    def once(self, name: str, function: Callable[[], str]) -> str:  # noqa: ARG002
        return function()

    def spread(self, kind: str, bodies: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
        if self._procedure is None:
            raise AssertionError("these steps were given no procedure for further orders")
        return tuple(self._procedure(Direct(key, self._procedure), kind, body) for key, body in bodies)
