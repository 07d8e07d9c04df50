"""How endpoints answer and differ: events of a stream, what each takes, and why one gave no answer, as tables."""

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from http.client import responses
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from whet.agent.protocols import ProviderFailed, ProviderFault
from whet.sessions.transcripts import Media
from whet.text import fields
from whet.values import Value

MOST_BYTES = 1 << 25
ID_CHARACTERS = 9
Thinking = Literal["", "reasoning_content", "reasoning", "reasoning_details", "signatures"]
MOST_CHARACTERS = 300
PASSING = frozenset({408, 409, 425, 429, *range(500, 600)}) - {501, 505}

# By the codes and types that the vendors document.
CODES: Mapping[str, ProviderFault] = {
    code: fault
    for fault, codes in (
        (ProviderFault.CONTEXT, "context_length_exceeded exceed_context_size_error request_too_large"),
        (ProviderFault.CONTEXT, "string_above_max_length"),
        (ProviderFault.MONEY, "insufficient_quota insufficient_balance billing_hard_limit_reached billing_not_active"),
        (ProviderFault.MONEY, "billing_error"),
        (ProviderFault.KEY, "invalid_api_key api_key_invalid authentication_error permission_error"),
        (ProviderFault.LIMIT, "rate_limit_exceeded rate_limit_error rate_limit_reached_error"),
        (ProviderFault.ENDPOINT, "overloaded_error api_error server_error internal_server_error timeout_error"),
        (ProviderFault.REQUEST, "invalid_request_error not_found_error model_not_found"),
    )
    for code in codes.split()
}
STATUSES: Mapping[int, ProviderFault] = {
    401: ProviderFault.KEY,
    402: ProviderFault.MONEY,
    403: ProviderFault.KEY,
    413: ProviderFault.CONTEXT,
    429: ProviderFault.LIMIT,
}

# Where a vendor has no code of its own for it, the words of its documented message.
WORDINGS = (
    (
        ProviderFault.CONTEXT,
        re.compile(
            r"prompt is too long|exceed(?:s|ed)? (?:the )?(?:model'?s? )?(?:context|maximum|model token)"
            r"|maximum (?:context|prompt|input) length|context (?:window|length|size|limit)|too many input tokens"
            r"|token count.{0,40}exceeds|too large for model with"
        ),
    ),
    (
        ProviderFault.MONEY,
        re.compile(r"credit balance is too low|insufficient (?:balance|credit|funds|quota)|used all available credits"),
    ),
    (ProviderFault.KEY, re.compile(r"api key not valid|invalid api key|incorrect api key")),
)


class Malformed(Exception):
    """What came is not in the form that the endpoint promises."""


class StreamError(Exception):
    """An error that the endpoint sent where its answer should be."""

    def __init__(self, error: object) -> None:
        super().__init__("an error in the stream")
        self.error = error


def events(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The data of each event of a stream, once it is whole."""
    rest, data, mark = bytearray(), list[bytes](), b"\xef\xbb\xbf"
    for chunk in itertools.chain(chunks, (b"\n\n",)):  # many servers leave out the last empty line
        rest += chunk
        if len(rest) > MOST_BYTES:
            raise Malformed("an event is too long")
        # A carriage return at the end may be half of a line's end: it waits for what follows.
        complete = rest[:-1] if rest.endswith(b"\r") else rest
        end = max(complete.rfind(b"\n"), complete.rfind(b"\r")) + 1
        lines = bytes(rest[:end]).splitlines()
        del rest[:end]
        for line in lines:
            field, _, value = line.removeprefix(mark).partition(b":")
            mark = b""
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data)
                data.clear()


def record_of(data: bytes) -> dict[str, Any]:
    """The JSON object that an event or a body holds; raises Malformed where it holds none."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        try:  # some servers cut a character in two, and send each half in an event of its own
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Malformed("the answer is not JSON") from error
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


class Asked(NamedTuple):
    """Who was asked, as advice names it. The key is here only to keep it out of messages."""

    provider: str
    key_variable: str = ""
    key: str = ""
    base_variable: str = ""  # that names its address, where one does


def failure_of(
    status: int, body: bytes, asked: Asked, *, wish: bool | None = None, after_seconds: float | None = None
) -> ProviderFailed:
    """What a status that is not 200 means. The endpoint's wish may say whether to try again, and how soon."""
    error = _error_in(body)
    fault = _fault(status, error)
    phrase = f" ({responses[status].lower()})" if status in responses else ""
    passing = status in PASSING and fault not in (ProviderFault.MONEY, ProviderFault.CONTEXT, ProviderFault.KEY)
    return ProviderFailed(
        fault,
        f"{asked.provider} answered with status {status}{phrase}{_said(fault, error, asked)}.".replace("..", "."),
        advice=advice_for(fault, asked, status),
        is_passing=passing if wish is None else wish,
        after_seconds=after_seconds,
    )


def failure_in_stream(error: object, asked: Asked) -> ProviderFailed:
    """What an error means that came where the answer should be, after a status of 200."""
    record = error if isinstance(error, dict) else {"message": error if isinstance(error, str) else ""}
    status = fields.code(record, "code", "status") or 0
    fault = _fault(status, record)
    if not _by_code(record) and status not in STATUSES and fault is ProviderFault.REQUEST:
        fault = ProviderFault.ENDPOINT
    message = f"{asked.provider} stopped in the middle of its answer with an error{_said(fault, record, asked)}."
    passing = fault in (ProviderFault.ENDPOINT, ProviderFault.LIMIT)
    return ProviderFailed(
        fault, message.replace("..", "."), advice=advice_for(fault, asked, status), is_passing=passing
    )


def redirected(status: int, location: str, asked: Asked) -> ProviderFailed:
    """A redirect is not followed: the key would go where nobody meant it to."""
    where = re.sub(r"//[^/@]*@", "//", re.sub(r"[?#].*", "", location))[:MOST_CHARACTERS]
    return ProviderFailed(
        ProviderFault.REQUEST,
        f"{asked.provider} answered with a redirect (status {status}), which is not followed.",
        advice=f"Set its base_url to the new address{f': it named {where}' if where else ''}.",
    )


def wrong_form(content_type: str, asked: Asked) -> ProviderFailed:
    """Something answered that is not the endpoint."""
    return ProviderFailed(
        ProviderFault.ENDPOINT,
        f"{asked.provider} answered with {content_type or 'an unnamed format'} instead of a stream of events.",
        advice="Check its base_url: most end in /v1. A login page of your network may also be in the way.",
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
    worded = next((fault for fault, pattern in WORDINGS if pattern.search(text)), None)
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


def _said(fault: ProviderFault, error: Mapping[str, Any], asked: Asked) -> str:
    """What the endpoint says, on one line and without the key; what is said of a wrong key often repeats a part."""
    text = "" if fault is ProviderFault.KEY else _words(error)
    line = " ".join((text.replace(asked.key, "…") if asked.key else text).split())[:MOST_CHARACTERS]
    return f": {line}" if line else ""
