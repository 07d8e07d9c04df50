"""Files that other programs run or obey on their own, by what names them and by where they lie: many of each kind."""

from typing import NamedTuple


class Started(NamedTuple):
    """A file that a command writes, and what stood there before that leads a program to it."""

    path: str
    before: str = "true"


ENVRC = (
    ("source_env_if_exists .envrc.local", ".envrc.local"),
    ("source_env .envrc.private", ".envrc.private"),
    ("source_env ./config/env", "config/env"),
    ("dotenv", ".env"),
    ("dotenv_if_exists", ".env"),
    ("dotenv .env.local", ".env.local"),
    ("dotenv_if_exists conf/dev.env", "conf/dev.env"),
    (". ./tools/env.sh", "tools/env.sh"),
    ("source tools/env", "tools/env"),
    ('source "$PWD/tools/env.bash"', "tools/env.bash"),
    ("[ -f own.sh ] && . own.sh", "own.sh"),
    ("for f in env.d/*; do . $f; done", "env.d/x"),
    ("eval $(./bin/variables)", "bin/variables"),
    ("eval \"$(python3 tools/variables.py)\"", "tools/variables.py"),
    ("python3 tools/setup.py", "tools/helper.py"),
    ("use flake", "flake.nix"),
    ("use nix", "shell.nix"),
    ("export X=$(sh -c 'cd a/b && ./c')", "a/b/c"),
    ("load_prefix . ; ./configure-env", "configure-env"),
    ("watch_file x.rb; eval $(ruby x.rb)", "x.rb"),
    ("source_up; source ./scripts/common.sh", "scripts/common.sh"),
)  # fmt: skip
OF_DIRENV = tuple(
    Started(
        path,
        f"printf '%s\\n' '{line.replace(chr(39), chr(34))}' > .envrc && mkdir -p a/b env.d tools; touch tools/setup.py",
    )
    for line, path in ENVRC
)
OF_VERSIONS = (
    *(
        Started(path)
        for path in (
        ".tool-versions", "sub/.tool-versions", "a/b/.tool-versions", "mise.toml", ".mise.toml", "mise.local.toml",
        ".mise.local.toml", "mise.dev.toml", ".mise/config.toml", ".mise/tasks/x", "mise-tasks/x", ".mise-tasks/x",
        ".config/mise.toml", ".config/mise/config.toml", "mise/config.toml", ".python-version", ".node-version",
        ".nvmrc", "rust-toolchain.toml", ".ruby-version", ".java-version", ".Tool-Versions", "devenv.nix",
        )
    ),
    Started("tools/x.sh", "printf '[env]\\n_.source = \"./tools/x.sh\"\\n' > mise.toml"),
    Started("my.env", "printf '[env]\\n_.file = \"my.env\"\\n' > mise.toml"),
)  # fmt: skip
OF_HISTORIES = (
    *(
        Started(path)
        for path in (
        ".hg/hgrc", "sub/.hg/hgrc", "a/b/.hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", ".hgrc", ".HG/hgrc",
        "vendored/.hg/hgrc", ".sl/config", "sub/.sl/config", ".jj/repo/config.toml", ".jj/config.toml",
        ".jj/workspace-config.toml", "_darcs/prefs/defaults", "_darcs/prefs/prefs", ".pijul/config",
        ".fossil-settings/editor-command", ".bzr/branch/branch.conf", "x/.bzr/branch/branch.conf",
        )
    ),
    Started("hooks/check.py", "mkdir -p .hg && printf '[hooks]\\nupdate = python:hooks/check.py:run\\n' > .hg/hgrc"),
    Started("ext/x.py", "mkdir -p .hg && printf '[extensions]\\nx = ext/x.py\\n' > .hg/hgrc"),
    Started("team.rc", "mkdir -p .hg && printf '%%include ../team.rc\\n' > .hg/hgrc"),
)  # fmt: skip
STAND_INS = tuple(
    Started(path, "mkdir -p pkg/sub && touch m.py pkg/m.py pkg/sub/m.py")
    for path in (
        *(f"__pycache__/m.cpython-3{minor}.pyc" for minor in range(8, 15)),
        *(f"pkg/__pycache__/m.cpython-3{minor}.opt-{level}.pyc" for minor in (11, 12, 13) for level in (1, 2)),
        "pkg/sub/__pycache__/m.cpython-311.pyc", "pkg/__pycache__/__init__.cpython-312.pyc", "__pycache__/m.pypy39.pyc",
        "pkg/__PYCACHE__/m.cpython-311.PYC", "lib/Own.pmc", ".zshrc.zwc", "scripts/own.zwc", "lisp/own.elc",
    )
)  # fmt: skip
AT_HOME = (
    *(
        Started(path)
        for path in (
        ".bash_completion", ".bash_completion.d/x", ".local/share/bash-completion/completions/git", ".local/bin/git",
        ".local/bin/x", ".cargo/env", ".cargo/env.fish", ".local/lib/python3.11/site-packages/x.pth",
        ".local/lib/python3.13/site-packages/usercustomize.py", ".local/lib/python3.12/site-packages/sitecustomize.py",
        ".unknownrc", ".curlrc", ".psqlrc", ".sqliterc", ".lessfilter", ".xbindkeysrc", ".config/new-program/settings",
        ".config/environment.d/x.conf", ".config/systemd/user/x.service", ".config/git/config", ".pythonrc",
        ".local/share/applications/x.desktop", ".zsh/x.zsh", ".gitconfig", ".inputrc", ".config/htop/htoprc",
        )
    ),
    Started(".nvm/nvm.sh", "echo '. \"$HOME/.nvm/nvm.sh\"' > .bashrc"),
    Started(".sdk/bin/x.sh", "echo 'source ~/.sdk/bin/x.sh' > .profile"),
    Started("env/own", "echo '[ -r ~/env/own ] && . ~/env/own' > .zshrc"),
    Started("bin/git", "mkdir -p bin"),
)  # fmt: skip
KINDS: dict[str, tuple[Started, ...]] = {
    "what direnv loads": OF_DIRENV,
    "what chooses versions of tools": OF_VERSIONS,
    "settings of other histories than git's": OF_HISTORIES,
    "compiled files in the place of their source": STAND_INS,
}
