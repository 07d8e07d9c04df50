"""The glossary is short, gives each word one meaning, and has only words that are used."""

import re
from collections import Counter
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_ROWS = 120
ROWS = re.findall(r"^\| (?!word )([^|]+) \|", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
WORDS = tuple(word.lower() for row in ROWS for word in row.split(", "))


def used() -> str:
    """What people read and the names in the code, in small letters and without blanks."""
    documents = (path for path in (ROOT / "docs").glob("*.md") if path.name != "glossary.md")
    files = chain(documents, [ROOT / "README.md"], (ROOT / "src" / "whet").rglob("*.py"))
    return without_blanks(" ".join(path.read_text(encoding="utf-8").lower() for path in files))


def without_blanks(text: str) -> str:
    """So that `LostTime` and "lost time" are the same."""
    return re.sub(r"[\s_]+", "", text)


def test_it_is_short() -> None:
    assert 0 < len(ROWS) <= MOST_ROWS


def test_no_word_has_two_meanings() -> None:
    assert [word for word, times in Counter(WORDS).items() if times > 1] == []


def test_every_word_is_used() -> None:
    text = used()
    assert [word for word in WORDS if without_blanks(word) not in text] == []
