"""What a session mostly did, from its calls; and a session in a few lines."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from whet.sessions.shell_lines import Stage, split
from whet.sessions.tool_families import Family, arguments_of, command_of, family_of, name_words
from whet.sessions.transcripts import Exchange, ToolCall
from whet.text.words import names

DOMINANT_SHARE = 0.6
Kind = Literal["code", "file", "research", "neutral"]

# Families whose kind does not depend on the arguments.
KIND_OF_FAMILY: Mapping[Family, Kind] = {
    Family.INTERPRETER: "code",
    Family.SQL: "code",
    Family.DEVELOP: "code",
    Family.READ: "file",
    Family.SEARCH: "file",
    Family.FETCH: "research",
    Family.LOOKUP: "research",
    Family.DELEGATE: "neutral",
    Family.NEUTRAL: "neutral",
}
SOURCE_ENDINGS = names(
    "py pyi ipynb js jsx mjs cjs ts tsx vue svelte c h cc cpp cxx hpp cs java kt kts scala go rs rb php swift m mm "
    "pl lua r jl hs ml ex exs erl clj dart zig nim sql sh bash zsh fish ps1 bat css scss less html htm proto "
    "graphql tf gradle cmake make mk dockerfile makefile sol vim el"
)
FILE_PROGRAMS = names(
    "ls cat mv cp find rm rmdir mkdir touch head tail less more grep egrep fgrep rg ag ack sed awk gawk wc sort "
    "uniq tree stat chmod chown ln tar zip unzip gzip gunzip bzip2 xz 7z du df rsync scp diff cmp cut tr tee "
    "xxd od jq yq fd fdfind bat basename dirname realpath readlink md5sum sha256sum shasum split file pwd locate "
    "dd nl column strings iconv pdftotext pandoc convert open dir copy move del type gsutil rclone "
    "get-content get-childitem"
)
RESEARCH_PROGRAMS = names("curl wget lynx w3m links http https xh ddgr googler whois dig nslookup host ping yt-dlp")
SILENT_PROGRAMS = names(
    "cd echo printf true false : . source export set unset test [ [[ sleep wait date which type command alias "
    "clear exit return for while case in read local declare pushd popd history hash ulimit umask eval"
)
LOCAL_PLACES = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]")

CODE_ARGUMENTS = names("code script source_code python javascript snippet sql statement test_path breakpoint")
CHANGE_ARGUMENTS = names("old_string new_string old_str new_str diff patch replacement edits hunks search_replace")
COMMAND_ARGUMENTS = names("command cmd commands argv shell_command")
ADDRESS_ARGUMENTS = names("url urls uri link href website page_url domain selector xpath ref coordinate")
PLACE_ARGUMENTS = names(
    "path paths file file_path filepath filename file_name file_id files directory dir folder folder_path "
    "target_path source_path glob absolute_path old_path new_path from_path to_path extension"
)
QUESTION_ARGUMENTS = names("query q queries search_query search_term question keyword keywords topic term")

CODE_WORDS = names(
    "test tests build compile lint format deploy commit branch git github gitlab repo repository pull merge rebase "
    "debug debugger breakpoint execute exec eval run interpreter notebook kernel container docker kubernetes pod "
    "terminal shell bash console npm pip package packages dependency refactor symbol symbols definition references "
    "typecheck diagnostics migration migrate sql pipeline ci workflow code schema coverage stacktrace process "
    "logs cell jupyter python javascript sandbox compiler lambda terraform script issue "
    "issues pr prs"
)
FILE_WORDS = names(
    "file files folder folders directory directories dir path paths docx pdf spreadsheet sheet excel csv upload "
    "download copy move archive zip unzip drive attachment document documents filesystem vault bucket object disk"
)
RESEARCH_WORDS = names(
    "web search browse browser url page pages webpage crawl crawler scrape wiki wikipedia arxiv paper papers "
    "pubmed scholar citation citations news google bing duckduckgo brave tavily exa perplexity navigate lookup "
    "docs website weather http screenshot click article articles abstract sources research internet site "
    "library youtube transcript encyclopedia feed rss maps place places stock stocks"
)
NEUTRAL_WORDS = names(
    "todo todos plan think thought memory memories remember recall ask clarify notify wait sleep finish done "
    "reminder reflect goal goals confirm approval handoff transfer note notes preference preferences feedback"
)
LOOKING_VERBS = names("get list search find lookup query check read retrieve fetch show view describe count compare")


class Activity(StrEnum):
    """The kind of work that more than 60 % of a session's calls did, or mixed when none has that share."""

    CODE = "code"
    FILE = "file"
    RESEARCH = "research"
    MIXED = "mixed"


