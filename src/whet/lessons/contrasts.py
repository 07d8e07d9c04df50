"""Contrasts: what a command that worked has, or has not, beside the one that failed, as short as it can be shown.

What merely came later is no fix. The error has to name what the fix leaves out or puts right, or nothing but a variable
that was set may differ; so a red check that turned green, or another file looked at, contrasts with nothing.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import re2

from whet.outcomes.unrunnable import could_not_run

ALIKE = 0.4  # of the words of both
SAME_PART = 0.3
MOST_WORDS = 14
MOST_LETTERS = 110
ELIDED = "…"
# What they are told to run is run elsewhere: it says nothing of the shell of this project.
OTHER_SHELLS = frozenset(
    ("ssh", "wsl", "docker", "podman", "kubectl", "vagrant", "lxc", "su", "chroot", "nsenter", "toolbox", "distrobox")
)
NAMELESS = frozenset(("bash", "line", "error", "fatal", "the", "and", "found", "not", "file", "such", "directory"))
_PART = re.compile(r" && | \|\| | ; |; ")
_TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|[^\s'\"]+")
_JOINERS = frozenset(("&&", "||", ";", "|", "&", "\\"))
_REDIRECTION = re.compile(r"^\d?(?:>|<|&>)")
_VARIABLE = re.compile(r"^[A-Z][A-Z0-9_]*=\S+$")
_NAME = re.compile(r"[\w@.:/+-]+")
_OPTION = re2.compile(r"(?i)\b(?:option|switch|flag)\b[^\w]*-- ?(\w)\b")
_LASTING = frozenset(("no such command", "no such program", "no such script", "no such target", "no such task"))
_ILLEGAL = re2.compile(r"(?i)\b(?:illegal|unknown|unsupported|invalid|unrecognized) (?:option|flag|switch|argument)\b")
_NO_REPOSITORY = re2.compile(r"Could not resolve to a Repository with the name '([\w.-]+)/([\w.-]+)'")
_OWNED = re2.compile(r"""owner: ?"([\w.-]+)", ?name: ?"([\w.-]+)"|(?:\brepos/|--repo[ =]|-R )([\w.-]+)/([\w.-]+)""")
# What is so only for a while, and what only another look can tell.
_OF_THE_MOMENT = re2.compile(
    r"(?i)\.lock\b|already exists|changes staged|conflict|not fully merged|tim(?:ed? ?out|eout)|temporar|ECONN|"
    r"connection|in use|busy|rate limit|\b40[13]\b|\b429\b|\b5\d\d\b|credential|nothing to commit|unavailable|"
    r"did not match any|not under version control|No agent|exit code"
)
_PASSING = re2.compile(r"(?i)[/\\](?:tmp|temp|var/folders|scratchpad)\b|[0-9a-f]{8}-[0-9a-f]{4}|<<|\$\(|/dev/null")


class Contrast(NamedTuple):
    """The form that fails, the one that works, and whether the error says that it will fail the next time too."""

    fails: str
    works: str
    lasts: bool


def contrast(call: str, fix: str, error: str) -> Contrast | None:
    """What makes the difference between a failed command and the one that worked; None where nothing plainly does."""
    if not fix or is_passing(error):
        return None
    mine, theirs = _parts(call), _parts(fix)
    pairs = [(_alike(one, other), one, other) for one in mine for other in theirs if one != other]
    if not pairs or any(part in theirs for part in mine if _names(part, error)):
        return None
    share, failed, worked = max(pairs)
    lasts = could_not_run(error) in _LASTING or _ILLEGAL.search(error) is not None
    if share < ALIKE or max(len(failed), len(worked)) > MOST_WORDS or _PASSING.search(" ".join(worked)):
        return None
    if worked[1:] == failed and _VARIABLE.match(worked[0]):
        return Contrast(_shown(failed, 2), _shown(worked, 3), lasts=True)
    gone = [word for word in failed if word not in worked]
    place = _culprit(failed, gone, error)
    if place is None:
        return None
    shown = Contrast(_shown(failed, place + 1, hide=gone), _shown(worked, _reach(worked, failed, place)), lasts)
    return shown if shown.fails != shown.works and len(shown.works) <= MOST_LETTERS else None


def differing(call: str, fix: str) -> tuple[str, str]:
    """Of two commands of several parts, the two parts that are most alike and yet differ; whole where none do."""
    whole = " ".join(call.replace("`", "'").split()), " ".join(fix.replace("`", "'").split())
    if not fix or any(mark in text for text in whole for mark in "\"'"):
        return whole
    mine, theirs = (frozenset(_PART.split(text)) for text in whole)
    pairs = [(_alike(one.split(), other.split()), one, other) for one in mine - theirs for other in theirs - mine]
    best = max(pairs, default=(0.0, "", ""))
    return (best[1], best[2]) if best[0] >= SAME_PART else whole


def is_passing(error: str) -> bool:
    """Whether an error is of the moment: a lock, a network, what somebody else holds."""
    return _OF_THE_MOMENT.search(error) is not None


def missing_program(call: str, error: str) -> str:
    """The program of a call that this project's shell did not find."""
    if could_not_run(error) != "no such program":
        return ""
    named = set(_named(error))
    first = next((part[0] for part in _parts(call) if part[0] in named or part[0] in OTHER_SHELLS), "")
    return first if first in named else ""


