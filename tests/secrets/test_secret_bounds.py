"""Redaction at its bounds: short values, cookies, base64 without padding, escapes, what is learned and counted."""

import base64
import json

import pytest

from whet.secrets.redactor import Redactor, secret_values
from whet.secrets.scan import find, kind_of_assignment
from whet.sessions.transcripts import Media, Message, Role, Text
from whet.sessions.trust import Trust

MIXED = "Zk3jQ9wLr7TbX2mN8vYcP5sHdG4fKa6uEe1oRi0WqUtVnBxCyMzJlIgFhDpSaTw3"
GITHUB = "ghp_" + MIXED[:36]
PASSWORD = "tr0ub4dor!X"
KEY_LINES = [MIXED, MIXED[::-1], MIXED[3:] + "abc"]
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(KEY_LINES) + "\n-----END RSA PRIVATE KEY-----"


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


def test_a_known_value_is_replaced_where_it_is_all_there_is() -> None:
    assert Redactor(["wxyz"]).text("wxyz") == "[redacted:environment:1]"
    assert Redactor(["wxyz"]).arguments('{"pin": "wxyz"}') == '{"pin": "[redacted:environment:1]"}'
    assert Redactor(["xyz"]).text("xyz") == "xyz"


def test_a_redactor_learns_only_so_many_passwords() -> None:
    for known, is_learned in ((255, True), (256, False)):
        redactor = Redactor(f"value-{number}" for number in range(known))
        redactor.text(f"DB_PASSWORD={PASSWORD}")
        assert (PASSWORD not in redactor.text(f"I typed {PASSWORD} again")) is is_learned


def test_a_password_that_arguments_gave_is_known_in_a_text_and_counted_once() -> None:
    redactor = Redactor()
    assert redactor.arguments(json.dumps({"password": PASSWORD})) == '{"password": "[redacted:password:1]"}'
    assert redactor.counts == {"password": 1}
    assert redactor.text(f"I typed {PASSWORD} again") == "I typed [redacted:password:1] again"


def test_what_is_proven_in_arguments_is_counted_once_and_replaced_alone() -> None:
    redactor = Redactor()
    assert redactor.arguments(json.dumps({"token": f"me:{GITHUB}"})) == '{"token": "me:[redacted:github-token:1]"}'
    assert redactor.counts == {"github-token": 1}


def test_words_of_a_sentence_are_no_password_but_a_seed_phrase() -> None:
    phrase = "abandon ability able about above absent absorb abstract absurd abuse access accident"
    given = {"password": "tr0ub4dor X9 zq!", "seed_phrase": phrase, "token": GITHUB}
    assert json.loads(Redactor().arguments(json.dumps(given))) == {
        "password": "tr0ub4dor X9 zq!",
        "seed_phrase": "[redacted:seed-phrase:1]",
        "token": "[redacted:github-token:1]",
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--password", PASSWORD, PASSWORD + "9"], ["--password", "[redacted:password:1]", "[redacted:password:1]9"]),
        (["password", "colour", "qX7!wer4t"], ["password", "colour", "qX7!wer4t"]),
        ({"name": "DB_PASSWORD", "value": PASSWORD}, {"name": "DB_PASSWORD", "value": "[redacted:password:1]"}),
        ({"name": "DB_PASSWORD", "other": PASSWORD}, {"name": "DB_PASSWORD", "other": PASSWORD}),
        (["DB_PASSWORD", "value", PASSWORD], ["DB_PASSWORD", "value", PASSWORD]),
    ],
)
def test_only_the_next_string_is_the_value_of_a_name(arguments: object, expected: object) -> None:
    extra = [GITHUB]  # so that the arguments are looked through at all
    redacted = json.loads(Redactor().arguments(json.dumps([arguments, extra])))
    assert redacted == [expected, ["[redacted:github-token:1]"]]


def test_letters_of_other_languages_stay_as_they_are_in_redacted_arguments() -> None:
    text = f'{{"cmd": "größe {GITHUB} 日本"}}'
    assert Redactor().arguments(text) == '{"cmd": "größe [redacted:github-token:1] 日本"}'


def test_arguments_without_a_secret_are_the_same_object() -> None:
    for text in ('{"x":"\\npm_' + "a1b2c3d4e5f6" * 3 + '"}', '{"a": 1}', "[]"):
        assert Redactor().arguments(text) is text


def test_a_secret_that_was_written_in_two_ways_is_not_known_to_the_letter() -> None:
    redactor = Redactor()
    redactor.text(KEY)
    assert redactor.secret_of("[redacted:private-key:1]") == "\n".join(KEY_LINES)
    redactor.text(json.dumps({"key": KEY}))
    assert redactor.secret_of("[redacted:private-key:1]") == ""


def test_a_line_of_a_private_key_is_not_learned_as_a_password() -> None:
    redactor = Redactor()
    redactor.text(f"-----BEGIN RSA PRIVATE KEY-----\n{MIXED}\n-----END RSA PRIVATE KEY-----")
    text = f"the digest {MIXED} of the file"
    assert redactor.text(text) is text


def test_a_login_that_is_too_short_to_be_sure_is_replaced_in_its_place_alone() -> None:
    redactor = Redactor()
    assert redactor.text("https://bob:x9!y@h.io/x") == "https://bob:[redacted:password:1]@h.io/x"
    assert redactor.text("the x9!y stands here") == "the x9!y stands here"


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("DB_PASSWORD", "quiet1", ("quiet1",)),
        ("DB_PASSWORD", "quie1", ()),
        ("DB_PASSWORD", "  quiet1\n", ("quiet1",)),
        ("DB_PASSWORD", "changeme", ()),
        ("DB_PASSWORD", "/run/secrets/db", ()),
        ("STRIPE_KEY", "abcDEF123987", ("abcDEF123987",)),
        ("COLOUR", "abcDEF123987", ()),
    ],
)
def test_a_variable_is_secret_by_its_name_and_its_value(name: str, value: str, kept: tuple[str, ...]) -> None:
    assert secret_values({name: value}) == kept


def test_one_secret_part_changes_its_message_and_leaves_the_others_the_same() -> None:
    parts = (Text("well"), Media(kind="image", name=f"a.png?token={GITHUB}"), Text(GITHUB))
    message = Message(role=Role.USER, parts=parts, trust=Trust.USER)
    found = Redactor().message(message)
    assert found.parts[0] is parts[0]
    assert GITHUB not in repr(found)
    clean = Message(role=Role.USER, parts=parts[:1], trust=Trust.USER)
    assert Redactor().message(clean) is clean