def classify(exchanges: Iterable[Exchange]) -> Activity:
    """The activity of a session. Neutral calls do not vote; a session with no vote is mixed.

    Where code is changed, looking at source is part of that work and votes with it.
    """
    calls = [exchange.call for exchange in exchanges]
    kinds = [kind_of(call) for call in calls]
    changes = any(kind == "code" and _changes_files(call) for call, kind in zip(calls, kinds, strict=True))
    votes = Counter(
        "code" if changes and kind == "file" and _looks_at_source(call) else kind
        for call, kind in zip(calls, kinds, strict=True)
    )
    del votes["neutral"]
    total = votes.total()
    for kind, count in votes.most_common(1):
        if count > DOMINANT_SHARE * total:
            return Activity(kind)
    return Activity.MIXED


def kind_of(call: ToolCall) -> Kind:
    """The kind of work that one call does."""
    family = family_of(call)
    known = KIND_OF_FAMILY.get(family)
    if known is not None:
        return known
    if family is Family.SHELL:
        command = command_of(call)
        return kind_of_command(command) if command else "code"
    arguments = arguments_of(call)
    if family is Family.EDIT:
        return "file" if _names_only_documents(arguments) else "code"
    if family is Family.WRITE:
        return "code" if _names_source(arguments) else "file"
    return _kind_of_unknown(call, arguments)


def kind_of_command(command: str) -> Kind:
    """What a command line does: the most telling of its programs decides, code before research before file."""
    kinds = {_kind_of_stage(stage) for stage in split(command)}
    for kind in ("code", "research", "file"):
        if kind in kinds:
            return kind
    return "file" if ">" in command else "neutral"


def _kind_of_stage(stage: Stage) -> Kind:
    program = stage.program.lower()
    if program in SILENT_PROGRAMS:
        return "neutral"
    if program in RESEARCH_PROGRAMS:
        local = any(place in word for word in stage.words for place in LOCAL_PLACES)
        return "code" if local else "research"
    if program in FILE_PROGRAMS:
        # `cat > app.py <<EOF` is how some agents write code.
        redirected = [stage.words[i + 1] for i, word in enumerate(stage.words[:-1]) if word in (">", ">>")]
        return "code" if any(_is_source(target) for target in redirected) else "file"
    return "code"  # whatever else is run is a program: a test, a build, a script, an installation


def _kind_of_unknown(call: ToolCall, arguments: Mapping[str, object]) -> Kind:
    """A tool nobody listed: what it is given says most, then the words of its name."""
    keys = {key.lower() for key in arguments}
    words = name_words(call.name)
    own = words[-1]
    if keys & COMMAND_ARGUMENTS and (command := command_of(call)) and command != call.arguments:
        return kind_of_command(command)
    if keys & CHANGE_ARGUMENTS:
        return "file" if _names_only_documents(arguments) else "code"
    if keys & CODE_ARGUMENTS:
        return "code"
    if own & NEUTRAL_WORDS and not keys & (PLACE_ARGUMENTS | ADDRESS_ARGUMENTS):
        return "neutral"
    if keys & ADDRESS_ARGUMENTS:
        return "research"
    place, question = bool(keys & PLACE_ARGUMENTS), bool(keys & QUESTION_ARGUMENTS)
    for group in reversed(words):  # the tool's own name before its server's
        if kind := _kind_of_words(group, place=place, question=question):
            return kind
    if keys & PLACE_ARGUMENTS:
        return "code" if "content" in keys and _names_source(arguments) else "file"
    if keys & QUESTION_ARGUMENTS or own & LOOKING_VERBS:
        return "research"
    return "neutral"


@lru_cache(maxsize=1024)
def _kind_of_words(words: frozenset[str], *, place: bool, question: bool) -> Kind | None:
    """The kind that most of the words speak for; a path among the arguments speaks for file."""
    votes: dict[Kind, int] = {
        "code": len(words & CODE_WORDS),
        "file": len(words & FILE_WORDS) + place,
        "research": len(words & RESEARCH_WORDS) + question,
    }
    if not words & (CODE_WORDS | FILE_WORDS | RESEARCH_WORDS):
        return None
    return max(votes, key=lambda kind: votes[kind])


def _changes_files(call: ToolCall) -> bool:
    return family_of(call) in (Family.EDIT, Family.WRITE)


def _looks_at_source(call: ToolCall) -> bool:
    family = family_of(call)
    if family is Family.SHELL:
        return any(_is_source(word) for stage in split(command_of(call)) for word in stage.words[1:])
    return family is Family.SEARCH or (family is Family.READ and _names_source(arguments_of(call)))


def _paths(arguments: Mapping[str, object]) -> list[str]:
    return [value for key, value in arguments.items() if key.lower() in PLACE_ARGUMENTS and isinstance(value, str)]


def _names_source(arguments: Mapping[str, object]) -> bool:
    return any(_is_source(path) for path in _paths(arguments))


def _names_only_documents(arguments: Mapping[str, object]) -> bool:
    paths = _paths(arguments)
    return bool(paths) and not any(_is_source(path) for path in paths)


def _is_source(path: str) -> bool:
    name = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
    return name.rsplit(".", 1)[-1] in SOURCE_ENDINGS
