"""One question to another agent's program that has no tools: how it is started, and what is read from its output.

It works on the person's own login, so it runs in their environment, in an empty folder. Every prompt begins with a
mark, by which the record that a program may leave all the same is known, and is no session of the person.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from whet.agents.executor import WHY_CHARACTERS, Left, refusal_in
from whet.sessions.transcripts import Message, Origin, Role, Usage

MARK = "[whet reads recorded sessions here: this conversation is no work of a person]"
NO_ANSWER = "it gave no answer"


class ReadingErrand(NamedTuple):
    """What a program is asked with, beside the prompt on its standard input. `folder` is an empty one of its own."""

    system: str
    folder: Path
    environment: Mapping[str, str]
    model: str = ""
    dollars: float | None = None


class ReadingLaunch(NamedTuple):
    """A program to start: its words, more variables, and files and links that it finds in its folder."""

    words: tuple[str, ...]
    variables: Mapping[str, str] = MappingProxyType({})
    files: Mapping[str, str] = MappingProxyType({})
    links: Mapping[str, Path] = MappingProxyType({})


class ReaderAnswer(NamedTuple):
    """What a reader said, and what that used; `why` says why it said nothing."""

    text: str
    usage: Usage = Usage()
    model: str = ""
    why: str = ""


class ProgramReader(NamedTuple):
    """How a program answers one question without tools, and what is read from its output.

    With one of the `keys` in its environment it pays by the token; without, it works within the person's plan.
    """

    program: str
    launch: Callable[[ReadingErrand, str], ReadingLaunch]
    answer: Callable[[Left], ReaderAnswer]
    keys: tuple[str, ...] = ()


def refused(left: Left, said: str = "") -> ReaderAnswer:
    """No answer, with the reason in the program's own words."""
    if left.exit_code is None:
        return ReaderAnswer("", why="its time was over")
    words = said.strip() or left.errors.strip() or left.output.strip() or NO_ANSWER
    refusal = refusal_in(words)
    kind = f"{refusal.value}: " if refusal else ""
    return ReaderAnswer("", why=f"{kind}{words.splitlines()[-1][:WHY_CHARACTERS]}")


def is_of_reader(messages: Iterable[Message]) -> bool:
    """Whether a record is that of a reader at work: the first words in the person's place begin with the mark."""
    said = (each.text.lstrip() for each in messages if each.role is Role.USER and each.origin is not Origin.INSERTED)
    return next(said, "").startswith(MARK)
