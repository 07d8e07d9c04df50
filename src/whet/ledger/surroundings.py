"""Faults of the surroundings, which no rule for an agent can put right, by the words that programs have for them."""

import re2

FAULT_REACH = 1_500
FAULTS = (
    r"(?i)\bcommand not found\b|is not recognized as an internal or external command",
    r"(?i)executable file not found|spawn \S+ ENOENT|exec: \S+: not found",
    r"(?:^|\n)(?:/bin/)?(?:ba|z|da)?sh: (?:line )?\d*:? ?\S+: not found",
    r"ModuleNotFoundError|ImportError: No module|Cannot find (?:module|package) '[^./]",
    r"(?i)could not resolve host|name or service not known|temporary failure in name resolution",
    r"(?i)network is unreachable|no route to host|connection (?:refused|reset)|getaddrinfo",
    r"ECONNREFUSED|ENOTFOUND|ECONNRESET|EAI_AGAIN|ETIMEDOUT",
    r"(?i)no space left on device|ENOSPC|disk quota exceeded",
    r"(?i)out of memory|cannot allocate memory|oom-?kill|heap out of memory",
    r"(?i)bad credentials|invalid (?:api[_ ]?key|token|credentials)|token (?:has )?expired",
    r"(?i)\b401\b[^\n]{0,40}unauthori[sz]ed|authentication (?:failed|required)|not logged in",
    r"(?i)permission denied \(publickey|could not read username",
    r"(?i)\bpermission denied\b|\boperation not permitted\b|\bEACCES\b|\bEPERM\b",
    r"(?i)read-only file system|\b403\b[^\n]{0,40}forbidden",
    r"(?i)rate limit(?:ed| exceeded)|too many requests|\b429\b[^\n]{0,30}(?:error|too|rate)",
    r"(?i)\b50[234]\b[^\n]{0,40}(?:error|gateway|unavailable)|service unavailable|overloaded",
)
_FAULTS = re2.Set.SearchSet()
for _pattern in FAULTS:
    _FAULTS.Add(_pattern)
_FAULTS.Compile()


def names_fault(text: str) -> bool:
    """Whether a text names such a fault."""
    return bool(_FAULTS.Match(text[:FAULT_REACH]))
