"""Recoveries: a call that failed, and the later call for the same purpose that worked."""

from collections.abc import Iterator, Sequence

import re2

from whet.failures.fingerprints import error_line
from whet.failures.view import JudgedCall, SessionView
from whet.lessons.pieces import LessonSource, Piece, key_words
from whet.outcomes.unrunnable import could_not_run
from whet.sessions.arguments import arguments_of, command_of
from whet.sessions.call_effects import COMMIT, Effect, checks_of
from whet.sessions.shell_lines import split
from whet.sessions.tool_families import Family, family_of

REACH = 14  # calls after a failure within which what worked is looked for
SAME = 0.34  # of the words of both commands
SHOWN = 500
CALL_SHOWN = 260
PATH_KEYS = ("file_path", "path", "notebook_path", "filename", "absolute_path", "target_file")
_NOTHING = re2.compile(
    r"(?i)^\W*(?:no (?:files?|matches|results?|content)(?: were| was)? found|no matches|found 0 (?:files|matches)|\(no output\)|"
    r"0 (?:results|matches|files))"
)
_REMEDY = re2.compile(
    r"(?i)(?:\b(?:use|try|run|did you mean|perhaps you meant|you (?:must|need to|should|can)|please|instead|first|"
    r"to fix|add|set|pass|provide|requires?|expected|see|hint|tip)\b)[^\n]{3,}"
)
_STRONG_REMEDY = re2.compile(
    r"(?i)^(?:use|usage|try|hint|help|tip|fix|did you mean)\b ?:|\bdid you mean\b|\b(?:use|run|try|set|add|pass) [`'\"]|"
    r"\b(?:read|call|run|stage|install|generate) (?:it|them|this|\S+) (?:first|again|before)\b|\bfirst\b[^\n]{0,40}\bbefore\b"
)


def recovery_pieces(view: SessionView) -> Iterator[Piece]:
    """Each failure that was no red check, with what worked instead where the session shows it."""
    steps = view.steps
    for index, step in enumerate(steps):
        if _is_miss(step):
            found = _found_later(step, steps[index + 1 : index + 1 + REACH])
            if found:
                yield _piece(view, step, found, LessonSource.PLACE, 1.0)
            continue
        remedy = remedy_of(step.text) if step.failed else ""
        is_red = step.effect is Effect.CHECKS and not could_not_run(step.text)
        if not step.failed or (is_red and not remedy and not _is_commit(step)):
            continue
        worked = _worked_later(step, steps[index + 1 : index + 1 + REACH])
        source = LessonSource.PLACE if _path(step) and _is_path_guess(step) else LessonSource.RECOVERY
        if remedy and not worked:
            source = LessonSource.REMEDY
        if worked or remedy or step.effect is not Effect.PROBES:
            weight = (
                (1.5 if worked else 0.5) + (1.0 if remedy else 0.0) - (0.7 if step.effect is Effect.PROBES else 0.0)
            )
            yield _piece(view, step, worked, source, weight)


def _piece(view: SessionView, step: JudgedCall, fix: str, source: LessonSource, weight: float) -> Piece:
    line = error_line(step.text) or step.decision.evidence
    made = _what(step)
    return Piece(
        source,
        view.transcript.id,
        step.message,
        f"{made[:CALL_SHOWN]} → {line}"[:SHOWN],
        fix=(fix or remedy_of(step.text))[:SHOWN],
        keys=_keys(step, line, fix),
        weight=weight,
        trust=step.trust,
    )


def _keys(step: JudgedCall, line: str, fix: str) -> frozenset[str]:
    """The error without its places, the program, and what the fix has that the failed call had not."""
    new = key_words(fix) - key_words(_what(step))
    program = (
        next((stage.program for stage in split(command_of(step.exchange.call))), "") if _is_shell(step) else step.tool
    )
    plain = frozenset(word for word in key_words(line) if "/" not in word and "." not in word)
    return frozenset({program.lower(), *plain, *(word for word in new if "/" not in word)})


def remedy_of(text: str) -> str:
    """The line of an error that says what to do, or nothing."""
    for line in text[:3_000].split("\n"):
        if len(line) < 300 and _STRONG_REMEDY.search(line.strip()):
            return line.strip()
    return ""


def _is_commit(step: JudgedCall) -> bool:
    """A commit that its hooks refused: what they ask for holds for the next one too."""
    return COMMIT in checks_of(step.exchange.call)


def _is_shell(step: JudgedCall) -> bool:
    return family_of(step.exchange.call) is Family.SHELL


def _what(step: JudgedCall) -> str:
    if _is_shell(step):
        return " ".join(command_of(step.exchange.call).split())[:300]
    arguments = arguments_of(step.exchange.call)
    shown = _path(step) or next((str(value) for value in arguments.values() if isinstance(value, str) and value), "")
    return f"{step.tool} {' '.join(shown.split())[:200]}".strip()


def _path(step: JudgedCall) -> str:
    arguments = arguments_of(step.exchange.call)
    return next((value for key in PATH_KEYS if isinstance(value := arguments.get(key), str)), "")


def _is_path_guess(step: JudgedCall) -> bool:
    return re2.search(r"(?i)does not exist|no such file|not found|cannot find", error_line(step.text)) is not None


def _is_miss(step: JudgedCall) -> bool:
    """A search that counts as ok and found nothing."""
    return (
        step.worked and family_of(step.exchange.call) is Family.SEARCH and _NOTHING.search(step.text[:200]) is not None
    )


def _found_later(step: JudgedCall, later: Sequence[JudgedCall]) -> str:
    """The search for the same thing that found it."""
    asked = key_words(" ".join(str(value) for value in arguments_of(step.exchange.call).values()))
    for other in later:
        if family_of(other.exchange.call) in (Family.SEARCH, Family.READ) and other.worked and not _is_miss(other):
            words = key_words(" ".join(str(value) for value in arguments_of(other.exchange.call).values()))
            if asked and len(asked & words) >= 0.3 * len(asked | words):
                return _what(other)
    return ""


def _worked_later(step: JudgedCall, later: Sequence[JudgedCall]) -> str:
    """What was done for the same purpose, and worked; it differs from what failed."""
    made = _purpose(step)
    for other in later:
        if not other.worked or other.key == step.key:
            if other.key == step.key and other.worked:
                return ""
            continue
        if _is_shell(step) and _is_shell(other):
            words = _purpose(other)
            if made and len(made & words) >= SAME * len(made | words):
                return _what(other)
        elif _path(step) and _path(other) and other.tool == step.tool:
            if _path(step) == _path(other) or _name(_path(step)) == _name(_path(other)):
                return _what(other)
    return ""


def _name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0].lower()


def _purpose(step: JudgedCall) -> frozenset[str]:
    """What a command is for: its programs and their plain words, without folders and options' values."""
    return frozenset(
        word.rsplit("/", 1)[-1].lower()
        for stage in split(command_of(step.exchange.call))
        if stage.program not in ("cd", "echo", "export", "head", "tail", "grep", "true", "sleep", "cat")
        for word in stage.words[:8]
        if len(word) > 1
    )
