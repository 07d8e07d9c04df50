"""What a tool answered, told by its shape: counts, numbers and status words, and nothing that somebody else wrote.

A result is foreign text. What stands in its shape is a word of the list below, a short number, or a word that the
call itself had among its arguments; whatever else the result says, the shape cannot say it.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from whet.text.words import names

HEAD_LINES = 3
TAIL_LINES = 2
LINE_CHARACTERS = 200
MOST_FIELDS = 8
DEEPEST = 3
READ_CHARACTERS = 200_000
HIDDEN = "…"

# Words in which tools report: of how it ended, of how much, and the names of fields that carry it.
WORDS = names(
    "ok done success successful successfully succeeded completed complete finished passed pass failed failures errors "
    "warnings skipped created updated written wrote saved added removed deleted changed modified replaced applied "
    "inserted moved copied sent built compiled installed matched found cleaned committed ran run tests test "
    "files file lines line bytes characters matches match results result items item rows row records entries changes "
    "insertions deletions insertion deletion total count time duration seconds ms s in of to at with and the has been "
    "was were is are no all more across empty true false null none yes exit code status "
    "exit_code returncode stdout stderr output error message success path file_path filename name id title type kind "
    "content text data value values key url date created_at updated_at size length number amount page query "
    "list fields"
)
_RUN = re.compile(r"[\w./@~:+%\\-]+")
_JOINTS = "./@~:+%\\-"  # within a word, and not at its end
# So short that it is a count or a duration, and neither a code nor an account.
_NUMBER = re.compile(r"-?\d{1,4}(?:\.\d{1,3})?(?:s|ms|%|kb|mb)?")
_UNTOLD = re.compile(r"[^\w\s./@~:+%\\,()=-]")


def shape(text: str, arguments: Iterable[str] = ()) -> str:
    """The shape of a result; `arguments` are the texts that its call was given, which it may repeat."""
    known = frozenset(word for argument in arguments for word in words(argument))
    body = text[:READ_CHARACTERS].strip()
    if not body:
        return ""
    value = _json(body) if body[0] in "{[" and len(text) <= READ_CHARACTERS else None
    if isinstance(value, dict | list):
        return msgspec.json.encode(_shape_of(value, known, DEEPEST)).decode()
    return _lines(body, known)


def words(text: str) -> Iterator[str]:
    """The words of a text as shapes are made of them, in small letters."""
    runs = (run.rstrip(_JOINTS) for run in _RUN.findall(text))
    return (run.lower() for run in runs if run)


def is_plain(word: str) -> bool:
    """Whether a word may stand in any shape: one of the list, or a short number."""
    return word in WORDS or _NUMBER.fullmatch(word) is not None


def _json(body: str) -> object:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _shape_of(value: object, known: frozenset[str], depth: int) -> object:
    match value:
        case bool() | None:
            return value
        case int() | float():
            return value if is_plain(str(value)) else HIDDEN
        case str():
            return _string(value, known)
        case list():
            return _list(value, known, depth)
        case dict():
            return _fields(value, known, depth)
    return HIDDEN


def _string(value: str, known: frozenset[str]) -> str:
    if "\n" in value.strip():
        return _lines(value, known)
    return _line(value, known) if value.strip() else ""


def _list(value: list[object], known: frozenset[str], depth: int) -> object:
    if not value or not depth:
        return [f"{HIDDEN} {len(value)} items"] if value else []
    first = _shape_of(value[0], known, depth - 1)
    return [first] if len(value) == 1 else [first, f"{HIDDEN} {len(value) - 1} more"]


def _fields(value: dict[str, object], known: frozenset[str], depth: int) -> object:
    if not depth:
        return {HIDDEN: f"{len(value)} fields"}
    named = [key for key in value if key.lower() in WORDS or key.lower() in known][:MOST_FIELDS]
    shown = {key: _shape_of(value[key], known, depth - 1) for key in named}
    left = len(value) - len(named)
    return {**shown, HIDDEN: f"{left} more fields"} if left else shown


def _lines(text: str, known: frozenset[str]) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= HEAD_LINES + TAIL_LINES + 1:
        return _joined((_line(line, known) for line in lines), lines)
    left = len(lines) - HEAD_LINES - TAIL_LINES
    head = [_line(line, known) for line in lines[:HEAD_LINES]]
    tail = [_line(line, known) for line in lines[-TAIL_LINES:]]
    return _joined((*head, f"({HIDDEN} {left} more lines)", *tail), lines)


def _joined(shown: Iterable[str], lines: list[str]) -> str:
    """The lines, or how many there are where nothing of them can be shown."""
    told = list(shown)
    if all(line in ("", HIDDEN) or line.startswith(f"({HIDDEN}") for line in told):
        characters = sum(map(len, lines))
        return f"({len(lines)} {'line' if len(lines) == 1 else 'lines'}, {characters} characters)"
    return "\n".join(told)


def _line(line: str, known: frozenset[str]) -> str:
    """A line, if every word of it may be told, else nothing of it: half a sentence is somebody's sentence still."""
    cut = line.strip()
    if len(cut) > LINE_CHARACTERS or not all(is_plain(word) or word in known for word in words(cut)):
        return HIDDEN
    return " ".join(_UNTOLD.sub(" ", cut).split())
