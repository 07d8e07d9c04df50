"""Named checks: commands that a project's own errors, or the person, name as the way to run its tests."""

import re2

from whet.sessions.arguments import command_of
from whet.sessions.call_effects import check_named
from whet.sessions.shell_lines import CHECKERS, RUNNERS, WrittenStage, written
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import ToolCall
from whet.text.words import names
from whet.trouble.outcomes.error_forms import has_any

EntryHead = tuple[str, ...]  # the words with which a command begins
LOOKED_AT = 6_000
MOST_WORDS = 4
_ADVISED = re2.compile(
    r"(?im)^\W*(?:use|usage|run|try) ?: *(\S[^\n]{0,120})|\b(?:use|run|try) (?:[`'\"])([^`'\"\n]{3,120})[`'\"]"
)
_WITH = re2.compile(r"(?i)\btests?\b[^\n.;:]{0,60}?\b(?:with|by|using|via|through) ([`'\"]?[\w./-][^\n`'\"]{2,120})")
_USED = re2.compile(r"(?i)\b(?:use|run) ([`'\"]?[\w./-][^\n`'\"]{2,60}?)[`'\"]? (?:to|for)\b[^\n.;:]{0,40}?\btest")
_WORD = re2.compile(r"[\w./:@=+-]+")
_ENDS = names("and or then instead not before after in for on from when if to which because so again please first")
_SCRIPTS = (".sh", ".py", ".js", ".ts")


def named_in_error(text: str) -> set[EntryHead]:
    """The commands for tests that the output of a failed check advises: "Use: ./dev test MODULE"."""
    telling = _lines_with(text, "use", "run", "try", "usage")
    advised = (group for found in _ADVISED.finditer(telling) for group in found.groups() if group)
    heads = {head for told in advised if (head := _head(told)) and any(map(check_named, head[1:]))}
    return heads | named_by_person(text)


def named_by_person(text: str) -> set[EntryHead]:
    """The commands that a text names as the way to test: "run the tests with ./dev test"."""
    if "test" not in text and "Test" not in text:
        return set()
    telling = _lines_with(text, "test")
    told = (found.group(1) for form in (_WITH, _USED) for found in form.finditer(telling))
    return {head for each in told if (head := _head(each))}


def _lines_with(text: str, *words: str) -> str:
    """The lines of the beginning of a text that have one of the words: no form reaches beyond its line."""
    lines = text[:LOOKED_AT].split("\n")
    return "\n".join([line for line in lines if has_any(line.lower(), words)])


def is_named(call: ToolCall, named: set[EntryHead]) -> bool:
    """Whether a call runs one of these commands."""
    if not named or family_of(call) is not Family.SHELL:
        return False
    return any(_begins(stage, head) for stage in written(command_of(call)) for head in named)


def _begins(stage: WrittenStage, head: EntryHead) -> bool:
    return any(stage.words[start : start + len(head)] == head for start in range(stage.program + 1))


def _head(told: str) -> EntryHead:
    """The words of a command up to what stands for something else; nothing where they could be any program's."""
    quoted = told[:1] in "`'\""
    words: list[str] = []
    for word in told.strip("`'\" ").split()[:MOST_WORDS]:
        plain = word.rstrip(".,;:!?)`'\"")
        is_placeholder = len(plain) > 1 and plain.isupper()
        if is_placeholder or not _WORD.fullmatch(plain) or (not quoted and words and plain.lower() in _ENDS):
            break
        words.append(plain)
        if plain != word:
            break
    if not words:
        return ()
    is_own = "/" in words[0] or words[0].endswith(_SCRIPTS)
    is_known = words[0] in RUNNERS | CHECKERS and len(words) > 1
    return tuple(words) if is_own or is_known else ()
