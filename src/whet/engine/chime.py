"""The clock while it is behind: the engine's schedule sleeps until a clock that was set back has caught up."""

MINUTE = 60.0


class Chime:
    """Tells when to look at the clock all the same. `steady` is a clock that nobody sets."""

    def __init__(self, *, wall: float, steady: float) -> None:
        self._highest = wall
        self._rung = steady

    def is_late(self, *, wall: float, steady: float) -> bool:
        """Whether the clock is behind what it was, and a minute has passed since the last look; it counts anew then."""
        self._highest = max(self._highest, wall)
        if wall >= self._highest - MINUTE or steady - self._rung < MINUTE:
            return False
        self._rung = steady
        return True
