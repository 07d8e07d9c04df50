"""What a command can leave in the working folder for the person's own git to run; every one works in a plain shell."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from agent.tools.rooms import Room
from patience import PATIENCE_SECONDS
from whet.own.runs.settings import Sandbox

GIT = "git -c user.name=n -c user.email=a@b.c"
STATUS = "git status"


class Plant(NamedTuple):
    """What was there before, what the command does, and what the person does next, in which folder."""

    name: str
    command: str
    before: str = "git init -q -b main && echo x > f && $GIT add f && $GIT commit -qm one"
    after: str = STATUS
    folder: str = "."


SETTING = "printf '[core]\\n\\tfsmonitor = $EVIL\\n'"
BARE_SETTING = "printf '[core]\\n\\tbare = false\\n\\tworktree = {1}\\n\\tfsmonitor = $EVIL\\n'"
BARE = f"git init -q --bare {{0}} && {BARE_SETTING} >> {{0}}/config"
NESTED = "git init -q nested && $GIT -C nested commit -q --allow-empty -m one"
SUBMODULE = f"{NESTED} && $GIT init -q -b main && $GIT add nested && $GIT commit -qm two"
LISTED = "printf '[submodule \"nested\"]\\n\\tpath = nested\\n\\turl = ./nested\\n'"
WORKTREE = "git init -q -b main && $GIT commit -q --allow-empty -m one && git worktree add -q tree"
COMMON = f"cp -r .git common && {SETTING} >> common/config"
HOOK = "cp $EVIL {0} && chmod +x {0} && touch -d 2020-01-01 f"

PLANTS: tuple[Plant, ...] = (
    Plant("a folder that git takes its settings from", f"{COMMON} && echo ../common > .git/commondir"),
    Plant("a setting of the repository", f"{SETTING} >> .git/config"),
    Plant("a setting on the line of its section", "echo '[core] fsmonitor = $EVIL' >> .git/config"),
    Plant("a setting in capitals", "echo '[CORE]FSMONITOR=\"$EVIL\"' >> .git/config"),
    Plant("settings from another file", f"{SETTING} > notes && printf '[include]\\npath=../notes\\n' >> .git/config"),
    Plant(
        "a filter for files",
        "printf '[filter \"z\"]\\n\\tclean = $EVIL\\n' >> .git/config && echo 'f filter=z' > .gitattributes && touch f",
    ),
    Plant("a hook", HOOK.format(".git/hooks/post-index-change")),
    Plant(
        "a hook that was there and did not run",
        "chmod +x .git/hooks/post-index-change && touch -d 2020-01-01 f",
        before="git init -q -b main && echo x > f && $GIT add f && $GIT commit -qm one"
        " && cp $EVIL .git/hooks/post-index-change && chmod -x .git/hooks/post-index-change",
    ),
    Plant(
        "a link in the place of the hooks",
        f"mv .git/hooks .git/old; mkdir mine && {HOOK.format('mine/post-index-change')} && ln -s ../mine .git/hooks",
    ),
    Plant("another repository in its place", f"mv .git old && cp -r old .git && {SETTING} >> .git/config"),
    Plant("a repository where there was none", f"git init -q && {SETTING} >> .git/config", before="true"),
    Plant("a repository below", f"git init -q sub && {SETTING} >> sub/.git/config", folder="sub"),
    Plant("a repository deep below", f"git init -q a/b/c && {SETTING} >> a/b/c/.git/config", folder="a/b/c"),
    Plant(
        "a repository among dependencies",
        f"git init -q vendor/x && {SETTING} >> vendor/x/.git/config",
        folder="vendor/x",
    ),
    Plant(
        "a nested repository that the outer one names", f"{NESTED} && git add nested && {SETTING} >> nested/.git/config"
    ),
    Plant("a nested repository that was there", f"{SETTING} >> nested/.git/config", before=SUBMODULE),
    Plant(
        "a nested repository in the place of another",
        f"mv nested old && cp -r old nested && {SETTING} >> nested/.git/config",
        before=SUBMODULE,
    ),
    Plant(
        "a file that names a repository",
        f"git init -q --separate-git-dir=store sub && {SETTING} >> store/config",
        folder="sub",
    ),
    Plant(
        "a link to a repository",
        f"git init -q sub && mv sub/.git store && ln -s ../store sub/.git && {SETTING} >> store/config",
        folder="sub",
    ),
    Plant("a bare repository", BARE.format("sub", "$WORK"), folder="sub"),
    Plant("a bare repository where there was none", BARE.format("sub", "$WORK"), before="true", folder="sub"),
    Plant(
        "a submodule's own settings",
        f"{SETTING} >> .git/modules/nested/config",
        before=f"{SUBMODULE} && {LISTED} > .gitmodules && git submodule absorbgitdirs",
    ),
    Plant(
        "where another working tree takes its settings from",
        f"{COMMON} && echo $WORK/common > .git/worktrees/tree/commondir",
        before=WORKTREE,
        folder="tree",
    ),
    Plant(
        "settings of one working tree",
        f"{SETTING} >> .git/worktrees/tree/config.worktree",
        before=f"{WORKTREE} && git config extensions.worktreeConfig true",
        folder="tree",
    ),
    Plant(
        "a script that the repository's settings name",
        HOOK.format("tools/hooks/post-index-change"),
        before="git init -q -b main && echo x > f && $GIT add f && $GIT commit -qm one && mkdir -p tools/hooks"
        " && git config core.hooksPath tools/hooks",
    ),
    Plant(
        "a file that the repository's settings include",
        f"{SETTING} >> tools/gitconfig",
        before="git init -q -b main && mkdir tools && echo > tools/gitconfig"
        " && git config include.path ../tools/gitconfig",
    ),
    Plant(
        "a template for new repositories",
        "mkdir -p t/hooks && cp $EVIL t/hooks/post-index-change && git init -q --template=$WORK/t sub"
        " && echo x > sub/f && $GIT -C sub add f && touch -d 2020-01-01 sub/f",
        folder="sub",
    ),
    Plant(
        "a folder that cannot be listed",
        f"git init -q shut/sub && {SETTING} >> shut/sub/.git/config && chmod 311 shut",
        folder="shut/sub",
    ),
    Plant(
        "a name with a line break",
        f"mkdir $'a\\nb' && git init -q $'a\\nb' && {SETTING} >> $'a\\nb/.git/config'",
        folder="a\nb",
    ),
    Plant(
        "a name that is no text",
        f"mkdir $'a\\xff' && git init -q $'a\\xff' && {SETTING} >> $'a\\xff/.git/config'",
        folder=os.fsdecode(b"a\xff"),
    ),
    Plant(
        "times set back",
        f"git init -q sub && {SETTING} >> sub/.git/config && find sub . -maxdepth 1 -exec touch -d 2001-01-01 {{}} +",
        folder="sub",
    ),
)

# What other programs run or obey on their own, and what they run with the person's work.
ASKED = (
    ".envrc", "deep/er/.envrc", ".husky/pre-commit", ".vscode/tasks.json", ".vscode/settings.json",
    "app.code-workspace", ".idea/runConfigurations/Run.xml", ".claude/settings.json", ".claude/settings.local.json",
    ".claude/hooks/stop.sh", ".mcp.json", ".cursor/mcp.json", ".codex/config.toml", ".gemini/settings.json",
    ".pre-commit-config.yaml", "lefthook.yml", ".githooks/pre-push", ".bashrc", ".config/autostart/x.desktop",
    ".hg/hgrc", ".devcontainer.json", ".Rprofile", ".nvim.lua", "opencode.json", ".VSCode/Tasks.json",
)  # fmt: skip
REPORTED = (
    "Makefile", "sub/Makefile", "justfile", "package.json", "setup.py", "conftest.py", ".github/workflows/ci.yml",
    ".gitlab-ci.yml", "AGENTS.md", ".cargo/config.toml", ".npmrc", "docker-compose.yml", "eslint.config.js",
)  # fmt: skip


def written(path: str) -> str:
    """A command that writes such a file."""
    return f'mkdir -p $(dirname {path}) && echo \'{{"scripts": {{"x": "evil"}}}}\' > {path}'


def filled(text: str, room: Room) -> str:
    evil = room.outside / "evil"
    for name, value in (("$GIT", GIT), ("$EVIL", str(evil)), ("$WORK", str(room.work))):
        text = text.replace(name, value)
    return text


def prepare(plant: Plant, room: Room) -> None:
    evil = room.outside / "evil"
    evil.write_text(f"#!/bin/sh\necho ran >> {room.outside}/ran\n")
    evil.chmod(0o755)
    as_person(filled(plant.before, room), room, room.work, check=True)
    (room.outside / "ran").unlink(missing_ok=True)


def planting(room: Room) -> Sandbox:
    """A sandbox in which commands can read the program that they plant: else nothing would be planted at all."""
    return Sandbox(readable=(str(room.outside),))


def has_run(plant: Plant, room: Room) -> bool:
    """Whether what the person does next runs what was planted."""
    (room.outside / "ran").unlink(missing_ok=True)
    folder = room.work / plant.folder
    as_person(filled(plant.after, room), room, folder if folder.is_dir() else room.work)
    return (room.outside / "ran").exists()


def as_person(command: str, room: Room, folder: Path, *, check: bool = False) -> None:
    # Rooms lie inside the clone of who runs the tests: where a repository was moved away, git would take theirs.
    ceiling = {"GIT_CEILING_DIRECTORIES": str(room.work.parent)}
    environment = {"PATH": os.environ["PATH"], "HOME": str(room.person), "LANG": "C.UTF-8", **ceiling}
    subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=check,
        timeout=PATIENCE_SECONDS,
    )
