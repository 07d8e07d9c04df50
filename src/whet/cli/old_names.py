"""Commands by the names they had: for one release, each says its new one and runs it."""

import sys

from whet.errors import WhetError

# What was typed, and what it is now. Where the arguments differ, there is nothing to run: `!` before the new words.
OLD_NAMES = {
    "pending": "lessons --waiting",
    "pending list": "lessons --waiting",
    "pending show": "lessons show",
    "pending approve": "lessons approve",
    "pending refuse": "lessons refuse",
    "pending never": "lessons never",
    "pending reopen": "lessons undo",
    "canary": "live",
    "canary list": "live",
    "canary start": "live start",
    "canary promote": "live stop --keep",
    "canary stop": "live stop",
    "watch": "live look",
}
LONGEST = 2


def renamed(arguments: list[str]) -> list[str]:
    """The arguments with the new name of a command; says so where that is another one."""
    for length in range(LONGEST, 0, -1):
        old = " ".join(arguments[:length])
        if len(arguments) >= length and old in OLD_NAMES:
            new = OLD_NAMES[old]
            if new.startswith("!"):
                raise WhetError(f"`whet {old}` is now `whet {new[1:]}`.", advice=f"For help: `whet {new[1:]} --help`.")
            sys.stderr.write(f"`whet {old}` is now `whet {new}`.\n")
            return [*new.split(), *arguments[length:]]
    return arguments
