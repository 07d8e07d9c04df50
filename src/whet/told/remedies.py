"""Remedies: well-written rules for each kind of signal, so that learning works with no model at all."""

from collections.abc import Iterable

from whet.errors import WhetError
from whet.failures.analysis import Analysis
from whet.failures.environment import Cause
from whet.failures.kinds import OWN_NAMES, ChangeKind
from whet.failures.lessons import RecurringFailure, SignalTally
from whet.failures.signals import SHOWN, Signal
from whet.ledger.origins import PatchOrigin, PatchWriter, SessionCounts
from whet.ledger.patches import Action, Form, Patch, Proof, Scope
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import ToolCall
from whet.sessions.trust import Trust
from whet.text.front_matter import document, words
from whet.text.words import plain_name
from whet.values import Value

PURPOSES = ("interactive", "unattended")
FIELDS = frozenset({"kind", "families", "tools", "purposes", "models", "errors"})


class Remedy(Value, frozen=True):
    """A rule for one kind of signal. Of each list that is not empty one word must fit the lesson.

    `errors` are what the errors say that it was written for.
    """

    name: str
    text: str
    kind: str
    families: tuple[Family, ...] = ()  # of tools
    tools: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def remedy_of(name: str, source: str) -> Remedy:
    """A remedy from its file; a field or a word that is not known is refused."""
    fields, text = document(source, name=name)
    kind = fields.get("kind", "")
    unknown = sorted(set(fields) - FIELDS) + [p for p in words(fields.get("purposes", "")) if p not in PURPOSES]
    try:
        families = tuple(Family(word) for word in words(fields.get("families", "")))
    except ValueError as error:
        raise WhetError(
            f"The rule {name} has a word that is not known: {error}.", advice="Correct its file."
        ) from error
    unknown += [] if kind in OWN_NAMES else [f"kind: {kind}"]
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
        errors=tuple(error.strip().lower() for error in fields.get("errors", "").split(";") if error.strip()),
    )


def suited(remedies: Iterable[Remedy], lesson: RecurringFailure) -> tuple[Remedy, ...]:
    """The remedies for a lesson; those for its very tool, family or error come first."""
    found = [remedy for remedy in remedies if remedy.kind == lesson.kind and _fits(remedy, lesson)]
    return tuple(sorted(found, key=lambda remedy: not (remedy.tools or remedy.families or remedy.errors)))


def is_specific(remedy: Remedy, lesson: RecurringFailure) -> bool:
    """Whether a remedy was written for the very error that recurs, and says more than any agent knows."""
    return bool(remedy.errors) and _is_against(remedy, lesson.fingerprint)


def sightings(remedies: Iterable[Remedy], analyses: Iterable[Analysis]) -> dict[str, RecurringFailure]:
    """What each remedy is for, as far as it was seen: the sessions with such a signal, as the lesson that they make.

    A person may choose a remedy for what was seen once; `lessons.distill` asks for more before it speaks.
    """
    known = tuple(remedies)
    tallies = {remedy.name: SignalTally("", frozenset()) for remedy in known}
    total = 0
    for total, analysis in enumerate(analyses, 1):  # noqa: B007 - the last number is how many there were
        for signal in analysis.signals:
            for remedy in known:
                if _is_about(remedy, signal):
                    tallies[remedy.name].add(analysis, signal)
    return {
        remedy.name: RecurringFailure(
            kind=remedy.kind,
            change=ChangeKind.RULE,
            cause=Cause.AGENT,
            tool="",
            fingerprint="",
            sessions=tallies[remedy.name].sessions,
            base=total,
            trust=tallies[remedy.name].trust,
            examples=tuple(tallies[remedy.name].examples),
        )
        for remedy in known
        if tallies[remedy.name].sessions
    }


def calls_for(remedy: Remedy, analysis: Analysis) -> bool:
    """Whether a session shows what the remedy is for: one of those that its sightings count."""
    return any(_is_about(remedy, signal) for signal in analysis.signals)


def _is_about(remedy: Remedy, signal: Signal) -> bool:
    return (
        remedy.kind == signal.kind
        and signal.cause is Cause.AGENT
        and signal.confidence >= SHOWN
        and _is_for(remedy, signal.tool)
        and _is_against(remedy, signal.fingerprint, signal.quote)
    )


def patch_of(remedy: Remedy, lesson: RecurringFailure | None) -> Patch:
    """The patch that brings a remedy into force, for the tool that the lesson is about if it is about one.

    Its text is Whet's own: what the lesson quotes is evidence, and no word of it reaches an agent.
    """
    tool = lesson.tool if lesson and (remedy.tools or remedy.families) else ""
    return Patch(
        form=Form.RULE,
        action=Action.ADD,
        name=remedy.name,
        text=remedy.text,
        scope=Scope(
            models=remedy.models,
            tools=(tool,) if tool else (),
            purposes=remedy.purposes,
        ),
        origin=PatchOrigin(PatchWriter.CATALOGUE, basis=lesson.kind, counts=SessionCounts(lesson.sessions, lesson.base))
        if lesson
        else PatchOrigin(PatchWriter.CATALOGUE, said="from the catalogue"),
        trust=Trust.AGENT,
        proofs=tuple(
            Proof(seen.session, seen.message, remedy.kind, seen.quote) for seen in (lesson.examples if lesson else ())
        ),
    )


def _fits(remedy: Remedy, lesson: RecurringFailure) -> bool:
    models = not remedy.models or any(part in model.lower() for part in remedy.models for model in lesson.models)
    return models and _is_for(remedy, lesson.tool) and _is_against(remedy, lesson.fingerprint, *_quotes(lesson))


def _quotes(lesson: RecurringFailure) -> tuple[str, ...]:
    return tuple(seen.quote for seen in lesson.examples)


def _is_against(remedy: Remedy, *errors: str) -> bool:
    """Whether one of these is an error that the remedy was written for."""
    return not remedy.errors or any(word in error.lower() for word in remedy.errors for error in errors)


def _is_for(remedy: Remedy, tool: str) -> bool:
    family = family_of(ToolCall(id="", name=tool)) if tool else None
    named = plain_name(tool) in map(plain_name, remedy.tools) or family in remedy.families
    return named or not (remedy.tools or remedy.families)
