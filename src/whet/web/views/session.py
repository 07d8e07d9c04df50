"""One session: what happened, and which stretches of it bought nothing."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from whet.sessions.copies import places
from whet.sessions.transcripts import Exchange, Media, Message, Origin, Role, Text, Thought, ToolCall, pair
from whet.store.analyses import analysis_of
from whet.store.listing import find
from whet.store.rows import Session
from whet.store.sessions import load
from whet.store.troubles import trouble_of_session
from whet.text.showing import shown
from whet.text.words import cut, many, short
from whet.trouble.outcomes.deciding import Decision, Outcome, decide
from whet.trouble.overview import duration, percent
from whet.trouble.values import InterventionKind, SessionTrouble, Trouble
from whet.web.cache import PageRequest
from whet.web.charts import strip
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView
from whet.web.site import (
    MESSAGES_SHOWN,
    Column,
    PageLinks,
    PageView,
    code,
    dollars,
    folded,
    moment,
    number,
    number_of,
    section,
    table,
    tiles,
)
from whet.web.views.trouble import ending_words, paid, stretch_words

SESSION = PageView("sessions", "Session", "What happened, and what bought nothing?")
LINES = 12
STRETCHES_SHOWN = 10
MOST_LETTERS = 20_000
OUTCOMES = {
    Outcome.OK: "ok",
    Outcome.FAILED: "failed",
    Outcome.REJECTED: "refused by the person",
    Outcome.CANCELLED: "cancelled",
    Outcome.UNKNOWN: "not known",
}
STEPPED_IN = {
    InterventionKind.REFUSAL: "refused a call",
    InterventionKind.INTERRUPT: "stopped the agent",
    InterventionKind.CORRECTION: "corrected the agent",
}


class ShownCall(NamedTuple):
    """A call with its result and how it ended."""

    exchange: Exchange
    decision: Decision


def show(ask: PageRequest) -> FramedView:
    """The transcript with the stretches that bought nothing in their places."""
    site, stored = ask.site, find(ask.database, ask.part)
    messages, found = load(ask.database, stored).messages, trouble_of_session(ask.database, stored)
    stretches, start = found.troubles if found else (), number_of(ask.given.get("start", ""))
    steps = [ShownCall(exchange, decide(exchange)) for exchange in pair(messages).exchanges]
    listed = range(start, min(start + MESSAGES_SHOWN, len(messages)))
    body = h(
        "div",
        _facts(ask, stored, found),
        _checks(stored),
        section("What bought nothing", _stretches(site, stored, found)),
        section("Calls in their order", _timeline(site, stored, stretches, steps)) if steps else None,
        section("Transcript", _messages(messages, found, listed, steps), _more(site, stored, listed)),
    )
    return FramedView(SESSION, cut(stored.title, 160) or stored.id[:12], body)


def _facts(ask: PageRequest, stored: Session, found: SessionTrouble | None) -> Element:
    site, analysis = ask.site, analysis_of(ask.database, stored)
    fact = next((each for each in ask.looked.everything if each.id == stored.id), None)
    lost, time = "–", "not analysed yet" if found is None else "no times are on record"
    if found is not None and found.is_timed:
        part = f" ({percent(found.lost_seconds / found.agent_seconds)})" if found.agent_seconds else ""
        lost, time = duration(found.lost_seconds), f"bought nothing, of {duration(found.agent_seconds)}{part}"
    tokens = stored.input_tokens + stored.output_tokens - (analysis.copied.tokens if analysis else 0)
    used = f"{short(tokens) if tokens else 'unknown'} tokens, {many(stored.message_count, 'message')}"
    agent = site._replace(filter=site.filter._replace(agent=stored.source)).link(stored.source, "sessions")
    branch = f" ({stored.branch})" if stored.branch else ""
    return tiles(
        (lost, time),
        (f"{found.times_stepped_in if found else 0:,}", "times somebody stepped in"),
        (dollars(fact.dollars if fact else None), used),
        (agent, stored.model),
        (site.projects.short(ask.cache.project(stored.folder)), f"{stored.folder or 'no folder'}{branch}"),
        (moment(stored.started), f"ended: {stored.ending}"),
    )


def _checks(stored: Session) -> list[Child]:
    said = {True: "passed", False: "failed", None: "recorded"}
    return [h("p", f"Check {check.name}: {said[check.passed]}") for check in stored.facts.checks]


def _stretches(site: PageLinks, stored: Session, found: SessionTrouble | None) -> Child:
    """Each stretch with its place, what it cost and how it ended: the dearest first, the many small ones folded."""
    if found is None:
        return h("p", "Not analysed yet: ", code("whet report"), " does it.")
    if not found.troubles:
        return h("p", "Nothing: no stretch of this session was trouble.")
    is_timed = found.is_timed
    columns: list[Column[Trouble]] = [
        Column("messages", lambda one: site.session(stored.id, f"#{one.first} to #{one.last}", message=one.first)),
        Column("what", stretch_words),
        Column("how it ended", ending_words),
        number("time", lambda one: duration(one.seconds) if is_timed else "–"),
        number("calls", lambda one: f"{one.calls:,}"),
        number("cost", lambda one: paid(one.dollars)),
    ]
    ordered = sorted(found.troubles, key=lambda one: (-one.seconds, one.first))
    first, rest = ordered[:STRETCHES_SHOWN], ordered[STRETCHES_SHOWN:]
    several = f"{len(ordered):,} stretches, the dearest first; a minute counts in one of them only"
    listed = table(first, columns, caption="1 stretch" if len(ordered) == 1 else several)
    if not rest:
        return listed
    words = f"{len(rest)} more, {duration(sum(one.seconds for one in rest))} together"
    return listed, folded(words, table(rest, columns, caption=words))


def _timeline(site: PageLinks, stored: Session, stretches: Sequence[Trouble], steps: Sequence[ShownCall]) -> Element:
    pieces = []
    for place, step in enumerate(steps, start=1):
        asked, outcome = step.exchange.asked, step.decision.outcome
        inside = next((one for one in stretches if one.first <= asked <= one.last), None)
        about = f"; {stretch_words(inside)}, {duration(inside.seconds)}" if inside else ""
        words = f"Call {place}, {step.exchange.call.name}: {OUTCOMES[outcome]}{about}"
        pieces.append((f"{outcome.value}{' lost' if inside else ''}", words, site.message(stored.id, asked)))
    met = [outcome for outcome in OUTCOMES if any(step.decision.outcome is outcome for step in steps)]
    keys = [h(f"li.key k{outcome.value}", OUTCOMES[outcome]) for outcome in met]
    if any(name.endswith(" lost") for name, _, _ in pieces):
        keys.append(h("li.key.klost", "in a stretch that bought nothing"))
    return h("div", strip(pieces, title=f"{many(len(steps), 'call')} by outcome"), h("ul.legend", keys))


def _messages(
    messages: Sequence[Message], found: SessionTrouble | None, listed: range, steps: Sequence[ShownCall]
) -> list[Child]:
    by_call = {(step.exchange.asked, step.exchange.call.id): step for step in steps}
    # Results are shown with their calls: for each message that only answers calls, the message with the calls.
    asked_at = {step.exchange.answered: step.exchange.asked for step in steps if step.exchange.answered is not None}
    places_of = {answer: asked for answer, asked in asked_at.items() if messages[answer].role is Role.TOOL}
    answers: dict[int, list[int]] = defaultdict(list)
    for answer, asked in places_of.items():
        answers[asked].append(answer)
    notes = _notes(found, places_of) if found else {}
    spans = ((places_of.get(one.first, one.first), one.last + 1) for one in (found.troubles if found else ()))
    lost = {index for span in spans for index in range(*span)}
    aside, drawn, examples = places(messages), list[Child](), list[Child]()
    for index in listed:
        if index in places_of and places_of[index] in listed:
            continue
        anchors = [h("span", {"id": f"m{answer}"}) for answer in answers.get(index, ())]
        content = [*notes.get(index, ()), *_parts(messages[index], index, by_call)]
        made = _message(messages[index], index, (anchors, content), is_lost=index in lost)
        (examples if index in aside else drawn).append(made)
    if examples:
        words = f"Examples that a template put here ({many(len(aside), 'message')})"
        drawn.insert(0, h("details.message", h("summary", words), examples))
    return drawn


def _notes(found: SessionTrouble, places_of: Mapping[int, int]) -> dict[int, list[Child]]:
    """What stands beside messages: where a stretch begins and ends, and where somebody stepped in."""
    said: list[tuple[int, str]] = []
    for one in found.troubles:
        ended = ending_words(one)
        time = f"{duration(one.seconds)}, " if found.is_timed else ""
        until = f"to #{one.last}, " if one.last != one.first else ""
        said.append((one.first, f"▼ {stretch_words(one)}: {until}{time}{many(one.calls, 'call')}, {ended}"))
        if one.last != one.first:
            said.append((one.last, f"▲ {stretch_words(one)}: {ended}"))
    for event in found.interventions:
        quote = " ".join(shown(event.words).split())
        said.append((event.message, f"✋ Somebody {STEPPED_IN[event.kind]}{f': “{quote}”' if quote else ''}"))
    notes: dict[int, list[Child]] = defaultdict(list)
    for message, words in said:
        notes[places_of.get(message, message)].append(h("p.stretch", words))
    return notes


def _message(message: Message, index: int, drawn: tuple[Child, Child], *, is_lost: bool) -> Element:
    anchors, content = drawn
    who = message.role.value if message.origin is Origin.TURN else f"{message.role.value} ({message.origin.value})"
    name = f"message {message.role.value}{' lost' if is_lost else ''}"
    head = h("div.facts", h("strong", who), f" #{index}  {moment(message.at) if message.at else ''}")
    return h(
        "article", {"id": f"m{index}", "class": name, "aria-label": f"message {index}, {who}"}, anchors, head, content
    )


def _parts(message: Message, index: int, by_call: dict[tuple[int, str], ShownCall]) -> list[Child]:
    drawn: list[Child] = []
    is_said = message.role is not Role.SYSTEM and message.origin is Origin.TURN
    for part in message.parts:
        if isinstance(part, Text):
            drawn.append(h("p", _cut(part.text)) if is_said else folded("Text", _text(part.text)))
        elif isinstance(part, Thought):
            drawn.append(folded("Thought", _text(part.text or "(not recorded)")))
        elif isinstance(part, Media):
            drawn.append(h("p.soft", f"[{part.kind} {part.name or part.media_type}]"))
        elif isinstance(part, ToolCall):
            drawn.append(_call(by_call[index, part.id]))
        else:
            drawn.append(folded(f"Result of {part.call_id}", _text(part.text)))
    return drawn


def _call(step: ShownCall) -> Element:
    call, result = step.exchange.call, step.exchange.result
    outcome = step.decision.outcome.value
    name = {"ok": "good", "failed": "bad"}.get(outcome, "careful")
    head = h("p", h("strong", call.name), " ", h(f"span.{name}", outcome))
    text = result.text if result else ""
    return h("div", head, _short_or_folded("Call", _asked(call)), _short_or_folded("Result", text))


def _short_or_folded(words: str, text: str) -> Child:
    """A short text as it is; of a long one its length, which opens it."""
    lines = text.count("\n") + 1
    if lines > LINES:
        return folded(f"{words}, {lines:,} lines", _text(text))
    return _text(text) if text else None


def _asked(call: ToolCall) -> str:
    """What a call was given, a line or more for each name; as it stands in the record where that is no object."""
    try:
        given = msgspec.json.decode(call.arguments, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return call.arguments
    texts = (each if isinstance(each, str) else msgspec.json.encode(each).decode() for each in given.values())
    return "\n".join(f"{name}: {text}" for name, text in zip(given, texts, strict=True))


def _text(text: str) -> Element:
    return h("pre", {"tabindex": "0"}, _cut(text))


def _cut(text: str) -> str:
    rest = len(text) - MOST_LETTERS
    return text if rest <= 0 else f"{text[:MOST_LETTERS]}\n… {rest:,} more characters: see whet show --full"


def _more(site: PageLinks, stored: Session, listed: range) -> Child:
    """Links to the messages before and after those that are shown."""
    starts: dict[str, int] = {}
    if listed.start:
        starts["Earlier messages"] = max(0, listed.start - MESSAGES_SHOWN)
    if listed.stop < stored.message_count:
        starts["Later messages"] = listed.stop
    links = [site.link(words, "session", part=stored.id, start=str(start or "")) for words, start in starts.items()]
    return h("p.actions", links) if links else None
