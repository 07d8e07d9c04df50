"""Candidates: the exchanges of one session that may become examples, request by request, and the shapes of results."""

import contextlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import msgspec
import re2
from msgspec.structs import replace

from whet.own.examples.success import SuccessReason
from whet.own.examples.templates import ARGUMENT_CHARACTERS, TOOL_NAME, Example
from whet.secrets.redactor import Redactor
from whet.sessions.activity import kind_of
from whet.sessions.call_effects import Effect
from whet.sessions.lineage import is_persons, own_calls, pieces_of
from whet.sessions.shell_lines import split
from whet.sessions.tool_families import Family, arguments_of, command_of, family_of
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
# What the shape of a result shows of it.
HEAD_LINES, TAIL_LINES, LINE_CHARACTERS = 3, 2, 200
MOST_FIELDS, DEEPEST = 8, 3
READ_CHARACTERS = 200_000
HIDDEN = "…"
# Words in which tools report: of how it ended, of how much, and the names of fields that carry it.
WORDS = names(
    "ok done success successful successfully succeeded completed complete finished passed pass failed failures errors "
    "warnings skipped created updated written wrote saved added removed deleted changed modified replaced applied "
    "inserted moved copied sent built compiled installed matched found cleaned committed ran run tests test "
    "files file lines line bytes characters matches match results result items item rows row records entries changes "
    "insertions deletions insertion deletion total count time duration seconds ms s in of to at with and the has been "
    "was were is are no all more across empty true false null none yes exit code status "
    "exit_code returncode stdout stderr output error message success path file_path filename name id title type kind "
    "content text data value values key url date created_at updated_at size length number amount page query "
    "list fields"
)
_RUN = re.compile(r"[\w./@~:+%\\-]+")
_JOINTS = "./@~:+%\\-"  # within a word, and not at its end
# So short that it is a count or a duration, and neither a code nor an account.
_NUMBER = re.compile(r"-?\d{1,4}(?:\.\d{1,3})?(?:s|ms|%|kb|mb)?")
_UNTOLD = re.compile(r"[^\w\s./@~:+%\\,()=-]")


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
    bounds = [None, *requests, len(transcript.messages)]

    def episode(place: int, steps: tuple[JudgedCall, ...]) -> Episode:
        after = transcript.messages[steps[-1].message + 1 : bounds[place + 1]]
        last = next((each for each in reversed(after) if each.role is Role.AGENT), None)
        return Episode(bounds[place], steps, last is not None and bool(last.text.strip()) and not last.calls)

    found = groupby(evidence.steps, key=lambda step: bisect_left(requests, step.exchange.asked))
    return tuple(episode(place, tuple(steps)) for place, steps in found)


class Candidate(NamedTuple):
    """Examples for one request that may be chosen, why their session counts, and how they differ from others."""

    examples: tuple[Example, ...]
    exchanges: tuple[Exchange, ...]
    reason: SuccessReason
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


def candidates(evidence: SessionView, reason: SuccessReason, left_out: Counter[str]) -> Iterator[Candidate]:
    """The exchanges of a session that counts as a success which may become examples, in order.

    A request that took few calls is shown with all of them, where all can be shown: it teaches to go on to the end.
    """
    transcript = evidence.transcript
    shows = ExampleCalls(transcript)
    for episode in episodes(evidence):
        telling = [step for step in episode.steps if not is_trivial(step)]
        left_out += Counter({"trivial tool": len(episode.steps) - len(telling)})
        found = [(step, shows.example(step)) for step in telling]
        left_out.update(why for _, why in found if isinstance(why, str))
        shown = [(step, example) for step, example in found if isinstance(example, Example)]
        if len(shown) == len(telling) and is_whole(shown, episode, transcript):
            groups = [[(step, replace(example, is_whole=True)) for step, example in shown]]
        else:
            groups = [[one] for one in shown]
        yield from (_candidate(each, reason, transcript) for each in groups)


