"""What several projects teach alike: it is no longer a matter of one project, and may be told everywhere."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from whet.improving.project_evidence import lesson_of
from whet.ledger.patches import Form
from whet.lessons.candidates import PIECES_KEPT
from whet.lessons.drafts import LessonDraft
from whet.lessons.pieces import LessonSource
from whet.lessons.record import Lesson, LessonChecks, SeenBy
from whet.sessions.trust import lowest
from whet.text.likeness import Sense, is_same, sense

PROJECTS_NEEDED = 3
_HERE_FIRST = re.compile(r"^In this project (\w)")
_HERE = re.compile(r" in this project\b")


class _Alike:
    """Lessons of different projects that say the same, found by the words that they share."""

    def __init__(self) -> None:
        self.groups: list[list[Lesson]] = []
        self._senses: list[Sense] = []
        self._by_word: dict[str, list[int]] = {}  # the groups whose first lesson has a word

    def add(self, lesson: Lesson, meant: Sense) -> None:
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


def gathered(lessons: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """The lessons, with one in the place of those that three projects or more teach; that one comes first."""
    found = _Alike()
    for lesson in lessons:
        if not lesson.is_proposable or not lesson.project or lesson.patch.form is not Form.RULE:
            continue  # a note is told everywhere, and a procedure is that of one project
        found.add(lesson, sense(anywhere(lesson.rule)))
    shared = [group for group in found.groups if len({each.project for each in group}) >= PROJECTS_NEEDED]
    made = [(one, group) for group in shared if (one := _one(group)) is not None]
    gone = {id(each) for _, group in made for each in group}
    return (*(one for one, _ in made), *(lesson for lesson in lessons if id(lesson) not in gone))


def anywhere(text: str) -> str:
    """A rule without the words that tie it to one project."""
    return _HERE.sub("", _HERE_FIRST.sub(lambda found: found[1].upper(), text))


def _one(group: Sequence[Lesson]) -> Lesson | None:
    """The lesson of all these projects: the words of the best, the evidence of all, the lowest trust among them."""
    best = max(group, key=lambda each: each.evidence.worth)
    trust = lowest(each.trust for each in group)
    # The first pieces of each project in turn, so that as many of them as can be are among the evidence.
    most = max(1, PIECES_KEPT // len(group))
    evidence = replace(
        best.evidence,
        pieces=tuple(piece for each in group for piece in each.evidence.pieces[:most])[:PIECES_KEPT],
        sessions=sum(each.sessions for each in group),
        worth=max(each.evidence.worth for each in group),
    )
    agents = tuple(sorted({agent for each in group for agent in each.seen_by.agents}))
    seen_by = SeenBy(agents, tuple(sorted({each.project for each in group})))
    draft = LessonDraft(LessonSource(best.origin.basis), best.situation, best.fix, anywhere(best.rule), trust)
    made = lesson_of(draft, evidence, "", seen_by, LessonChecks())
    return made if isinstance(made, Lesson) else None
