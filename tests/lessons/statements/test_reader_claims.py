"""What a reader may say of a statement, and which statement it speaks of."""

import pytest

from whet.lessons.statements.audit import StatementMark
from whet.lessons.statements.naming import split_statements
from whet.lessons.statements.reader_claims import (
    AbsentName,
    FileCount,
    FileQuote,
    StatementClaim,
    WantedLook,
    claim_in,
    finding_of,
    is_about,
    statement_of,
)

TEXT = "# Work\n\n- The client tries 3 times.\n- It uses `Redis`.\n\n- The client tries 3 times.\n"
STATEMENTS = split_statements("CLAUDE.md", TEXT)
QUOTE = {"file": "a.py", "words": "RETRIES = 5"}


def wrong(**given: object) -> dict[str, object]:
    return {"op": "wrong", "at": "CLAUDE.md:3", "quote": "3 times", "why": "5", "evidence": [QUOTE], **given}


def test_a_claim_names_its_line_quote_and_evidence() -> None:
    given: list[object] = [QUOTE, {"absent": "x", "in": "./b/"}, {"count": 4, "lines": "c.py", "words": "d"}]
    said = claim_in(wrong(evidence=given, instead="5 times"))
    evidence = (FileQuote("a.py", "RETRIES = 5"), AbsentName("x", "b"), FileCount(4, "c.py", True, "d"))
    assert said == StatementClaim("CLAUDE.md", 3, "3 times", "5", evidence, "5 times")


def test_the_numbers_of_shown_lines_are_no_part_of_a_quote() -> None:
    said = claim_in(wrong(evidence={"file": "a.py", "words": "12| one\n13| two"}))
    assert isinstance(said, StatementClaim)
    assert said.evidence == (FileQuote("a.py", "one\ntwo"),)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (None, "the line is no JSON object"),
        ({"op": "order"}, "op must be one of wrong, look, nothing"),
        ({"op": "look"}, "a look needs a file or words"),
        (wrong(at="CLAUDE.md"), "at must be the file and the line, as in CLAUDE.md:12"),
        (wrong(evidence=[]), "it has no evidence"),
        (wrong(evidence=["x"]), "evidence must be a list of objects"),
        (wrong(evidence=[{"file": "a"}]), "evidence needs a file and its words, an absent name, or a count of files"),
    ],
)
def test_what_cannot_be_used_has_a_reason(given: dict[str, object] | None, why: str) -> None:
    assert claim_in(given) == why


def test_nothing_and_looks_are_answers() -> None:
    assert claim_in({"op": "nothing"}) is None
    assert claim_in({"op": "look", "file": "./src/", "words": "retry"}) == WantedLook("src", "retry")


@pytest.mark.parametrize(("line", "found"), [(3, 3), (6, 6), (40, 6)])
def test_of_statements_with_the_same_words_the_nearest_is_meant(line: int, found: int) -> None:
    statement = statement_of(StatementClaim("CLAUDE.md", line, "tries 3", ""), STATEMENTS)
    assert statement is not None
    assert statement.line == found


@pytest.mark.parametrize(("file", "quote"), [("CLAUDE.md", "4 times"), ("other.md", "3 times"), ("CLAUDE.md", "3")])
def test_words_that_no_statement_has_are_about_none(file: str, quote: str) -> None:
    assert statement_of(StatementClaim(file, 3, quote, ""), STATEMENTS) is None


def test_evidence_is_about_what_the_statement_says_and_not_its_own_words() -> None:
    redis = STATEMENTS[1]
    assert is_about(AbsentName("redis"), redis)
    assert not is_about(AbsentName("kafka"), redis)
    assert not is_about(FileQuote("CLAUDE.md", "It uses"), redis)
    assert is_about(FileQuote("CLAUDE.md", "tries 3"), redis)


def test_a_correction_of_several_lines_is_none() -> None:
    claim = StatementClaim("CLAUDE.md", 3, "3 times", "it says 5", (FileQuote("a.py", "RETRIES = 5"),), "5\ntimes")
    finding = finding_of(claim, STATEMENTS[0], "claude")
    assert (finding.mark, finding.line, finding.named, finding.instead) == (StatementMark.READ, 3, "3 times", "")
    assert finding.where == "claude says; found: a.py “RETRIES = 5”"
