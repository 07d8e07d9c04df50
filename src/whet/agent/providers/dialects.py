"""How endpoints differ, as a table: nothing is found out by trying. And what is done to what one would not take."""

import hashlib
import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from whet.sessions.transcripts import Media
from whet.values import Value

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
