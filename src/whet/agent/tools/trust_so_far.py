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
    """The lowest trust of what was seen, and the user's own sentences. Safe to use from several threads."""

    def __init__(self, told: Trust, messages: Iterable[Message] = ()) -> None:
        self._lock = threading.Lock()
        self._lowest = told
        self._sentences: list[tuple[str, ...]] = []
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

    @property
    def lowest(self) -> Trust:
        with self._lock:
            return self._lowest

    def trust_of(self, text: str) -> Trust:
        """How far a text that the agent writes now may be believed.

        What the user said in these very words is theirs, whatever else was read since; anything else may have been
        made from all that the session has seen.
        """
        with self._lock:
            seen, said = self._lowest, list(self._sentences)
        if any(is_said(text, each) for each in said):
            return Trust.USER
        return lowest((Trust.AGENT, seen))


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
