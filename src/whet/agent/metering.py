"""Model calls of background work, each checked against the daily limit before it begins and counted when it ends."""

import secrets
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from threading import Event

from msgspec.structs import replace

from whet.agent.protocols import Chosen, Provider, ProviderFailed, ProviderFault, Reply
from whet.own.runs.models import OUTPUT_TOKENS, Amount, Headroom, Model, Postponed, amount_of, most_of, room_for
from whet.own.runs.run import Fragment, Run
from whet.sessions.transcripts import Purpose, Usage
from whet.store.background_costs import BackgroundCall, begin_call, end_call, spent_on_day
from whet.store.home import Home
from whet.store.opening import identity_of, opened
from whet.store.settings_file import load
from whet.text.words import estimate

ID_BYTES = 8
BUSY_SECONDS = 1.0
# What an endpoint refuses before it has read anything costs nothing.
FREE_FAULTS = frozenset(
    {ProviderFault.KEY, ProviderFault.LIMIT, ProviderFault.CONTEXT, ProviderFault.REQUEST, ProviderFault.MONEY}
)


def local_day(now: float) -> str:
    """The date on this machine's calendar."""
    return datetime.fromtimestamp(now).astimezone().date().isoformat()


def next_day(now: float) -> float:
    """When the next day begins on this machine's calendar."""
    today = datetime.fromtimestamp(now).astimezone().date()
    return datetime.combine(today + timedelta(days=1), datetime.min.time()).timestamp()


class Meter:
    """What background work of a home may still spend today; others that spend at the same time are counted too."""

    def __init__(self, home: Home, *, now: Callable[[], float] = time.time) -> None:
        self.home = home
        self._now = now

    def begin(self, purpose: Purpose, most: Amount, interrupt: Event) -> BackgroundCall | None:
        """Set aside what a call may cost; waits for calls that run now, and raises Postponed where the day is spent.

        None where it was interrupted: whoever is called says so.
        """
        while not interrupt.is_set():
            now = self._now()
            call = BackgroundCall(
                secrets.token_hex(ID_BYTES), identity_of(self.home), local_day(now), purpose.value, most, now
            )
            with opened(self.home) as database:
                room = begin_call(database, call, load(self.home).background)
            if room is Headroom.FREE:
                return call
            if room is Headroom.SPENT:
                raise Postponed(next_day(now), lambda: self._has_room(most))
            interrupt.wait(BUSY_SECONDS)
        return None

    def end(self, call: BackgroundCall | None, cost: Amount) -> None:
        """Put what it cost in the place of what was set aside."""
        if call is not None:
            with opened(self.home) as database:
                end_call(database, call.id, cost)

    def _has_room(self, most: Amount) -> bool:
        with opened(self.home) as database:
            spent = spent_on_day(database, identity_of(self.home), local_day(self._now()))
        return room_for(most, spent, load(self.home).background) is not Headroom.SPENT


def metered(chosen: Chosen, meter: Meter) -> Chosen:
    """A provider for work that nobody watches: it answers while the day has room."""
    return chosen._replace(provider=MeteredProvider(chosen, meter))


class MeteredProvider:
    """A provider whose every call fits into the day's limit; raises Postponed for one that does not.

    A call that was stopped on its way keeps what was set aside for it: nobody knows what it cost.
    """

    def __init__(self, chosen: Chosen, meter: Meter) -> None:
        self.name = chosen.provider.name
        self._provider: Provider = chosen.provider
        self._model: Model = chosen.model
        self._meter = meter

    def request(self, run: Run) -> bytes:
        return self._provider.request(run)

    def reply(self, run: Run, *, interrupt: Event) -> Iterator[Fragment | Reply]:
        output = min(run.sampling.output_tokens or self._model.output_tokens or OUTPUT_TOKENS, OUTPUT_TOKENS)
        capped = replace(run, sampling=replace(run.sampling, output_tokens=output))
        size = len(self._provider.request(capped))
        call = self._meter.begin(run.purpose, most_of(size, output, self._model.prices), interrupt)
        try:
            for piece in self._provider.reply(capped, interrupt=interrupt):
                if isinstance(piece, Reply):
                    # What the endpoint reported, else an estimate from the texts; before whoever asked goes on.
                    usage = piece.message.usage or Usage(size // 4, estimate(piece.message.text))
                    self._meter.end(call, amount_of(usage, self._model.prices))
                yield piece
        except ProviderFailed as failure:
            if failure.fault in FREE_FAULTS:
                self._meter.end(call, Amount())
            raise
