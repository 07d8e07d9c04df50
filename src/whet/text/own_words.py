"""What a speaker says, without what is only shown: code, quotations, logs, tables."""

import re

import re2

from whet.text.words import cut

WORDS_LIMIT = 20_000
SPAN_LENGTH = 400
PARAGRAPH_REACH = 1_000
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


def shortened(text: str, length: int = SPAN_LENGTH) -> str:
    """The text on one line, cut at its end where it is too long."""
    return cut(" ".join(text[: length * 4].split()), length)


def last_paragraph(words: str) -> str:
    """The end of what was said: its last sentences, or its last list."""
    return words.rstrip()[-PARAGRAPH_REACH:].rpartition("\n\n")[2].strip()
