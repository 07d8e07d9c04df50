"""Files split into statements: what belongs together stays together, and each knows its lines."""

import pytest

from quickness import is_linear
from whet.ledger.marked_block import place
from whet.lessons.statements.audit import StatementKind
from whet.lessons.statements.naming import split_statements

TEXT = """---
name: front
---
# Top

A paragraph that
goes on.

## Rules
- Never push.
- Run `make test`
  before each commit.

  Still the same item.
* Another.

| File | Role |
| --- | --- |
| `a.py` | starts |

```bash
make build
make test
```
After.
"""


def test_each_statement_knows_its_kind_its_lines_and_the_headings_above() -> None:
    found = split_statements("CLAUDE.md", TEXT)
    assert [(each.line, each.last, each.kind) for each in found] == [
        (6, 7, StatementKind.LINE),
        (10, 10, StatementKind.ITEM),
        (11, 14, StatementKind.ITEM),
        (15, 15, StatementKind.ITEM),
        (17, 17, StatementKind.ROW),
        (19, 19, StatementKind.ROW),
        (21, 24, StatementKind.CODE),
        (25, 25, StatementKind.LINE),
    ]
    assert found[0].heading == "Top"
    assert found[2].heading == "Top › Rules"
    assert found[6].language == "bash"


def test_the_lines_of_a_statement_are_those_of_the_file() -> None:
    lines = TEXT.split("\n")
    for each in split_statements("CLAUDE.md", TEXT):
        assert each.text == "\n".join(lines[each.line - 1 : each.last])


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_endings_and_a_byte_order_mark_change_nothing(ending: str) -> None:
    plain = split_statements("CLAUDE.md", TEXT)
    assert split_statements("CLAUDE.md", "\ufeff" + TEXT.replace("\n", ending)) == plain


def test_whets_own_block_and_comments_are_no_statements() -> None:
    body = place(b"Mine.\n<!-- a\nnote -->\nMine too.\n", "- A rule of Whet.")
    assert body is not None
    assert [each.text for each in split_statements("CLAUDE.md", body.decode())] == ["Mine.", "Mine too."]


def test_a_fence_that_nothing_closes_reaches_to_the_end() -> None:
    found = split_statements("CLAUDE.md", "One.\n```\nmake\n")
    assert [(each.kind, each.line) for each in found] == [(StatementKind.LINE, 1), (StatementKind.CODE, 2)]


def test_of_very_many_statements_the_first_are_taken() -> None:
    assert len(split_statements("CLAUDE.md", "- one\n" * 30_000)) == 10_000


@pytest.mark.parametrize("pump", ["- item\n", "```\n", "<!-- \n", "| a | b |\n", "#", "- a\n\n  b\n", "`", "\n"])
def test_splitting_takes_time_in_proportion(pump: str) -> None:
    assert is_linear(lambda text: split_statements("CLAUDE.md", text, most=10**9), pump, 200_000)
