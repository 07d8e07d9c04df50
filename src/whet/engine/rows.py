"""Rows of the engine, which a whole team can write: what a home remembers has its seal, and none of them is code."""

import logging

import msgspec

from whet.engine.library import DefaultSerializer, PortableWorkflowError, WorkflowStatus
from whet.engine.orders import Done
from whet.errors import WhetError
from whet.store.owner import Owner

BREAK = "\n"  # between the seal and the text, which is JSON and has none


def distrust_rows() -> None:
    """Have no row loaded as a pickle, which is code, and none printed by the engine's own log, as it stands.

    DBOS believes each row about the way in which it is written.
    """
    setattr(DefaultSerializer, "deserialize", _refuse)  # noqa: B010 - mypy lets no method be assigned
    logging.getLogger("dbos").setLevel(logging.CRITICAL)


def _refuse(_serializer: DefaultSerializer, _text: str) -> object:
    raise TypeError("a row of the engine is written as a pickle, and those are never loaded")


def sealed(owner: Owner, text: str, *parts: str) -> str:
    """A text as it is stored, with the seal of this home where others can write beside it."""
    seal = owner.seal(*parts, text)
    return f"{seal}{BREAK}{text}" if seal else text


def unsealed(owner: Owner, stored: str, *parts: str) -> str:
    """The text that this home stored; raises WhetError for one that it did not."""
    seal, _, text = stored.rpartition(BREAK)
    if not owner.has_sealed(seal, *parts, text):
        raise WhetError(
            "The database's record of this work was not written by this home, so the work was stopped.",
            advice="Check who can write to the team's database, then submit the work again.",
        )
    return text


def text_of(stored: object) -> str:
    """The text without its seal, to be shown and never to be acted on."""
    return stored.rpartition(BREAK)[2] if isinstance(stored, str) else ""


def arguments_in(found: WorkflowStatus) -> tuple[str, str]:
    """Kind and body of an order, which anybody may have written in any form."""
    given = found.input.get("args", ()) if isinstance(found.input, dict) else ()
    texts = [str(each) for each in given[:2]] if isinstance(given, (tuple, list)) else []
    return (texts[0], texts[1]) if len(texts) == 2 else ("", "{}")


def done_in(output: object) -> Done | None:
    """What came of an order, where that can be read."""
    try:
        return msgspec.json.decode(output, type=Done) if isinstance(output, str) else None
    except msgspec.MsgspecError:
        return None


def left_in(found: WorkflowStatus) -> Done:
    """What failed work left, where that can be read."""
    data = found.error.data if isinstance(found.error, PortableWorkflowError) else None
    try:
        return msgspec.convert(data, Done) if isinstance(data, dict) else Done()
    except msgspec.MsgspecError:
        return Done()
