"""Recall: the excerpts that fit best, each under its heading."""

from hypothesis import given
from hypothesis import strategies as st

from whet.sessions.trust import Trust
from whet.store.memory_files import EXCERPT_CHARACTERS, Excerpt, best, excerpts


def test_paragraphs_carry_the_heading_that_they_stand_below() -> None:
    text = "Intro.\n\n## Tea\nGreen.\n\nBlack.\r\n\r\n# Coffee\n\nNone."
    assert [each.text for each in excerpts("p", text, Trust.USER)] == [
        "Intro.",
        "## Tea\nGreen.",
        "## Tea\nBlack.",
        "# Coffee\nNone.",
    ]


def test_the_most_words_win_and_then_the_shorter() -> None:
    texts = ("kettle in the long kitchen", "kettle", "green kettle", "milk")
    found = [Excerpt("a", text, Trust.USER) for text in texts]
    ordered = ["green kettle", "kettle", "kettle in the long kitchen"]
    assert [each.text for each in best(found, "a green kettle", limit=5)] == ordered


@given(st.text(), st.text(max_size=20), st.integers(1, 3))
def test_any_text_is_cut_and_searched(text: str, question: str, limit: int) -> None:
    found = list(excerpts("place", text, Trust.EXTERNAL))
    assert all(0 < len(each.text) <= EXCERPT_CHARACTERS for each in found)
    assert len(best(found, question, limit=limit)) <= limit