def right_repository(fix: str, error: str) -> str:
    """The repository that was found, where the error says that one of its name and another owner was not."""
    missed = _NO_REPOSITORY.search(error)
    if missed is None:
        return ""
    found = _OWNED.search(fix)
    owner, name = (found.group(1) or found.group(3), found.group(2) or found.group(4)) if found else ("", "")
    return f"{owner}/{name}" if owner and name == missed.group(2) and owner != missed.group(1) else ""


def _parts(command: str) -> tuple[tuple[str, ...], ...]:
    """The words of each simple command of a line, without where its output goes."""
    parts: list[list[str]] = [[]]
    for token in _TOKEN.findall(command):
        if token in _JOINERS:
            parts.append([])
        elif not _REDIRECTION.match(token):
            parts[-1].append(token.rstrip(";"))
            if token.endswith(";"):
                parts.append([])
    return tuple(tuple(part) for part in parts if part)


def _alike(one: Sequence[str], other: Sequence[str]) -> float:
    mine, theirs = set(one), set(other)
    return len(mine & theirs) / max(1, len(mine | theirs))


def _names(part: Sequence[str], error: str) -> bool:
    return any(len(word) > 2 and word in error for word in part)


def _culprit(failed: Sequence[str], gone: Sequence[str], error: str) -> int | None:
    """Where the word stands that the error names and the fix lacks, or that lost what stood before it."""
    option = _OPTION.search(error)
    named = {word.lower() for word in _named(error)} - NAMELESS | set(error.split("'")[1::2])
    if option:
        named.add(f"-{option.group(1)}")
    for place, word in enumerate(failed):
        plain = word.strip("'\"")
        is_named = plain in named or plain.lower() in named or plain.lstrip("-").lower() in named
        if is_named and (word in gone or (place > 0 and failed[place - 1] in gone)):
            return place
    return None


def _named(error: str) -> list[str]:
    """The words of an error, without what ends a sentence."""
    return [word for found in _NAME.findall(error) if (word := found.rstrip("@.:/+-"))]


def _reach(worked: Sequence[str], failed: Sequence[str], place: int) -> int:
    """How many words of the command that worked are shown: what is new in it, or as far as the failed one."""
    new = [index for index, word in enumerate(worked) if word not in failed]
    return max(new) + 1 if new else max(2, place - (len(failed) - len(worked)) + 1)


def _shown(words: Sequence[str], most: int, *, hide: Sequence[str] = ()) -> str:
    """The first words; one that is hidden and is a path is of that time alone."""
    shown = [ELIDED if word in hide and "/" in word else word for word in words[:most]]
    return " ".join((*shown, *([ELIDED] if len(words) > most else []))).replace("`", "'")
