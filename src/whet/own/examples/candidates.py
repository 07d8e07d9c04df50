"""Candidates: the exchanges of one session that may become examples, request by request."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import msgspec
import re2
from msgspec.structs import replace

from whet.own.examples.result_shapes import shape
from whet.own.examples.success import SuccessFinding, Vote, Warrant
from whet.own.examples.templates import ARGUMENT_CHARACTERS, TOOL_NAME, Example
from whet.secrets.redactor import Redactor
from whet.sessions.activity import kind_of
from whet.sessions.arguments import arguments_of, command_of
from whet.sessions.call_effects import Effect
from whet.sessions.lineage import is_persons, own_calls, pieces_of
from whet.sessions.shell_lines import split
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Exchange, Origin, Role, Transcript
from whet.text.likeness import sense
from whet.text.quoting import visible
from whet.text.words import names, plain_name
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.view import JudgedCall, SessionView

INTENT_CHARACTERS = 240
INTENT_WORDS = 3
MOST_CALLS = 4  # of a request that is shown with all calls that it took
TRIVIAL = frozenset({Family.NEUTRAL, Family.DELEGATE})
# What agents type into a shell to tell whoever runs them that they are done.
ENDERS = names("submit finish done skip exit quit")
UNCERTAIN = "no error form"
# Where nothing but the form of an answer speaks for it, any such word is doubt enough: there are other examples.
DOUBT = re2.compile(
    r"(?i)error|fail|exception|traceback|denied|invalid|not found|no such|cannot|can't|unable|unknown|undefined|fatal"
    r"|abort|timed? ?out|usage:|refused|missing|unexpected|not (?:valid|exist|allowed|supported)|does ?n.t exist"
)
DOUBT_CHARACTERS = 4_000


class Episode(NamedTuple):
    """The steps for one request: its message, if a person asked at all, and whether it was brought to an answer."""

    asked: int | None
    steps: tuple[JudgedCall, ...]
    is_answered: bool


def episodes(evidence: SessionView) -> tuple[Episode, ...]:
    """The steps of a session in order, by the request that each was for."""
    transcript = evidence.transcript
    requests = [
        index for index, message in enumerate(transcript.messages) if message.role is Role.USER and is_persons(message)
    ]
    ends = dict(zip([None, *requests], [*requests, len(transcript.messages)], strict=True))

    def asked_for(step: JudgedCall) -> int | None:
        earlier = bisect_left(requests, step.exchange.asked)
        return requests[earlier - 1] if earlier else None

    found = ((asked, tuple(steps)) for asked, steps in groupby(evidence.steps, key=asked_for))
    return tuple(Episode(asked, steps, _is_answered(transcript, steps[-1], ends[asked])) for asked, steps in found)


def _is_answered(transcript: Transcript, last: JudgedCall, end: int) -> bool:
    """Whether the agent's last message before the next request comes after all calls, and has words and no call."""
    said = [each for each in transcript.messages[last.message + 1 : end] if each.role is Role.AGENT]
    return bool(said and said[-1].text.strip() and not said[-1].calls)


class Candidate(NamedTuple):
    """Examples for one request that may be chosen, what speaks for their session, and how they differ from others."""

    examples: tuple[Example, ...]
    exchanges: tuple[Exchange, ...]
    warrant: Warrant
    vote: Vote
    shape: tuple[str, ...]
    effects: tuple[Effect, ...]  # in the order of the calls: what comes after what
    stage: int  # the third of the session in which the first was made
    merit: float

    @property
    def session(self) -> str:
        return self.examples[0].session

    @property
    def place(self) -> tuple[str, int]:
        return self.session, self.examples[0].message or 0

    @property
    def tokens(self) -> int:
        return sum(example.tokens for example in self.examples)

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(plain_name(example.tool) for example in self.examples)


def candidates(evidence: SessionView, finding: SuccessFinding, left_out: Counter[str]) -> Iterator[Candidate]:
    """The exchanges of a session that may become examples, in order; none where nothing speaks for the session.

    A request that took few calls is shown with all of them, where all can be shown: it teaches to go on to the end.
    """
    if finding.warrant is None:
        return
    transcript = evidence.transcript
    shows = ExampleCalls(transcript)
    for episode in episodes(evidence):
        telling = [step for step in episode.steps if not is_trivial(step)]
        left_out.update("trivial tool" for _ in range(len(episode.steps) - len(telling)))
        shown: list[tuple[JudgedCall, Example]] = []
        for step in telling:
            example = shows.example(step)
            if isinstance(example, str):
                left_out[example] += 1
            else:
                shown.append((step, example))
        if len(shown) == len(telling) and is_whole(shown, episode, transcript):
            whole = [(step, replace(example, is_whole=True)) for step, example in shown]
            yield _candidate(whole, finding.warrant, finding.vote, transcript)
        else:
            for one in shown:
                yield _candidate([one], finding.warrant, finding.vote, transcript)


