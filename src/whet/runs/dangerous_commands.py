"""Commands that a person should see before they run. A second line: the sandbox is the first, and words are many."""

import re
from collections.abc import Callable, Iterator

import re2

from whet.sessions.shell_lines import LENGTH_LIMIT, Stage, split

# Where a simple command begins: after a separator or a word that runs the next, with assignments before it.
_START = (
    r"(?:^|[;&|({\n`!]|\$\(|\b(?:then|do|else|exec|time|nohup|env|command|xargs|timeout\s+\S+)\s)\s*"
    r"(?:[A-Za-z_]\w*=\S*\s+)*(?:\S*/)?"
)
_SHELL = r"(?:(?:ba|z|da|k|fi)?sh|python[0-9.]*|perl|ruby|node|php)"
_DISK = r"/dev/(?:[shv]d|nvme|mmcblk|disk|mapper|loop|mem|kmem|port)"
_GIT = r"(?i)\bgit\b[^;|&\n]*\b"
# What is looked for anywhere in the command line, by the reason that a person reads.
PATTERNS: dict[str, tuple[str, ...]] = {
    "runs what it downloads": (
        rf"(?i)\b(?:curl|wget|aria2c)\b[^;\n]*\|\s*(?:sudo\s+)?(?:\S*/)?{_SHELL}\b",
        rf"(?i)(?:{_SHELL}|source|eval|\.)\s+[^;\n]{{0,20}}(?:<\(|\$\(|`)\s*(?:curl|wget)\b",
    ),
    "runs hidden text": (
        rf"(?i)\b(?:base64\s+(?:-d|--decode)|xxd\s+-r|openssl\s+enc)\b[^;\n]*\|\s*(?:\S*/)?{_SHELL}\b",
    ),
    "runs as another account": (rf"{_START}(?:sudo|doas|pkexec|su|runuser)(?:\s|$)",),
    "stops the machine": (rf"{_START}(?:shutdown|reboot|halt|poweroff|telinit|init\s+[06])(?:[\s;]|$)",),
    "writes to a disk directly": (
        rf"{_START}(?:mkfs|mke2fs|fdisk|sfdisk|parted|wipefs|blkdiscard|shred|badblocks)\b",
        rf"\bof=\s*['\"]?{_DISK}",
        rf">\s*['\"]?{_DISK}",
    ),
    "changes the system": (
        rf"{_START}(?:mount|umount|losetup|insmod|modprobe|rmmod|swapoff|nsenter|chroot|pivot_root)\b",
        rf"{_START}(?:iptables|ip6tables|nft|ufw|setenforce|visudo|useradd|userdel|usermod|passwd|chpasswd)\b",
        rf"{_START}systemctl\s+(?:\S+\s+)*(?:stop|disable|mask|enable|start|restart|poweroff|reboot|halt|edit)\b",
    ),
    "leaves something that runs later": (rf"{_START}(?:crontab\s+(?:-(?:[^l]|$)|[^-\s])|at\s+(?:now|\d)|batch\b)",),
    "overwrites other people's work": (
        rf"{_GIT}push\b[^;|&\n]*\s(?:--force(?:-with-lease)?\b|-\w*f\b|--mirror\b|--delete\b|-d\b|\+\S)",
    ),
    "rewrites history": (rf"{_GIT}(?:filter-branch|filter-repo|reflog\s+expire|update-ref\s+-d)\b",),
    "makes git run commands": (
        rf"{_GIT}config\b[^;|&\n]*(?:core\.(?:hookspath|fsmonitor|sshcommand|pager|editor)|\balias\.|filter\.)",
    ),
    "publishes something": (
        rf"{_START}(?:npm|pnpm|yarn|cargo|poetry|hatch|flit|uv)\s+publish\b",
        rf"{_START}(?:twine\s+upload|gem\s+push|docker\s+push)\b",
    ),
    "stops other processes": (
        rf"{_START}(?:pkill|killall|skill)\b",
        rf"{_START}kill\s+(?:-\S+\s+)*(?:--\s+)?(?:-1|1|0)\b",
    ),
    "takes over the machine": (r"\bdocker\b[^;\n]*(?:--privileged|-v\s*/:|--volume[= ]/:|--pid[= ]host|docker\.sock)",),
    "lets a program run with its owner's rights": (r"\bchmod\s+(?:-\S+\s+)*(?:[ugoa]*\+\w*s|[2467][0-7]{3})\b",),
    "hides that an agent is running": (r"\benv\s+-u\s*WHET_RUN|\bunset\s+WHET_RUN|\bWHET_RUN=",),
    "decides in your place": (
        r"\bwhet\s+(?:\S+\s+)*(?:pending\s+(?:approve|refuse)|config\s+set|ledger\s+(?:undo|redo|revert))\b",
    ),
}
_COMPILED = tuple((re2.compile(pattern), reason) for reason, patterns in PATTERNS.items() for pattern in patterns)
_ORDERS = re2.compile(
    r"\.(?:bash|zsh|k?sh)rc$|\.(?:bash_|z)?(?:profile|login|logout)$|\.zshenv$|\.xinitrc$|\.ssh/|\.gnupg/|\.gitconfig$"
    r"|\.config/(?:autostart|systemd|fish)|LaunchAgents|LaunchDaemons|\.git/hooks|\.git/config$"
    r"|^['\"]?/(?:etc|boot|usr|lib|bin|sbin)/|/spool/cron|\.whet(?:/|$)"
)
_FUNCTION = re.compile(r"(?<![\w:.])([\w:.]{1,200})\s*\(\)\s*\{([^}]{0,200})\}")
_WHOLE = re.compile(r"(?:/\*?|/[A-Za-z0-9_.-]+/?\*?|~/?\*?|\$\{?HOME\}?/?\*?|\.\./?.*|\./?|\*|\.\*|\./\*)")
_TEMPORARY = re.compile(r"/(?:tmp|var/tmp)(?:/|$)")
LAST_WORD_WRITERS = frozenset({"cp", "mv", "ln", "install", "rsync", "scp"})
EVERY_WORD_WRITERS = frozenset({"tee", "touch", "chmod", "chown", "truncate", "rm", "unlink"})


