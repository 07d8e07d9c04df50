"""A reserve of connections: used again while they are whole, and never after something went wrong on them."""

import pytest

from whet.store.home import MOST_KEPT, Home, Reserve
from whet.store.opening import opened


def test_a_connection_is_used_again_by_whoever_comes_next(home: Home) -> None:
    reserve = Reserve()
    kept = home._replace(reserve=reserve)
    with opened(kept) as first:
        with opened(kept) as second:
            assert second is not first
        with opened(kept) as third:
            assert third is second
    reserve.close()
    assert reserve.take() is None


def test_one_on_which_something_failed_is_closed(home: Home) -> None:
    reserve = Reserve()
    with pytest.raises(ValueError, match="midway"), opened(home._replace(reserve=reserve)):
        raise ValueError("midway")
    assert reserve.take() is None


def test_no_more_are_kept_than_that(home: Home) -> None:
    reserve = Reserve()
    for _ in range(MOST_KEPT + 1):
        with opened(home) as other:
            pass
        reserve.give_back(other)
    assert len(list(iter(reserve.take, None))) == MOST_KEPT
