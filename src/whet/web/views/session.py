"""One session: what happened, and where it went wrong."""

from collections import defaultdict
from typing import NamedTuple

import msgspec

from whet.failures.analysis import Analysis
from whet.failures.decisive import Turning
from whet.failures.gone_wrong import gone_wrong, how_sure, where_it_went_wrong
from whet.failures.signals import SHOWN, Signal
from whet.outcomes.deciding import Decision, decide
from whet.sessions.example_marks import places
from whet.sessions.transcripts import Exchange, Media, Message, Origin, Role, Text, Thought, ToolCall, Transcript, pair
from whet.store.rows import Session
from whet.text.amounts import short
from whet.web.charts import strip
from whet.web.html import Child, Element, h
from whet.web.site import Site, many, moment, section, tile

LINES = 12
MOST_LETTERS = 20_000
MOST_MESSAGES = 400


class ShownCall(NamedTuple):
    """A call with its result and how it ended."""

    exchange: Exchange
    decision: Decision


def session(
    site: Site, stored: Session, transcript: Transcript, analysis: Analysis | None, *, project: str, start: int = 0
) -> Element:
    """The transcript with a timeline of calls, the step where it went wrong, and signals in their places."""
    steps = [ShownCall(exchange, decide(exchange)) for exchange in pair(transcript.messages).exchanges]
    aside = places(transcript.messages)
    shown = range(start, min(start + MOST_MESSAGES, len(transcript.messages)))
    return h(
        "div",
        {},
        _facts(site, stored, analysis, project),
        _verdict(site, stored, analysis),
        section("Calls in their order", _timeline(site, steps, analysis)) if steps else None,
        section("Transcript", _messages(transcript, shown, aside, steps, analysis), _more(site, stored, shown)),
    )


def _facts(site: Site, stored: Session, analysis: Analysis | None, project: str) -> Element:
    score = (
        "not analysed"
        if analysis is None
        else "cannot tell"
        if analysis.cannot_tell
        else f"{analysis.failure_score:.2f}"
    )
    tokens = stored.input_tokens + stored.output_tokens - (analysis.copied.tokens if analysis else 0)
    return h(
        "div",
        {"class": "tiles"},
        tile(score, "failure score, 0 to 1"),
        tile(
            site._replace(filter=site.filter._replace(agent=stored.source)).link(stored.source, "sessions"),
            stored.model,
        ),
        tile(
            site.projects.short(project),
            f"{stored.folder or 'no folder'}{f' ({stored.branch})' if stored.branch else ''}",
        ),
        tile(moment(stored.started), f"ended: {stored.ending}"),
        tile(short(tokens) if tokens else "–", f"tokens, {many(stored.message_count, 'message')}"),
    )


def _verdict(site: Site, stored: Session, analysis: Analysis | None) -> Child:
    if analysis is None:
        return None
    lines: list[Child] = []
    if analysis.reasons:
        lines.append(h("p", {}, "Because: ", "; ".join(analysis.reasons), "."))
    if turning := gone_wrong(analysis):
        words = f"It {where_it_went_wrong(turning.message, turning.confidence)}"
        place = site.session(stored.id, words, message=turning.message)
        lines.append(h("p", {"class": "bad"}, place, f": {turning.reason}."))
    for check in stored.facts.checks:
        verdict = {True: "passed", False: "failed", None: "recorded"}[check.passed]
        lines.append(h("p", {}, f"Check {check.name}: {verdict}"))
    return lines


def _timeline(site: Site, steps: list[ShownCall], analysis: Analysis | None) -> Element:
    turning = gone_wrong(analysis) if analysis else None
    pieces = []
    for number, step in enumerate(steps, start=1):
        exchange, outcome = step.exchange, step.decision.outcome.value
        is_wrong = turning is not None and turning.message in (exchange.asked, exchange.answered)
        words = f"Call {number}, {exchange.call.name}: {outcome}{', perhaps it went wrong here' if is_wrong else ''}"
        href = "" if site.is_file else f"#m{exchange.asked}"
        pieces.append((f"{outcome}{' decisive' if is_wrong else ''}", words, href))
    keys = (("ok", "ok"), ("failed", "failed"), ("other", "rejected or cancelled"))
    legend = h("ul", {"class": "legend"}, [h("li", {"class": f"key k{name}"}, words) for name, words in keys])
    return h("div", {}, strip(pieces, title=f"{many(len(steps), 'call')} by outcome"), legend)


