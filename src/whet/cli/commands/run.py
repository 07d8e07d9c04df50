"""whet run: one task from beginning to end, for people and for programs."""

import os
import sys
from typing import Any

import click

from whet.cli.options import json_command
from whet.cli.options_of_runs import RunOptions, date_option, limit_options, prompt_option, run_options, session_for
from whet.cli.output import is_json
from whet.cli.prompting import show_prompt
from whet.cli.running import Form, Task, perform
from whet.errors import WhetError
from whet.sessions.trust import Trust
from whet.store.home import find_home
from whet.store.settings_file import load

CODES = (
    "Exit codes: 0 finished, 1 error in settings or options, 2 wrong usage, 3 the provider failed, 4 the budget "
    "ran out, 5 the model refused, 6 the agent reported failure, 7 the answer is empty or cut off, 130 "
    "interrupted."
)


@json_command(
    "run",
    epilog="Example: whet run 'Write a commit message for the staged changes'",
    help="Give the agent one task and print its answer. Piped input is material for the task, or the task itself"
    " if none is given; what is learned from it needs your approval. Progress goes to standard error."
    f"\n\n{CODES}",
)
@click.argument("task", nargs=-1)
@run_options
@limit_options
@click.option("--stream-json", is_flag=True, help="Print each message as a line of JSON as it arrives.")
@prompt_option
@date_option
def command(task: tuple[str, ...], stream_json: bool, is_prompt: bool, day: str | None, **options: Any) -> int:
    given = RunOptions(**options)
    if is_prompt:
        return show_prompt(given, interactive=False, day=day)
    home = find_home(os.environ)
    piped = _piped()
    # What is not UTF-8 could be neither sent nor stored.
    words = " ".join(task).encode(errors="replace").decode()
    words, material = (words, piped) if task else (piped, "")
    if not words.strip():
        raise WhetError("No task given.", advice='Give one: whet run "list the files", or pipe it in.')
    asked = session_for(load(home), given, home=home, interactive=False)
    if not task:  # nobody knows who wrote it: it is carried out, and believed no more than other material
        asked = asked._replace(trust=Trust.EXTERNAL)

    form: Form = "stream" if stream_json else "json" if is_json() else "text"
    return perform(home, asked, Task(words, material), form=form)


def _piped() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    return sys.stdin.buffer.read().decode(errors="replace")
