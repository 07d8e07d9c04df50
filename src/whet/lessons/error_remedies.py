"""What an error itself says to do: "Use: …", "did you mean …", "run this command: …", a commit hook's complaint."""

import re2

LOOKED_AT = 6_000
LINE = 300
COMPLAINTS = 3
_REMEDY = re2.compile(
    r"(?i)^(?:use|usage|try|hint|help|tip|fix|did you mean)\b ?:|\bdid you mean\b|"
    r"\b(?:use|run|try|set|add|pass) [`'\"]|\b(?:read|call|run|stage|install|generate) (?:it|them|this|\S+) "
    r"(?:first|again|before)\b|\bfirst\b[^\n]{0,40}\bbefore\b|\breinstall\b.{0,40}\bwith\b|\bby running\b"
)
_COMMAND = re2.compile(r"(?i)^(?:use|try|run|fix) ?: ?((?-i:(?:[a-z0-9./_:-]+ ?)+))")
_ANNOUNCED = re2.compile(r"(?i)^[^\n]{0,80}\b(?:run|use|try|execute|stage)\b[^\n]{0,80}:$")
_HOOK = re2.compile(r"(?i)\b(?:husky|pre-commit|commit-msg|lefthook|lint-staged|commitlint|pre-push)\b")
_COMPLAINT = re2.compile(r"(?i)\berror\b|\bmust\b|\bshould\b|✖|\bmissing\b|\bnot allowed\b|\brequired\b")
_PRINTED = re2.compile(r"(?i)^\[[\w .-]+\]|^\d+ \||\bwarning\b|^\(?(?:pass|fail|✓|✗)\b")  # by what the hook ran
_PLACE = re2.compile(r"^\S*[/\\]\S*?(?::\d+)+:?\s*|^\s*\d+:\d+\s*")
_ADVICE_OF_GIT = re2.compile(
    r"(?i)^hint: (?:resolve all conflicts|you can instead|disable this message|to abort|.git add/rm|fix conflicts|"
    r"use -f if you really|turn this message off|the \S+ hook was ignored)"
)


def remedy_of(text: str) -> str:
    """The line of an error that says what to do, with what it announces on the next; or nothing."""
    lines = [line.strip() for line in text[:LOOKED_AT].replace("<tool_use_error>", "").split("\n")]
    for place, line in enumerate(lines):
        if not line or len(line) > LINE or _ADVICE_OF_GIT.search(line):
            continue
        if _ANNOUNCED.search(line):
            told = next((other for other in lines[place + 1 :] if other), "")
            if told and len(told) < LINE:
                return f"{line} {told}"
        if _REMEDY.search(line):
            return line.removesuffix("</tool_use_error>")
    return ""


def asked_command(remedy: str) -> str:
    """The words that a remedy's command begins with, up to what stands for something else: `./dev test` of "Use: …"."""
    found = _COMMAND.search(remedy)
    return found.group(1).strip() if found else ""


def hook_complaints(text: str) -> str:
    """What the hooks of a commit refused, each complaint once and without its place; empty where no hook spoke."""
    if not _HOOK.search(text):
        return ""
    found: dict[str, None] = {}
    for line in text[:LOOKED_AT].split("\n"):
        said = _PLACE.sub("", line.strip())
        if len(said) < LINE and _is_complaint(said):
            found.setdefault(said.partition(" [Context:")[0])
    return "; ".join(list(found)[:COMPLAINTS])


def _is_complaint(line: str) -> bool:
    return bool(_COMPLAINT.search(line)) and not _HOOK.search(line) and not _PRINTED.search(line)
