"""Templates: what calls have in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from whet.lessons.change_features import VARIES, common_form, fits

WORD = some.text(some.sampled_from("ab/=-.:"), min_size=1, max_size=6)
CALL = some.lists(WORD, min_size=1, max_size=8).map(tuple)


@pytest.mark.parametrize(
    ("calls", "form"),
    [
        (("pytest a.py -q", "pytest b.py -q"), "pytest ….py -q"),
        (("make test PART=cart", "make test PART=bill"), "make test PART=…"),
        (("curl localhost:8080/a", "curl localhost:8080/b"), "curl localhost:8080/…"),
        (("docker ps", "docker compose up -d"), "docker …"),
        (("git log", "git log"), "git log"),
        (("psql -h db x", "psql x"), "psql … x"),
    ],
)
def test_what_varies_becomes_a_mark(calls: tuple[str, str], form: str) -> None:
    assert " ".join(common_form(tuple(call.split()) for call in calls)) == form


@given(some.lists(CALL, min_size=1, max_size=4))
def test_every_call_has_the_form_that_it_shares_with_others(calls: list[tuple[str, ...]]) -> None:
    form = common_form(calls)
    assert all(fits(form, call) for call in calls)


def test_a_call_of_another_form_does_not_fit() -> None:
    assert not fits(("make", "test", "PART=…"), ("make", "test"))
    assert not fits(("make", VARIES, "x"), ("make", "test"))
    assert fits(("make", VARIES), ("make",))
