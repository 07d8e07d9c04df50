"""Which form a lesson takes: what a person said of themselves is a note where there are notes, else it is a rule."""

import re2
from msgspec.structs import replace

from whet.ledger.patches import Form
from whet.lessons.drafts import LessonDraft
from whet.lessons.pieces import LessonSource
from whet.sessions.call_effects import CARRIERS, CHECKERS, RUNNERS
from whet.text.words import names

PROGRAMS = CARRIERS | CHECKERS | (RUNNERS - names("go task just stack mix")) | names("git gh curl ssh sed grep")
# The person, and how they are spoken with.
_OF_THEMSELVES = re2.compile(
    r"(?i)\b(?:i|i['’](?:m|d|ve|ll)|me|my|mine|myself)\b|"
    r"^(?:(?:please|always|never|don['’]?t|do not) )*(?:answer|reply|respond|explain|ask|speak|talk|summari[sz]e)\b"
)
_BOUND = re2.compile(r"`|(?:^|\s)--?\w|\w/\w|\./|\w\.(?:[a-z]{1,5})\b|\w_\w|[a-z][A-Z]")
_WORD = re2.compile(r"[a-z][a-z0-9-]*")


def in_form(draft: LessonDraft, *, has_notes: bool) -> LessonDraft:
    """The draft in the form that its content asks for, where whoever would be told has notes or has none."""
    is_note = has_notes and is_of_the_person(draft)
    return replace(draft, form=Form.NOTE) if is_note else draft


def is_of_the_person(draft: LessonDraft) -> bool:
    """Whether it is the person's word about themselves or their way of working, bound to no command and no path."""
    if draft.source is not LessonSource.PERSON or not _OF_THEMSELVES.search(draft.text):
        return False
    return not _BOUND.search(draft.text) and PROGRAMS.isdisjoint(_WORD.findall(draft.text.lower()))
