"""How long to wait before a request is tried again."""

from email.utils import formatdate

from hypothesis import given
from hypothesis import strategies as st

from whet.net.http import FIRST_SECONDS, MOST_SECONDS, asked_wait, delay

NOW = 1_800_000_000.0


def asked(**headers: str) -> float | None:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return asked_wait(lambda name: given.get(name, ""), lambda: NOW)


@given(st.integers(1, 60), st.floats(0, 1, exclude_max=True))
def test_waits_grow_within_their_bounds(number: int, chance: float) -> None:
    seconds = delay(number, chance=chance)
    assert FIRST_SECONDS / 2 <= seconds <= MOST_SECONDS
    assert delay(number + 1, chance=chance) >= seconds


@given(st.integers(1, 60), st.floats(0, 1, exclude_max=True), st.floats(0, 100))
def test_what_the_endpoint_asks_for_is_the_least(number: int, chance: float, after: float) -> None:
    assert after <= delay(number, chance=chance, after_seconds=after) <= after + 1


def test_a_wait_is_read_in_every_form() -> None:
    assert asked(retry_after="7") == 7
    assert asked(retry_after="1.5") == 1.5
    assert asked(retry_after_ms="250", retry_after="9") == 0.25
    assert asked(retry_after=formatdate(NOW + 30, usegmt=True)) == 30
    assert asked(retry_after=formatdate(NOW - 30, usegmt=True)) == 0


def test_a_date_counts_by_the_clock_of_the_endpoint() -> None:
    assert asked(retry_after=formatdate(5000, usegmt=True), date=formatdate(4990, usegmt=True)) == 10


def test_no_sense_is_no_wish() -> None:
    for wish in ("", "soon", "-5", "nan", "inf", "Wed, 99 Foo 2026"):
        assert asked(retry_after=wish) is None, wish
