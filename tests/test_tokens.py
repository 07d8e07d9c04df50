"""The estimate of tokens, and cutting by it."""

from hypothesis import given
from hypothesis import strategies as st

from whet.tokens import estimate, head, tail


@given(st.text(max_size=200), st.integers(-2, 80))
def test_a_cut_keeps_to_its_limit_and_is_the_beginning_or_the_end(text: str, limit: int) -> None:
    assert estimate(head(text, limit)) <= max(limit, 0)
    assert estimate(tail(text, limit)) <= max(limit, 0)
    assert text.startswith(head(text, limit))
    assert text.endswith(tail(text, limit))


@given(st.text(max_size=100), st.text(max_size=100))
def test_joining_texts_never_costs_more_than_both(first: str, second: str) -> None:
    assert estimate(first + second) <= estimate(first) + estimate(second)


def test_other_scripts_cost_more_for_each_character() -> None:
    assert estimate("a" * 40) == 10
    assert estimate("語" * 40) == 30
    assert estimate("") == 0
