"""Inspection: what stood in a folder before a command, what the command left there, and what becomes of that."""

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from whet.agent.inspection.quarantine import put_back, take_aside
from whet.agent.inspection.spots import Spot, SpotReader, named_triggers
from whet.agent.inspection.triggers import Care, Tree, Trigger, Triggers


class Leftover(NamedTuple):
    """A spot as a command left it, and as it was before."""

    spot: Spot
    before: Spot | None


class Inspection:
    """Looks at folders before and after each command. Safe to use from several threads."""

    def __init__(self, folders: Iterable[Path], *, left_out: Iterable[Path], quarantine: Path) -> None:
        self._lock = threading.RLock()
        self._triggers = Triggers()
        self._tree = Tree(_outermost(folders), map(str, left_out), self._triggers)
        self._reader = SpotReader(self._tree)
        self._before: dict[str, Spot] | None = None
        self._taken: list[Leftover] = []
        self.allowed: set[str] = set()  # paths that the person lets a call write
        self.place = quarantine
        self.repositories: tuple[str, ...] = ()  # those that were there at the very beginning
        self.pointers: tuple[str, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether the folder is larger than what is looked through."""
        return self._tree.is_cut

    def begin(self) -> None:
        """Take all that stands in the folder for the person's own."""
        with self._lock:
            found = self._reader.read()
            if self._before is None:
                if named := dict.fromkeys(named_triggers(found.spots.values())):
                    self._triggers = Triggers(named)
                    self._tree.expect(self._triggers)
                    found = self._reader.read()
                self.repositories = found.repositories
                self.pointers = tuple(spot.path for spot in found.spots.values() if spot.leads)
            self._before = found.spots

    def ensure_begun(self) -> None:
        with self._lock:
            if self._before is None:
                self.begin()

    def trigger_of(self, parts: Sequence[str]) -> Trigger | None:
        """The trigger that a path from the folder down is, if it is one."""
        self.ensure_begun()
        return self._triggers.of(parts)

    def find(self) -> tuple[Leftover, ...]:
        """What has been left since the beginning. Finding the same again does not make it the person's."""
        with self._lock:
            self.ensure_begun()
            found = leftovers(self._before or {}, self._reader.read().spots, own=frozenset(self.repositories))
            return tuple(_reported(each) if each.spot.path in self.allowed else each for each in found)

    def accept(self, found: Iterable[Leftover]) -> None:
        """Let what was left stand, as the person's own from now on."""
        with self._lock:
            if self._before is not None:
                self._before |= {each.spot.path: each.spot for each in found}

    def take(self, found: Iterable[Leftover]) -> None:
        """Move what was left into the quarantine, and let stand again what stood there before."""
        with self._lock:
            for leftover in found:
                take_aside(leftover.spot, self.place)
                if leftover.before is not None:
                    put_back(leftover.spot.path, leftover.before.content)
                self._taken.append(leftover)

    def take_refused(self) -> None:
        """Move all that git would run while it only looks into the quarantine."""
        with self._lock:
            self.take(each for each in self.find() if each.spot.care is Care.REFUSED)

    def taken(self) -> tuple[Leftover, ...]:
        """What was taken aside since the last time."""
        with self._lock:
            taken, self._taken = tuple(self._taken), []
        return taken


def leftovers(before: Mapping[str, Spot], after: Mapping[str, Spot], *, own: frozenset[str]) -> tuple[Leftover, ...]:
    """What is new or changed, and would run something that did not run before.

    `own` are the person's repositories: they keep their addresses, and their hooks do not disappear.
    """
    changed = (Leftover(spot, before.get(path)) for path, spot in after.items())
    gone = (Leftover(spot, spot) for path, spot in before.items() if path not in after and _is_missed(spot, own))
    return (*(each for each in changed if not _is_harmless(each, own)), *gone)


def _reported(leftover: Leftover) -> Leftover:
    return leftover._replace(spot=leftover.spot._replace(care=Care.REPORTED))


def _is_harmless(leftover: Leftover, own: frozenset[str]) -> bool:
    spot, before = leftover
    if before is not None and before.content == spot.content:
        return True
    if spot.orders is None:
        return bool(spot.leads) and spot.content.kind == "file"
    new = spot.orders - ((before.orders if before else None) or frozenset())
    return all(order.is_address for order in new) if os.path.dirname(spot.path) not in own else not new


def _is_missed(spot: Spot, own: frozenset[str]) -> bool:
    """Whether a hook of the person's is gone from a repository that is still there."""
    repository = os.path.dirname(os.path.dirname(spot.path))
    return spot.care is Care.REFUSED and repository in own and os.path.isdir(repository)


def _outermost(folders: Iterable[Path]) -> tuple[str, ...]:
    real = sorted({os.path.realpath(folder) for folder in folders})
    return tuple(each for each in real if not any(each.startswith(f"{other}/") for other in real if other != each))