def dangers(command: str) -> tuple[str, ...]:
    """Why a person should be asked before this command runs, each reason once; nothing for an ordinary one."""
    text = command[:LENGTH_LIMIT].replace("\\\n", " ")
    found = [reason for pattern, reason in _COMPILED if pattern.search(text)]
    found += [reason for stage in split(text) for test, reason in STAGE_TESTS if test(stage)]
    if any(_is_bomb(*function) for function in _FUNCTION.findall(text)):
        found.append("starts itself endlessly")
    if len(command) > LENGTH_LIMIT:
        found.append("is too long to check")
    return tuple(dict.fromkeys(found))


def _removes_whole(stage: Stage) -> bool:
    """Deletes a root: the system's, a person's, or all that is in the folder."""
    if stage.program == "find":
        deletes = "-delete" in stage.words or "rm" in stage.words
        return deletes and len(stage.words) > 1 and _is_whole(stage.words[1]) and stage.words[1] not in (".", "./")
    flags = [word for word in stage.words[1:] if word.startswith("-")]
    recursive = any(word == "--recursive" or ("r" in word.lower() and not word.startswith("--")) for word in flags)
    return stage.program == "rm" and recursive and any(_is_whole(word) for word in stage.words[1:])


def _opens_whole(stage: Stage) -> bool:
    """Changes the rights of all that is in a root."""
    recursive = any(word == "--recursive" or word.startswith("-R") for word in stage.words)
    roots = [word for word in stage.words[1:] if _is_whole(word) and word not in (".", "./", "*", "./*")]
    return stage.program in ("chmod", "chown", "chgrp") and recursive and bool(roots)


def _writes_orders(stage: Stage) -> bool:
    """Writes where shells, services and git take their orders from."""
    return any(_ORDERS.search(word) for word in _written(stage))


def _written(stage: Stage) -> Iterator[str]:
    words = stage.words
    for place, word in enumerate(words):
        bare = word.lstrip("0123456789&")
        if bare.startswith(">"):
            yield bare.lstrip(">| ") or (words[place + 1] if place + 1 < len(words) else "")
    if stage.program in LAST_WORD_WRITERS and len(words) > 2:
        yield words[-1]
    edits = stage.program == "sed" and any(word.startswith(("-i", "--in-place")) for word in words)
    if stage.program in EVERY_WORD_WRITERS or edits:
        yield from (word for word in words[1:] if not word.startswith("-"))


def _is_whole(word: str) -> bool:
    return _WHOLE.fullmatch(word) is not None and not _TEMPORARY.match(word)


def _is_bomb(name: str, body: str) -> bool:
    return "&" in body and "|" in body and body.count(name) >= 2


STAGE_TESTS: tuple[tuple[Callable[[Stage], bool], str], ...] = (
    (_removes_whole, "deletes a whole folder tree"),
    (_opens_whole, "changes the permissions of a whole folder tree"),
    (_writes_orders, "writes to files that programs obey"),
)
