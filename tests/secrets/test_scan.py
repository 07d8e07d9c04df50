"""Where a secret begins and ends, of which kind it is, and how many layers are looked through."""

import base64
import itertools
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from whet.secrets.scan import FoundSecret, canonical, find, judge, kind_of_assignment, literals_of
from whet.secrets.vendor_keys import MatchTest, SecretRule

MIXED = "Zk3jQ9wLr7TbX2mN8vYcP5sHdG4fKa6uEe1oRi0WqUtVnBxCyMzJlIgFhDpSaTw3"
GITHUB = "ghp_" + MIXED[:36]
PASSWORD = "tr0ub4dor!X"
PHRASE = "abandon ability able about above absent absorb abstract absurd abuse access accident"
HEAD = "-----BEGIN RSA PRIVATE KEY-----\n"


def spans(text: str, *known: str) -> list[tuple[str, str, bool]]:
    """What is found in a text, with its kind and whether its shape is proof."""
    body = text.encode()
    found = find(body, literals_of(("known", value) for value in known))
    return [(body[each.start : each.end].decode(), each.kind, each.exact) for each in found]


def one(text: str) -> FoundSecret:
    (found,) = find(text.encode())
    return found


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def short(text: str) -> str:
    return f"\\u00{ord(text):02x}"


LAYERS: tuple[Callable[[str], str], ...] = (base64_of, percent)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_secret_is_found_below_two_layers_and_no_more(count: int) -> None:
    for layers in itertools.product(LAYERS, repeat=count):
        hidden = GITHUB
        for layer in layers:
            hidden = layer(hidden)
        expected = [] if count == 3 else [(hidden, "github-token", True)]
        assert spans(f"x {hidden} y") == expected, layers


@given(
    st.sampled_from(["", "x ", "a%20", "https:\\/\\/h.io\\/a ", "%41 \\u0041 ", "é %2F\\\\u0041 "]),
    st.lists(st.sampled_from(["plain", "plain", "short", "percent", "twice"]), min_size=40, max_size=40),
    st.sampled_from(["", " y", "%20y", "\\/ y %41 z", " é\\u0041"]),
)
@example("", ["plain"] * 39 + ["percent"], "")
@example("", ["percent"] + ["plain"] * 39, "")
@example("%41 ", ["plain"] * 39 + ["short"], " \\u0041")
@example("x ", ["plain"] * 3 + ["short"] + ["plain"] * 36, "")
def test_an_escaped_secret_is_found_at_its_very_place(before: str, ways: list[str], after: str) -> None:
    spelling: dict[str, Callable[[str], str]] = {
        "plain": str,
        "short": short,
        "percent": percent,
        "twice": lambda character: f"\\{short(character)}",
    }
    written = "".join(spelling[way](character) for way, character in zip(ways, GITHUB, strict=True))
    (found,) = find(f"{before}{written}{after}".encode())
    assert (found.start, found.end) == (len(before.encode()), len(f"{before}{written}".encode()))
    assert (found.kind, found.value) == ("github-token", GITHUB)


