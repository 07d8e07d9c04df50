"""Cases: tasks with their own check, as people write them and as sessions give them."""

import hashlib
import re
import tomllib
from typing import Any, Literal

import msgspec

from whet.errors import WhetError
from whet.runs.run import Budget
from whet.sessions.transcripts import Message
from whet.text import toml
from whet.trials.checks import Check, expect_sound
from whet.values import Value

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
ADVICE = "`whet cases new NAME` writes one to start from."
KEY_BYTES = 8


class Limits(Value, frozen=True, forbid_unknown_fields=True):
    """What one attempt may spend."""

    model_calls: int = 12
    tokens: int | None = None
    seconds: float = 300.0
    dollars: float | None = None

    @property
    def budget(self) -> Budget:
        return Budget(self.model_calls, self.tokens, self.seconds, self.dollars)


class Case(Value, frozen=True, forbid_unknown_fields=True):
    """A task, what lies in its workspace, and how to tell whether it was done.

    A step case has a conversation before it, with the results as they were recorded; only the next step is asked for.
    """

    task: str = ""
    check: Check = Check()
    name: str = ""
    kind: Literal["task", "step"] = "task"
    files: dict[str, str] = msgspec.field(default_factory=dict)
    tools: tuple[str, ...] = ()  # names of tools or sets; empty: those that a run has by default
    budget: Limits = Limits()
    guard: bool = False  # a standing case: it is in every trial, to notice harm
    tags: tuple[str, ...] = ()
    source: str = ""  # the session that it was made from
    replay: bool = False  # calls are answered from the conversation's record; those of a step always are
    conversation: tuple[Message, ...] = ()

    @property
    def key(self) -> str:
        """The hash of all that an attempt depends on; a new name makes no new case."""
        body = msgspec.json.encode(msgspec.structs.replace(self, name="", tags=(), guard=False), order="deterministic")
        return hashlib.blake2b(body, digest_size=KEY_BYTES).hexdigest()


def is_errand(case: Case) -> bool:
    """Whether another agent can be asked to do it: a whole task, and not one step of a conversation."""
    return case.kind == "task" and not case.replay


def read(text: str, *, name: str, conversation: str = "") -> Case:
    """A case from its file, and its conversation from the file beside it; raises WhetError with the place."""
    try:
        fields: dict[str, Any] = tomllib.loads(text)
        case = msgspec.convert({"name": name, **fields}, Case)
        messages = msgspec.json.decode(conversation, type=tuple[Message, ...]) if conversation else ()
    except (tomllib.TOMLDecodeError, msgspec.MsgspecError) as fault:
        raise WhetError(f"The case {name} cannot be read: {fault}.", advice=ADVICE) from fault
    case = msgspec.structs.replace(case, conversation=messages)
    _expect_sound(case)
    return case


def _expect_sound(case: Case) -> None:
    wrong = (
        "a name that is not lower-case words" if not NAME.fullmatch(case.name)
        else "no task" if case.kind == "task" and not case.task.strip()
        else "no conversation before its step" if case.kind == "step" and not case.conversation
        else "a file outside its workspace" if any(not is_inside(path) for path in (*case.files, *case.check.files))
        else ""
    )  # fmt: skip
    if wrong:
        raise WhetError(f"The case {case.name!r} has {wrong}.", advice=ADVICE)
    expect_sound(case.check, case.name)


def is_inside(path: str) -> bool:
    """Whether a path of a workspace stays in it."""
    parts = path.split("/")
    return bool(path) and "\0" not in path and all(part not in ("", ".", "..") for part in parts)


def write(case: Case) -> str:
    """The file of a case, for people to read and edit; its conversation goes beside it."""
    fields = msgspec.to_builtins(msgspec.structs.replace(case, name="", conversation=()))
    return toml.table(fields).lstrip("\n")
