"""The promise that each request of a session begins with the bytes of the one before, watched around any provider."""

from collections.abc import Callable, Iterator
from threading import Event
from typing import NamedTuple

from whet.agent.protocols import Provider, Reply
from whet.own.runs.run import Fragment, Run

END = b"]}"


def extends(earlier: bytes, later: bytes) -> bool:
    """Whether a request is an earlier one with more messages behind it, byte for byte.

    `messages` is the last key of a request, so what comes before its closing brackets may only grow.
    """
    if not earlier.endswith(END) or not later.endswith(END):
        return False
    beginning = earlier.removesuffix(END)
    rest = later.removesuffix(END)[len(beginning) :]
    more = rest == b"" or beginning.endswith(b"[") or rest.startswith(b",")
    return later.startswith(beginning) and more


class Breach(NamedTuple):
    """A request that does not extend the one before it in its session."""

    run: str
    earlier: bytes
    later: bytes


class Watched:
    """A provider that notes every request by its run, and which of them broke the promise.

    A compaction starts a session's requests anew: the test that brings one about says so with `begin_anew`.
    """

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.requests: dict[str, list[bytes]] = {}
        self.breaches: list[Breach] = []

    @property
    def name(self) -> str:
        return self._provider.name

    def request(self, run: Run) -> bytes:
        return self._provider.request(run)

    def reply(self, run: Run, *, interrupt: Event) -> Iterator[Fragment | Reply]:
        self._note(run)
        return self._provider.reply(run, interrupt=interrupt)

    def begin_anew(self, run_id: str) -> None:
        """The next request of this run need not extend the last one."""
        self.requests.pop(run_id, None)

    def _note(self, run: Run) -> None:
        body = self._provider.request(run)
        sent = self.requests.setdefault(run.id, [])
        if sent and not extends(sent[-1], body):
            self.breaches.append(Breach(run.id, sent[-1], body))
        sent.append(body)


Watch = Callable[[Provider], Watched]
