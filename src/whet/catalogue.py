"""Remedies: well-written rules for each kind of signal, so that learning works with no model at all."""

from collections.abc import Iterable

from whet.errors import WhetError
from whet.front_matter import split, words
from whet.lessons import Lesson
from whet.patches import Action, Form, Patch, Proof, Scope
from whet.signals import Kind
from whet.tools import Family, family_of, plain_name
from whet.transcripts import ToolCall, Value
from whet.trust import Trust

PURPOSES = ("interactive", "unattended")
FIELDS = frozenset({"kind", "families", "tools", "purposes", "models"})


class Remedy(Value, frozen=True):
    """A rule for one kind of signal. Of each list that is not empty one word must fit the lesson."""

    name: str
    text: str
    kind: Kind
    families: tuple[Family, ...] = ()  # of tools
    tools: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


def remedy_of(name: str, source: str) -> Remedy:
    """A remedy from its file; a field or a word that is not known is refused."""
    fields, text = split(source, name=name)
    unknown = sorted(set(fields) - FIELDS) + [p for p in words(fields.get("purposes", "")) if p not in PURPOSES]
    try:
        kind = Kind(fields.get("kind", ""))
        families = tuple(Family(word) for word in words(fields.get("families", "")))
    except ValueError as error:
        raise WhetError(
            f"The rule {name} has a word that is not known: {error}.", advice="Correct its file."
        ) from error
    if unknown:
        raise WhetError(
            f"The rule {name} says {', '.join(unknown)}.", advice=f"It may say {', '.join(sorted(FIELDS))}."
        )
    return Remedy(
        name=name,
        text=" ".join(text.split()),
        kind=kind,
        families=families,
        tools=words(fields.get("tools", "")),
        purposes=words(fields.get("purposes", "")),
        models=words(fields.get("models", "")),
    )


def suited(remedies: Iterable[Remedy], lesson: Lesson) -> tuple[Remedy, ...]:
    """The remedies for a lesson; those for its very tool or family come first."""
    family = family_of(ToolCall(id="", name=lesson.tool)) if lesson.tool else None
    found = [remedy for remedy in remedies if remedy.kind is lesson.kind and _fits(remedy, lesson, family)]
    return tuple(sorted(found, key=lambda remedy: not (remedy.tools or remedy.families)))


def patch_of(remedy: Remedy, lesson: Lesson) -> Patch:
    """The patch that brings a remedy into force for the tool that the lesson is about.

    Its text is Whet's own: what the lesson quotes is evidence, and no word of it reaches an agent.
    """
    is_about_tool = bool(lesson.tool) and bool(remedy.tools or remedy.families)
    return Patch(
        form=Form.RULE,
        action=Action.ADD,
        name=remedy.name,
        text=remedy.text,
        scope=Scope(
            models=remedy.models,
            tools=(lesson.tool,) if is_about_tool else (),
            purposes=remedy.purposes,
        ),
        reason=f"{lesson.kind} in {lesson.sessions} of {lesson.base} sessions",
        trust=Trust.AGENT,
        proofs=tuple(Proof(seen.session, seen.message, lesson.kind, seen.quote) for seen in lesson.examples),
    )


def _fits(remedy: Remedy, lesson: Lesson, family: Family | None) -> bool:
    by_tool = plain_name(lesson.tool) in map(plain_name, remedy.tools) or family in remedy.families
    models = not remedy.models or any(part in model.lower() for part in remedy.models for model in lesson.models)
    return models and (by_tool or not (remedy.tools or remedy.families))
