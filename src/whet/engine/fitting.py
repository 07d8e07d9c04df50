"""Whether a worker fits its store: one whose store is newer takes nothing, and gives back what it took."""

import time

from whet.store.home import Home
from whet.store.migrations import NewerStore, expect_known
from whet.store.opening import borrowed

RECENT_SECONDS = 1.0


class GivenBack(BaseException):
    """Stops an order without an outcome, for a worker that fits. No Exception: nobody may take it for a failure."""


class Fit:
    """Compares the version of the store with this program's."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._checked = float("-inf")

    def check(self) -> None:
        """Raise NewerStore where the store is newer than this program."""
        with borrowed(self._home) as database:
            expect_known(database)
        self._checked = time.monotonic()

    def expect(self, *, is_recent_enough: bool = False) -> None:
        """Go on only where the versions fit: raises GivenBack. Between steps, a second ago is recent enough."""
        if is_recent_enough and time.monotonic() - self._checked < RECENT_SECONDS:
            return
        try:
            self.check()
        except NewerStore as error:
            raise GivenBack from error
