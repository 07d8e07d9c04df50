"""What a call was for, so that the one that worked can be told from the one that merely came next."""

import re

from whet.sessions.shell_lines import Stage, split
from whet.sessions.tool_families import Family, arguments_of, command_of, family_of
from whet.text.likeness import similarity
from whet.text.words import key_words
from whet.trouble.outcomes.view import JudgedCall

SAME_PURPOSE = 0.34  # of the words of both commands
PROGRAM_WORDS = 8
COMMAND_SHOWN = 300
PATTERN_SHOWN = 80
PATH_KEYS = ("file_path", "path", "notebook_path", "filename", "absolute_path", "target_file")
FIXING = frozenset(("--fix", "--write", "--apply", "--autofix", "--auto-correct", "--autocorrect"))
_SUFFIX = re.compile(r"[:_-]fix$")
_REDIRECTION = re.compile(r"^(?:\d?>|&>|<)")
ASIDES = frozenset(("cd", "echo", "export", "head", "tail", "grep", "true", "sleep", "cat", "sed", "awk", "wc"))


def is_shell(step: JudgedCall) -> bool:
    return family_of(step.exchange.call) is Family.SHELL


def shown_call(step: JudgedCall) -> str:
    """A call in one line: the command, or the tool with its path or its first argument."""
    if is_shell(step):
        return " ".join(command_of(step.exchange.call).split())[:COMMAND_SHOWN]
    arguments = arguments_of(step.exchange.call)
    if family_of(step.exchange.call) is Family.SEARCH and isinstance(pattern := arguments.get("pattern"), str):
        return f"{step.tool} {pattern[:PATTERN_SHOWN]} in {path_of(step) or '.'}"
    values = (text for value in arguments.values() if (text := _in_words(value)))
    shown = path_of(step) or next(values, "")
    return f"{step.tool} {' '.join(shown.split())[:COMMAND_SHOWN]}".strip()


def path_of(step: JudgedCall) -> str:
    arguments = arguments_of(step.exchange.call)
    return next((value for key in PATH_KEYS if isinstance(value := arguments.get(key), str)), "")


def program_of(step: JudgedCall) -> str:
    """The program that a command is about: the first that is no aside."""
    if not is_shell(step):
        return step.tool
    stages = split(command_of(step.exchange.call))
    return next((stage.program for stage in stages if stage.program not in ASIDES), "")


def is_same_purpose(step: JudgedCall, other: JudgedCall) -> bool:
    """Whether two calls try the same: commands that share their words, or one tool on files of the same name."""
    if is_shell(step) and is_shell(other):
        one, two = _purpose(step), _purpose(other)
        return similarity(one, two) >= SAME_PURPOSE
    if other.tool != step.tool:
        return False
    own, theirs = path_of(step), path_of(other)
    if not own and not theirs:
        one, two = _given(step), _given(other)
        return similarity(one, two) >= SAME_PURPOSE
    return bool(own and theirs) and (own == theirs or _stem(own) == _stem(theirs))


def mends(command: str) -> bool:
    """Whether a command tells a check to put right what it finds."""
    return any(FIXING & {*words} or any(map(_SUFFIX.search, words)) for words in map(_told, split(command)))


def _told(stage: Stage) -> tuple[str, ...]:
    """The words of a command, without where its output goes."""
    return tuple(word for word in stage.words if not _REDIRECTION.match(word))


def _in_words(value: object) -> str:
    """A value of an argument where it is a text or a list of texts."""
    texts = value if isinstance(value, list) else [value]
    return " ".join(text for text in texts if isinstance(text, str))


def _given(step: JudgedCall) -> frozenset[str]:
    """The words that a tool was given, without folders."""
    values = map(str, arguments_of(step.exchange.call).values())
    return frozenset(word.rsplit("/", 1)[-1] for value in values for word in key_words(value))


def _stem(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0].lower()


def _purpose(step: JudgedCall) -> frozenset[str]:
    """The programs of a command and their plain words, without folders."""
    return frozenset(
        word.rsplit("/", 1)[-1].lower()
        for stage in split(command_of(step.exchange.call))
        if stage.program not in ASIDES
        for word in stage.words[:PROGRAM_WORDS]
        if len(word) > 1
    )
