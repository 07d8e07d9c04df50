"""What a session has read so far, and so how far what its agent writes may be believed."""

import re
import threading
from collections.abc import Iterable

from whet.sessions.lineage import is_typed
from whet.sessions.transcripts import Message
from whet.sessions.trust import Trust, lowest
from whet.told.memory import normalised

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_LEAD = re.compile(
    r"(?:please\s+)?(?:remember|note|memori[sz]e|save|keep in mind)(?:\s+(?:this|that)\b)?\s*[:,]?\s+", re.IGNORECASE
)
SHORTEST_WORDS = 3


class Lineage:
    """The lowest trust of what was seen, and the user's own sentences. Safe to use from several threads.

    In a `project` that the owner declared their own, what its tools and files print counts as the user's. What comes
    from further away never does: that is why the two are told apart.
    """

    def __init__(self, told: Trust, messages: Iterable[Message] = (), *, project: str = "") -> None:
        self._lock = threading.Lock()
        self._lowest = told
        self._foreign = self._counted(told, project)
        self._sentences: list[tuple[str, ...]] = []
        self.project = project
        self.attend(messages)

    def attend(self, messages: Iterable[Message]) -> None:
        """Take in what the session now holds. Taking in a message twice changes nothing."""
        for message in messages:
            self.lower(message.trust)
            if is_typed(message):
                with self._lock:
                    self._sentences.append(tuple(sentences(message.text)))

    def lower(self, trust: Trust) -> None:
        with self._lock:
            self._lowest = min(self._lowest, trust)
            self._foreign = min(self._foreign, self._counted(trust, self.project))

    @property
    def lowest(self) -> Trust:
        """Of all that was seen, whatever the owner declared."""
        with self._lock:
            return self._lowest

    def trust_of(self, text: str) -> Trust:
        """How far a text that the agent writes now may be believed.

        What the user said in these very words is theirs, whatever else was read since; anything else may have been
        made from all that the session has seen.
        """
        if self._is_users(text):
            return Trust.USER
        with self._lock:
            return lowest((Trust.AGENT, self._foreign))

    def needs_project(self, text: str) -> bool:
        """Whether a text is believed only because the owner declared the project their own."""
        with self._lock:
            is_lower = self._lowest < self._foreign and self._lowest < Trust.AGENT
        return is_lower and not self._is_users(text)

    def _is_users(self, text: str) -> bool:
        with self._lock:
            said = list(self._sentences)
        return any(is_said(text, each) for each in said)

    @staticmethod
    def _counted(trust: Trust, project: str) -> Trust:
        return Trust.USER if project and trust is Trust.TOOL else trust


def sentences(text: str) -> list[str]:
    """The sentences of a text in one spelling: a lead such as "remember that" is not part of what is to be kept."""
    found = (
        _LEAD.sub("", _plain(each), count=1) if _LEAD.match(_plain(each)) else _plain(each) for each in _split(text)
    )
    return [each for each in found if each]


def is_said(text: str, said: tuple[str, ...]) -> bool:
    """Whether a text is nothing but whole sentences in a row of what was said: half a sentence may mean the reverse."""
    wanted = tuple(sentences(text))
    if sum(len(each.split()) for each in wanted) < SHORTEST_WORDS:
        return False
    return any(said[start : start + len(wanted)] == wanted for start in range(len(said) - len(wanted) + 1))


def _split(text: str) -> list[str]:
    return _SENTENCE.split(normalised(text))


def _plain(sentence: str) -> str:
    return " ".join(sentence.split()).strip(" \t-*>\"'“”").rstrip(".!。！").casefold()
