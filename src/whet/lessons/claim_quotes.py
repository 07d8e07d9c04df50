"""Whether a quote is in the message that it names, whose words it is, and when they were said."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.claims import Quote
from whet.lessons.condensed import in_project, without_colours
from whet.lessons.failed_calls import whole_call
from whet.sessions.lineage import is_typed, is_vouched, own_calls, pieces_of
from whet.sessions.transcripts import Disposition, Exchange, Message, Origin, Role, ToolCall, Transcript, pair
from whet.sessions.trust import Trust, lowest, trust_of_tool
from whet.text.likeness import stem
from whet.text.words import COMMON, own_words
from whet.trouble.outcomes.deciding import Decision, Outcome
from whet.trouble.outcomes.refusal_forms import refusal_words
from whet.trouble.outcomes.view import JudgedCall
from whet.values import Value

FEWEST_LETTERS = 6
TYPED_LETTERS, TYPED_LINES = 1_000, 12  # what is longer holds what somebody else wrote
# How a condensed session writes what it left out, the next line of an error, and what a call answered.
GAP, LINES, ANSWER = "…", " | ", " → "
NOT_ASKED = Decision(Outcome.UNKNOWN, "")
_WORD = re.compile(r"\w{3,}")

OTHER_PROJECT = "its session is of another project"
NO_MESSAGE = "the session has no such message"
NOT_SAID = "the message does not say it"
TOO_SHORT = "it is too short to tell anything"
NO_EVIDENCE = "the message is a summary or was put there by a program"


class CheckedQuote(Value, frozen=True):
    """A quote, and of one that is exact whose words it is and when they were said; of another one why it is not."""

    quote: Quote
    trust: Trust = Trust.EXTERNAL
    at: float | None = None
    is_said: bool = False  # by the person, or by whoever speaks in their place
    why: str = ""

    @property
    def is_exact(self) -> bool:
        return not self.why


class _Passage(NamedTuple):
    """A text in or behind a message, and how far it is believed."""

    text: str
    trust: Trust
    is_said: bool = False


def check_quotes(quotes: tuple[Quote, ...], transcript: Transcript) -> tuple[CheckedQuote, ...]:
    """The quotes from one session, each looked up in the message that it names."""
    exchanges: dict[int, list[Exchange]] = {}
    for each in pair(transcript.messages).exchanges:
        for place in {each.asked, each.asked if each.answered is None else each.answered}:
            exchanges.setdefault(place, []).append(each)
    return tuple(_checked(quote, transcript, exchanges.get(quote.message, [])) for quote in quotes)


def is_part(words: str, text: str) -> bool:
    """Whether words stand in a text, white space aside; where some were left out, what is around the gap in order."""
    plain = folded(text)
    return (
        folded(words) in plain
        or _stand_in_order(words.replace("...", GAP).split(GAP), plain)
        or (LINES in words and _stand_in_order(words.replace(LINES, GAP).split(GAP), plain))
    )


def _stand_in_order(parts: list[str], plain: str) -> bool:
    place = 0
    for part in parts:
        wanted = folded(part)
        found = plain.find(wanted, place)
        if found < 0:
            return False
        place = found + len(wanted)
    return True


def unquoted_words(rule: str, quotes: Iterable[str]) -> tuple[str, ...]:
    """The words of a rule that stand in none of its quotes, those aside that say nothing by themselves.

    Whoever wrote the rule has them from somewhere else in what they read, which may be anybody's.
    """
    said = frozenset(stem(word) for quote in quotes for word in _WORD.findall(quote.casefold()))
    own = dict.fromkeys(_WORD.findall(rule.casefold()))
    return tuple(word for word in own if word not in COMMON and not word.isdigit() and stem(word) not in said)


def folded(text: str) -> str:
    return " ".join(text.split())


def _checked(quote: Quote, transcript: Transcript, exchanges: list[Exchange]) -> CheckedQuote:
    if not 0 <= quote.message < len(transcript.messages):
        return CheckedQuote(quote, why=NO_MESSAGE)
    message = transcript.messages[quote.message]
    if message.origin in (Origin.SUMMARY, Origin.INSERTED) or message.role is Role.SYSTEM:
        return CheckedQuote(quote, why=NO_EVIDENCE)
    if len(folded(quote.words.replace(GAP, " "))) < FEWEST_LETTERS and folded(quote.words) != folded(message.text):
        return CheckedQuote(quote, why=TOO_SHORT)
    folder = transcript.folder
    # A reader sees paths from the project's folder on, and a call with its answer behind an arrow.
    passages = [
        passage._replace(text=in_project(without_colours(passage.text), folder))
        for passage in _passages(message, transcript, exchanges)
    ]
    for parts in ([quote.words], quote.words.split(ANSWER)):
        found = [_passage_with(in_project(part, folder), passages) for part in parts]
        held = [each for each in found if each is not None]
        if len(held) == len(parts):
            trust = lowest(each.trust for each in held)
            own = trust if trust is not Trust.AGENT or _is_agents_own(quote, transcript) else Trust.TOOL
            return CheckedQuote(quote, own, message.at, all(each.is_said for each in held))
    return CheckedQuote(quote, why=NOT_SAID)


def _passage_with(words: str, passages: list[_Passage]) -> _Passage | None:
    return next((each for each in passages if words.strip() and is_part(words, each.text)), None)


def _passages(message: Message, transcript: Transcript, exchanges: list[Exchange]) -> Iterator[_Passage]:
    """Where a quote may stand: the message's text, its calls, the answers to them; the most trusted first."""
    if message.role is Role.USER:
        yield from _of_person(message)
    else:
        yield _Passage(message.text, min(message.trust, Trust.AGENT))
    for exchange in exchanges:
        asked = min(transcript.messages[exchange.asked].trust, Trust.AGENT)
        yield _Passage(exchange.call.arguments, asked)
        yield _Passage("\n".join(pieces_of(exchange.call)), asked)
        yield _Passage(whole_call(JudgedCall(exchange, NOT_ASKED)), asked)
        if (result := exchange.result) is not None and exchange.answered is not None:
            answered = transcript.messages[exchange.answered].trust
            if result.disposition is Disposition.REJECTED:
                yield _Passage(
                    refusal_words(result.text), Trust.USER if answered > Trust.EXTERNAL else answered, is_said=True
                )
            yield _Passage(result.text, min(answered, trust_of_tool(exchange.call.name)))


def _of_person(message: Message) -> Iterator[_Passage]:
    """Words in the person's place are the person's where the record vouches for it and they were not pasted."""
    is_short = len(message.text) <= TYPED_LETTERS and message.text.count("\n") <= TYPED_LINES
    if is_vouched(message) and is_short:
        yield _Passage(own_words(message.text), Trust.USER, is_said=True)
    # Words that no record vouches for may be anybody's, and what was pasted is somebody else's.
    is_anybodys = is_typed(message) and not is_vouched(message)
    trust = min(message.trust, Trust.TOOL if is_anybodys else Trust.EXTERNAL)
    yield _Passage(message.text, trust, is_said=is_anybodys and is_short)


def _is_agents_own(quote: Quote, transcript: Transcript) -> bool:
    """Whether nothing in an agent's words was taken from what a tool or a stranger wrote before."""
    said = ToolCall("quote", "quote", json.dumps({"words": quote.words}))
    before = transcript.messages[: quote.message]
    asked = Message(Role.AGENT, (said,), Trust.AGENT)
    return (len(before), said.id) in own_calls(replace(transcript, messages=(*before, asked)))
