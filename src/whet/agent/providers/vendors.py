"""How endpoints answer and differ: events of a stream, what each takes, and why one gave no answer, as tables."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from whet.agent.protocols import ProviderFault
from whet.sessions.transcripts import Media
from whet.text import fields
from whet.values import Value

MOST_BYTES = 1 << 25


class Malformed(Exception):
    """What came is not in the form that the endpoint promises."""


class StreamError(Exception):
    """An error that the endpoint sent where its answer should be."""

    def __init__(self, error: object) -> None:
        super().__init__("an error in the stream")
        self.error = error


class Event(NamedTuple):
    """One event: its name, empty where it has none, and its data as it came."""

    name: str
    data: bytes


class EventReader:
    """Takes the pieces of a stream one after another and gives each event once it is whole."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._name = ""
        self._data: list[bytes] = []
        self._is_first = True

    def take(self, chunk: bytes) -> Iterator[Event]:
        self._rest += chunk
        if len(self._rest) > MOST_BYTES:
            raise Malformed("an event is too long")
        # A carriage return at the end may be half of a line's end: it waits for what follows.
        complete = self._rest[:-1] if self._rest.endswith(b"\r") else self._rest
        end = max(complete.rfind(b"\n"), complete.rfind(b"\r")) + 1
        if end:
            lines = bytes(self._rest[:end]).splitlines()
            del self._rest[:end]
            for line in lines:
                yield from self._line(line)

    def finish(self) -> Iterator[Event]:
        """What is left when the stream has ended; many servers leave out the last empty line."""
        if self._rest:
            yield from self._line(bytes(self._rest).rstrip(b"\r"))
            self._rest.clear()
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[Event]:
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            if self._data:
                yield Event(self._name, b"\n".join(self._data))
            self._name, self._data = "", []
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")


def record_of(data: bytes) -> dict[str, Any]:
    """The JSON object that an event or a body holds; raises Malformed where it holds none."""
    try:
        value = msgspec.json.decode(data)
    except msgspec.DecodeError:
        value = _with_halves(data)
    except UnicodeDecodeError as error:
        raise Malformed("the answer is not UTF-8") from error
    if not isinstance(value, dict):
        raise Malformed("the answer is not a JSON object")
    return value


def joined_halves(text: str) -> str:
    """The text with characters whole that came in two halves; a half that stays alone becomes a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _with_halves(data: bytes) -> Any:
    """The value of JSON in which a character was cut in two: some servers send each half in an event of its own."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not JSON") from error


ID_CHARACTERS = 9
Thinking = Literal["", "reasoning_content", "reasoning", "reasoning_details", "signatures"]


def as_object(arguments: str) -> str:
    """Arguments as the text of a JSON object. Some endpoints parse what they get back, and refuse what is none."""
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        value = None
    return arguments if isinstance(value, dict) else msgspec.json.encode({"unreadable": arguments}).decode()


def shaped_id(call_id: str, form: str) -> str:
    """An id in the form that the endpoint takes: another endpoint, or we, may have made it."""
    if not form or re.fullmatch(form, call_id):
        return call_id
    return hashlib.blake2b(call_id.encode(), digest_size=8).hexdigest()[:ID_CHARACTERS]


def named_media(media: Media) -> str:
    """A line in the place of bytes that are not kept."""
    words = (media.kind, media.media_type, media.name, f"{media.size_bytes} bytes" if media.size_bytes else "")
    return f"[{' '.join(word for word in words if word)}]"


class Dialect(Value, frozen=True):
    """What an endpoint takes beyond what all of them take."""

    output_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    usage_option: bool = True  # it has to be asked for usage, and may be
    seed_key: Literal["seed", "random_seed", ""] = "seed"
    thinking: Thinking = "reasoning_content"  # the field in which it takes thoughts back
    thinking_required: bool = False  # with every call, also where nothing was thought
    cache_key: bool = False  # requests with one prompt are brought to one machine by a key
    id_form: str = ""  # what ids of calls must look like; empty: anything


# By the host, so that an endpoint that a person named otherwise is known as well.
BY_HOST: Mapping[str, Dialect] = {
    "api.openai.com": Dialect(output_key="max_completion_tokens", thinking="", cache_key=True),
    "openrouter.ai": Dialect(thinking="reasoning_details"),
    "api.deepseek.com": Dialect(thinking_required=True, seed_key=""),
    "api.mistral.ai": Dialect(
        usage_option=False, seed_key="random_seed", thinking="", cache_key=True, id_form="[a-zA-Z0-9]{9}"
    ),
    "generativelanguage.googleapis.com": Dialect(thinking="signatures", seed_key=""),
    "api.groq.com": Dialect(output_key="max_completion_tokens", thinking="reasoning"),
    "api.x.ai": Dialect(thinking=""),
    "api.together.xyz": Dialect(thinking="reasoning"),
    "api.moonshot.ai": Dialect(thinking_required=True, seed_key=""),
}
# By the name of what runs on a person's own machine.
BY_NAME: Mapping[str, Dialect] = {
    "ollama": Dialect(thinking="reasoning"),
    "vllm": Dialect(thinking="reasoning"),
}
PLAIN = Dialect()


