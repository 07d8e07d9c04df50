"""Reconstruction: the files that a session worked on, as they were before and after it, from its record alone."""

import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import NamedTuple

from whet.sessions.arguments import arguments_of, command_of
from whet.sessions.call_effects import Effect
from whet.sessions.lineage import is_ordered
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Exchange, Transcript
from whet.trials.cases import is_inside
from whet.trouble.outcomes.view import JudgedCall, SessionView, gather

PATHS = ("path", "file_path", "filename", "file", "filePath", "target_file")
CONTENTS = ("content", "contents", "file_text", "text", "code_edit")
OLD_TEXTS = ("old", "old_string", "old_str", "oldString")
NEW_TEXTS = ("new", "new_string", "new_str", "newString")
# Some agents show a file with its line numbers; that is their form, not the file's.
NUMBERED = re.compile(r"^\s*(\d+)(?:\t|→|\||: ?)")
MOST_FILES = 50


class Rebuilt(NamedTuple):
    """The files before and after, or why they cannot be known."""

    before: dict[str, str]
    after: dict[str, str]
    fault: str = ""


class Recovered(NamedTuple):
    """A check that failed in a session and passed later."""

    command: str
    failed: Exchange
    passed: Exchange


def recovered_check(transcript: Transcript) -> Recovered | None:
    """The last test, build or lint of a session that first failed and later passed, as the same command."""
    failed: dict[str, Exchange] = {}
    found: Recovered | None = None
    for step in gather(transcript).steps:
        command = command_of(step.exchange.call).strip() if step.effect is Effect.CHECKS else ""
        if not command:
            continue
        if step.failed:
            failed.setdefault(command, step.exchange)
        elif step.worked and command in failed:
            found = Recovered(command, failed[command], step.exchange)
    return found


def asked(transcript: Transcript) -> str:
    """What the agent was to do first, in the words of whoever ordered it; nothing where no order is on record."""
    return next((each.text for each in transcript.messages if is_ordered(each) and each.text.strip()), "")


def rebuilt(transcript: Transcript, *, until: int, held: Callable[[str], str | None] = lambda _: None) -> Rebuilt:
    """The files that the session read, wrote and edited up to a message; `held` says what a file held before, if known.

    Whatever changed files without showing how makes the whole unknown: a guess would be a bad case.
    """
    evidence = gather(transcript)
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    for step in _until(evidence, until):
        fault = _take(step, transcript.folder, before, after, held)
        if fault:
            return Rebuilt({}, {}, fault)
    known = {path: text for path, text in before.items() if text is not None}
    ended = {path: text for path, text in after.items() if text is not None}
    if not ended:
        return Rebuilt({}, {}, "the session shows no file that it wrote")
    if len(ended) > MOST_FILES:
        return Rebuilt({}, {}, f"it worked on more than {MOST_FILES} files")
    return Rebuilt(known, ended)


def _until(evidence: SessionView, until: int) -> Iterable[JudgedCall]:
    return (step for step in evidence.steps if step.worked and step.message < until)


def _take(
    step: JudgedCall,
    folder: str,
    before: dict[str, str | None],
    after: dict[str, str | None],
    held: Callable[[str], str | None],
) -> str:
    """Take one step that worked into account; gives why the files cannot be known, if so."""
    family = family_of(step.exchange.call)
    if family not in (Family.READ, Family.WRITE, Family.EDIT):
        return ""
    arguments = arguments_of(step.exchange.call)
    path = _inside(_first(arguments, PATHS), folder)
    if not path:
        return "" if family is Family.READ else f"{step.tool} changed a file that is not named or lies outside"
    match family:
        case Family.READ:
            if path not in after and _is_whole(arguments, step.text):
                before[path] = after[path] = _plain(step.text)
        case Family.WRITE:
            content = _first(arguments, CONTENTS)
            if content is None:
                return f"{step.tool} changed {path} and does not show how"
            before.setdefault(path, None)
            after[path] = content
        case Family.EDIT:
            old, new, text = _first(arguments, OLD_TEXTS), _first(arguments, NEW_TEXTS), after.get(path, held(path))
            if not old or new is None or text is None or old not in text:
                return f"what {path} held before {step.tool} changed it is not on record"
            after[path] = text.replace(old, new) if arguments.get("all") else text.replace(old, new, 1)
    return ""


def _is_whole(arguments: dict[str, object], text: str) -> bool:
    asked_for_part = any(key in arguments for key in ("offset", "limit", "view_range", "start_line"))
    return not asked_for_part and not text.rstrip().endswith("]")  # so agents say that more follows


def _first(arguments: dict[str, object], names: Iterable[str]) -> str | None:
    return next((value for name in names if isinstance(value := arguments.get(name), str)), None)


def _inside(path: str | None, folder: str) -> str:
    """The path within the session's folder; nothing for one that is elsewhere."""
    if not path:
        return ""
    given = PurePosixPath(path)
    if given.is_absolute():
        if not folder or not given.is_relative_to(folder):
            return ""
        given = given.relative_to(folder)
    plain = str(given)
    return plain if is_inside(plain) else ""


def _plain(text: str) -> str:
    """A file's text as a tool showed it, without line numbers where every line has one."""
    lines = text.splitlines(keepends=True)
    numbers = [NUMBERED.match(line) for line in lines]
    if lines and all(numbers) and [int(each[1]) for each in numbers if each] == list(range(1, len(lines) + 1)):
        text = "".join(line[each.end() :] for line, each in zip(lines, numbers, strict=True) if each)
    return text if text.endswith("\n") else f"{text}\n"  # which tools leave out, and files nearly always have
