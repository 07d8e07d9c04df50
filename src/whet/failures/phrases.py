"""Which phrases a speaker's own words have, found in one linear pass."""

import re
from collections.abc import Mapping

import re2

from whet.failures.wordings import AGENT_WORDINGS, HARMLESS, USER_WORDINGS, Phrase
from whet.text.words import cut

WORDS_LIMIT = 20_000
SPAN_LENGTH = 400
SENTENCE_REACH = 400
SET_BYTES = 64 << 20
SENTENCE_ENDS = (". ", "! ", "? ", "\n", "。", "！", "？")

# Everything that a speaker shows and does not say: code, thinking, tags, quotations, tables, logs.
_SHOWN = re2.compile(
    r"(?s:```.*?(?:```|\z))|(?s:~~~.*?(?:~~~|\z))"
    r"|(?s:<(?:thinking|think|reasoning)>.*?(?:</(?:thinking|think|reasoning)>|\z))"
    r"|(?s:<(?:command-|local-command-|system-|bash-|file|document|context)[a-z-]*>.*?(?:</[a-z-]+>|\z))"
    r"|`[^`\n]+`"
    r'|"[^"\n]+"|“[^”\n]+”|«[^»\n]+»|„[^“”\n]+[“”]|「[^」\n]+」'
    r"|(?m:^[ \t]*(?:>|\||\$ |\[[\dA-Z]|at [\w.$<>]+ ?\().*$)"
    r"|(?m:^.*\S\.(?:[cm]?[jt]sx?|py|go|rs|rb|java):\d+:\d+\b.*$)"
    r"|(?m:^[ \t]*(?:[A-Za-z_.]*(?:Error|Exception)|ERROR|WARN|Traceback|fatal|npm ERR!)\b.*$)"
)
_SHOWING = re.compile(
    r"[`\"“«„「<>|$\[]|~~~|Error|Exception|ERROR|WARN|Traceback|fatal|npm ERR!|at [\w.$<>]+ ?\(|:\d+:\d"
)
_HARMLESS = re2.compile(HARMLESS)


class Phrases:
    """Wordings compiled into one set: one pass over the text, whatever their number."""

    def __init__(self, wordings: Mapping[Phrase, tuple[str, ...]]) -> None:
        self.wordings = tuple((phrase, pattern) for phrase, patterns in wordings.items() for pattern in patterns)
        # With less memory the set would fall silent on some texts instead of growing slow.
        options = re2.Options()
        options.max_mem = SET_BYTES
        self._set = re2.Set.SearchSet(options)
        for _, pattern in self.wordings:
            self._set.Add(pattern)
        self._set.Compile()

    def said(self, words: str) -> frozenset[Phrase]:
        """Which phrases the words have."""
        if not words:
            return frozenset()
        return frozenset(self.wordings[index][0] for index in self._set.Match(_plain(words)) or ())


def own_words(text: str) -> str:
    """The text without code, quotations, logs, tables and tags; the middle of a very long one is left out."""
    if not text:
        return ""
    if len(text) > WORDS_LIMIT:
        text = text[: WORDS_LIMIT // 2] + "\n" + text[-WORDS_LIMIT // 2 :]
    # Most texts show nothing, which is seen much faster than what they show.
    spoken: str = _SHOWN.sub(" ", text) if _SHOWING.search(text) else text
    if spoken.strip():
        return spoken
    # A message that is one block of thinking is still all that its speaker said.
    return text if text.lstrip().startswith(("<thinking>", "<think>")) else ""


def without_harmless(words: str) -> str:
    """The words without sentences that sound like surrender and are none."""
    left: str = _HARMLESS.sub(" ", _plain(words))
    return left


def shortened(text: str, length: int = SPAN_LENGTH) -> str:
    """The text on one line, cut at its end where it is too long."""
    return cut(" ".join(text[: length * 4].split()), length)


def last_sentence(words: str) -> str:
    """The end of what was said."""
    tail = words.rstrip()[-SENTENCE_REACH:]
    return tail[_sentence_start(tail) :].strip()


def _plain(words: str) -> str:
    return words.replace("’", "'").lower()


def _sentence_start(text: str) -> int:
    """Where the last sentence of a text begins."""
    start = 0
    for end in SENTENCE_ENDS:
        place = text.rfind(end)
        if place >= 0:
            start = max(start, place + len(end))
    return start


AGENT_PHRASES = Phrases(AGENT_WORDINGS)
# An order is asked for one thing and an answer for others; most sayings of a person are one of the two.
ORDER_PHRASES = Phrases({Phrase.CHANGE: USER_WORDINGS[Phrase.CHANGE]})
ANSWER_PHRASES = Phrases({phrase: USER_WORDINGS[phrase] for phrase in USER_WORDINGS if phrase is not Phrase.CHANGE})
