"""What a person asks for, and how each database is asked it."""

from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.store.search import for_postgres, for_sqlite, parse


def test_words_phrases_beginnings_and_exclusions_are_told_apart() -> None:
    query = parse('disk "is full" migr* -windows -"not now" src/a.py')
    assert query.wanted == (("disk",), ("is", "full"), ("migr",), ("src", "a", "py"))
    assert query.beginnings == (False, False, True, False)
    assert query.unwanted == (("windows",), ("not", "now"))


def test_a_flag_is_not_an_exclusion() -> None:
    assert parse("git commit --no-verify").wanted == (("git",), ("commit",), ("no", "verify"))


def test_a_minus_inside_a_word_is_not_an_exclusion() -> None:
    assert parse("well-known a-b").wanted == (("well", "known"), ("a", "b"))


def test_an_open_quote_reaches_to_the_end() -> None:
    assert parse('say "hello there').wanted == (("say",), ("hello", "there"))


def test_signs_alone_are_kept_as_they_were_asked() -> None:
    query = parse(' "->" ')
    assert (query.text, query.wanted) == ("->", ())


def test_each_database_is_asked_the_same_in_its_own_words() -> None:
    query = parse('disk "is full" migr* -windows')
    assert for_sqlite(query) == '("disk" AND "is full" AND "migr"*) NOT "windows"'
    assert for_sqlite(query, ["mark"]) == '("disk" AND "is full" AND "migr"* AND "mark") NOT "windows"'
    assert for_postgres(query) == "('disk') & ('is' <-> 'full') & ('migr':*) & !('windows')"


@given(st.text(min_size=1))
def test_only_letters_and_digits_reach_the_databases(text: str) -> None:
    try:
        query = parse(text)
    except WhetError:
        return
    words = [word for phrase in (*query.wanted, *query.unwanted) for word in phrase]
    assert all(word.isalnum() for word in words)