@pytest.mark.parametrize("more", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("padded", [True, False])
def test_base64_of_nothing_but_a_secret_is_that_secret(more: str, padded: bool) -> None:
    run = base64_of(GITHUB + more)
    found = one(f"x {run if padded else run.rstrip('=')} y")
    assert (found.kind, found.value, found.exact) == ("github-token", GITHUB + more, True)


def test_base64_that_was_cut_is_read_as_far_as_it_goes() -> None:
    found = one(f"x {base64_of(GITHUB + 'ab')}A y")
    assert (found.kind, found.value) == ("github-token", GITHUB + "ab")


@pytest.mark.parametrize(
    ("plain", "kind"),
    [
        (f"{GITHUB}\n", "github-token"),
        (f"{GITHUB} and more", "base64"),
        (f"key {GITHUB}", "base64"),
        (f"{GITHUB} {GITHUB[:-1]}", "base64"),
        (f" {GITHUB}", "base64"),
    ],
)
def test_base64_keeps_the_kind_of_a_secret_that_is_all_of_it(plain: str, kind: str) -> None:
    run = base64_of(plain)
    found = one(f"x {run}")
    assert found.kind == kind
    assert found.value == (GITHUB if kind == "github-token" else run)


def test_base64_without_a_secret_is_left() -> None:
    assert spans(f"x {base64_of('nothing that anybody would want to keep for themselves')} y") == []


def test_proof_comes_before_a_guess_at_the_same_place() -> None:
    run = base64_of(GITHUB)
    assert spans(f"API_TOKEN={run}") == [(run, "github-token", True)]
    assert spans(f"API_TOKEN={GITHUB}") == [(GITHUB, "github-token", True)]
    assert spans(f"password={PASSWORD}") == [(PASSWORD, "password", False)]
    assert spans(f"password={PASSWORD}", "ub4dor") == [("ub4dor", "known", True)]
    assert spans(f"password={PASSWORD}", "=tr0") == [("=tr0", "known", True)]
    assert spans(f"password={PASSWORD}", "r!X") == [("r!X", "known", True)]


def test_neighbours_that_touch_are_all_found() -> None:
    assert spans("abcdwxyz", "abcd", "wxyz") == [("abcd", "known", True), ("wxyz", "known", True)]
    before = spans(f"xxpassword={PASSWORD} y", "xxpassword=")
    assert before == [("xxpassword=", "known", True), (PASSWORD, "password", False)]
    after = spans(f'password="{PASSWORD}"-zz', '"-zz')
    assert after == [(PASSWORD, "password", False), ('"-zz', "known", True)]


def test_a_guess_among_several_proofs_is_found_where_it_touches_none() -> None:
    known = ("AAAA1", "BBBB1", "CCCC1")
    free = spans(f"AAAA1 BBBB1 password={PASSWORD} CCCC1", *known)
    assert [text for text, _, _ in free] == ["AAAA1", "BBBB1", PASSWORD, "CCCC1"]
    last = spans(f"AAAA1 BBBB1 CCCC1 password={PASSWORD}", *known)
    assert [text for text, _, _ in last] == ["AAAA1", "BBBB1", "CCCC1", PASSWORD]
    touched = spans("AAAA1 BBBB1 password=xx-CCCC1-tr0ub4", *known)
    assert [text for text, _, _ in touched] == ["AAAA1", "BBBB1", "CCCC1"]
    begun = spans(f"AAAA1 password={PASSWORD} BBBB1", *known, "password=tr0")
    assert [text for text, _, _ in begun] == ["AAAA1", "password=tr0", "BBBB1"]


def test_of_two_that_begin_together_the_longer_counts() -> None:
    assert spans("the abcdefgh there", "abcd", "abcdefgh") == [("abcdefgh", "known", True)]


@pytest.mark.parametrize("value", ["two\nlines", 'a "quoted" one', "back\\slash", "plain-one"])
def test_a_known_value_is_found_however_it_is_escaped(value: str) -> None:
    once = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    twice = once.replace("\\", "\\\\").replace('"', '\\"')
    for written in (value, once, twice):
        assert spans(f"x {written} y", value) == [(written, "known", True)]
    run = base64_of(value)
    assert spans(f"x {run} y", value) == [(run.rstrip("="), "known", True)]


def test_a_value_that_no_text_can_hold_is_not_looked_for() -> None:
    assert literals_of([("known", "half \ud800")]) is None
    assert literals_of([]) is None


def test_known_values_are_told_apart() -> None:
    literals = literals_of([("first", "abcd"), ("second", "wxyz"), ("third", "abcd")])
    assert [(each.kind, each.value) for each in find(b"wxyz abcd", literals)] == [("second", "wxyz"), ("first", "abcd")]
    assert find(b"nothing here", literals) == []


def test_a_private_key_is_its_body_without_the_space_after_it() -> None:
    body = "\n".join([MIXED, MIXED[::-1]])
    for after in ("\n-----END RSA PRIVATE KEY-----", "\n \\", " \t\r\n"):
        assert spans(f"{HEAD}{body}{after}") == [(body, "private-key", False)]
    assert one(f"{HEAD}{body}").value == MIXED + MIXED[::-1]


def test_the_sentence_around_a_password_is_none_of_it() -> None:
    assert spans(f"The password is {PASSWORD}.") == [(PASSWORD, "password", False)]
    assert spans(f"(password={PASSWORD}), and so on") == [(PASSWORD, "password", False)]


def test_a_login_without_a_password_is_none() -> None:
    assert spans("https://bob:,,@h.io") == []
    assert spans("https://bob:x9!y@h.io") == [("x9!y", "password", False)]


def test_a_seed_phrase_ends_where_its_words_end() -> None:
    assert spans(f"seed phrase: {PHRASE} and the rest") == [(PHRASE, "seed-phrase", False)]
    assert spans(f"seed phrase: {PHRASE}. Then the rest") == [(PHRASE, "seed-phrase", False)]
    assert spans("seed phrase: alpha beta gamma delta") == []


def test_every_cookie_is_judged_by_itself_and_found_at_its_place() -> None:
    first, second = MIXED[:24], MIXED[24:48]
    found = spans(f"é Cookie: theme=dark; a={first};flag; {MIXED[:30]}; session={second}; lang=en")
    assert found == [(first, "cookie", False), (second, "cookie", False)]


MIXED_RULE, VALUE, CONVINCING, PHRASED, LOGIN, ASSIGNED, PROVEN = (
    SecretRule("kind", "", "", check)
    for check in (
        MatchTest.MIXED,
        MatchTest.VALUE,
        MatchTest.CONVINCING,
        MatchTest.PHRASE,
        MatchTest.LOGIN,
        MatchTest.ASSIGNED,
        MatchTest.NONE,
    )
)


@pytest.mark.parametrize(
    ("rule", "name", "value", "kind"),
    [
        (PROVEN, "", "anything", "kind"),
        (MIXED_RULE, "", "a1b2c3d4", "kind"),
        (MIXED_RULE, "", "abcdefghij", ""),
        (MIXED_RULE, "", "xxxx1234", ""),
        (VALUE, "", "a1b2c3", "kind"),
        (VALUE, "", "a1b2c", ""),
        (CONVINCING, "", MIXED[:16], "kind"),
        (CONVINCING, "", MIXED[:15], ""),
        (PHRASED, "", PHRASE, "kind"),
        (PHRASED, "", "alpha beta", ""),
        (LOGIN, "bob", "x9!y", "kind"),
        (LOGIN, "bob", "x9!", ""),
        (LOGIN, "bob", "", ""),
        (LOGIN, "x9!y", "x9!y", ""),
        (LOGIN, "bob", "bob", ""),
        (LOGIN, "bob", "password", ""),
        (ASSIGNED, "db_password", PASSWORD, "password"),
        (ASSIGNED, "colour", PASSWORD, ""),
    ],
)
def test_a_match_is_judged_by_its_rule(rule: SecretRule, name: str, value: str, kind: str) -> None:
    assert judge(rule, name, value) == kind


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("seed_phrase", PHRASE, "seed-phrase"),
        ("seed_phrase", PASSWORD, ""),
        ("password", "password", ""),
        ("db_password", "password", ""),
        ("db_password", PASSWORD, "password"),
        ("db_password", "quietlantern", ""),
        ("DB_PASSWORD", "quietlantern", "password"),
        ("password_file", PASSWORD, ""),
        ("api_token", "a1b2c3d4", "secret"),
        ("api_token", "a1b2c3", ""),
        ("STRIPE_KEY", MIXED[:16], "secret"),
        ("STRIPE_KEY", "a1b2c3d4", ""),
        ("colour", MIXED[:16], ""),
    ],
)
def test_what_is_assigned_is_secret_by_its_name_and_its_look(name: str, value: str, kind: str) -> None:
    assert kind_of_assignment(name, value) == kind


@pytest.mark.parametrize("written", ["abcdef", "abc\ndef", "abc\\ndef", "abc \\t def", "ab\\r\\ncdef", "abc\\\\def"])
def test_a_secret_is_the_same_however_it_is_wrapped(written: str) -> None:
    assert canonical(written) == "abcdef"
