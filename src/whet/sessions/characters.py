"""Messages in characters that every encoding takes."""

import msgspec

from whet.sessions.transcripts import Message, decode, encode


def whole(message: Message) -> Message:
    """The message in characters that every encoding takes: half characters, which some sources give, are replaced."""
    try:
        encode(message)
    except UnicodeEncodeError:
        return decode(msgspec.json.encode(_mended(msgspec.to_builtins(message))))
    return message


def _mended(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {key: _mended(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_mended(inner) for inner in value]
    return value
