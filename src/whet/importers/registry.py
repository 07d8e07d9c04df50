"""Every format that Whet reads, the most particular first; the first that knows a file reads it."""

from whet.importers import (
    aider,
    amp,
    atif,
    claude_code,
    cline,
    codex,
    continue_cli,
    copilot,
    cursor,
    droid,
    gemini,
    goose,
    hermes,
    inspect_logs,
    mini_swe_agent,
    openai_messages,
    opencode,
    openhands,
    pi,
    qwen,
    sharegpt,
    swe_agent,
    vscode,
)
from whet.importers.formats import Format
from whet.importers.source import Source

FORMATS: tuple[Format, ...] = (
    claude_code.FORMAT,
    codex.FORMAT,
    copilot.FORMAT,
    gemini.FORMAT,
    qwen.FORMAT,
    droid.FORMAT,
    vscode.FORMAT,
    pi.FORMAT,
    inspect_logs.FORMAT,
    swe_agent.FORMAT,
    mini_swe_agent.FORMAT,
    openhands.FORMAT,
    hermes.FORMAT,
    opencode.FORMAT,
    goose.FORMAT,
    aider.FORMAT,
    amp.FORMAT,
    cline.FORMAT,
    continue_cli.FORMAT,
    cursor.FORMAT,
    atif.FORMAT,
    sharegpt.TRAJECTORY_FORMAT,
    sharegpt.FORMAT,
    openai_messages.FORMAT,
)
BY_NAME = {known.name: known for known in FORMATS}


def recognise(source: Source) -> Format | None:
    """The format that a file is in, by its content."""
    return next((known for known in FORMATS if known.sniff(source)), None)
