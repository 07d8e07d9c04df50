"""Cases: tasks with their own check, as people write them and as sessions give them."""

import hashlib
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from whet.errors import WhetError
from whet.own.runs.run import Budget
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Message
from whet.text import toml
from whet.trials.checks import Check, expect_sound
from whet.values import Value

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
ADVICE = "`whet cases add --new NAME` writes one to start from."
KEY_BYTES = 8
MODE = re.compile(r"[0-7]{3}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Limits(Value, frozen=True, forbid_unknown_fields=True):
    """What one attempt may spend."""

    model_calls: int = 12
    tokens: int | None = None
    seconds: float = 300.0
    dollars: float | None = None

    @property
    def budget(self) -> Budget:
        return Budget(self.model_calls, self.tokens, self.seconds, self.dollars)


class Checkout(Value, frozen=True, forbid_unknown_fields=True):
    """A repository and a state of it, from which the workspace is made. The tree is the hash of all its files."""

    path: str
    commit: str
    tree: str


class Case(Value, frozen=True, forbid_unknown_fields=True):
    """A task, what lies in its workspace, and how to tell whether it was done.

    A step case has a conversation before it, with the results as they were recorded; only the next step is asked for.
    """

    task: str = ""
    check: Check = Check()
    name: str = ""
    kind: Literal["task", "step"] = "task"
    repository: Checkout | None = None
    files: dict[str, str] = msgspec.field(default_factory=dict)  # over those of the repository
    modes: dict[str, str] = msgspec.field(default_factory=dict)  # such as "755", of files that need another than "644"
    setup: tuple[str, ...] = ()  # commands that are run in the workspace before the agent sees it
    environment: dict[str, str] = msgspec.field(default_factory=dict)  # for commands in the workspace
    tools: tuple[str, ...] = ()  # names of tools or sets; empty: those that a run has by default
    definitions: tuple[Definition, ...] = ()  # of another agent's tools that the conversation does not call
    budget: Limits = Limits()
    guard: bool = False  # a standing case: it is in every trial, to notice harm
    tags: tuple[str, ...] = ()
    source: str = ""  # the session or the commit that it was made from
    replay: bool = False  # calls are answered from the conversation's record; those of a step always are
    conversation: tuple[Message, ...] = ()

    @property
    def key(self) -> str:
        """The hash of all that an attempt depends on; a new name or a moved repository makes no new case."""
        place = self.repository and msgspec.structs.replace(self.repository, path="", commit="")
        plain = msgspec.structs.replace(self, name="", tags=(), guard=False, repository=place)
        body = msgspec.json.encode(plain, order="deterministic")
        return hashlib.blake2b(body, digest_size=KEY_BYTES).hexdigest()


def is_errand(case: Case) -> bool:
    """Whether another agent can be asked to do it: a task, or a step to go on from in a workspace that is there."""
    return not case.replay and (case.kind == "task" or case.repository is not None)


def read(text: str, *, name: str, conversation: str = "") -> Case:
    """A case from its file, and its conversation from the file beside it; raises WhetError with the place."""
    try:
        fields: dict[str, Any] = tomllib.loads(text)
        case = msgspec.convert({"name": name, **fields}, Case)
        messages = msgspec.json.decode(conversation, type=tuple[Message, ...]) if conversation else ()
    except (tomllib.TOMLDecodeError, msgspec.MsgspecError, RecursionError) as fault:
        raise WhetError(f"The case {name} cannot be read: {fault}.", advice=ADVICE) from fault
    case = msgspec.structs.replace(case, conversation=messages)
    _expect_sound(case)
    return case


def _expect_sound(case: Case) -> None:
    wrong = (
        "a name that is not lower-case words" if not NAME.fullmatch(case.name)
        else "no task" if case.kind == "task" and not case.task.strip()
        else "no conversation before its step" if case.kind == "step" and not case.conversation
        else "a file outside its workspace" if any(not is_inside(path) for path in _paths(case))
        else "a mode that is not like 755" if any(not MODE.fullmatch(mode) for mode in case.modes.values())
        else "a variable whose name is not one" if any(not VARIABLE.fullmatch(name) for name in case.environment)
        else "a commit or tree that is not a hash" if any(not HASH.fullmatch(each) for each in _hashes(case))
        else ""
    )  # fmt: skip
    if wrong:
        raise WhetError(f"The case {case.name!r} has {wrong}.", advice=ADVICE)
    expect_sound(case.check, case.name)


def _paths(case: Case) -> Iterator[str]:
    check = case.check
    yield from (*case.files, *case.modes, *check.files, *check.put, *(check.tests.paths if check.tests else ()))


def _hashes(case: Case) -> Iterator[str]:
    if case.repository is not None:
        yield from (case.repository.commit, case.repository.tree)
    if case.check.tests is not None:
        yield case.check.tests.commit


def is_inside(path: str) -> bool:
    """Whether a path of a workspace stays in it."""
    parts = path.split("/")
    return bool(path) and "\0" not in path and all(part not in ("", ".", "..", ".git") for part in parts)


def write(case: Case) -> str:
    """The file of a case, for people to read and edit; its conversation goes beside it."""
    fields = msgspec.to_builtins(msgspec.structs.replace(case, name="", conversation=()))
    return toml.table(fields).lstrip("\n")
