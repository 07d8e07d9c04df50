"""whet chat: a conversation with the agent."""

import os
import sys
from typing import Any

from whet.cli.chat.conversation import talk_in_lines, talk_on_terminal
from whet.cli.options import json_command
from whet.cli.options_of_runs import RunOptions, date_option, prompt_option, run_options, session_for
from whet.cli.output import is_json
from whet.cli.prompting import show_prompt
from whet.sessions.trust import Trust
from whet.store.home import find_home
from whet.store.opening import opened
from whet.store.settings_file import load


@json_command("chat", epilog="Example: whet chat --continue")
@run_options
@prompt_option
@date_option
def command(is_prompt: bool, day: str | None, **options: Any) -> int:
    """Talk to the agent. Ctrl-C stops a turn; press it twice to leave. /help lists the chat commands, and Alt-Enter
    starts a new line. With piped input, each line is one turn.
    """
    if is_prompt:
        return show_prompt(RunOptions(**options), interactive=True, day=day)
    home = find_home(os.environ)
    asked = session_for(load(home), RunOptions(**options), home=home, interactive=True)

    with opened(home) as database:
        if sys.stdin.isatty() and sys.stdout.isatty() and not is_json():
            return talk_on_terminal(home, database, asked)
        if not sys.stdin.isatty():  # nobody knows who wrote what is piped in
            asked = asked._replace(trust=Trust.EXTERNAL)
        return talk_in_lines(home, database, asked)
