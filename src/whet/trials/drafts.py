"""What becomes of a lesson: a rule of the catalogue, one in the user's own words, or facts for a model to write from.

The facts hold words of fixed lists and numbers, and no word that any session held: what a stranger wrote into a result
can reach a model that writes rules no more than it can reach a rule.
"""

import re
from collections.abc import Iterable, Iterator

from whet.failures.environment import Cause
from whet.failures.kinds import KINDS, ChangeKind, KindTable, kind_named
from whet.failures.lessons import RecurringFailure
from whet.failures.signals import Kind
from whet.ledger.origins import PatchOrigin, PatchWriter, SessionCounts
from whet.ledger.patches import Action, Form, Patch, Proof, digest
from whet.lessons.known_causes import explains_itself
from whet.sessions.tool_families import FAMILY_OF_NAME, family_of
from whet.sessions.transcripts import ToolCall
from whet.sessions.trust import Trust
from whet.text.words import plain_name
from whet.told.remedies import Remedy, is_specific, patch_of, suited
from whet.values import Value

NAME_LETTERS = 10
ROUNDING = 5  # percent

# The class of an error, by what its text speaks of. Only the class is told, never the text.
CLASSES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("a path that is not there", r"no such file|does not exist|not found|enoent|cannot find"),
        ("arguments that the tool does not take", r"argument|parameter|schema|validation|required|unexpected|invalid"),
        ("a call that cannot be read", r"json|parse|malformed|unreadable|decode"),
        (
            "text to replace that is not there, or there twice",
            r"old_str|no match|not unique|multiple matches|occurrences",
        ),
        ("a file that was not read, or has changed since", r"not been read|has been modified|read it first|stale"),
        ("a syntax error", r"syntax|indentation|unterminated|unexpected token"),
        ("time that ran out", r"time[d]?[ -]?out|deadline"),
        ("too much output or input", r"too (?:long|large|many)|exceeds|truncated|limit"),
        ("a refusal", r"denied|permission|not allowed|forbidden|rejected|refused"),
        ("a check that fails", r"assert|test|fail(?:ed|ure)"),
        ("a command that ends with an error", r"exit|status|code|error"),
    )
)


class LessonFacts(Value, frozen=True, omit_defaults=False):
    """A lesson without any word of a session."""

    what_happens: str
    tool: str
    kind_of_tool: str
    error: str
    sessions: int
    share_percent: int


def without_rule(lesson: RecurringFailure) -> str:
    """Why no rule can help against a failure; empty where one may."""
    is_outside = lesson.cause is Cause.ENVIRONMENT or lesson.change is ChangeKind.ENVIRONMENT
    return "the surroundings are at fault: a person can put them right, no rule can" if is_outside else ""


def drafts(
    lesson: RecurringFailure, remedies: Iterable[Remedy], correction: str, *, can_try: bool = True
) -> Iterator[Patch]:
    """What may help against a lesson, the best first, as far as no model has to be asked.

    `correction` is the text of a rule around the user's words, ready to use. Where nothing can be tried, a general rule
    is worse than none: only one that was written for this very error is left, and that error does not explain itself.
    """
    if without_rule(lesson):
        return
    if lesson.kind == Kind.USER_CORRECTION and lesson.trust >= Trust.TOOL and correction:
        # Of words that no record vouches for nobody knows whether the user typed them: such a rule waits for a person.
        yield _learned(lesson, correction, min(lesson.trust, Trust.USER))
    for remedy in suited(remedies, lesson):
        if not can_try and (explains_itself(lesson.line) or not is_specific(remedy, lesson)):
            continue
        yield patch_of(remedy, lesson)


def facts_of(lesson: RecurringFailure, kinds: KindTable = KINDS) -> LessonFacts:
    """What a model may know of a lesson."""
    kind, name = kind_named(lesson.kind, kinds), plain_name(lesson.tool)
    family = family_of(ToolCall("", lesson.tool)) if lesson.tool else None
    return LessonFacts(
        what_happens=kind.meaning or kind.what(),
        tool=name if name in FAMILY_OF_NAME else "one that is not widely known" if lesson.tool else "any",
        kind_of_tool=family.value if family else "any",
        error=next((name for name, pattern in CLASSES if pattern.search(lesson.fingerprint)), "of an unknown class"),
        sessions=lesson.sessions,
        share_percent=ROUNDING * round(100 * lesson.share / ROUNDING),
    )


def written(lesson: RecurringFailure, answer: str) -> Patch | None:
    """The patch from what a model wrote, as one line; None where it wrote nothing."""
    first = next((part for part in answer.strip().split("\n\n") if part.strip()), "")
    text = " ".join(first.split()).strip("\"'“”` ")
    return _learned(lesson, text, Trust.AGENT) if text else None


def correction_of(lesson: RecurringFailure) -> str:
    """The user's words, where the lesson is that they were not heeded; nothing where a stranger's may be among them."""
    if lesson.kind != Kind.USER_CORRECTION or lesson.trust < Trust.TOOL:
        return ""
    return min((each.quote.strip() for each in lesson.examples if each.quote.strip()), key=len, default="")


def _learned(lesson: RecurringFailure, text: str, trust: Trust) -> Patch:
    writer = PatchWriter.MODEL if trust is Trust.AGENT else PatchWriter.PERSON
    return Patch(
        form=Form.RULE,
        action=Action.ADD,
        name=f"learned-{digest(text)[:NAME_LETTERS]}",
        text=text,
        origin=PatchOrigin(writer, basis=lesson.kind, counts=SessionCounts(lesson.sessions, lesson.base)),
        trust=trust,
        proofs=tuple(Proof(each.session, each.message, lesson.kind, each.quote) for each in lesson.examples),
    )