def dialect_of(name: str, base_url: str) -> Dialect:
    """The dialect of an endpoint; one that nobody knows gets what most of them take."""
    host = (urlsplit(base_url).hostname or "").lower()
    return BY_HOST.get(host) or BY_NAME.get(name) or PLAIN


MOST_CHARACTERS = 300
PASSING = frozenset({408, 409, 425, 429, *range(500, 600)}) - {501, 505}

# By the codes and types that the vendors document, in the order in which they count.
CODES: Mapping[str, ProviderFault] = {
    "context_length_exceeded": ProviderFault.CONTEXT,
    "exceed_context_size_error": ProviderFault.CONTEXT,
    "request_too_large": ProviderFault.CONTEXT,
    "string_above_max_length": ProviderFault.CONTEXT,
    "insufficient_quota": ProviderFault.MONEY,
    "insufficient_balance": ProviderFault.MONEY,
    "billing_hard_limit_reached": ProviderFault.MONEY,
    "billing_not_active": ProviderFault.MONEY,
    "billing_error": ProviderFault.MONEY,
    "invalid_api_key": ProviderFault.KEY,
    "api_key_invalid": ProviderFault.KEY,
    "authentication_error": ProviderFault.KEY,
    "permission_error": ProviderFault.KEY,
    "rate_limit_exceeded": ProviderFault.LIMIT,
    "rate_limit_error": ProviderFault.LIMIT,
    "rate_limit_reached_error": ProviderFault.LIMIT,
    "overloaded_error": ProviderFault.ENDPOINT,
    "api_error": ProviderFault.ENDPOINT,
    "server_error": ProviderFault.ENDPOINT,
    "internal_server_error": ProviderFault.ENDPOINT,
    "timeout_error": ProviderFault.ENDPOINT,
    "invalid_request_error": ProviderFault.REQUEST,
    "not_found_error": ProviderFault.REQUEST,
    "model_not_found": ProviderFault.REQUEST,
}
STATUSES: Mapping[int, ProviderFault] = {
    401: ProviderFault.KEY,
    402: ProviderFault.MONEY,
    403: ProviderFault.KEY,
    413: ProviderFault.CONTEXT,
    429: ProviderFault.LIMIT,
}

# Where a vendor has no code of its own for it, the words of its documented message.
WORDINGS: tuple[tuple[re.Pattern[str], ProviderFault], ...] = (
    (
        re.compile(r"prompt is too long|exceed(?:s|ed)? (?:the )?(?:model'?s? )?(?:context|maximum|model token)"),
        ProviderFault.CONTEXT,
    ),
    (
        re.compile(
            r"maximum (?:context|prompt|input) length|context (?:window|length|size|limit)|too many input tokens"
        ),
        ProviderFault.CONTEXT,
    ),
    (re.compile(r"(?:input )?token count.{0,40}exceeds|too large for model with"), ProviderFault.CONTEXT),
    (
        re.compile(r"credit balance is too low|insufficient (?:balance|credit|funds|quota)|used all available credits"),
        ProviderFault.MONEY,
    ),
    (re.compile(r"api key not valid|invalid api key|incorrect api key"), ProviderFault.KEY),
)


class Asked(NamedTuple):
    """Who was asked, as advice names it. The key is here only to keep it out of messages."""

    provider: str
    key_variable: str = ""
    key: str = ""
    base_variable: str = ""  # that names its address, where one does


class Failure(NamedTuple):
    """A try that gave no answer. `is_passing` where the same request may work later."""

    fault: ProviderFault
    message: str
    advice: str = ""
    is_passing: bool = False
    after_seconds: float | None = None


def failure_of(status: int, body: bytes, asked: Asked) -> Failure:
    """What a status that is not 200 means."""
    error = _error_in(body)
    fault = _fault(status, error)
    said = _said(error, asked)
    message = f"{asked.provider} answered with status {status}{_phrase(status)}"
    if said and fault is not ProviderFault.KEY:  # what is said of a wrong key often repeats a part of it
        message += f": {said}"
    passing = status in PASSING and fault not in (ProviderFault.MONEY, ProviderFault.CONTEXT, ProviderFault.KEY)
    return Failure(fault, f"{message}.".replace("..", "."), advice_for(fault, asked, status), passing)


