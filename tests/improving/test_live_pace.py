"""How soon a live trial is known, at the pace of late."""

from whet.improving.live_pace import DAY_SECONDS, DAYS, days_seen


def test_the_pace_of_a_beginner_is_that_of_the_days_since_the_first_session() -> None:
    now = 100.0 * DAY_SECONDS
    assert days_seen(now - 600.0, now=now) == 1
    assert days_seen(now - 5 * DAY_SECONDS, now=now) == 5
    assert days_seen(0.0, now=now) == DAYS
