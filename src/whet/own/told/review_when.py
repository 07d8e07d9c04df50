"""Reviews: when a finished turn is looked back on, for what, and what is said of it afterwards."""

from collections.abc import Iterable
from enum import StrEnum

from whet.ledger.entries import Entry, Step
from whet.ledger.patches import Action, Form
from whet.own.runs.settings import Review
from whet.sessions.copies import hushed
from whet.sessions.tool_families import arguments_of
from whet.sessions.transcripts import Ending, Exchange, Message, Origin, Role, pair
from whet.text.quoting import one_line
from whet.text.words import cut, many
from whet.trouble.outcomes.deciding import Outcome, decide
from whet.values import Value

MEMORY_TOOL = "memory"
SKILLS_TOOL = "skills"
ALLOWED = frozenset({MEMORY_TOOL, SKILLS_TOOL, "session_search"})
DENIED_ACTIONS = frozenset({"archive"})  # a review puts nothing away: that is proposed to a person
READING = frozenset({"list", "view"})
SHOWN = 5


class ReviewKind(StrEnum):
    """What a review looks for."""

    MEMORY = "memory"
    SKILL = "skill"
    COMBINED = "combined"


class Reviewed(Value, frozen=True):
    """A review that was begun: what it looked for, and how many messages it had before it."""

    kind: ReviewKind
    messages: int


class Counters(Value, frozen=True):
    """What has happened since memory and skills were last written or reviewed."""

    turns: int = 0
    calls: int = 0


def count(messages: Iterable[Message], reviewed: Iterable[Reviewed] = ()) -> Counters:
    """The counters of a conversation, from its record alone, so that they are the same after a resume."""
    said = hushed(tuple(messages))
    latest = {MEMORY_TOOL: 0, SKILLS_TOOL: 0}  # after which message each was last written or looked at
    for each in reviewed:
        of = {ReviewKind.MEMORY: (MEMORY_TOOL,), ReviewKind.SKILL: (SKILLS_TOOL,)}.get(each.kind, tuple(latest))
        latest.update((tool, max(latest[tool], each.messages)) for tool in of)
    for exchange in pair(said).exchanges:
        if (tool := exchange.call.name) in latest and _is_write(exchange):
            latest[tool] = max(latest[tool], (exchange.answered or exchange.asked) + 1)
    memory_from, skill_from = latest[MEMORY_TOOL], latest[SKILLS_TOOL]
    turns = sum(m.role is Role.USER and m.origin is Origin.TURN for m in said[memory_from:])
    return Counters(turns, sum(message.role is Role.AGENT for message in said[skill_from:]))


def due(counters: Counters, ending: Ending, settings: Review, tools: Iterable[str]) -> ReviewKind | None:
    """Which review a turn calls for, if any: never one that was interrupted or not delivered, nor without its tool."""
    if not settings.every or ending is not Ending.FINISHED:
        return None
    shown = frozenset(tools)
    for_memory = MEMORY_TOOL in shown and settings.every <= counters.turns
    for_skills = SKILLS_TOOL in shown and settings.every <= counters.calls
    kinds = {(True, True): ReviewKind.COMBINED, (True, False): ReviewKind.MEMORY, (False, True): ReviewKind.SKILL}
    return kinds.get((for_memory, for_skills))


def summary(entries: Iterable[Entry]) -> str:
    """The one line that tells what a review changed, also what it took away; empty where it changed nothing."""
    made = tuple(entries)
    done = [_in_words(entry) for entry in made if entry.step is Step.APPLIED]
    waiting = sum(entry.step is Step.PROPOSED for entry in made)
    more = f" and {len(done) - SHOWN} more" if len(done) > SHOWN else ""
    learned = f"Whet learned: {'; '.join(done[:SHOWN])}{more}. To undo, run `whet ledger undo`."
    need = f"{many(waiting, 'change')} {'needs' if waiting == 1 else 'need'} your approval: `whet lessons --waiting`."
    return " ".join(words for words, is_so in ((learned, done), (need, waiting)) if is_so)


def denial(call_name: str, arguments: dict[str, object] | None) -> str:
    """Why a review may not make this call; empty where it may."""
    if call_name not in ALLOWED:
        return f"{call_name} is not allowed in a review. Go on without it."
    action = (arguments or {}).get("action")
    return f"{action} is not allowed in a review. Go on without it." if action in DENIED_ACTIONS else ""


def _is_write(exchange: Exchange) -> bool:
    action = arguments_of(exchange.call).get("action", "")
    return action not in READING and exchange.result is not None and decide(exchange).outcome is Outcome.OK


def _in_words(entry: Entry) -> str:
    patch = entry.patch
    verbs = {Action.ADD: "", Action.CHANGE: "changed ", Action.REMOVE: "removed "}
    if patch.form is Form.NOTE:
        return f"{verbs[patch.action]}note “{cut(one_line(patch.text) or patch.name, 80)}”"
    return f"{verbs[patch.action]}{patch.form} {one_line(patch.name)}"
