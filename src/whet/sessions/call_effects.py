"""What a call does to the world beyond the conversation: reads it, changes it, checks it; and which files it writes."""

import re
from enum import StrEnum
from pathlib import PurePosixPath

from whet.sessions.shell_lines import CHECKERS, RUNNERS, Stage, split
from whet.sessions.tool_families import Family, arguments_of, command_of, family_of
from whet.sessions.transcripts import ToolCall
from whet.text.words import names, plain_name

CHANGING_WORDS = names(
    "send create update delete add remove book reserve cancel schedule post invite write edit append share "
    "reschedule pay transfer modify return exchange apply set insert make put save move rename upload submit "
    "change replace patch order buy purchase kick clear mark assign close merge push publish reset register "
    "subscribe block approve"
)
READING_WORDS = names(
    "get list search read find check fetch view show query lookup look calculate glob grep ls cat browse retrieve "
    "count describe see explain summarize download inspect verify open navigate scroll visit"
)

TESTERS = names(
    "test tests e2e pytest unittest jest vitest mocha ava tap rspec phpunit ctest tox nox nextest karma jasmine busted "
    "playwright cypress"
)
CHECKING_WORDS = re.compile(
    r"(?:^|[:_-])(tests?|lint|check|typecheck|type-check|build|verify|validate|analy[sz]e|e2e|ci)(?:$|[:_-])"
)
# Programs that start others somewhere else: what they start may stand far behind.
CARRIERS = names("docker docker-compose podman nerdctl mise turbo nx hatch uv kubectl")
WORDS_CARRIED = 14
CI_REPORTS = frozenset({("pr", "checks"), ("run", "watch"), ("run", "view")})
# What hands work over: the words of a command behind its options.
HANDING_OVER = {
    "git": (("commit",), ("push",)),
    "hg": (("commit",), ("push",)),
    "jj": (("commit",), ("git", "push")),
    "gh": (("pr", "create"), ("pr", "merge")),
    "glab": (("mr", "create"), ("mr", "merge")),
}
_HANDED_OVER_BY_NAME = re.compile(r"(?:create|merge)_(?:pull|merge)_request$")
PROBERS = names("grep egrep fgrep rg ag ack ls test [ [[ which type hash command diff cmp pgrep ps find fd stat")
# Subcommands that ask, and options that make a command answer by its status alone.
PROBING_SUBCOMMANDS = {"git": names("grep check-ignore ls-files show-ref")}
PROBING_OPTIONS = names("--quiet --exit-code --verify --is-ancestor --error-unmatch")
WORDS_READ = 4
_TEST_AFFIXES = re.compile(r"^tests?_|_(?:tests?|spec)$")
COMMIT = "commit"

PATHS = ("file_path", "path", "filePath", "filename", "file", "target_file")
# A script whose name says that it changes other files.
_PATCHER = re.compile(r"(?:^|/)\w*(?:patch|fix|apply|modify|update|edit)\w*\.(?:py|sh|js)$")


class Effect(StrEnum):
    """What a call is meant to do."""

    READS = "reads"
    CHANGES = "changes"
    CHECKS = "checks"  # may fail by design: tests, builds, linters
    PROBES = "probes"  # asks whether something is there; no is an answer
    THINKS = "thinks"  # plans and notes
    RUNS = "runs"  # a program of any kind


EFFECT_OF_FAMILY = {
    Family.READ: Effect.READS,
    Family.SEARCH: Effect.READS,
    Family.FETCH: Effect.READS,
    Family.LOOKUP: Effect.READS,
    Family.WRITE: Effect.CHANGES,
    Family.EDIT: Effect.CHANGES,
    Family.NEUTRAL: Effect.THINKS,
    Family.SHELL: Effect.RUNS,
    Family.INTERPRETER: Effect.RUNS,
    Family.SQL: Effect.RUNS,
    Family.DELEGATE: Effect.RUNS,
}


def effect_of(call: ToolCall) -> Effect:
    """The effect of a call, from the family of its tool, its command, else the verbs in its name."""
    family = family_of(call)
    if family is Family.SHELL:
        return _effect_of_command(command_of(call))
    if family is Family.DEVELOP:
        return Effect.CHECKS
    known = EFFECT_OF_FAMILY.get(family)
    return known if known is not None else effect_of_name(call.name)


def effect_of_name(name: str) -> Effect:
    """The effect of a tool, from the verbs in its name."""
    for word in plain_name(name).split("_"):
        if word in CHANGING_WORDS:
            return Effect.CHANGES
        if word in READING_WORDS:
            return Effect.READS
        if word in ("think", "plan", "note"):
            return Effect.THINKS
    return Effect.RUNS


def hands_over(call: ToolCall) -> bool:
    """Whether a call hands work over: a commit, a push, a request to merge."""
    if family_of(call) is not Family.SHELL:
        return _HANDED_OVER_BY_NAME.search(plain_name(call.name)) is not None
    return any(_hands_over(stage) for stage in split(command_of(call)))


