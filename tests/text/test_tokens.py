"""The estimate of tokens, and cutting by it."""

from hypothesis import given
from hypothesis import strategies as st

from whet.text.words import estimate, fitting, head, tail


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


@given(st.lists(st.text(max_size=40), max_size=20), st.integers(0, 60))
def test_the_lines_that_fit_keep_to_the_budget_their_order_and_each_its_one_place(
    lines: list[str], budget: int
) -> None:
    kept = fitting(lines, budget)
    assert estimate("\n".join(kept)) <= budget
    assert list(kept) == [line for line in dict.fromkeys(lines) if line in kept]
    left = budget - sum(estimate(f"{line}\n") for line in kept)
    if estimate("\n".join(dict.fromkeys(lines))) > budget:
        assert all(estimate(f"{line}\n") > left for line in lines if line not in kept)
