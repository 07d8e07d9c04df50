"""What a statement names, by form alone: code spans, links, fences and the shapes of paths and commands."""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from whet.lessons.statements.statement import Statement, StatementKind
from whet.sessions.shell_lines import WrittenStage, written
from whet.text.words import names

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
_VARIABLE = re.compile(r"^\$?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_SYMBOL = re.compile(r"^(?:[A-Za-z_]\w{0,60}(?:::|\.)){0,4}([A-Za-z_]\w{3,60})(?:\(\)|!)?$")
_CALLED = re.compile(r"(?<![\w./-])((?:\w+(?:::|\.))*\w{4,60})\(")
_JOINED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]")
_TREE = re.compile(r"[├└│]")
_PROMPT = re.compile(r"^\s*(?:\$|>|%)\s+")
_NOTE = re.compile(r"(?:^|\s)#.*$")
_PROGRAM = re.compile(r"^(?:\./|[a-z])[\w./-]*(?:\s|$)")
_SPEECH = re.compile(r"[\"“][^\"”\n]{1,400}[\"”]")
DOCUMENTS = (".md", ".mdx", ".markdown", ".rst", ".txt")
CREATING = ("mkdir", "touch", "tee")  # what POSIX has for making a path: its arguments need not be there


class ThingKind(StrEnum):
    """What a name is the name of, as its form tells."""

    PATH = "path"
    COMMAND = "command"
    PACKAGE = "package"
    VARIABLE = "variable"
    SYMBOL = "symbol"


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


@lru_cache(maxsize=32_768)  # every statement of a large audit is asked about several times
def symbols_in(statement: Statement) -> tuple[NamedThing, ...]:
    """The names of code in a sentence that are joined of several words, as no plain word is: alone, or called."""
    if statement.kind is StatementKind.CODE:  # an example may call what it likes
        return ()
    found: dict[str, NamedThing] = {}
    for number, line in enumerate(statement.text.split("\n"), statement.line):
        for text in (each.group(2) for each in _SPAN.finditer(line)):
            whole = symbol_in(text, number)
            for thing in (whole,) if whole else (symbol_in(word, number) for word in _CALLED.findall(text)):
                if thing and len(found) < MOST_NAMES:
                    found.setdefault(thing.text, thing)
    return tuple(found.values())


def symbol_in(text: str, line: int) -> NamedThing | None:
    """The name of code that a text is, its own part where it is one of another; in capitals alone, a variable."""
    found = _SYMBOL.match(text.strip())
    if not found or not _JOINED.search(found[1]) or is_placeholder(found[1]):
        return None
    return NamedThing(ThingKind.VARIABLE if found[1].isupper() else ThingKind.SYMBOL, found[1], line)


def stages_of(command: str) -> tuple[WrittenStage, ...]:
    """The simple commands of a line of the shell, without what is said beside it."""
    return written(_NOTE.sub("", _PROMPT.sub("", command)))


def imports_in(text: str) -> tuple[str, ...]:
    """The files that a text asks its reader to read along, by `@path` outside of code."""
    found = (each.group(1).rstrip(".,") for line in _outside_code(text, "@") for each in _IMPORT.finditer(line))
    return tuple(dict.fromkeys(each for each in found if _names_file(each)))


def links_in(text: str) -> tuple[str, ...]:
    """The documents that a text links to as files, outside of code: what its reader may follow."""
    found = (each.group(1) for line in _outside_code(text, "](") for each in _LINK.finditer(line))
    return tuple(dict.fromkeys(each for each in found if "://" not in each and extension_of(each) in DOCUMENTS))


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
    elif _VARIABLE.match(text):
        yield NamedThing(ThingKind.VARIABLE, text.lstrip("$"), line)
    elif _PACKAGE.match(text):
        yield NamedThing(ThingKind.PACKAGE, text, line)
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
