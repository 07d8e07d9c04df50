"""Faults of the surroundings, which no rule for an agent can put right."""

from enum import StrEnum
from typing import NamedTuple

import re2

ERROR_HEAD = 1_500
ERROR_TAIL = 1_500
FAULT_REACH = 1_500


class Cause(StrEnum):
    """Who can put it right: the agent by acting differently, or a person by changing the surroundings."""

    AGENT = "agent"
    ENVIRONMENT = "environment"


class EnvironmentFault(NamedTuple):
    """A fault of the surroundings, by the words that programs have for it."""

    name: str
    pattern: str


FAULTS: tuple[EnvironmentFault, ...] = (
    EnvironmentFault(
        "missing program", r"(?i)\bcommand not found\b|is not recognized as an internal or external command"
    ),
    EnvironmentFault("missing program", r"(?i)executable file not found|spawn \S+ ENOENT|exec: \S+: not found"),
    EnvironmentFault("missing program", r"(?:^|\n)(?:/bin/)?(?:ba|z|da)?sh: (?:line )?\d*:? ?\S+: not found"),
    EnvironmentFault(
        "missing package", r"ModuleNotFoundError|ImportError: No module|Cannot find (?:module|package) '[^./]"
    ),
    EnvironmentFault(
        "no network", r"(?i)could not resolve host|name or service not known|temporary failure in name resolution"
    ),
    EnvironmentFault(
        "no network", r"(?i)network is unreachable|no route to host|connection (?:refused|reset)|getaddrinfo"
    ),
    EnvironmentFault("no network", r"ECONNREFUSED|ENOTFOUND|ECONNRESET|EAI_AGAIN|ETIMEDOUT"),
    EnvironmentFault("disk full", r"(?i)no space left on device|ENOSPC|disk quota exceeded"),
    EnvironmentFault("out of memory", r"(?i)out of memory|cannot allocate memory|oom-?kill|heap out of memory"),
    EnvironmentFault(
        "credentials", r"(?i)bad credentials|invalid (?:api[_ ]?key|token|credentials)|token (?:has )?expired"
    ),
    EnvironmentFault(
        "credentials", r"(?i)\b401\b[^\n]{0,40}unauthori[sz]ed|authentication (?:failed|required)|not logged in"
    ),
    EnvironmentFault("credentials", r"(?i)permission denied \(publickey|could not read username"),
    EnvironmentFault("permission", r"(?i)\bpermission denied\b|\boperation not permitted\b|\bEACCES\b|\bEPERM\b"),
    EnvironmentFault("permission", r"(?i)read-only file system|\b403\b[^\n]{0,40}forbidden"),
    EnvironmentFault(
        "rate limit", r"(?i)rate limit(?:ed| exceeded)|too many requests|\b429\b[^\n]{0,30}(?:error|too|rate)"
    ),
    EnvironmentFault(
        "service down", r"(?i)\b50[234]\b[^\n]{0,40}(?:error|gateway|unavailable)|service unavailable|overloaded"
    ),
)

_FAULTS = re2.Set.SearchSet()
for _fault in FAULTS:
    _FAULTS.Add(_fault.pattern)
_FAULTS.Compile()

# In this order: what zsh says has the form that the others would misread.
_MISSING = tuple(
    re2.compile(pattern)
    for pattern in (
        r"command not found: ([\w.+-]+)",
        r"([\w.+-]+): (?:command )?not found",
        r"spawn ([\w.+-]+) ENOENT",
        r"No module named '?([\w.]+)",
        r"Cannot find (?:module|package) '([^'\n]+)'",
        r"'([\w.+-]+)' is not recognized",
    )
)


def fault_of(text: str) -> str:
    """The fault of the surroundings that an error names, or nothing."""
    head = text[:FAULT_REACH]
    found = _FAULTS.Match(head)
    if not found:
        return ""
    name: str = FAULTS[min(found)].name
    if not name.startswith("missing"):
        return name
    what: str = next((match.group(1) for pattern in _MISSING if (match := pattern.search(head)) is not None), "")
    return f"{name}: {what}" if what else name


def ends_of(text: str) -> str:
    if len(text) <= ERROR_HEAD + ERROR_TAIL:
        return text
    return text[:ERROR_HEAD] + "\n" + text[-ERROR_TAIL:]
