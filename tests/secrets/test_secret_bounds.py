"""Redaction at its bounds: short values, cookies, base64 without padding, escapes."""

import base64

import pytest

from whet.secrets.redactor import Redactor
from whet.secrets.scan import find, kind_of_assignment

MIXED = "Zk3jQ9wLr7TbX2mN8vYcP5sHdG4fKa6uEe1oRi0WqUtVnBxCyMzJlIgFhDpSaTw3"
GITHUB = "ghp_" + MIXED[:36]


def test_a_known_value_counts_from_four_letters_on() -> None:
    assert "wxyz" not in Redactor(["wxyz"]).text("the value wxyz stands here")
    assert Redactor(["xyz"]).text("the value xyz stands here") == "the value xyz stands here"


def test_a_cookie_is_found_at_its_own_place_whatever_stands_before_it() -> None:
    header = f"Cookie: theme=dark; session={MIXED[:40]}; lang=en"
    redacted = Redactor().text(header)
    assert MIXED[:40] not in redacted
    assert redacted.startswith("Cookie: theme=dark; session=[redacted:")
    assert redacted.endswith("; lang=en")


@pytest.mark.parametrize("more", ["", "a", "ab", "abc"])
def test_a_secret_in_base64_is_found_with_and_without_padding(more: str) -> None:
    encoded = base64.b64encode(f"token={GITHUB}{more and '.' + more}".encode()).decode()
    for run in (encoded, encoded.rstrip("=")):
        assert run not in Redactor().text(f"data {run} end")


def test_a_secret_that_is_all_of_a_base64_run_keeps_its_kind() -> None:
    whole = base64.b64encode(GITHUB.encode())
    (found,) = find(b"x " + whole + b" y")
    assert found.kind.startswith("github")
    (part,) = find(b"x " + base64.b64encode(f"user=me key {GITHUB} and more".encode()) + b" y")
    assert part.kind == "base64"


def test_a_password_in_a_name_that_tells_of_one_is_a_password() -> None:
    assert kind_of_assignment("db_password", "tr0ub4dor!X") == "password"
    assert kind_of_assignment("colour", "tr0ub4dor!X") == ""
    assert kind_of_assignment("password", "password") == ""


def test_the_same_secret_has_the_same_placeholder_and_another_another() -> None:
    redactor = Redactor()
    first = redactor.text(f"a {GITHUB} b")
    assert redactor.text(f"c {GITHUB} d").split()[1] == first.split()[1]
    other = redactor.text(f"e {'ghp_' + MIXED[10:46]} f")
    assert other.split()[1] != first.split()[1]
    assert redactor.secret_of(first.split()[1]) == GITHUB


def test_escaped_characters_hide_no_secret_and_nothing_beside_it_is_lost() -> None:
    hidden = GITHUB.replace("_", "\\u005f")
    redacted = Redactor().text(f'{{"before": "x", "token": "{hidden}", "after": "y"}}')
    assert hidden not in redacted
    assert redacted.startswith('{"before": "x", "token": "[redacted:')
    assert redacted.endswith('", "after": "y"}')
