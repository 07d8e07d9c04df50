"""Simple calls: each command of a shell line, or one call of another tool, as words that can be compared."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile
from typing import NamedTuple

from whet.sessions.call_effects import Effect, effect_of_name, probes
from whet.sessions.shell_lines import SHELLS, Stage, written
from whet.sessions.tool_families import Family, arguments_of, command_of, family_of
from whet.text.words import names
from whet.trouble.outcomes.purposes import is_shell, path_of
from whet.trouble.outcomes.view import JudgedCall
from whet.values import Value

MOST_STAGES = 6
MOST_WORDS = 24
_QUOTES = "\"'"
WORD_LETTERS = 120
FOLDER_KEYS = ("workdir", "cwd", "working_directory", "working_dir")
PURPOSE_KEYS = ("description", "justification", "explanation")  # what a call is said to be for
LOOKERS = frozenset({Family.READ, Family.SEARCH, Family.NEUTRAL})
# What a shell line does with texts and with itself; none of it touches anything.
PLUMBING = names(
    "echo printf head tail true sleep wait cat sed awk wc sort uniq cut tr tee pwd less jq xargs basename dirname date"
)
# The words of the shell's grammar that begin no command of their own.
GRAMMAR = frozenset(
    ("for", "do", "done", "while", "until", "if", "then", "else", "elif", "fi", "case", "esac", "{", "}")
)
INTERPRETERS = SHELLS | {"pwsh", "powershell"}
CHANGE_FOLDER = ("cd", "pushd", "chdir", "Set-Location", "sl")
# How shells set a variable for what comes after: `export A=b`, `set A=b`, `set -x A b`, `$env:A = "b"`, `env A=b`.
SETTERS = ("export", "set", "setx", "env", "setenv", "declare")
# The commands of git that tell what is, and change nothing.
TELLING = names("status log diff show blame describe rev-parse ls-remote ls-tree shortlog reflog")
_COMMAND = re.compile(r"(?i)^-(?:[a-z]*c|command)$")
_DRIVE = re.compile(r"^[A-Za-z]:/")
_ENVIRONMENT = re.compile(r"(?i)^\$env:(\w+)=?(.*)$")
_ARGUMENT = re.compile(r"^[A-Za-z]\w*=")
_ASSIGNED = re.compile(r"^[A-Za-z_]\w*=")
_REDIRECTED = re.compile(r"^\d?(?:>>?|<)(?!&)|^&>")
_JOINED = re.compile(r"^\d?(?:>>?|<|&>>?)$")
_WRITTEN = re.compile(r"^1?>>? ?(?!/dev/|&)[^ >]")
_COPIED = re.compile(r"^\d?>&\d$")
_NAME = re.compile(r"[/=:@,?&#\s\"'(){}\[\]]|\.{2,}")
_PATH = re.compile(r"[=:@,?&#\s\"'(){}\[\]]|\.{2,}")


class SimpleCall(Value, frozen=True):
    """One command or tool call: its words, the folder that it names for itself, and the variables set for it."""

    words: tuple[str, ...]
    folder: str = ""
    settings: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        return self.words[0].rsplit("/", 1)[-1] if self.words else ""


class CallInParts(NamedTuple):
    """A call of a session as simple calls, and whether it only looks."""

    parts: tuple[SimpleCall, ...]
    looks_at_files: bool = False
    edits: bool = False


def in_parts(step: JudgedCall, folder: str) -> CallInParts:
    """The simple calls that a call is made of. `folder` is that of the session: places are told from there."""
    arguments = arguments_of(step.exchange.call)
    if is_shell(step):
        given = next((value for key in FOLDER_KEYS if isinstance(value := arguments.get(key), str)), "")
        parts = tuple(_of_line(command_of(step.exchange.call), relative(given, folder), folder))[:MOST_STAGES]
        return CallInParts(parts, not any(map(is_step, parts)))
    family = family_of(step.exchange.call)
    edits = family is Family.EDIT or (family is Family.WRITE and bool(path_of(step)))  # others may create anything
    words = (step.tool, *(_argument(key, value, folder) for key, value in arguments.items() if key not in PURPOSE_KEYS))
    return CallInParts((SimpleCall(words[:MOST_WORDS]),), family in LOOKERS, edits)


def is_step(call: SimpleCall) -> bool:
    """Whether a command can have changed something: it does not only look, and it is no plumbing of a shell line."""
    if not call.words or (call.program in PLUMBING and not _writes(call.words)):
        return False
    return not probes(Stage(call.program, call.words, ""))


def is_idle(call: SimpleCall, failed: SimpleCall) -> bool:
    """Whether a call only told something where the failed one was to change or to make something."""
    if is_tool(call):
        is_change = is_tool(failed) and effect_of_name(failed.words[0]) is Effect.CHANGES
        return is_change and effect_of_name(call.words[0]) is Effect.READS
    return _tells(call) and not _tells(failed)


def _tells(call: SimpleCall) -> bool:
    return call.program == "git" and next((word for word in call.words[1:] if word[0:1] != "-"), "") in TELLING


def is_tool(call: SimpleCall) -> bool:
    """Whether a call is one of a tool with named arguments, and no command."""
    return len(call.words) > 1 and all(_ARGUMENT.match(word) for word in call.words[1:])


@lru_cache(maxsize=1 << 15)
def parts_of(words: tuple[str, ...]) -> frozenset[str]:
    """The words of a call and what they are made of: `HEAD:env/next` of `env/next`, and that of `env` and `next`."""
    return frozenset[str]().union(*map(_parts_of_word, words))


@lru_cache(maxsize=1 << 16)
def _parts_of_word(word: str) -> frozenset[str]:
    paths = {word, *_PATH.split(word)}
    return frozenset(part for path in paths for part in (path, *_NAME.split(path)) if len(part) > 1)


def relative(path: str, folder: str) -> str:
    """A path as told from the folder of the session, empty where it is that folder."""
    plain, root = _plain_path(path), _plain_path(folder)
    if root and (plain.lower() == root.lower() or plain.lower().startswith(f"{root.lower()}/")):
        plain = plain[len(root) + 1 :]
    return "" if plain == "." else plain.removeprefix("./")


def _plain_path(path: str) -> str:
    """A path of any system in one spelling: `D:\\a`, `D:/a` and `/d/a` are the same place."""
    plain = path.replace("\\", "/").rstrip("/")
    return f"/{plain[0].lower()}{plain[2:]}" if _DRIVE.match(plain) else plain


def shown(call: SimpleCall) -> str:
    """The call as one would type it."""
    words = " ".join(" ".join((*call.settings, *(f'"{word}"' if " " in word else word for word in call.words))).split())
    return f"cd {call.folder} && {words}" if call.folder else words


def is_setting(call: SimpleCall) -> bool:
    """Whether a command only sets variables."""
    return bool(call.words) and (call.words[0] in SETTERS or _ENVIRONMENT.match(call.words[0]) is not None)


def settings_in(words: Sequence[str]) -> Iterator[str]:
    """The variables that such a command sets, each as `A=b`."""
    plain = [word for word in words if word not in (*SETTERS, "=") and not word.startswith("-")]
    if plain and (found := _ENVIRONMENT.match(plain[0])):
        value = found[2] or " ".join(plain[1:2])
        plain = [f"{found[1]}={value.strip(_QUOTES)}"]
    elif len(plain) == 2 and "=" not in plain[0]:
        plain = [f"{plain[0]}={plain[1]}"]
    return (word[:WORD_LETTERS] for word in plain if _ASSIGNED.match(word))


def _of_line(command: str, given: str, folder: str) -> Iterator[SimpleCall]:
    """The commands of a line without filters behind pipes and without where their output goes."""
    place, is_piped = given, False
    set_before: tuple[str, ...] = ()
    for stage in written(command):
        words = stage.words
        piped, is_piped = is_piped, stage.joiner == "|"
        if (line := _line_within(words)) is not None:
            before = tuple(takewhile(_ASSIGNED.match, words))  # set for the shell that runs the line
            for each in _of_line(line, place, folder):
                yield SimpleCall(each.words, each.folder, (*before, *each.settings))
            continue
        plain, settings = _plainly(words, folder)
        if not plain or plain[0] in GRAMMAR or (plain[0] in PLUMBING and (piped or is_piped) and not _writes(plain)):
            set_before += settings if not plain else ()
            continue
        call = SimpleCall(plain, place, (*set_before, *settings))
        if plain[0] in CHANGE_FOLDER and len(plain) == 2 and stage.joiner:
            place = _moved(place, relative(plain[1], folder))
        elif is_setting(call) and stage.joiner:
            set_before += tuple(settings_in(plain))
        else:
            yield call


def _line_within(words: tuple[str, ...]) -> str | None:
    """The line that a shell is given to run, as in `bash -lc "make test"`; None where none is."""
    plain = tuple(dropwhile(_ASSIGNED.match, words))
    if not plain or plain[0].rsplit("/", 1)[-1].lower().removesuffix(".exe") not in INTERPRETERS:
        return None
    place = next((place for place, word in enumerate(plain[1:-1], 1) if _COMMAND.match(word)), None)
    return None if place is None else plain[place + 1]


def _plainly(words: tuple[str, ...], folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a command as told from the folder, without where its output goes; and the variables set for it."""
    plain = tuple((word.replace(f"{folder}/", "") if folder else word)[:WORD_LETTERS] for word in words)
    if plain[:1] == ("env",) and any(map(_ASSIGNED.match, plain[1:2])):
        plain = plain[1:]
    settings = tuple(takewhile(_ASSIGNED.match, plain))
    plain = plain[len(settings) :]
    is_kept = bool(plain) and plain[0] in PLUMBING and _writes(plain)
    return (plain if is_kept else _without_output(plain))[:MOST_WORDS], settings


def _moved(place: str, to: str) -> str:
    if not place or to.startswith(("/", "~")):
        return to
    return f"{place}/{to}" if to else place


def _writes(words: tuple[str, ...]) -> bool:
    """Whether a command writes into a file: by `sed -i`, or because its output goes there."""
    if words[0] == "sed" and any(word.startswith(("-i", "--in-place")) for word in words):
        return True
    return any(_WRITTEN.match(f"{word} {after}") for word, after in zip(words, (*words[1:], ""), strict=True))


def _without_output(words: tuple[str, ...]) -> tuple[str, ...]:
    kept: list[str] = []
    skips = False
    for word in words:
        if skips:
            skips = False
        elif _JOINED.match(word):
            skips = True
        elif not _REDIRECTED.match(word) and not _COPIED.match(word):
            kept.append(word)
    return tuple(kept)


def _argument(key: str, value: object, folder: str) -> str:
    text = " ".join(str(value).split())
    if folder and text.startswith(folder):
        text = relative(text, folder) or "."
    return f"{key}={text}"[:WORD_LETTERS]
