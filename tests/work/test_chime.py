"""The clock that is looked at although it was set back."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from whet.work.worker import MINUTE, Chime

NOON = 1_790_000_000.0


@given(back=st.floats(2 * MINUTE, 400 * MINUTE))
def test_a_clock_that_was_set_back_is_looked_at_each_minute_until_it_has_caught_up(back: float) -> None:
    chime = Chime(wall=NOON, steady=0.0)
    late = [
        second
        for second in range(0, 500 * 60, 2)
        if chime.is_late(wall=NOON + second - (back if second > MINUTE else 0.0), steady=float(second))
    ]
    assert late[0] <= 2 * MINUTE + 2
    assert all(second - before <= MINUTE + 2 for before, second in itertools.pairwise(late))
    assert back - MINUTE <= late[-1] <= back + 2 * MINUTE, "then the schedule goes on by itself"


def test_a_clock_that_goes_on_needs_no_chime() -> None:
    chime = Chime(wall=NOON, steady=0.0)
    assert not any(chime.is_late(wall=NOON + second, steady=float(second)) for second in range(0, 7_200, 2))
