"""Large numbers as people say them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.text.words import short


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (950.4, "950"),
        (999.6, "1,000"),
        (12_345, "12,300"),
        (999_960, "1 million"),
        (4_080_000, "4.1 million"),
        (20_000_000, "20 million"),
        (1_234_000_000, "1.2 billion"),
    ],
)
def test_a_number_is_said_in_a_few_plain_words(number: float, words: str) -> None:
    assert short(number) == words


@given(st.integers(0, 10**13))
def test_what_is_said_is_near_the_number(number: int) -> None:
    digits, _, name = short(number).partition(" ")
    said = float(digits.replace(",", "")) * {"": 1, "million": 10**6, "billion": 10**9}[name]
    assert abs(said - number) <= max(0.06 * number, 0)
