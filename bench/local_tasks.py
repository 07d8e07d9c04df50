"""Forty orders that take exactly one call each, with the call that is right, and the tools that they are given."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from whet.sessions.tool_families import Definition

Check = Callable[[Mapping[str, Any]], bool]


class Task(NamedTuple):
    """An order, the tool that it needs, and whether its arguments are right."""

    order: str
    tool: str
    is_right: Check


def _tool(name: str, description: str, needed: dict[str, Any], **optional: Any) -> Definition:
    schema = {"type": "object", "properties": {**needed, **optional}, "required": list(needed)}
    return Definition(name, description, json.dumps(schema))


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
TOOLS = (
    _tool("read_file", "Read a text file.", {"path": TEXT}, offset=NUMBER, limit=NUMBER),
    _tool("write_file", "Write a whole file, in place of what is there.", {"path": TEXT, "content": TEXT}),
    _tool("edit", "Replace one text in a file by another.", {"path": TEXT, "old": TEXT, "new": TEXT}),
    _tool("search_files", "Find files by name, or lines by a pattern.", {"pattern": TEXT}, path=TEXT),
    _tool("terminal", "Run a shell command.", {"command": TEXT}, timeout_seconds=NUMBER),
    _tool("memory", "Keep a fact for later conversations.", {"action": {"enum": ["add", "remove"]}, "text": TEXT}),
    _tool("session_search", "Search earlier conversations.", {"query": TEXT}, limit=NUMBER),
    _tool("finish", "End the work with a report.", {"status": {"enum": ["done", "failed"]}, "text": TEXT}),
)


def _is(**expected: str) -> Check:
    return lambda given: all(_plain(given.get(name)) == _plain(value) for name, value in expected.items())


def _holds(**expected: str) -> Check:
    return lambda given: all(value.lower() in str(given.get(name, "")).lower() for name, value in expected.items())


def _plain(value: object) -> str:
    return str(value).strip().removeprefix("./")


def _reading(path: str, words: str) -> Task:
    return Task(words.format(path), "read_file", _is(path=path))


def _writing(path: str, content: str, words: str) -> Task:
    return Task(words.format(path=path, content=content), "write_file", _is(path=path, content=content))


def _running(command: str, words: str) -> Task:
    return Task(words.format(command), "terminal", _is(command=command))


def _finding(pattern: str, words: str) -> Task:
    return Task(words.format(pattern), "search_files", _holds(pattern=pattern))


TASKS = (
    _reading("notes.txt", "Read the file {}."),
    _reading("src/main.py", "Show me what is in {}."),
    _reading("README.md", "What does {} say?"),
    _reading("config/settings.toml", "Open {} and tell me the port."),
    _reading("/etc/hosts", "Read {}."),
    _reading("docs/plan.md", "Please read {} for me."),
    _reading("data/users.csv", "Look at the file {}."),
    _reading("package.json", "Read {} and name its version."),
    _writing("hello.txt", "Hello", "Write the word {content} into the file {path}."),
    _writing("a.txt", "one", 'Create {path} with the content "{content}".'),
    _writing("VERSION", "1.2.0", 'Write "{content}" to the file {path}.'),
    _writing("notes/todo.md", "buy milk", 'Make a file {path} that says "{content}".'),
    _writing("x.py", "print(1)", "Save this code as {path}: {content}"),
    _writing("name.txt", "Ada", 'Write the text "{content}" into {path}.'),
    Task("In app.py replace foo by bar.", "edit", _is(path="app.py", old="foo", new="bar")),
    Task('Change "red" to "blue" in style.css.', "edit", _is(path="style.css", old="red", new="blue")),
    Task("In main.c, replace the text 8080 by 9090.", "edit", _is(path="main.c", old="8080", new="9090")),
    Task('Edit README.md: "beta" becomes "stable".', "edit", _is(path="README.md", old="beta", new="stable")),
    Task("Replace teh by the in letter.txt.", "edit", _is(path="letter.txt", old="teh", new="the")),
    _running("ls -la", "Run the command {}."),
    _running("git status", "Run `{}`."),
    _running("pytest -q", "Execute this in the shell: {}"),
    _running("date", "Run the shell command {}."),
    _running("python --version", "Run {} in the terminal."),
    _running("df -h", "Use the terminal to run {}."),
    _running("make test", "Run `{}` and tell me if it works."),
    _running("uname -a", "Please run {}."),
    _finding("TODO", "Find all lines that hold {} in the files."),
    _finding("*.py", "Find all files that match {}."),
    _finding("connect", "In which files does the word {} stand?"),
    _finding("def main", "Search the files for `{}`."),
    _finding("Makefile", "Find the file named {}."),
    Task("Remember that my name is Ada.", "memory", _holds(action="add", text="Ada")),
    Task("Keep in mind for later: I prefer tabs.", "memory", _holds(action="add", text="tabs")),
    Task("Remember that the server is called atlas.", "memory", _holds(action="add", text="atlas")),
    Task("Search our earlier conversations for the word budget.", "session_search", _holds(query="budget")),
    Task("What did we say about Postgres in earlier conversations?", "session_search", _holds(query="postgres")),
    Task("Search the past sessions for deploy.", "session_search", _holds(query="deploy")),
    Task('All is done. Finish with the report "tests pass".', "finish", _holds(status="done", text="tests pass")),
    Task('It did not work. Finish as failed with "no disk".', "finish", _holds(status="failed", text="no disk")),
)
