"""Statements as lessons: the person's own, in force by standing in a file that agents read."""

from collections.abc import Iterator

from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Form, Patch, Scope
from whet.lessons.record import Lesson, LessonStage, Standing, lesson_of_change
from whet.sessions.trust import Trust
from whet.statements.audit import Audit
from whet.statements.statement import AuditedStatement


def lessons_of_files(audit: Audit, *, project: str) -> Iterator[Lesson]:
    """Every statement as the lesson that it tells, with the marks as what became of it."""
    return (_lesson(each, project) for each in audit.statements)


def _lesson(audited: AuditedStatement, project: str) -> Lesson:
    statement = audited.statement
    origin = PatchOrigin(PatchWriter.PERSON, said=statement.place)
    proofs = tuple(proof for finding in audited.findings for proof in finding.proofs)
    scope = Scope(project=project)
    name = f"yours-{statement.id}"
    patch = Patch(Form.RULE, Action.ADD, name, statement.text, scope, origin, Trust.OPERATOR, proofs)
    told_as = f"a statement of {statement.place} ({audited.words})"
    return lesson_of_change(patch, statement.heading, Standing(LessonStage.ACTIVE, told_as=told_as))
