"""What several projects teach alike: it is no longer a matter of one project, and may be told everywhere."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from whet.improving.taught import TaughtLesson
from whet.ledger.patches import Form
from whet.lessons.candidates import PIECES_KEPT
from whet.sessions.trust import lowest
from whet.text.likeness import is_same, sense

PROJECTS_NEEDED = 3
_HERE_FIRST = re.compile(r"^In this project (\w)")
_HERE = re.compile(r" in this project\b")


def gathered(lessons: Sequence[TaughtLesson]) -> tuple[TaughtLesson, ...]:
    """The lessons, with one in the place of those that three projects or more teach; that one comes first."""
    groups: list[list[TaughtLesson]] = []
    for lesson in lessons:
        if lesson.patch is None or lesson.draft is None or not lesson.project or lesson.draft.form is not Form.RULE:
            continue  # a note is told everywhere, and a procedure is that of one project
        meant = sense(anywhere(lesson.draft.text))
        alike = next((group for group in groups if is_same(meant, sense(anywhere(_text(group[0]))))), None)
        if alike is None:
            groups.append([lesson])
        else:
            alike.append(lesson)
    shared = [group for group in groups if len({each.project for each in group}) >= PROJECTS_NEEDED]
    gone = [each for group in shared for each in group]
    return (*map(_one, shared), *(lesson for lesson in lessons if lesson not in gone))


def anywhere(text: str) -> str:
    """A draft without the words that tie it to one project."""
    return _HERE.sub("", _HERE_FIRST.sub(lambda found: found[1].upper(), text))


def _one(group: Sequence[TaughtLesson]) -> TaughtLesson:
    """The lesson of all these projects: the words of the best, the evidence of all, the lowest trust among them."""
    best = max(group, key=lambda each: each.candidate.worth)
    assert best.draft is not None
    trust = lowest(each.draft.trust for each in group if each.draft is not None)
    # The first pieces of each project in turn, so that every one of them is among the evidence.
    most = max(1, PIECES_KEPT // len(group))
    candidate = replace(
        best.candidate,
        pieces=tuple(piece for each in group for piece in each.candidate.pieces[:most]),
        sessions=sum(each.candidate.sessions for each in group),
        worth=max(each.candidate.worth for each in group),
    )
    return TaughtLesson(
        "",
        candidate,
        tuple(sorted({agent for each in group for agent in each.agents})),
        replace(best.draft, text=anywhere(best.draft.text), trust=trust),
        projects=tuple(sorted({each.project for each in group})),
    )


def _text(lesson: TaughtLesson) -> str:
    return lesson.draft.text if lesson.draft else ""
