"""The form of a lesson: a note for what the person said of themselves, where there are notes; else a rule."""

import pytest
from msgspec.structs import replace

from whet.improving.learned_forms import in_form
from whet.ledger.patches import Form
from whet.lessons.drafts import LessonDraft
from whet.lessons.pieces import LessonSource
from whet.sessions.trust import Trust


def said(text: str) -> LessonDraft:
    return LessonDraft(LessonSource.PERSON, "the person's standing word", text, text, Trust.USER)


@pytest.mark.parametrize(
    "text",
    [
        "I prefer short answers without a summary",
        "Always ask me before you delete something",
        "Never answer in English",
        "I always review the plan before you start",
    ],
)
def test_what_a_person_says_of_themselves_is_a_note(text: str) -> None:
    assert in_form(said(text), has_notes=True).form is Form.NOTE


@pytest.mark.parametrize("text", ["I prefer short answers without a summary", "Always ask me before you delete it"])
def test_it_is_a_rule_where_nobody_has_notes(text: str) -> None:
    assert in_form(said(text), has_notes=False).form is Form.RULE


@pytest.mark.parametrize(
    "text",
    [
        "I never want git push without a rebase",  # a command
        "I always keep the plan in docs/plan.md",  # a path
        "I prefer `uv` for this",
        "Use table-driven tests",  # of the work, not of the person
        "Never touch the generated files",
    ],
)
def test_what_is_bound_to_a_command_or_path_or_is_of_the_work_is_a_rule(text: str) -> None:
    assert in_form(said(text), has_notes=True).form is Form.RULE


def test_what_no_person_said_is_never_a_note() -> None:
    draft = replace(said("I prefer short answers"), source=LessonSource.RECOVERY)
    assert in_form(draft, has_notes=True).form is Form.RULE
