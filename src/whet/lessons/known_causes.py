"""Errors whose cause is known: facts of the machine, with the sentence that says so, and those that explain themselves.

No word of a record is in them. The error line itself decides.
"""

import re2

# Facts of the place: an example, then the class of its error line, and what to do from then on.
_PLACES = tuple(
    (re2.compile(error), text)
    for error, text in (
        # (eval):1: no matches found: docs/*.md
        (
            r"(?i)^(?:\(eval\)|zsh)\S* no matches found: ",
            "The shell is zsh, which refuses a command whose pattern matches nothing (“no matches found”), also with "
            "`2>/dev/null`. List the folder or use `find`, and quote arguments with `*`, `?` or `[`.",
        ),
        # cat: illegal option -- A
        (
            r"(?i)^(?:cat|sed|date|grep|stat|head|tail|ls|xargs|readlink|du|sort): illegal option -- ",
            "The command line has the BSD tools of macOS: options of GNU such as `cat -A`, `date -d`, `grep -P` or "
            "`sed -i` without a suffix are not there.",
        ),
    )
)
# What any agent meets anywhere, and whose error says what to do: no developer writes it into a project's file.
_EVERYWHERE = re2.compile(
    r"(?i)\bfile has not been read yet\b|^string to replace not found in file|"
    r"^file has been (?:unexpectedly )?modified|modified since read|^found \d+ matches of the string to replace|"
    r"^file content \(.* exceeds maximum allowed|look-around, including look-ahead and look-behind, is not supported|"
    r"unable to create '[^']*\.lock': file exists|^rm: \S*/index\.lock: no such file|^sibling tool call errored|"
    r"^EISDIR\b|^fatal: ambiguous argument '[^']*/[^']*': unknown revision or path|"
    r"\bcd: [\w.-]+(?:/[\w.-]+)*: no such file or directory|externally-managed-environment"
)


def fact_of_place(error: str) -> str:
    """What an error says of the machine that it came up on; nothing for any other."""
    return next((text for line, text in _PLACES if line.search(error)), "")


def explains_itself(error: str) -> bool:
    """Whether it is an error of any agent anywhere, which needs no rule of a project."""
    return _EVERYWHERE.search(error) is not None