def _candidate(
    shown: list[tuple[JudgedCall, Example]], warrant: Warrant, vote: Vote, transcript: Transcript
) -> Candidate:
    steps = [step for step, _ in shown]
    merits = [_is_certain(step) + _fit(example) - example.tokens / 400 for step, example in shown]
    return Candidate(
        tuple(example for _, example in shown),
        tuple(step.exchange for step in steps),
        warrant,
        vote,
        tuple(part for step in steps for part in _shape(step)),
        tuple(step.effect for step in steps),
        3 * steps[0].exchange.asked // max(1, len(transcript.messages)),
        sum(merits) / len(merits) + shown[0][1].is_whole,
    )


def is_whole(shown: list[tuple[JudgedCall, Example]], episode: Episode, transcript: Transcript) -> bool:
    """Whether these are few calls of different kinds, for what was asked for here, and it was brought to its end."""
    if episode.asked is None or not episode.is_answered or not 1 <= len(shown) <= MOST_CALLS:
        return False
    intent = shown[0][1].intent
    is_asked = bool(intent) and intent == " ".join(transcript.messages[episode.asked].text.split())
    return is_asked and len({_shape(step) for step, _ in shown}) == len(shown)


def _unfit_step(step: JudgedCall, transcript: Transcript) -> str:
    exchange = step.exchange
    asked = transcript.messages[exchange.asked]
    if step.decision.outcome is not Outcome.OK or exchange.answered is None or exchange.result is None:
        return f"outcome {step.decision.outcome}"
    if not (asked.origin is transcript.messages[exchange.answered].origin is Origin.TURN):
        return "not of this session"
    if not TOOL_NAME.fullmatch(step.tool):
        return "no name of a tool"
    if len(exchange.call.arguments) > ARGUMENT_CHARACTERS or not any(pieces_of(exchange.call)):
        return "arguments too long or none"
    if step.is_empty and step.effect is not Effect.CHANGES and family_of(exchange.call) is not Family.SHELL:
        return "brought nothing"
    text = exchange.result.text
    if not _is_certain(step) and DOUBT.search(f"{text[:DOUBT_CHARACTERS]}\n{text[-DOUBT_CHARACTERS:]}"):
        return "doubtful"
    return ""


def is_trivial(step: JudgedCall) -> bool:
    call = step.exchange.call
    family = family_of(call)
    if family is Family.SHELL:
        return all(stage.program in ENDERS for stage in split(command_of(call)))
    return family in TRIVIAL or step.effect is Effect.THINKS


def _is_certain(step: JudgedCall) -> bool:
    return step.decision.evidence != UNCERTAIN


class ExampleCalls:
    """What the calls of one session can show as examples."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._own = own_calls(transcript)
        self._redactor = Redactor()
        self._intents = _Intents(transcript)

    def example(self, step: JudgedCall, *, is_own: bool = True) -> Example | str:
        """The exchange as an example, or why it is none: it did not work, or shows what is secret or not its own.

        Without `is_own` its words may be those that a tool or a stranger wrote: then a person decides on them.
        """
        exchange = step.exchange
        reason = _unfit_step(step, self._transcript)
        if reason:
            return reason
        if is_own and (exchange.asked, exchange.call.id) not in self._own:
            return "arguments from elsewhere"
        intent = self._intents.before(exchange.asked)
        arguments = msgspec.json.encode(arguments_of(exchange.call)).decode()
        if not all(_is_clean(text, self._redactor) for text in (arguments, intent)):
            return "secrets or odd characters"
        answered = exchange.result.text if exchange.result is not None else ""
        return Example(
            tool=step.tool,
            arguments=arguments,
            result=shape(answered, pieces_of(exchange.call)),
            intent=intent,
            session=self._transcript.id,
            message=exchange.asked,
            evidence=step.decision.evidence,
        )


def _is_clean(text: str, redactor: Redactor) -> bool:
    """Whether nothing in it is secret, or hidden from who reads it."""
    return redactor.text(text) == text == visible(text) and "[redacted:" not in text


class _Intents:
    """What the person asked for last before a message, in their own words, if it is short and says what."""

    def __init__(self, transcript: Transcript) -> None:
        self._places: list[int] = []
        self._texts: list[str] = []
        for index, message in enumerate(transcript.messages):
            if message.role is Role.USER and is_persons(message):
                text = " ".join(message.text.split())
                if len(sense(text[: 2 * INTENT_CHARACTERS]).words) >= INTENT_WORDS:
                    self._places.append(index)
                    self._texts.append(text if len(text) <= INTENT_CHARACTERS and not text.startswith("<") else "")

    def before(self, message: int) -> str:
        earlier = bisect_left(self._places, message)
        return self._texts[earlier - 1] if earlier else ""


def _fit(example: Example) -> float:
    """How well the call shows what becomes of the request: by the words that they share."""
    shared = sense(example.intent).words & sense(example.arguments).words
    return 0.5 * bool(example.intent) + 0.5 * min(2, len(shared))


def _shape(step: JudgedCall) -> tuple[str, ...]:
    """What kind of call it is: two of one shape would show the same thing twice."""
    call = step.exchange.call
    name = plain_name(call.name)
    if family_of(call) in (Family.SHELL, Family.INTERPRETER, Family.SQL):
        programs = sorted({stage.program for stage in split(command_of(call))})
        return (name, *programs)
    return (name, kind_of(call), *sorted(arguments_of(call)))
