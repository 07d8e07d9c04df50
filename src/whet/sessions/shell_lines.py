"""Shell command lines, split into the programs that they run.

Programs that developers run, and the words of every shell: what a line's first word is, and what it starts.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

import re2

from whet.text.words import names

CHECKERS = names(
    "pytest unittest jest vitest mocha ava tap rspec phpunit ctest tox nox tsc mypy pyright pyre ruff flake8 "
    "pylint eslint biome prettier stylelint shellcheck clippy golangci-lint rubocop black isort make ninja cmake "
    "gradle gradlew mvn mvnw ant bazel playwright cypress knip rustc gcc g++ clang javac pre-commit lint-staged "
    "nextest vet swiftlint ktlint detekt checkstyle dart-analyze hadolint tflint yamllint markdownlint "
    "markdownlint-cli2 vale oxlint deptry bandit semgrep hlint credo dialyzer scalafmt spotless karma jasmine "
    "busted luacheck"
)
# What runs the programs, tests and scripts of a project.
RUNNERS = names(
    "npm pnpm yarn bun bunx npx deno cargo go dotnet swift mix rake bundle uv uvx poetry python python3 just task mise "
    "turbo nx lerna moon rush hatch pdm pipenv rye tox-uv docker docker-compose podman nerdctl flutter dart composer "
    "php artisan rails sbt mill lein stack cabal zig earthly dagger invoke inv doit xcodebuild fastlane"
)
# What keeps versions, and talks to where they are kept.
VERSIONING = names("git gh glab hg jj svn")
# Other programs have orders of these names.
USUAL_ORDERS = names("go task just stack mix make black tap moon rush vet mill invoke ant vale swift busted")
STARTED = (CHECKERS | RUNNERS | VERSIONING) - USUAL_ORDERS
# The utilities of POSIX and the shells' own words: a program's name behind one of them is only a name.
UTILITIES = names(
    "alias ar at awk basename batch bc bg break cal case cat cd chgrp chmod chown cksum cmp comm command compress "
    "continue cp crontab csplit cut date dd declare df diff dirname du echo ed egrep eval exec exit expand export "
    "expr false fc fg fgrep file find fold for function getconf getopts grep hash head help history iconv id in "
    "info ipcs jobs join kill killall let link ln local locale locate logger logname lp ls m4 mailx man mkdir "
    "mkfifo more mv newgrp nice nl nm nohup od paste patch pathchk pax pgrep pkill popd pr printenv printf ps "
    "pushd pwd read readonly renice return rm rmdir sed select set shift sh sleep sort source split strings strip "
    "stty tabs tail talk tee test time touch tput tr trap true tsort tty type ulimit umask unalias uname "
    "uncompress unexpand uniq unlink unset vi wait wc whatis whereis which who write xargs zcat . [ [["
)


LENGTH_LIMIT = 20_000
STAGE_LIMIT = 200
CONTINUED = "\\\n"  # the line goes on
Joiner = Literal["|", "||", "&&", ";", "&", ""]

_TOKEN = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|\\(?s:.)|\$\(|\d?>&\d|&>>?|\|&|\|\||&&|;;?|\||&|\n|[()]|"""
    r"""[^\s'"\\|&;()$]+|[ \t\r]+|\$|."""
)
_HEREDOC = re2.compile(r"""(?:^|[^<])<<-?\s*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_][A-Za-z0-9_]*))""")
_ASSIGNMENT = re2.compile(r"^[A-Za-z_][A-Za-z0-9_]*\+?=")
_JOINERS: dict[str, Joiner] = {
    "|": "|",
    "|&": "|",
    "||": "||",
    "&&": "&&",
    ";": ";",
    ";;": ";",
    "\n": ";",
    "&": "&",
}
# Words that run the command after them, each with the number of its own plain arguments.
WRAPPERS = {
    "sudo": 0, "env": 0, "time": 0, "nohup": 0, "exec": 0, "command": 0, "builtin": 0, "timeout": 1, "nice": 0,
    "ionice": 0, "stdbuf": 0, "xargs": 0, "unbuffer": 0, "doas": 0, "then": 0, "do": 0, "else": 0,
    "if": 0, "while": 0, "until": 0, "!": 0, "{": 0, "elif": 0, "watch": 0, "setsid": 0, "caffeinate": 0,
}  # fmt: skip
TWO_WORD_WRAPPERS = frozenset(
    {
        ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("bundle", "exec"), ("pdm", "run"), ("hatch", "run"),
        ("pnpm", "exec"), ("npm", "exec"), ("yarn", "dlx"), ("conda", "run"), ("pnpm", "dlx"), ("rye", "run"),
    }
)  # fmt: skip
# The end of a compound command, or of a fence that a model put around it, has the status of what ran in it.
CLOSERS = frozenset({"done", "fi", "esac", "}", "```"})
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})


class Stage(NamedTuple):
    """One simple command: its program without path, its words, and what joins it to the next."""

    program: str
    words: tuple[str, ...]
    joiner: Joiner


# Outcome, effect and activity each ask for the same line.
@lru_cache(maxsize=2048)
def split(command: str) -> tuple[Stage, ...]:
    """The simple commands of a command line in order. Text in quotes, here-documents and comments runs nothing."""
    stages: list[Stage] = []
    for words, joiner in _simple(command):
        _close(stages, words, joiner)
        if len(stages) >= STAGE_LIMIT:
            break
    return tuple(stages)