def _messages(
    transcript: Transcript, shown: range, aside: range, steps: list[ShownCall], analysis: Analysis | None
) -> list[Child]:
    by_call = {(step.exchange.asked, step.exchange.call.id): step for step in steps}
    answered = {step.exchange.answered for step in steps}
    signals: dict[int, list[Signal]] = defaultdict(list)
    for signal in analysis.signals if analysis else ():
        if signal.confidence >= SHOWN:
            signals[signal.message].append(signal)
    turning = gone_wrong(analysis) if analysis else None
    drawn: list[Child] = []
    examples: list[Child] = []
    for index in shown:
        message = transcript.messages[index]
        is_answer = message.role is Role.TOOL and index in answered
        content = [] if is_answer else _parts(message, index, by_call)
        here = turning if turning and turning.message == index else None
        notes = _notes(signals.get(index, []), here)
        if not content and not notes and is_answer:
            drawn.append(h("span", {"id": f"m{index}"}))
            continue
        made = _message(message, index, [*content, *notes], is_wrong=here is not None)
        (examples if index in aside else drawn).append(made)
    if examples:
        words = f"Examples that a template put here ({many(len(aside), 'message')})"
        drawn.insert(0, h("details", {"class": "message"}, h("summary", {}, words), examples))
    return drawn


def _message(message: Message, index: int, content: list[Child], *, is_wrong: bool) -> Element:
    who = message.role.value if message.origin is Origin.TURN else f"{message.role.value} ({message.origin.value})"
    name = f"message {message.role.value}{' wrong' if is_wrong else ''}"
    head = h("div", {"class": "facts"}, h("strong", {}, who), f" #{index}  {moment(message.at) if message.at else ''}")
    return h("article", {"id": f"m{index}", "class": name, "aria-label": f"message {index}, {who}"}, head, content)


def _parts(message: Message, index: int, by_call: dict[tuple[int, str], ShownCall]) -> list[Child]:
    drawn: list[Child] = []
    is_said = message.role is not Role.SYSTEM and message.origin is Origin.TURN
    for part in message.parts:
        if isinstance(part, Text):
            drawn.append(h("p", {}, _cut(part.text)) if is_said else _folded("Text", part.text))
        elif isinstance(part, Thought):
            drawn.append(_folded("Thought", part.text or "(not recorded)"))
        elif isinstance(part, Media):
            drawn.append(h("p", {"class": "soft"}, f"[{part.kind} {part.name or part.media_type}]"))
        elif isinstance(part, ToolCall):
            drawn.append(_call(by_call[index, part.id]))
        else:
            drawn.append(_folded(f"Result of {part.call_id}", part.text))
    return drawn


def _call(step: ShownCall) -> Element:
    call, result = step.exchange.call, step.exchange.result
    outcome = step.decision.outcome.value
    name = {"ok": "good", "failed": "bad"}.get(outcome, "careful")
    head = h("p", {}, h("strong", {}, call.name), " ", h("span", {"class": name}, outcome))
    text = result.text if result else ""
    shown = _text(text) if text.count("\n") < LINES else _folded(f"Result, {text.count(chr(10)) + 1:,} lines", text)
    asked = _asked(call)
    return h("div", {}, head, _text(asked) if asked else None, shown if text else None)


def _asked(call: ToolCall) -> str:
    """What a call was given, a line or more for each name; as it stands in the record where that is no object."""
    try:
        given = msgspec.json.decode(call.arguments, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError):
        return call.arguments
    values = {
        name: each if isinstance(each, str) else msgspec.json.encode(each).decode() for name, each in given.items()
    }
    return "\n".join(f"{name}: {value}" for name, value in values.items())


def _notes(signals: list[Signal], turning: Turning | None) -> list[Child]:
    notes: list[Child] = []
    if turning:
        words = f"⚠ Perhaps it went wrong here ({how_sure(turning.confidence)}): {turning.reason}."
        notes.append(h("p", {"class": "signal"}, words))
    for signal in signals:
        tool = f" ({signal.tool})" if signal.tool else ""
        words = f"⚠ {signal.kind}{tool}, confidence {signal.confidence:.2f}: {' '.join(signal.quote.split())}"
        notes.append(h("p", {"class": "signal"}, words))
    return notes


def _folded(words: str, text: str) -> Element:
    return h("details", {}, h("summary", {}, words), _text(text))


def _text(text: str) -> Element:
    return h("pre", {"tabindex": "0"}, _cut(text))


def _cut(text: str) -> str:
    rest = len(text) - MOST_LETTERS
    return text if rest <= 0 else f"{text[:MOST_LETTERS]}\n… {rest:,} more characters: see whet show --full"


def _more(site: Site, stored: Session, shown: range) -> Child:
    if shown.stop >= stored.message_count:
        return None
    return h("p", {}, site.link("Later messages", "session", part=stored.id, start=str(shown.stop)))