def failure_in_stream(error: object, asked: Asked) -> Failure:
    """What an error means that came where the answer should be, after a status of 200."""
    record = error if isinstance(error, dict) else {"message": error if isinstance(error, str) else ""}
    status = fields.code(record, "code", "status") or 0
    fault = _fault(status, record)
    if not _by_code(record) and status not in STATUSES and fault is ProviderFault.REQUEST:
        fault = ProviderFault.ENDPOINT
    said = _said(record, asked) if fault is not ProviderFault.KEY else ""
    message = f"{asked.provider} stopped in the middle of its answer with an error{f': {said}' if said else ''}."
    return Failure(
        fault,
        message.replace("..", "."),
        advice_for(fault, asked, status),
        fault in (ProviderFault.ENDPOINT, ProviderFault.LIMIT),
    )


def redirected(status: int, location: str, asked: Asked) -> Failure:
    """A redirect is not followed: the key would go where nobody meant it to."""
    where = re.sub(r"//[^/@]*@", "//", re.sub(r"[?#].*", "", location))[:MOST_CHARACTERS]
    return Failure(
        ProviderFault.REQUEST,
        f"{asked.provider} answered with a redirect (status {status}), which is not followed.",
        f"Set its base_url to the new address{f': it named {where}' if where else ''}.",
    )


def wrong_form(content_type: str, asked: Asked) -> Failure:
    """Something answered that is not the endpoint."""
    return Failure(
        ProviderFault.ENDPOINT,
        f"{asked.provider} answered with {content_type or 'an unnamed format'} instead of a stream of events.",
        "Check its base_url: most end in /v1. A login page of your network may also be in the way.",
    )


def advice_for(fault: ProviderFault, asked: Asked, status: int = 0) -> str:
    """What a person can do."""
    if fault is ProviderFault.KEY:
        return (
            f"Check the key in the variable {asked.key_variable}, and that it may use this model."
            if asked.key_variable
            else f"Set the variable that contains its key: `whet config providers.{asked.provider}.key_variable …`."
        )
    if status == HTTPStatus.NOT_FOUND:
        return "Check the name of the model and the base_url of the provider."
    words = {
        ProviderFault.MONEY: "Add credit to the account, or choose another model.",
        ProviderFault.LIMIT: "Wait a while, or raise the limit of the account.",
        ProviderFault.CONTEXT: "The conversation is longer than the model can read.",
        ProviderFault.ENDPOINT: "Try again later, or choose another model.",
        ProviderFault.NETWORK: "Check the network and the base_url of the provider.",
    }
    return words.get(fault, "")


def _fault(status: int, error: Mapping[str, Any]) -> ProviderFault:
    coded = _by_code(error)
    if coded and coded is not ProviderFault.REQUEST:
        return coded
    text = _words(error).lower()
    worded = next((fault for pattern, fault in WORDINGS if pattern.search(text)), None)
    # A limit on tokens a minute speaks of tokens too; the status tells them apart.
    if worded and (status not in (401, 429) or worded is ProviderFault.MONEY):
        return worded
    default = ProviderFault.ENDPOINT if status >= HTTPStatus.INTERNAL_SERVER_ERROR else ProviderFault.REQUEST
    return STATUSES.get(status, coded or (ProviderFault.ENDPOINT if status in PASSING else default))


def _by_code(error: Mapping[str, Any]) -> ProviderFault | None:
    for key in ("code", "type", "status"):
        word = error.get(key)
        if isinstance(word, str) and word.lower() in CODES:
            return CODES[word.lower()]
    return None


def _error_in(body: bytes) -> dict[str, Any]:
    """The error in a body, whichever way its vendor wraps it; empty where it is no JSON."""
    try:
        record = record_of(body.strip().removeprefix(b"[").removesuffix(b"]"))
    except Malformed:
        return {}
    error = record.get("error", record)
    if isinstance(error, dict):
        return {**{key: record[key] for key in ("code", "type") if key in record}, **error}
    return {"message": error} if isinstance(error, str) else {}


def _words(error: Mapping[str, Any]) -> str:
    return fields.text(error, "message", "detail") or fields.text(fields.mapping(error, "message"), "detail")


def _said(error: Mapping[str, Any], asked: Asked) -> str:
    """What the endpoint says, on one line and without the key."""
    text = _words(error)
    if asked.key:
        text = text.replace(asked.key, "…")
    return " ".join(text.split())[:MOST_CHARACTERS]


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase.lower()})"
    except ValueError:
        return ""