class WrittenStage(NamedTuple):
    """One simple command as it is written, where among its words its program stands, and what joins it to the next."""

    words: tuple[str, ...]
    program: int
    joiner: Joiner = ""


def written(command: str) -> tuple[WrittenStage, ...]:
    """The simple commands of a line with what stands before their programs: assignments, `uv run`, `timeout 60`."""
    found = ((words, joiner) for words, joiner in islice(_simple(command), STAGE_LIMIT) if words)
    return tuple(
        WrittenStage(tuple(word.strip("'\"") for word in words), len(words) - len(_unwrapped(words)), joiner)
        for words, joiner in found
    )


def _simple(command: str) -> Iterator[tuple[list[str], Joiner]]:
    words: list[str] = []
    word = ""
    for token in _tokens(command):
        joiner = _JOINERS.get(token)
        if joiner is None and not token.isspace() and token not in ("(", ")", "$(", CONTINUED):
            word += token
            continue
        if word:
            words.append(word)
            word = ""
        if joiner is not None:
            yield words, joiner
            words = []
    yield [*words, word] if word else words, ""


def _tokens(command: str) -> list[str]:
    lines = (line for line in without_heredocs(command[:LENGTH_LIMIT]).split("\n") if not line.lstrip().startswith("#"))
    found: list[str] = _TOKEN.findall("\n".join(lines))
    return found


def without_heredocs(command: str) -> str:
    """The command line without the bodies of its here-documents, which are data."""
    if "<<" not in command:
        return command
    kept: list[str] = []
    while (opening := _HEREDOC.search(command)) is not None:
        mark = opening.group(1) or opening.group(2) or opening.group(3)
        line_end = command.find("\n", opening.end())
        if line_end < 0:
            break
        kept.append(command[: opening.start()] + command[opening.end() : line_end])
        closing = _closing(command, mark, line_end)
        command = command[closing:]
    return "".join(kept) + command


def _closing(command: str, mark: str, start: int) -> int:
    """Where the text goes on after the line that holds only the mark; its end when there is none."""
    place = start
    while (place := command.find(mark, place + 1)) >= 0:
        end = place + len(mark)
        before = command[command.rfind("\n", 0, place) + 1 : place]
        if not before.strip() and command[end : end + 1] in ("", "\n", ")", " "):
            return end
    return len(command)


def _close(stages: list[Stage], words: list[str], joiner: Joiner) -> None:
    words = _unwrapped(words)
    if not words or words[0] in CLOSERS:
        if stages and joiner:
            stages[-1] = stages[-1]._replace(joiner=joiner)
        return
    program = words[0].strip("'\"").rsplit("/", 1)[-1]
    if program in SHELLS and len(words) >= 3 and words[1].startswith("-") and words[1].endswith("c"):
        inner = split(words[2].strip("'\""))
        stages.extend(inner[:-1])
        if inner:
            stages.append(inner[-1]._replace(joiner=joiner))
        return
    stages.append(Stage(program, tuple(word.strip("'\"") for word in words), joiner))


def _unwrapped(words: list[str]) -> list[str]:
    """The words without assignments, wrappers and their options before the program."""
    while words:
        head = words[0]
        if ("=" in head and _ASSIGNMENT.match(head)) or head.startswith((">", "<")):
            words = words[1:]
        elif head == "command" and words[1:2] and words[1] in ("-v", "-V"):  # it asks for a program and runs none
            break
        elif head in WRAPPERS:
            words = _after_options(words[1:], WRAPPERS[head])
        elif tuple(words[:2]) in TWO_WORD_WRAPPERS:
            words = _after_options(words[2:], 0)
        elif head in ("npx", "bunx", "uvx", "pipx") and len(words) > 1:
            words = _after_options(words[1:], 0)
        elif _starts_another(words):
            words = words[1:]
        else:
            break
    return words


def _starts_another(words: list[str]) -> bool:
    """Whether an unknown first word runs the well-known program behind it."""
    if len(words) < 3 or words[1] not in STARTED:
        return False
    return words[0].isidentifier() and words[0] not in STARTED | UTILITIES


def _after_options(words: list[str], plain: int) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[1:]
    return words[plain:]


def is_decisive(stages: tuple[Stage, ...], index: int) -> bool:
    """Whether a failure of that stage is the failure of the whole line, as the shell counts it."""
    passing = {"&&"} | _strictness(stages[:index])
    while index < len(stages) - 1:
        if stages[index].joiner not in passing:
            return False
        index += 1
        # The rest of an && chain does not run; only what follows the chain could still hide the failure.
        while index < len(stages) - 1 and stages[index].joiner == "|":
            index += 1
    return True


def _strictness(stages: tuple[Stage, ...]) -> set[str]:
    """The joiners that `set -e` and `set -o pipefail` make pass a failure on."""
    words = [word for stage in stages if stage.program == "set" for word in stage.words[1:]]
    strict: set[str] = {"|"} if "pipefail" in words else set()
    if any(word.startswith("-") and not word.startswith("--") and "e" in word for word in words):
        strict.add(";")
    return strict
