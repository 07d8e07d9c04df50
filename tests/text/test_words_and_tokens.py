"""Words, amounts and tokens, and texts cut to a length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.text.words import cut, estimate, fitting, head, short, tail


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


def test_a_long_text_is_cut_after_a_word_and_says_so() -> None:
    rule = "MD025/single-title/single-h1 Multiple top-level headings"
    assert cut(rule, 40) == "MD025/single-title/single-h1 Multiple…"
    assert cut("It looks, at first, like this", 10) == "It looks…"
    assert cut(rule, 20) == "MD025/single-title/…", "within one long word, as much as has room"
    assert cut("short", 5) == "short"


@given(st.text(max_size=60), st.integers(2, 40))
def test_a_cut_text_has_room_and_is_marked_exactly_where_something_is_missing(text: str, letters: int) -> None:
    found = cut(text, letters)
    assert len(found) <= letters
    assert found == text or (found.endswith("…") and text.startswith(found[:-1]))


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
