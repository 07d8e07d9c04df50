"""Statements are the person's own lessons, and what is needless may give place to another."""

from whet.lessons.record import LessonStage
from whet.lessons.statements.audit import (
    BUDGET,
    Audit,
    AuditedStatement,
    InstructionFile,
    StatementFinding,
    StatementMark,
    lessons_of_files,
)
from whet.lessons.statements.naming import split_statements

TEXT = "# Work\n\n- Run `make lint` before each commit.\n- Write tests first.\n- Write tests first, always.\n"


def audit(text: str = TEXT) -> Audit:
    file = InstructionFile("CLAUDE.md", text, ("claude-code",))
    twice = (StatementFinding(StatementMark.DOUBLED, "said above"),)
    statements = tuple(
        AuditedStatement(each, twice if "always" in each.text else ()) for each in split_statements(file.path, text)
    )
    return Audit("/p", (file,), statements)


def test_a_statement_is_an_active_lesson_of_the_person() -> None:
    first, *_, last = lessons_of_files(audit(), project="p")
    assert first.standing.stage is LessonStage.ACTIVE
    assert first.origin.writer == "person"
    assert first.standing.words == "active as a statement of CLAUDE.md:3 (cannot be told)"
    assert "doubled" in last.standing.words
    assert first.id != last.id


def test_what_is_needless_could_give_place_to_a_lesson() -> None:
    found = audit()
    assert [each.statement.line for each in found.replaceable] == [5]
    assert found.needless == found.replaceable[0].statement.tokens
    assert not found.over_budget
    assert audit("some word more\n\n" * 2 * BUDGET).over_budget
