"""What both wire forms do to parts of a message that an endpoint would not take as they are."""

import hashlib
import re

import msgspec

from whet.sessions.transcripts import Media

ID_CHARACTERS = 9


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