def _candidate(shown: list[tuple[JudgedCall, Example]], reason: SuccessReason, transcript: Transcript) -> Candidate:
    steps = [step for step, _ in shown]
    merits = [_is_certain(step) + _fit(example) - example.tokens / 400 for step, example in shown]
    return Candidate(
        tuple(example for _, example in shown),
        tuple(step.exchange for step in steps),
        reason,
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
        self._intents = [(-1, ""), *_intents(transcript)]

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
        intent = self._intents[bisect_left(self._intents, (exchange.asked,)) - 1][1]
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


def _intents(transcript: Transcript) -> Iterator[tuple[int, str]]:
    """What the person asked for, in their own words, if it is short and says what; and at which message."""
    for index, message in enumerate(transcript.messages):
        if message.role is Role.USER and is_persons(message):
            text = " ".join(message.text.split())
            if len(sense(text[: 2 * INTENT_CHARACTERS]).words) >= INTENT_WORDS:
                yield index, text if len(text) <= INTENT_CHARACTERS and not text.startswith("<") else ""


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


def shape(text: str, arguments: Iterable[str] = ()) -> str:
    """The shape of a result; `arguments` are the texts that its call was given, which it may repeat."""
    known = frozenset(word for argument in arguments for word in words(argument))
    body = text[:READ_CHARACTERS].strip()
    if not body:
        return ""
    if body[0] in "{[" and len(text) <= READ_CHARACTERS:
        with contextlib.suppress(msgspec.DecodeError, ValueError, RecursionError):
            return msgspec.json.encode(_shape_of(msgspec.json.decode(body), known, DEEPEST)).decode()
    return _lines(body, known)


def words(text: str) -> Iterator[str]:
    """The words of a text as shapes are made of them, in small letters."""
    runs = (run.rstrip(_JOINTS) for run in _RUN.findall(text))
    return (run.lower() for run in runs if run)


def is_plain(word: str) -> bool:
    """Whether a word may stand in any shape: one of the list, or a short number."""
    return word in WORDS or _NUMBER.fullmatch(word) is not None


def _shape_of(value: object, known: frozenset[str], depth: int) -> object:
    match value:
        case bool() | None:
            return value
        case int() | float():
            return value if is_plain(str(value)) else HIDDEN
        case str():
            return _lines(value, known) if "\n" in value.strip() else value.strip() and _line(value, known)
        case list() if value and not depth:
            return [f"{HIDDEN} {len(value)} items"]
        case list():
            more = [f"{HIDDEN} {len(value) - 1} more"] if len(value) > 1 else []
            return [*(_shape_of(each, known, depth - 1) for each in value[:1]), *more]
        case dict() if not depth:
            return {HIDDEN: f"{len(value)} fields"}
        case dict():
            named = [key for key in value if key.lower() in WORDS or key.lower() in known][:MOST_FIELDS]
            more_fields = {HIDDEN: f"{len(value) - len(named)} more fields"} if len(value) > len(named) else {}
            return {**{key: _shape_of(value[key], known, depth - 1) for key in named}, **more_fields}
    return HIDDEN


def _lines(text: str, known: frozenset[str]) -> str:
    """The first and the last lines, or how many there are where nothing of them can be shown."""
    lines = [line for line in text.splitlines() if line.strip()]
    left = len(lines) - HEAD_LINES - TAIL_LINES
    ends = lines if left <= 1 else [*lines[:HEAD_LINES], *lines[-TAIL_LINES:]]
    told = [_line(line, known) for line in ends]
    if all(line in ("", HIDDEN) for line in told):
        return f"({len(lines)} {'line' if len(lines) == 1 else 'lines'}, {sum(map(len, lines))} characters)"
    if left > 1:
        told.insert(HEAD_LINES, f"({HIDDEN} {left} more lines)")
    return "\n".join(told)


def _line(line: str, known: frozenset[str]) -> str:
    """A line, if every word of it may be told, else nothing of it: half a sentence is somebody's sentence still."""
    cut = line.strip()
    if len(cut) > LINE_CHARACTERS or not all(is_plain(word) or word in known for word in words(cut)):
        return HIDDEN
    return " ".join(_UNTOLD.sub(" ", cut).split())