def _hands_over(stage: Stage) -> bool:
    forms = HANDING_OVER.get(stage.program)
    if forms is None or "--dry-run" in stage.words:
        return False
    words = stage.words[1:]
    while len(words) > 1 and words[0].startswith("-"):  # -C and -c have a value of their own
        words = words[2:] if words[0] in ("-C", "-c", "-R") else words[1:]
    return any(words[: len(form)] == form for form in forms)


def checks_of(call: ToolCall) -> frozenset[str]:
    """The tests, builds and linters that a call runs, by names that do not depend on how each is started."""
    if family_of(call) is Family.DEVELOP:
        return frozenset({plain_name(call.name)})
    if family_of(call) is not Family.SHELL:
        return frozenset()
    return frozenset(name for stage in split(command_of(call)) if (name := check_of(stage)))


def tested_by(call: ToolCall) -> frozenset[str]:
    """What the tests are about that a call runs, however it starts them: `cart` for `pytest test_cart.py` and for
    `./dev test cart`; an empty text where it names nothing."""
    if family_of(call) is not Family.SHELL:
        return frozenset()
    found: set[str] = set()
    for stage in split(command_of(call)):
        at = next((at for at, word in enumerate(stage.words[:WORDS_READ]) if word in TESTERS), None)
        if at is not None and (stage.program in TESTERS or stage.program in RUNNERS or _is_script(stage)):
            found |= {_tested(word) for word in stage.words[at + 1 :] if not word.startswith("-")} or {""}
    return frozenset(found)


def _tested(word: str) -> str:
    """What a test is about, from the name of its file: `cart` for `tests/test_cart.py::test_total`."""
    name = word.partition("::")[0].rpartition("/")[2].partition(".")[0]
    return _TEST_AFFIXES.sub("", name)


def _effect_of_command(command: str) -> Effect:
    stages = split(command)
    if any(check_of(stage) for stage in stages):
        return Effect.CHECKS
    plain = [stage for stage in stages if stage.program not in ("cd", "echo", "true", "head", "tail", "sort", "wc")]
    return Effect.PROBES if plain and all(map(probes, plain)) else Effect.RUNS


def probes(stage: Stage) -> bool:
    """Whether a command only asks whether something is there."""
    asking = PROBING_SUBCOMMANDS.get(stage.program)
    if asking is None:
        return stage.program in PROBERS
    words = stage.words[1:]
    return next((word for word in words if not word.startswith("-")), "") in asking or not PROBING_OPTIONS.isdisjoint(
        words
    )


def check_of(stage: Stage) -> str:
    """The name of the check that a program runs; nothing for any other."""
    if stage.program in CHECKERS:
        return stage.program
    words = stage.words[1 : WORDS_CARRIED if stage.program in CARRIERS else WORDS_READ]
    # A commit runs the checks of its hooks; a push those of another.
    if stage.program == "git":
        return COMMIT if "commit" in words else ""
    if stage.program == "gh":  # its status is that of the checks it tells of
        return "ci" if tuple(words[:2]) in CI_REPORTS else ""
    if stage.program not in RUNNERS:
        return check_named(stage.program.removesuffix(".sh")) if _is_script(stage) else ""
    return next((name for word in words if (name := check_named(word))), "")


def _is_script(stage: Stage) -> bool:
    """Whether a program is the project's own: named by its path or its ending, or a task such as test:unit."""
    first = stage.words[0] if stage.words else ""
    return "/" in first or ":" in first or first.endswith((".sh", ".py", ".js", ".ts", ".ps1"))


def check_named(word: str) -> str:
    """The check that a word of a command names: `test:unit` is a test; nothing for any other word."""
    if word in CHECKERS:
        return word
    found = CHECKING_WORDS.search(word)
    return found[1] if found else ""


def files_written(call: ToolCall) -> tuple[str, ...]:
    """The files that a call makes or changes, as far as the call itself says so."""
    family = family_of(call)
    if family in (Family.EDIT, Family.WRITE):
        arguments = arguments_of(call)
        found = (arguments.get(name) for name in PATHS)
        return tuple(path for path in found if isinstance(path, str) and path)[:1]
    if family is not Family.SHELL:
        return ()
    stages = split(command_of(call))
    return tuple(dict.fromkeys(path for stage in stages for path in (*_redirected(stage), *_of_stage(stage))))


def _redirected(stage: Stage) -> tuple[str, ...]:
    """The files that the output of a command goes to."""
    found = [
        after for word, after in zip(stage.words, stage.words[1:], strict=False) if word in (">", ">>", "1>", "&>")
    ]
    glued = (word.lstrip(">") for word in stage.words if word.startswith(">") and not word.startswith(">&"))
    return tuple(path for path in (*found, *glued) if path)


def _of_stage(stage: Stage) -> tuple[str, ...]:
    words = stage.words[1:]
    if stage.program == "sed" and any(word.startswith(("-i", "--in-place")) for word in words):
        return words[-1:]
    if stage.program in ("tee", "patch"):
        return tuple(word for word in words if not word.startswith("-"))[:1]
    if stage.program.startswith("python") or stage.program in ("bash", "sh", "node"):
        return tuple(word for word in words[:1] if _PATCHER.search(str(PurePosixPath(word))))
    return ()
