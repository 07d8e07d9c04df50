"""One short example for a rule, from the calls of its own evidence."""

import pytest

from whet.improving.learned_forms import example_for
from whet.lessons.drafts import LessonDraft
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.sessions.trust import Trust

DRAFT = LessonDraft(LessonSource.RECOVERY, "", "./dev test MODULE", "Run tests with `./dev test MODULE`.", Trust.TOOL)


def piece(call: str, fix: str) -> LessonPiece:
    return LessonPiece(LessonSource.RECOVERY, "s1", 1, "text", call=call, error="Use: ./dev test MODULE", fix=fix)


def test_it_is_the_shortest_pair_of_calls() -> None:
    pieces = [piece("python -m pytest test_invoice.py", "./dev test invoice"), piece("pytest tax", "./dev test tax")]
    assert example_for(DRAFT, pieces) == "`pytest tax` fails, `./dev test tax` works."


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        ("pytest tax", ""),  # nothing worked
        ("pytest tax", "make test"),  # not what the draft recommends
        ("pytest tax", "./dev test /tmp/x/tax"),  # of that time alone
        ("pytest tax", "./dev test $(cat names)"),
        ("pytest tax", f"./dev test {'tax ' * 30}"),
    ],
)
def test_there_is_none_where_no_call_shows_it_in_a_few_words(call: str, fix: str) -> None:
    assert example_for(DRAFT, [piece(call, fix)]) == ""
