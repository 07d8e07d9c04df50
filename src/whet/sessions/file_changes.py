"""Which files a call writes, by the tool's arguments or by the shell line that it runs."""

import re
from pathlib import PurePosixPath

from whet.sessions.arguments import arguments_of, command_of
from whet.sessions.shell_lines import Stage, split
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import ToolCall

PATHS = ("file_path", "path", "filePath", "filename", "file", "target_file")
# A script whose name says that it changes other files.
_PATCHER = re.compile(r"(?:^|/)\w*(?:patch|fix|apply|modify|update|edit)\w*\.(?:py|sh|js)$")
# Files that are written to find something out, and thrown away.
_SCRATCH = re.compile(r"(?:^|/)(?:repro|test|check|debug|verify|tmp|scratch|demo|example|foo)|^/tmp/|^/dev/")


def files_written(call: ToolCall) -> tuple[str, ...]:
    """The files that a call makes or changes, as far as the call itself says so."""
    family = family_of(call)
    if family in (Family.EDIT, Family.WRITE):
        arguments = arguments_of(call)
        found = (arguments.get(name) for name in PATHS)
        return tuple(path for path in found if isinstance(path, str) and path)[:1]
    if family is not Family.SHELL:
        return ()
    stages = split(command_of(call))
    return tuple(dict.fromkeys(path for stage in stages for path in (*_redirected(stage), *_of_stage(stage))))


def lasting_files(call: ToolCall) -> tuple[str, ...]:
    """The same without scratch files, which are written to find something out."""
    return tuple(path for path in files_written(call) if not _SCRATCH.search(path))


def _redirected(stage: Stage) -> tuple[str, ...]:
    """The files that the output of a command goes to."""
    found = [
        after for word, after in zip(stage.words, stage.words[1:], strict=False) if word in (">", ">>", "1>", "&>")
    ]
    glued = (word.lstrip(">") for word in stage.words if word.startswith(">") and not word.startswith(">&"))
    return tuple(path for path in (*found, *glued) if path)


def _of_stage(stage: Stage) -> tuple[str, ...]:
    words = stage.words[1:]
    if stage.program == "sed" and any(word.startswith(("-i", "--in-place")) for word in words):
        return words[-1:]
    if stage.program in ("tee", "patch"):
        return tuple(word for word in words if not word.startswith("-"))[:1]
    if stage.program.startswith("python") or stage.program in ("bash", "sh", "node"):
        return tuple(word for word in words[:1] if _PATCHER.search(str(PurePosixPath(word))))
    return ()
