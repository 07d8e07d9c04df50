"""The daily limit of background work: what one model call may take of it, and when there is room for one."""

from collections.abc import Callable
from enum import StrEnum

from whet.own.runs.models import Prices, cost
from whet.own.runs.settings import DailyLimit
from whet.sessions.transcripts import Usage
from whet.values import Value

BYTES_PER_TOKEN = 2  # fewer than text has, so that a request never costs more than was set aside for it
ERRAND_TOKENS, ERRAND_DOLLARS = 100_000, 0.5  # set aside for an order to another agent without limits of its own
OUTPUT_TOKENS = 16_384  # at most, for one answer in the background


class Amount(Value, frozen=True):
    """Tokens, and dollars where the price is known."""

    tokens: int = 0
    dollars: float | None = None


class DaySpent(Value, frozen=True):
    """What a day has cost so far, and what is set aside for calls that have not ended."""

    settled: Amount = Amount()
    held: Amount = Amount()

    @property
    def all(self) -> Amount:
        return Amount(self.settled.tokens + self.held.tokens, (self.settled.dollars or 0) + (self.held.dollars or 0))


class Headroom(StrEnum):
    """Whether one more call fits into the day."""

    FREE = "free"
    BUSY = "busy"  # it may, once the calls that run now have ended
    SPENT = "spent"


class Postponed(Exception):
    """The daily limit has no room for the next call; the step is done again when `has_room` says so."""

    def __init__(self, until: float, has_room: Callable[[], bool]) -> None:
        super().__init__("the daily limit of background work is reached")
        self.until = until
        self.has_room = has_room


def room_for(wanted: Amount, spent: DaySpent, limit: DailyLimit) -> Headroom:
    """Whether a call that takes at most `wanted` may begin, so that the day never costs more than its limit.

    Where its price is not known, it may begin while the dollars of the day are not spent.
    """
    if _fits(wanted, spent.all, limit):
        return Headroom.FREE
    return Headroom.BUSY if spent.held.tokens and _fits(wanted, spent.settled, limit) else Headroom.SPENT


def most_of(request_bytes: int, output_tokens: int, prices: Prices | None) -> Amount:
    """The most that a call can cost, told from the size of its request and the longest answer that it allows."""
    usage = Usage(request_bytes // BYTES_PER_TOKEN + 1, output_tokens)
    return amount_of(usage, prices)


def errand_most(tokens: int | None, dollars: float | None) -> Amount:
    """What is set aside for an order to another agent, which alone knows what it really spends."""
    return Amount(tokens or ERRAND_TOKENS, ERRAND_DOLLARS if dollars is None else dollars)


def amount_of(usage: Usage, prices: Prices | None) -> Amount:
    dollars = usage.cost_dollars if usage.cost_dollars is not None else cost(usage, prices)
    return Amount(usage.input + usage.output, dollars)


def _fits(wanted: Amount, taken: Amount, limit: DailyLimit) -> bool:
    if taken.tokens + wanted.tokens > limit.tokens_per_day:
        return False
    spent = taken.dollars or 0
    if wanted.dollars is None:
        return not spent or spent < limit.dollars_per_day
    return spent + wanted.dollars <= limit.dollars_per_day
