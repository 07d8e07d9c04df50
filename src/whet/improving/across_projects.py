"""What several projects teach alike: it is no longer a matter of one project, and may be told everywhere."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from whet.improving.project_evidence import TaughtLesson, proposing
from whet.ledger.patches import Form
from whet.lessons.candidates import PIECES_KEPT
from whet.sessions.trust import lowest
from whet.text.likeness import Sense, is_same, sense

PROJECTS_NEEDED = 3
_HERE_FIRST = re.compile(r"^In this project (\w)")
_HERE = re.compile(r" in this project\b")


class _Alike:
    """Lessons of different projects that say the same, found by the words that they share."""

    def __init__(self) -> None:
        self.groups: list[list[TaughtLesson]] = []
        self._senses: list[Sense] = []
        self._by_word: dict[str, list[int]] = {}  # the groups whose first lesson has a word

    def add(self, lesson: TaughtLesson, meant: Sense) -> None:
        """Into the first group that says the same, or into one of its own."""
        places = sorted({place for word in meant.words for place in self._by_word.get(word, ())})
        alike = next((place for place in places if is_same(meant, self._senses[place])), None)
        if alike is not None:
            self.groups[alike].append(lesson)
            return
        for word in meant.words:
            self._by_word.setdefault(word, []).append(len(self.groups))
        self.groups.append([lesson])
        self._senses.append(meant)


def gathered(lessons: Sequence[TaughtLesson]) -> tuple[TaughtLesson, ...]:
    """The lessons, with one in the place of those that three projects or more teach; that one comes first."""
    found = _Alike()
    for lesson in lessons:
        if lesson.patch is None or lesson.draft is None or not lesson.project or lesson.draft.form is not Form.RULE:
            continue  # a note is told everywhere, and a procedure is that of one project
        found.add(lesson, sense(anywhere(lesson.draft.text)))
    shared = [group for group in found.groups if len({each.project for each in group}) >= PROJECTS_NEEDED]
    gone = {id(each) for group in shared for each in group}
    return (*map(_one, shared), *(lesson for lesson in lessons if id(lesson) not in gone))


def anywhere(text: str) -> str:
    """A draft without the words that tie it to one project."""
    return _HERE.sub("", _HERE_FIRST.sub(lambda found: found[1].upper(), text))


def _one(group: Sequence[TaughtLesson]) -> TaughtLesson:
    """The lesson of all these projects: the words of the best, the evidence of all, the lowest trust among them."""
    best = max(group, key=lambda each: each.candidate.worth)
    assert best.draft is not None
    trust = lowest(each.draft.trust for each in group if each.draft is not None)
    # The first pieces of each project in turn, so that as many of them as can be are among the evidence.
    most = max(1, PIECES_KEPT // len(group))
    candidate = replace(
        best.candidate,
        pieces=tuple(piece for each in group for piece in each.candidate.pieces[:most])[:PIECES_KEPT],
        sessions=sum(each.candidate.sessions for each in group),
        worth=max(each.candidate.worth for each in group),
    )
    return proposing(
        TaughtLesson(
            "",
            candidate,
            tuple(sorted({agent for each in group for agent in each.agents})),
            replace(best.draft, text=anywhere(best.draft.text), trust=trust),
            projects=tuple(sorted({each.project for each in group})),
        )
    )
