"""Procedures as lessons: the evidence of each session, and the steps as a skill would tell them."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from whet.ledger.patches import Form
from whet.lessons.candidates import PIECES_KEPT, LessonEvidence
from whet.lessons.drafts import LessonDraft
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.procedures import FoundProcedure, is_everyday
from whet.sessions.trust import Trust, lowest
from whet.text.short_names import short_name

ARROW = " → "
WORTH = 2.0
OFTENER = 0.8  # how much twice the sessions add
NAME_LETTERS = 60
SAME_WORDS = 0.5  # of the sessions wrote a step so
_NO_NAME = re.compile(r"[^a-z0-9]+")
_PASSING = re.compile(r"[\n$]|/tmp/|[0-9a-f]{7,}")


class ProcedureLesson(NamedTuple):
    """A procedure as a candidate with its draft."""

    candidate: LessonEvidence
    draft: LessonDraft


def procedure_lesson(found: FoundProcedure, project: str, *, is_declared: bool) -> ProcedureLesson:
    """What a procedure of a project comes to. In a declared project, what commands printed counts as the agent's."""
    steps = [shown_step(found, form) for form in found.steps]
    trust = lowest(step.trust for order in found.orders for step in order.steps if step.form in found.steps)
    trust = Trust.AGENT if is_declared and trust is Trust.TOOL else trust
    pieces = tuple(
        LessonPiece(
            LessonSource.PROCEDURE,
            order.session,
            order.message,
            order.asked or "no request in words",
            fix="; ".join(step.written for step in order.steps if step.form in found.steps),
            weight=WORTH,
            trust=trust,
            at=order.at,
        )
        for order in found.orders[-PIECES_KEPT:]
    )
    worth = WORTH * (1 + OFTENER * math.log2(found.sessions))
    candidate = LessonEvidence(LessonSource.PROCEDURE, pieces, found.sessions, round(worth, 3), found.steps)
    return ProcedureLesson(
        candidate,
        LessonDraft(
            LessonSource.PROCEDURE,
            _situation(found, project),
            ARROW.join(found.steps),
            _instructions(steps),
            trust,
            Form.SKILL,
            skill_name(found, project),
        ),
    )


def shown_step(found: FoundProcedure, form: str) -> str:
    """A step as half of the sessions wrote it, else by its form alone: what varies is of that time."""
    written = Counter(step.written for order in found.orders for step in order.steps if step.form == form)
    best, count = written.most_common(1)[0]
    if count >= SAME_WORDS * found.sessions and not _PASSING.search(best):
        return best.replace("`", "'")
    return f"{form} …"


def skill_name(found: FoundProcedure, project: str) -> str:
    """The name of the skill: the project, and what the steps lead to."""
    words = f"{short_name(project) if project else ''} {_purpose(found)}".lower()
    return _NO_NAME.sub("-", words).strip("-")[:NAME_LETTERS].strip("-")


def _situation(found: FoundProcedure, project: str) -> str:
    where = short_name(project) if project else "this project"
    return f"In {where}, when the work leads to `{_purpose(found)}`: its {len(found.steps)} steps in order"


def _purpose(found: FoundProcedure) -> str:
    """What the steps lead to: what was done last before an everyday step; where that was a check, the last step."""
    checks = {step.form for order in found.orders for step in order.steps if step.is_check}
    done = next((form for form in reversed(found.steps) if not is_everyday(form)), found.steps[-1])
    return found.steps[-1] if done in checks else done


def _instructions(steps: Iterable[str]) -> str:
    lines = (f"{number}. `{step}`" for number, step in enumerate(steps, 1))
    return "\n".join((*lines, "", "Each step worked before the next was run; where one fails, fix that first."))
