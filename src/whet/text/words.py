"""Lists of words, texts with places to fill in, texts cut to a length, and what texts cost in tokens.

Large numbers as people say them. What a speaker says, without what is only shown: code, quotations, logs, tables.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache

import re2

DIGITS = 3
NAMED = ((10**9, "billion"), (10**6, "million"))

_BLANK = re.compile(r"\s")
_TRAILING = " \t\n,;:-–—("
_PLACE = re.compile(r"\{(\w+)\}")

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAK = re.compile(r"[^A-Za-z0-9]+")

LONGEST_WORD = 60
_WORD = re.compile(r"[A-Za-z][\w.:/@+-]*[\w]|[A-Za-z]|--?[A-Za-z][\w-]*")

BYTES_PER_TOKEN = 4

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


def short(number: float) -> str:
    """A large number, short and plain: 950; 12,300; 4.1 million; 1.2 billion."""
    whole = round(number)
    rounded = round(whole, DIGITS - len(str(abs(whole)))) if abs(whole) >= 10**DIGITS else whole
    for size, name in NAMED:
        if abs(rounded) >= size:
            return f"{rounded / size:.1f}".removesuffix(".0") + f" {name}"
    return f"{rounded:,}"


def folded(text: str) -> str:
    """The text with single spaces."""
    return " ".join(text.split())


def many(number: int, noun: str) -> str:
    """A number with its noun: 1 session, 2 sessions."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def share(part: int, whole: int) -> str:
    """A percentage, or a dash of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def names(words: str) -> frozenset[str]:
    """A set of words, written as a person writes a list of them."""
    return frozenset(words.split())


def on_demand(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A pattern to call for. One with letters of many scripts takes milliseconds, which every start would pay."""
    return cache(lambda: re.compile(pattern, flags))


def cut(text: str, letters: int) -> str:
    """The beginning of a text in so many letters at the most, cut after a whole word where one ends near, and marked.

    >>> cut("Multiple top-level headings", 20)
    'Multiple top-level…'
    """
    if len(text) <= letters:
        return text
    room = text[:letters]  # whose last letter the mark takes
    end = max((found.start() for found in _BLANK.finditer(room)), default=0)
    return f"{room[:end] if end * 2 >= letters else room[:-1]}".rstrip(_TRAILING) + "…"


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its `{places}` filled, once: what is put in is not looked at again."""
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), text)


def places(text: str) -> frozenset[str]:
    """The names of the places of a text."""
    return frozenset(_PLACE.findall(text))


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """A tool's own name in one spelling: without server, namespace, capitals and hyphens."""
    own = name.rsplit("__", 1)[-1]
    own = re.split(r"[.:/]", own)[-1] or own
    return _BREAK.sub("_", _CAMEL.sub("_", own[:120])).strip("_").lower()


COMMON = names(
    "a about actually after again all already also am an and another any anything are aren't as at away be because "
    "been before being both but by can can't cannot come could couldn't did didn't do does doesn't doing don't done "
    "down each either else even every everything exactly far feel few fine first for from full get getting give go "
    "goes going gone good got great had has have haven't having he hello help her here hi him his hmm how however i "
    "i'd i'll i'm i've if in instead into is isn't it it's its itself just keep kind know last later least less let "
    "let's lets like little long look looking looks lot made make makes making many may maybe me mean might mine "
    "more most much must my need needs never new next nice no not nothing now of off ok okay old on once one only "
    "or other our out over own please possible properly put quick quickly quite rather really right same say see "
    "seem seems set she should shouldn't so some something sort sounds still stuff such sure take tell than thank "
    "thanks that that's the their them then there there's these they thing things think this those though thought "
    "through time to together too top try two under until up us use used using very via want was wasn't way we we'd "
    "we'll we're we've well were what what's when where whether which while who whole why will with without won't "
    "would wouldn't yeah yep yes yet you you're your don isn aren wasn doesn didn won couldn shouldn wouldn ll ve "
    "re"
)


def key_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    found = (word.strip(".:/").lower() for word in _WORD.findall(text))
    return frozenset(word for word in found if 2 < len(word) <= LONGEST_WORD and word not in COMMON)


def estimate(text: str) -> int:
    """About the number of tokens: bytes tell more than characters do, for other scripts cost more tokens each."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def head(text: str, tokens: int) -> str:
    """The beginning of a text that costs at most so many tokens."""
    return text.encode("utf-8", "replace")[: max(tokens, 0) * BYTES_PER_TOKEN].decode("utf-8", "ignore")


def tail(text: str, tokens: int) -> str:
    """The end of a text that costs at most so many tokens."""
    body = text.encode("utf-8", "replace")
    return body[max(len(body) - max(tokens, 0) * BYTES_PER_TOKEN, 0) :].decode("utf-8", "ignore")


def fitting(lines: Iterable[str], budget: int) -> tuple[str, ...]:
    """The lines that a budget has room for, in their order and each once; one that is too long is passed over."""
    every = tuple(dict.fromkeys(lines))
    if estimate("\n".join(every)) <= budget:
        return every
    kept, left = [], budget
    for line in every:
        cost = estimate(f"{line}\n")
        if cost <= left:
            kept.append(line)
            left -= cost
    return tuple(kept)


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
