"""What every test of the agent stands on: providers whose requests are watched."""

from collections.abc import Iterator

import pytest

from agent.prefixes import Watch, Watched
from whet.agent.protocols import Provider


@pytest.fixture
def watched() -> Iterator[Watch]:
    """Wraps a provider; the test fails where a request did not extend the one before it in its session."""
    all_watched: list[Watched] = []

    def watch(provider: Provider) -> Watched:
        all_watched.append(Watched(provider))
        return all_watched[-1]

    yield watch
    breaches = [breach for one in all_watched for breach in one.breaches]
    assert not breaches, f"a request does not extend the one before it: {breaches[0]}"
