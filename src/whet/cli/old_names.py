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
    "rules list": "rules",
    "ledger list": "ledger",
    "ledger revert": "ledger undo",
    "ledger why": "ledger show",
    "memory list": "memory",
    "skills list": "skills",
    "models list": "models",
    "models known": "models --known",
    "jobs list": "jobs",
    "cases list": "cases",
    "templates list": "templates",
    "completion": "setup --completion",
    "target": "sync --targets",
    "target list": "sync --targets",
    "target add": "sync add",
    "target remove": "sync remove",
    "work": "worker list",
    "work show": "worker list",
    "work cancel": "worker cancel",
    "work retry": "worker retry",
    "config get": "config",
    "config set": "config",
    "config unset": "config --unset",
    "config check": "config --check",
    "stats": "report --counts",
    "improve": "try",
    "prompt": "chat --prompt",
    "review": "learn --review",
    "curate": "audit --own --propose",
    "cases from-session": "cases add",
    "cases from-commits": "cases add",
    "cases from-lesson": "cases add --lesson",
    "cases new": "cases add --new",
    "memory search": "search --notes",
    "cases screen": "cases run --screen",
    "memory import-hermes": "migrate hermes --only note",
    "memory export-hermes": "migrate hermes --back",
    "memory disconnect": "memory connect",
    "memory replace": "!memory add TEXT --replace MATCH",
    "jobs import-hermes": "!migrate hermes --only job",
    "jobs history": "jobs show --runs",
    "jobs resume": "jobs pause --resume",
    "rules change": "rules add --replace",
    "skills restore": "skills archive --restore",
    "templates import-hermes": "!migrate hermes --only template",
    "templates mine": "templates create --name",
    "templates choose": "templates --for",
    "templates stats": "templates --stats",
    "templates try": "try --template",
    "outcomes": "!show ID --calls",
}
LONGEST = 2


def renamed(arguments: list[str]) -> list[str]:
    """The arguments with the new name of a command; says so where that is another one."""
    for length in range(LONGEST, 0, -1):
        old = " ".join(arguments[:length])
        if len(arguments) >= length and old in OLD_NAMES:
            new = OLD_NAMES[old]
            if new.startswith("!"):
                help_ = f"For help: `whet {new[1:].split()[0]} --help`."
                raise WhetError(f"`whet {old}` is now `whet {new[1:]}`.", advice=help_)
            sys.stderr.write(f"`whet {old}` is now `whet {new}`.\n")
            return [*new.split(), *arguments[length:]]
    return arguments
