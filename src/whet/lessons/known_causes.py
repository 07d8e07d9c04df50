"""Errors whose cause is known, each with the sentence that prevents the next one. No word of a record is in them.

A catalogue comes last and only where it speaks of the cause of this very error: the error line itself decides.
"""

import re2

# An example, then the class of its error line, the tool where only one has it, and what to do from then on.
_CAUSES = tuple(
    (re2.compile(error), tool, text)
    for error, tool, text in (
        # (eval):1: no matches found: docs/*.md
        (
            r"(?i)^(?:\(eval\)|zsh)\S* no matches found: ",
            "",
            "The shell is zsh: a pattern that matches nothing ends the whole command (“no matches found”), and "
            "`2>/dev/null` does not help. List the folder or use `find`, and quote arguments with `*`, `?` or `[`.",
        ),
        # File has not been read yet. Read it first before writing to it.
        (
            r"(?i)\bfile has not been read yet\b",
            "",
            "Read a file with the Read tool before its first Edit or Write in a session, also one that you know or "
            "that a command has printed.",
        ),
        # String to replace not found in file.
        (
            r"(?i)^string to replace not found in file|^file has been (?:unexpectedly )?modified|modified since read",
            "",
            "Before an Edit, read the lines again if a formatter, a command, a subagent or an earlier Edit may have "
            "changed the file: the old text has to be there exactly.",
        ),
        # Found 2 matches of the string to replace, but replace_all is false.
        (
            r"(?i)^found \d+ matches of the string to replace",
            "",
            "Give Edit enough lines around the text to make it unique in the file, or set `replace_all`.",
        ),
        # File content (118163 tokens) exceeds maximum allowed tokens (25000).
        (
            r"(?i)^file content \(.* exceeds maximum allowed",
            "",
            "Read large files in parts, with `offset` and `limit`, or search them first.",
        ),
        # look-around, including look-ahead and look-behind, is not supported
        (
            r"(?i)look-around, including look-ahead and look-behind, is not supported",
            "Grep",
            "Grep knows no look-ahead or look-behind: search for the plain pattern and filter what it finds.",
        ),
        # fatal: Unable to create '/app/.git/index.lock': File exists.
        (
            r"(?i)unable to create '[^']*\.lock': file exists|^rm: \S*/index\.lock: no such file",
            "",
            "When git says that `.git/index.lock` exists, another git command is at work: wait a moment and repeat the "
            "command. Do not delete the lock: it is gone by then.",
        ),
        # cat: illegal option -- A
        (
            r"(?i)^(?:cat|sed|date|grep|stat|head|tail|ls|xargs|readlink|du|sort): illegal option -- ",
            "",
            "The command line has the BSD tools of macOS: options of GNU such as `cat -A`, `date -d`, `grep -P` or "
            "`sed -i` without a suffix are not there.",
        ),
        # <tool_use_error>Sibling tool call errored</tool_use_error>
        (
            r"(?i)^sibling tool call errored",
            "",
            "When one call of a batch fails, the others are cancelled: do not send a call that may fail, such as a "
            "look at a path that may not be there, together with calls whose results you need.",
        ),
        # EISDIR: illegal operation on a directory, read
        (r"(?i)^EISDIR\b", "Read", "Read takes a file: list a folder with `ls` or Glob."),
        # fatal: ambiguous argument 'src/a.go': unknown revision or path not in the working tree.
        (
            r"(?i)^fatal: ambiguous argument '[^']*/[^']*': unknown revision or path|"
            r"\bcd: [\w.-]+(?:/[\w.-]+)*: no such file or directory",
            "",
            "The shell keeps its folder from one call to the next: begin a command with `cd` to the absolute path of "
            "the folder that it needs, and do not rely on where the last one ended.",
        ),
    )
)


def known_cause(tool: str, error: str) -> str:
    """What to do about an error whose cause is known; nothing for any other."""
    return next((text for line, of, text in _CAUSES if of in ("", tool) and line.search(error)), "")
