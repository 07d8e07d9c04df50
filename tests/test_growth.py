"""Linear work is told from work that is not, whatever else the machine does."""

import re

from quickness import is_linear


def test_linear_work_is_linear() -> None:
    assert is_linear(list, "ab", 1 << 16)
    assert is_linear(lambda text: text[0], "ab", 1 << 16)


def test_quadratic_work_is_not() -> None:
    assert not is_linear(lambda text: [text.count("x") for _ in text], "ab", 1 << 13)
    assert not is_linear(re.compile("a*b").search, "a", 1 << 13)
