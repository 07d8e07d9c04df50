"""whet chat: a conversation with the agent."""

import os
import sys
from typing import Any

import click

from whet.cli.options import json_option
from whet.cli.options_of_runs import RunOptions, date_option, prompt_option, run_options, session_for
from whet.sessions.trust import Trust
from whet.store.home import find_home
from whet.store.opening import opened
from whet.store.settings_file import load


@click.command(
    "chat",
    epilog="Example: whet chat --continue",
    help="Talk to the agent. Ctrl-C stops a turn; press it twice to leave. /help lists the chat commands, and "
    "Alt-Enter starts a new line. With piped input, each line is one turn.",
)
@run_options
@prompt_option
@date_option
@json_option
def command(is_prompt: bool, day: str | None, as_json: bool, **options: Any) -> int:
    if is_prompt:
        from whet.cli.prompting import show_prompt

        return show_prompt(RunOptions(**options), interactive=True, day=day, as_json=as_json)
    home = find_home(os.environ)
    asked = session_for(load(home), RunOptions(**options), home=home, interactive=True)
    from whet.cli.chat.conversation import talk_in_lines, talk_on_terminal

    with opened(home) as database:
        if sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
            return talk_on_terminal(home, database, asked)
        if not sys.stdin.isatty():  # nobody knows who wrote what is piped in
            asked = asked._replace(trust=Trust.EXTERNAL)
        return talk_in_lines(home, database, asked, as_json=as_json)
