"""A file for agents split into its statements in one pass, and what a statement names, by form alone.

Statements are paragraphs, items, rows of tables, fenced blocks; names are code spans, links, shapes of paths and
commands.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from whet.ledger.marked_block import BEGIN, END
from whet.lessons.statements.audit import Statement, StatementKind
from whet.sessions.shell_lines import WrittenStage, written
from whet.text.words import estimate, names

MOST_NAMES = 200
LONGEST = 200
WINDOWS = names("ps1 powershell pwsh cmd bat")
SHELL = names("bash sh shell zsh fish console terminal shell-session shellsession") | WINDOWS
MOSTLY = 0.7
_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,400})\1(?!`)")
_LINK = re.compile(r"\]\(<?([^()\s>#]{1,300})(?=[)\s>#])")
_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:~|\.{0,2})/?[\w.-][\w./-]{0,200})")
_BARE = re.compile(
    r"(?<![\w`./@:~$<{*-])(?:\.{1,2}/)?(?:[\w.-]{1,80}/){1,12}[\w-][\w.-]{0,80}\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w/*{<-])"
)
_PLACEHOLDER = re.compile(
    r"[<>{}$*?|=()\[\]\"'!,;%^]|\.\.\.|…|(?<![A-Za-z])(?:YYYY|N{2,}(?![A-Za-z])|X{2,}(?![A-Za-z])|x{3,}(?![a-z]))"
)
_HOST = re.compile(r"^(?:\w[\w-]*\.)+[a-z]{2,}/")
_TAIL = re.compile(r"(?::\d+(?:[-:,]\d+)*|::[\w.:\[\]-]+|:[A-Za-z_]\w*(?:\(\))?|#[\w.-]+)$")
_PATH = re.compile(r"^(?:\.{1,2}/)?[\w@.+~-]+(?:/[\w@.+~-]+)*/?$")
_PACKAGE = re.compile(r"^@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*$")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_TREE = re.compile(r"[├└│]")
_PROMPT = re.compile(r"^\s*(?:\$|>|%)\s+")
_NOTE = re.compile(r"(?:^|\s)#.*$")
_PROGRAM = re.compile(r"^(?:\./|[a-z])[\w./-]*(?:\s|$)")
_SPEECH = re.compile(r"[\"“][^\"”\n]{1,400}[\"”]")
DOCUMENTS = (".md", ".mdx", ".markdown", ".rst", ".txt")
CREATING = ("mkdir", "touch", "tee")  # what POSIX has for making a path: its arguments need not be there
MOST_STATEMENTS = 10_000
LONGEST_LINE = 20_000
HEADINGS = " › "
_FENCE = re.compile(r"^[ \t]{0,12}(?P<sign>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_ITEM = re.compile(r"^([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$")
_RULE = re.compile(r"^[ \t]*[-|:=*_ \t]{3,}$")
_COMMENT_ENDS = "-->"


class ThingKind(StrEnum):
    """What a name is the name of, as its form tells."""

    PATH = "path"
    COMMAND = "command"


class NamedThing(NamedTuple):
    """One name in a statement and the line of the file on which it stands."""

    kind: ThingKind
    text: str
    line: int
    is_certain: bool = True  # its form can mean nothing else
    is_link: bool = False  # the reader is sent there


@lru_cache(maxsize=32_768)  # every statement of a large audit is asked about several times
def things_in(statement: Statement) -> tuple[NamedThing, ...]:
    """What a statement names, each thing once."""
    found = _in_code(statement) if statement.kind is StatementKind.CODE else _in_words(statement)
    once: dict[tuple[ThingKind, str], NamedThing] = {}
    for thing in found:
        known = once.setdefault((thing.kind, thing.text), thing)
        if thing.is_link and not known.is_link:
            once[thing.kind, thing.text] = thing
        if len(once) >= MOST_NAMES:
            break
    return tuple(once.values())


def without_code(statement: Statement) -> str:
    """What a sentence says beside its code."""
    return _SPAN.sub(" ", statement.text)


def code_in(statement: Statement) -> tuple[str, ...]:
    """What stands in code in a sentence, as it is written."""
    return tuple(dict.fromkeys(span.group(2).strip() for span in _SPAN.finditer(statement.text)))


def stages_of(command: str) -> tuple[WrittenStage, ...]:
    """The simple commands of a line of the shell, without what is said beside it."""
    return written(_NOTE.sub("", _PROMPT.sub("", command)))


def imports_in(text: str) -> tuple[str, ...]:
    """The files that a text asks its reader to read along, by `@path` outside of code."""
    found = (each.group(1).rstrip(".,") for line in _outside_code(text, "@") for each in _IMPORT.finditer(line))
    return tuple(dict.fromkeys(each for each in found if _names_file(each)))


def _outside_code(text: str, sign: str) -> Iterator[str]:
    """The lines with this sign that are not fenced, without what stands in code."""
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and sign in line:
            yield _SPAN.sub(" ", line)


def is_placeholder(text: str) -> bool:
    """Whether a word stands for many: a pattern, a variable, an example to fill in."""
    return _PLACEHOLDER.search(text) is not None


def extension_of(path: str) -> str:
    """What a name ends with after its last dot; nothing where it has none, or is nothing else."""
    name = path.rsplit("/", 1)[-1]
    found = _EXTENSION.search(name)
    return found.group().lower() if found and found.start() > 0 else ""


def path_in(text: str, line: int) -> NamedThing | None:
    """The path that a text is, where it can be one of this repository."""
    return next(_path(text, line), None)


def _names_file(path: str) -> bool:
    return bool(extension_of(path)) or "/" in path.strip("/")


def _in_words(statement: Statement) -> Iterator[NamedThing]:
    for number, line in enumerate(statement.text.split("\n"), statement.line):
        spoken = [found.span() for found in _SPEECH.finditer(line)] if "`" in line else []
        for span in _SPAN.finditer(line):
            is_spoken = any(start < span.start() and span.end() + 1 < end for start, end in spoken)
            for thing in _of_span(span.group(2).strip(), number):
                if not is_spoken or thing.kind is not ThingKind.PATH:  # what is to be said, not what is
                    yield thing
        plain = _SPAN.sub(" ", line)
        for imported in imports_in(line):
            yield from _path(imported, number)
        for link in _LINK.finditer(plain):
            target = link.group(1)
            if "://" not in target and not target.startswith(("mailto:", "/")):
                yield from (thing._replace(is_link=True) for thing in _path(target, number))
        for bare in _BARE.finditer(_LINK.sub(" ", plain)):
            yield from _path(bare.group(), number)


def _in_code(statement: Statement) -> Iterator[NamedThing]:
    """Of a fenced block: its commands where it is one of the shell; other code says what it says elsewhere."""
    body = statement.text.split("\n")[1:]
    is_shell = statement.language in SHELL or (not statement.language and not any(_TREE.search(line) for line in body))
    if not is_shell:
        return
    written = [
        (number, _NOTE.sub("", _PROMPT.sub("", line)).strip())
        for number, line in _joined(body, statement.line + 1)
        if line.strip() and not line.lstrip().startswith(("#", "```", "~~~"))
    ]
    # Names of programs begin with a small letter. Without a language a line may be anything, a message too; a block
    # with many lines that are no commands shows what is said and printed.
    commands = [each for each in written if statement.language in WINDOWS or _PROGRAM.match(each[1])]
    if statement.language and len(commands) < MOSTLY * len(written):
        return
    for number, command in written if statement.language else commands:
        yield from _of_command(command, number)


def _joined(lines: Iterable[str], number: int) -> Iterator[tuple[int, str]]:
    """Lines that go on are one, and the bodies of here-documents are none."""
    held, start = "", 0
    for place, line in enumerate(lines, number):
        start = start if held else place
        held += line
        if held.endswith("\\") and len(held) < 4 * LONGEST:
            held = held[:-1]
            continue
        yield start, held
        held = ""


def _of_span(text: str, line: int) -> Iterator[NamedThing]:
    if not text or len(text) > 2 * LONGEST:
        return
    if any(letter.isspace() for letter in text):
        yield from _of_command(text, line)
    else:
        yield from _path(_without_tree(text), line)


def _of_command(text: str, line: int) -> Iterator[NamedThing]:
    if _TREE.search(text) or not text:
        yield from _path(_without_tree(text), line)
        return
    yield NamedThing(ThingKind.COMMAND, text, line)
    for stage in stages_of(text):
        words = stage.words[stage.program :]
        for word in words if words[:1] and words[0] not in CREATING else ():
            if "/" in word and not word.startswith("-"):
                yield from _path(word, line)


def _without_tree(text: str) -> str:
    return re.sub(r"[├└│─\s]+", "", text)


def _path(text: str, line: int) -> Iterator[NamedThing]:
    """A path as its words give it, with slashes; nothing where it can be none of this repository."""
    if text.endswith(("...", "…")):
        return
    plain = _TAIL.sub("", text.strip().rstrip(".,;:"))
    if "\\" in plain and _EXTENSION.search(plain):
        plain = plain.replace("\\", "/")
    if "*" in plain and "/" in plain:  # what a pattern is for lies in the folder before it
        head = plain.split("*", 1)[0]
        plain = head[: head.rfind("/") + 1]
    if not plain or len(plain) > LONGEST or is_placeholder(plain) or not _PATH.match(plain):
        return
    if plain.startswith(("/", "~", "../", "-")) or _PACKAGE.match(plain) or _HOST.match(plain) or "@" in plain:
        return
    inner = plain.removeprefix("./")
    is_path = "/" in inner.rstrip("/") or bool(extension_of(inner)) or inner.startswith(".") or inner.endswith("/")
    if is_path and inner.strip("./"):
        is_certain = bool(extension_of(inner)) or inner.endswith("/") or plain.startswith("./")
        yield NamedThing(ThingKind.PATH, inner, line, is_certain and "/" in inner)


class _Open(NamedTuple):
    """A statement that goes on: its lines, and how far its item is indented."""

    line: int
    kind: StatementKind
    lines: list[str]
    indent: int = 0


class _Splitter:
    """What is known while the lines of one file go by."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.headings: list[tuple[int, str]] = []
        self.open: _Open | None = None

    def close(self, language: str = "") -> Iterator[Statement]:
        done, self.open = self.open, None
        if done is None:
            return
        text = "\n".join(done.lines).rstrip()
        heading = HEADINGS.join(words for _, words in self.headings)
        last = done.line + len(text.split("\n")) - 1
        yield Statement(self.file, done.line, last, text, done.kind, heading, language, estimate(text + "\n"))

    def take(self, number: int, line: str) -> Iterator[Statement]:
        """One line outside of fences and comments."""
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if not line.strip():
            yield from self.close() if self.open and self.open.kind is not StatementKind.ITEM else ()
            if self.open:  # an item may go on after a blank line, with what is indented
                self.open.lines.append(line)
        elif heading:
            yield from self.close()
            level = len(heading[1])
            self.headings = [*(each for each in self.headings if each[0] < level), (level, heading[2])]
        elif _ROW.match(line):
            yield from self.close()
            if not _RULE.match(line):
                self.open = _Open(number, StatementKind.ROW, [line])
                yield from self.close()
        elif item:
            yield from self.close()
            self.open = _Open(number, StatementKind.ITEM, [line], len(item[1].expandtabs(4)))
        else:
            yield from self._go_on(number, line)

    def _go_on(self, number: int, line: str) -> Iterator[Statement]:
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        is_after_blank = self.open is not None and not self.open.lines[-1].strip()
        if self.open and is_after_blank and indent <= self.open.indent:
            yield from self.close()
        if self.open:
            self.open.lines.append(line)
        elif not _RULE.match(line):
            self.open = _Open(number, StatementKind.LINE, [line])


