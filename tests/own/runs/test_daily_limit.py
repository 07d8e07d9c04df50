"""The daily limit: a call begins only where the day cannot cost more than its limit, whatever the call costs."""

from hypothesis import given
from hypothesis import strategies as st

from whet.own.runs.models import Amount, DaySpent, Headroom, Prices, amount_of, most_of, room_for
from whet.own.runs.settings import DailyLimit
from whet.sessions.transcripts import Usage

LIMIT = DailyLimit(1_000, 2.0)
AMOUNTS = st.builds(Amount, st.integers(0, 900), st.none() | st.floats(0, 3))


@given(st.lists(AMOUNTS, max_size=12), st.data())
def test_a_day_never_costs_more_than_its_limit(wanted: list[Amount], data: st.DataObject) -> None:
    spent = DaySpent()
    for most in wanted:
        if room_for(most, spent, LIMIT) is Headroom.FREE:
            tokens = data.draw(st.integers(0, most.tokens))
            settled = Amount(spent.settled.tokens + tokens, (spent.settled.dollars or 0) + (most.dollars or 0))
            spent = DaySpent(settled)
    assert spent.all.tokens <= LIMIT.tokens_per_day
    assert (spent.all.dollars or 0) <= LIMIT.dollars_per_day


def test_what_runs_now_is_waited_for_and_what_is_spent_is_not() -> None:
    assert room_for(Amount(400), DaySpent(Amount(300), Amount(600)), LIMIT) is Headroom.BUSY
    assert room_for(Amount(400), DaySpent(Amount(900)), LIMIT) is Headroom.SPENT
    assert room_for(Amount(400), DaySpent(Amount(700), Amount(100)), LIMIT) is Headroom.SPENT
    assert room_for(Amount(1, 0.5), DaySpent(Amount(0, 1.6)), LIMIT) is Headroom.SPENT


def test_without_a_price_a_call_may_begin_while_the_dollars_are_not_spent() -> None:
    free = DailyLimit(1_000, 0.0)
    assert room_for(Amount(10), DaySpent(), free) is Headroom.FREE, "a local model costs no dollars"
    assert room_for(Amount(10), DaySpent(Amount(0, 1.9)), LIMIT) is Headroom.FREE
    assert room_for(Amount(10), DaySpent(Amount(0, 2.0)), LIMIT) is Headroom.SPENT
    assert most_of(1_000, 50, None).dollars is None


def test_the_most_of_a_call_is_the_price_of_its_request_and_of_the_longest_answer() -> None:
    prices = Prices(input=2.0, output=10.0)
    most = most_of(4_000, 100, prices)
    assert most.tokens == 2_101
    real = amount_of(Usage(1_000, 100), prices)
    assert most.dollars is not None
    assert real.dollars is not None
    assert real.dollars < most.dollars
