"""Definitions of tools as trajectories carry them: a JSON list between <tools> tags in the system message."""

import re
from collections.abc import Iterable

import msgspec

from whet.errors import WhetError
from whet.sessions.definitions import Definition
from whet.text.words import filled

_TAGGED = re.compile(r"<tools>(.*?)</tools>", re.DOTALL)


class _Signature(msgspec.Struct, frozen=True):
    """The wire form. `required` is there because readers of the format expect it, always null."""

    name: str
    description: str = ""
    parameters: msgspec.Raw = msgspec.Raw(b"{}")
    required: list[str] | None = None


def tools_text(definitions: Iterable[Definition]) -> str:
    """The tools between their tags. Keys are sorted, so that equal definitions give equal bytes."""
    signatures = [
        _Signature(one.name, one.description, msgspec.Raw(_canonical(one.parameters, one.name))) for one in definitions
    ]
    # A closing tag in a description must not close ours; JSON reads the escaped slash as the same text.
    body = msgspec.json.encode(signatures).decode().replace("</", "<\\/")
    return f"<tools>\n{body}\n</tools>"


def system_text(definitions: Iterable[Definition], frame: str) -> str:
    """The system message of a trajectory: the frame of the guidance with the tools in its place."""
    return filled(frame, {"body": tools_text(definitions)})


def tools_in(text: str) -> tuple[Definition, ...]:
    """The definitions that a system message carries; nothing where it carries none that can be read."""
    found = _TAGGED.search(text)
    if not found:
        return ()
    try:
        signatures = msgspec.json.decode(found[1].encode(), type=list[_Signature])
    except msgspec.MsgspecError:
        return ()
    return tuple(
        Definition(one.name, one.description, _canonical(bytes(one.parameters).decode(), one.name).decode())
        for one in signatures
    )


def _canonical(parameters: str, name: str) -> bytes:
    try:
        return msgspec.json.encode(msgspec.json.decode(parameters), order="sorted")
    except msgspec.MsgspecError as error:
        raise WhetError(f"The parameters of {name} are not JSON: {error}.", advice="Give a JSON schema.") from error