def split_statements(file: str, text: str, *, most: int = MOST_STATEMENTS) -> tuple[Statement, ...]:
    """The statements of a file, in their order. Whet's own block, comments and front matter are none."""
    found: list[Statement] = []
    for statement in _statements(_Splitter(file), text):
        found.append(statement)
        if len(found) >= most:
            break
    return tuple(found)


def _statements(splitter: _Splitter, text: str) -> Iterator[Statement]:
    lines = [line[:LONGEST_LINE] for line in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")]
    number, closing = _after_front_matter(lines), _Closings(lines)
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line)
        if fence:
            yield from splitter.close()
            end = _end_of_fence(lines, number, fence["sign"])
            splitter.open = _Open(number + 1, StatementKind.CODE, lines[number : end + 1])
            yield from splitter.close(fence["language"].lower())
            number = end
        elif line.lstrip().startswith("<!--"):
            yield from splitter.close()
            number = closing.of_comment(number)
        else:
            yield from splitter.take(number + 1, line)
        number += 1
    yield from splitter.close()


def _after_front_matter(lines: list[str]) -> int:
    if lines[0].rstrip() != "---":
        return 0
    return next((place + 1 for place, line in enumerate(lines[1:200], 1) if line.rstrip() == "---"), 0)


def _end_of_fence(lines: list[str], start: int, sign: str) -> int:
    """The line that closes a fence; one that none closes reaches to the end of the file."""
    for place in range(start + 1, len(lines)):
        plain = lines[place].strip()
        if plain.startswith(sign) and not plain.strip(sign[0]):
            return place
    return len(lines) - 1


class _Closings:
    """Where comments end, found in one pass over the lines from the last to the first."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._next: list[tuple[int, int]] = []  # from each line on: the next end of a comment, and of Whet's block
        comment = block = -1
        for place in range(len(lines) - 1, -1, -1):
            comment = place if _COMMENT_ENDS in lines[place] else comment
            block = place if _is_marker(END, lines[place]) else block
            self._next.append((comment, block))
        self._next.reverse()

    def of_comment(self, start: int) -> int:
        """The last line of a comment; Whet's block is taken for one, for its rules are in the ledger."""
        end = self._next[start][_is_marker(BEGIN, self._lines[start])]
        return max(end, start)  # one that nothing closes hides its first line alone


def _is_marker(form: re.Pattern[bytes], line: str) -> bool:
    return "whet:" in line and form.match(line.strip().encode("utf-8", "replace")) is not None
