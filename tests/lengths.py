"""What `make test` leaves to `make check`: long tests whole, and most examples of properties."""

import pytest
from hypothesis import settings

WHOLE, SHORT = 40, 10  # examples of a property that asks for no number of its own

long = pytest.mark.long
# For what dies again and again: a sample stays in every run on the embedded database.
long_on_postgres = pytest.mark.parametrize(
    "home", ["sqlite", pytest.param("postgres", marks=pytest.mark.long)], indirect=True
)


def examples(count: int) -> int:
    """How many of these examples are for this run: all of them in a long one, a part in a short one."""
    return max(count * settings().max_examples // WHOLE, 2)
