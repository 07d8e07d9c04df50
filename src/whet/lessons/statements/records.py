"""Statements held against what agents did: calls that follow one and fail, that break it, and what never came up.

Each session becomes a few facts once; each statement is looked up in them by its program or path. Nothing is compared
with everything, so the time grows with the calls and with the statements, not with their product.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.patches import Proof
from whet.lessons.statements.audit import (
    AuditedStatement,
    Statement,
    StatementFinding,
    StatementKind,
    StatementMark,
)
from whet.lessons.statements.naming import (
    ThingKind,
    code_in,
    extension_of,
    is_placeholder,
    stages_of,
    things_in,
    without_code,
)
from whet.lessons.statements.repository import scripts_in
from whet.sessions.shell_lines import WrittenStage, written
from whet.sessions.tool_families import command_of
from whet.text.likeness import stance_of
from whet.text.words import cut, names
from whet.trouble.outcomes.error_forms import could_not_run
from whet.trouble.outcomes.fingerprints import error_line
from whet.trouble.outcomes.purposes import is_shell, path_of, shown_call
from whet.trouble.outcomes.view import JudgedCall, SessionView
from whet.values import Value

MOST_WORDS = 8
MOST_PROOFS = 5
MOST_STAGES = 12
QUOTE = 160
FEWEST_CALLS = 3
FEWEST_SESSIONS = 2
NEARLY_ALL = 0.8
ENOUGH_SESSIONS = 10  # without it in so many, a situation may be said not to come up
SCRIPT = ""  # in the place of a program: whatever runs the script of that name
_ENDS = re.compile(r"\A(?:[\s,/]*+(?:(?:and|or|nor)\s++)?+`[^`\n]*+`)*+\s*(?:$|\n|[.,;:!)—–*]|- )")
_QUOTES = re.compile(r"[\"'`:,]")
BUILT_IN = names("break cd continue echo exit export read return set shift test trap true false unset wait")
"""What a shell does itself: a sentence that names one seldom means the call."""
SAVING = ("commit", "push")  # what git calls the moments that an order can be for


class CallFact(NamedTuple):
    """One simple command of a call as it ran, or the path that another tool was given."""

    message: int
    words: tuple[str, ...]
    failed: bool = False
    error: str = ""  # its telling line
    is_unrunnable: bool = False  # it could not be run as it was asked for
    path: str = ""


class CallsOnRecord(Value, frozen=True):
    """What one session did, as far as statements are about it."""

    session: str
    at: float
    calls: tuple[CallFact, ...] = ()
    turns: int = 0


def calls_of(session: str, view: SessionView) -> CallsOnRecord:
    """The facts of a session."""
    times = [message.at for message in view.transcript.messages if message.at is not None]
    calls = tuple(fact for step in view.steps for fact in _facts(step))
    return CallsOnRecord(session, times[0] if times else 0.0, calls, len(view.by_agent))


def _facts(step: JudgedCall) -> Iterator[CallFact]:
    error = cut(error_line(step.text), QUOTE) if step.failed else ""
    if not is_shell(step):
        if path := path_of(step):
            yield CallFact(step.message, (step.tool,), step.failed, error, path=path)
        return
    ran = [stage for stage in written(command_of(step.exchange.call)) if stage.words][:MOST_STAGES]
    its = _failing(ran, error) if step.failed else None
    unrunnable = its is not None and bool(could_not_run(step.text))
    for place, stage in enumerate(ran):
        is_its = place == its
        plain = tuple(word for word in stage.words if "=" not in word.partition("/")[0] or word.startswith("-"))
        yield CallFact(step.message, plain[:MOST_WORDS], is_its, error if is_its else "", unrunnable and is_its)
        if is_its and stage.joiner == "&&":
            ran = ran[: place + 1]
            break  # what follows was never run
    for stage in ran:
        if 0 < stage.program < len(stage.words):  # what a wrapper ran, by its own name too
            yield CallFact(
                step.message, stage.words[stage.program :][:MOST_WORDS], step.failed and len(ran) == 1, error
            )
    if not ran:
        yield CallFact(step.message, (shown_call(step),), step.failed, error)


def _failing(ran: list[WrittenStage], error: str) -> int | None:
    """Which of several commands that ran together failed: the one whose program, or else any of whose words, the error
    names; None where it names none.
    """
    if len(ran) == 1:
        return 0
    named = frozenset(_QUOTES.sub(" ", error).split())
    for place, stage in enumerate(ran):
        if _program(stage.words) in error:
            return place
    plain = ({word for word in stage.words[1:] if not word.startswith("-")} for stage in ran)
    return next((place for place, words in enumerate(plain) if words & named), None)


def _program(words: tuple[str, ...]) -> str:
    return posixpath.basename(words[0]) if words else ""


class _Seen(NamedTuple):
    """A call and the session that it was in."""

    session: CallsOnRecord
    call: CallFact


class Records:
    """The calls of a project's sessions, by what they ran and by the name of the file that they are about."""

    def __init__(self, sessions: Iterable[CallsOnRecord]) -> None:
        self.sessions = tuple(sessions)
        self._by_program: dict[str, list[_Seen]] = {}
        self._by_word: dict[tuple[str, str], list[_Seen]] = {}
        self._by_file: dict[str, list[_Seen]] = {}
        self.by_script: dict[str, list[_Seen]] = {}
        self.saved: dict[str, list[_Seen]] = {}  # sessions that committed or pushed, by their first such call
        for session in self.sessions:
            for call in session.calls:
                seen = _Seen(session, call)
                program = _program(call.words)
                self._by_program.setdefault(program, []).append(seen)
                for word in dict.fromkeys(call.words[1:]):
                    self._by_word.setdefault((program, word), []).append(seen)
                for script in scripts_in(call.words):
                    self.by_script.setdefault(script.script, []).append(seen)
                for word in (*call.words, call.path):
                    if "/" in word or "." in word:
                        for part in {*word.split("/")} - {""}:  # who names a folder means what lies in it
                            self._by_file.setdefault(part, []).append(seen)
                if call.words[:1] == ("git",) and call.words[1:2] and call.words[1] in SAVING:
                    self.saved.setdefault(call.words[1], []).append(seen)

    def following(self, words: tuple[str, ...]) -> list[_Seen]:
        """The calls that a command of these words is the beginning of, as far as it gives words of its own."""
        if words[0] == SCRIPT:
            return self.by_script.get(words[1], [])
        if len(words) == 1:
            return self._by_program.get(words[0], [])
        fewest = min((self._by_word.get((words[0], word), []) for word in words[1:]), key=len)
        return [seen for seen in fewest if _begins(seen.call.words, words)]

    def naming(self, path: str) -> list[_Seen]:
        """The calls that name a path."""
        plain = path.rstrip("/")
        found = self._by_file.get(posixpath.basename(plain), ())
        return [each for each in found if any(plain in word for word in (*each.call.words, each.call.path))]

    @property
    def programs(self) -> frozenset[str]:
        return frozenset(self._by_program)


def _begins(call: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether a call has these words, first of all the one after the program; an option may stand between."""
    first = next((word for word in words[1:] if not word.startswith("-")), "")
    place = call.index(first) if first in call else 1
    between = call[1:place]
    is_first = not between or between[0].startswith("-")
    return is_first and set(words[1:]) <= set(call[1:])


def judge_by_records(audited: AuditedStatement, records: Records) -> tuple[StatementFinding, ...]:
    """What sessions show of a statement that stood there when they ran; nothing where they cannot tell."""
    statement = audited.statement
    since = audited.changed.at if audited.changed else None
    wanted, unwanted = _forms(statement, records)
    causes = (*_wrong(statement, records), *_causes(statement, wanted, records))
    broken = tuple(_broken(statement, wanted, unwanted, records, since))
    if causes or broken:
        return (*causes, *broken)
    return tuple(_came_up(statement, wanted, unwanted, records))


def _forms(statement: Statement, records: Records) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    """The commands that a statement is for and those that it is against, each as words; a single name is one only where
    sessions ran a program or a script of that name. What it is against in some cases only is left out.
    """
    against = stance_of(statement.text).unwanted
    wanted: list[tuple[str, ...]] = []
    unwanted: list[tuple[str, ...]] = []
    commands = [thing.text for thing in things_in(statement) if thing.kind is ThingKind.COMMAND]
    is_code = statement.kind is StatementKind.CODE  # what stands in marks there is no name that a sentence gives
    single = [] if is_code else [each for each in code_in(statement) if len(each.split()) == 1]
    for text in (*commands, *(each for each in single if each in records.programs)):
        is_against = " ".join(text.lower().split()) in against
        if is_against and not _is_unqualified(statement, text):
            continue
        for stage in stages_of(text):
            words = _plain(stage.words)
            if words and words[0] in records.programs and words[0] not in BUILT_IN:
                (unwanted if is_against else wanted).append(words)
    named = (each for each in single if each in records.by_script and each not in records.programs)
    wanted += [(SCRIPT, each) for each in named if each.lower() not in against]
    return tuple(dict.fromkeys(wanted)), tuple(dict.fromkeys(unwanted))


def _is_unqualified(statement: Statement, text: str) -> bool:
    """Whether a sentence ends, or goes on to something else, after what it names: no case is said that it is for."""
    after = statement.text.partition(f"`{text}`")[2]
    return statement.kind is StatementKind.CODE or _ENDS.match(after) is not None


def _plain(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command up to the first that stands for something else."""
    found: list[str] = []
    for word in words:
        if is_placeholder(word):
            break
        found.append(word)
    return tuple(found)[:MOST_WORDS]


def _causes(statement: Statement, wanted: tuple[tuple[str, ...], ...], records: Records) -> Iterator[StatementFinding]:
    """Calls that do as the statement says and nearly always fail, in a form that the error itself is about."""
    for words in wanted:
        seen = records.following(words)
        for form, group in _by_next_word(words, seen).items():
            failed = [each for each in group if each.call.failed and _is_about(form, each.call)]
            sessions = {each.session.session for each in failed}
            is_enough = len(failed) >= FEWEST_CALLS and len(sessions) >= FEWEST_SESSIONS
            if not is_enough or len(failed) < NEARLY_ALL * len(group):
                continue
            shown = " ".join(form)
            why = f"`{shown}` failed {len(failed)} of {len(group)} times: {failed[0].call.error}"
            every = len({each.session.session for each in group})
            yield _shown(StatementMark.CAUSE, why, statement, named=shown, calls=failed, came_up=every)
            break


def _by_next_word(words: tuple[str, ...], seen: list[_Seen]) -> Mapping[tuple[str, ...], list[_Seen]]:
    """The calls as a whole, and by the word that they add first."""
    groups: dict[tuple[str, ...], list[_Seen]] = {words: seen}
    for each in seen:
        added = next((word for word in each.call.words if word not in words and not word.startswith("-")), "")
        if added:
            groups.setdefault((*words, added), []).append(each)
    return groups


def _is_about(form: tuple[str, ...], call: CallFact) -> bool:
    """Whether an error is about the call as such: it could not be run, or the error names its last word."""
    return call.is_unrunnable or (len(form) > 1 and form[-1] in _QUOTES.sub(" ", call.error).split())


def _broken(
    statement: Statement,
    wanted: tuple[tuple[str, ...], ...],
    unwanted: tuple[tuple[str, ...], ...],
    records: Records,
    since: float | None,
) -> Iterator[StatementFinding]:
    """Sessions since the statement stands that did what it is against, or saved their work without what it asks for."""
    if since is None:
        return
    for words in unwanted:
        done = [each for each in records.following(words) if each.session.at >= since]
        instead = [each for form in wanted for each in records.following(form) if each.session.at >= since]
        sessions = {each.session.session for each in done}
        came_up = sessions | {each.session.session for each in instead}
        if len(sessions) >= FEWEST_SESSIONS:
            why = f"`{' '.join(words)}` was run all the same"
            named = " ".join(words)
            yield _shown(StatementMark.BROKEN, why, statement, named=named, calls=done, came_up=len(came_up))
    # A command that commits is no order to do something before it.
    said = "" if statement.kind is StatementKind.CODE else without_code(statement).lower()
    for moment in SAVING:
        if moment in said and wanted and not unwanted:
            yield from _skipped(statement, wanted, moment, records, since)
            return


def _skipped(
    statement: Statement, wanted: tuple[tuple[str, ...], ...], moment: str, records: Records, since: float
) -> Iterator[StatementFinding]:
    last: dict[str, _Seen] = {}
    for each in records.saved.get(moment, ()):
        if each.session.at >= since:
            last[each.session.session] = each
    ran = {seen.session.session for words in wanted if words[0] != "git" for seen in records.following(words)}
    asked = [words for words in wanted if words[0] != "git"]
    skipped = [each for session, each in last.items() if session not in ran]
    if asked and len(skipped) >= FEWEST_SESSIONS:
        named = " ".join(asked[0]).strip()
        why = f"git {moment} in a session that never ran `{named}`"
        found = _shown(StatementMark.BROKEN, why, statement, named=named, calls=skipped, came_up=len(last))
        yield replace(found, where=f"git {moment}")


def _wrong(statement: Statement, records: Records) -> Iterator[StatementFinding]:
    """Paths that calls looked for, in two sessions or more, and that none found."""
    for thing in things_in(statement):
        is_file = thing.kind is ThingKind.PATH and extension_of(thing.text)  # a folder is there though a file is not
        seen = records.naming(thing.text) if is_file else []
        failed = [each for each in seen if each.call.failed and posixpath.basename(thing.text) in each.call.error]
        sessions = {each.session.session for each in failed}
        if len(sessions) >= FEWEST_SESSIONS and len(failed) == len(seen):
            why = f"no call found `{thing.text}`: {failed[0].call.error}"
            yield _shown(StatementMark.WRONG, why, statement, named=thing.text, calls=failed, came_up=len(sessions))


def _came_up(
    statement: Statement,
    wanted: tuple[tuple[str, ...], ...],
    unwanted: tuple[tuple[str, ...], ...],
    records: Records,
) -> Iterator[StatementFinding]:
    """Whether what a statement names was ever used: by that it was followed, or never came up."""
    things = things_in(statement)
    paths = [thing.text for thing in things if thing.kind is ThingKind.PATH and thing.is_certain]
    orders = [words for words in wanted if len(words) > 1]
    done = [each for words in orders for each in records.following(words)]
    touched = [each for path in paths for each in records.naming(path)]
    touched += [each for words in unwanted for each in records.following(words)]
    looked = len(records.sessions)
    worked = [each for each in done if not each.call.failed]
    if worked:
        why = f"`{' '.join(orders[0]).strip()}` was run"
        yield replace(
            _shown(StatementMark.FOLLOWED, why, statement, calls=worked, came_up=looked), proofs=_proofs(done[:1])
        )
    elif not done and not touched and (paths or orders) and looked >= ENOUGH_SESSIONS:
        what = " ".join(orders[0]).strip() if orders else paths[0]
        yield _shown(StatementMark.NEVER, f"no call names `{cut(what, 40)}`", statement, calls=[], came_up=looked)


def _shown(
    mark: StatementMark, why: str, statement: Statement, *, calls: list[_Seen], came_up: int, named: str = ""
) -> StatementFinding:
    """A mark with the calls that show it; its situation came up in so many sessions."""
    seen = len({each.session.session for each in calls})
    return StatementFinding(mark, why, statement.line, named, came_up=came_up, seen=seen, proofs=_proofs(calls))


def _proofs(seen: Iterable[_Seen]) -> tuple[Proof, ...]:
    """One call of each session, the latest sessions first."""
    latest: dict[str, _Seen] = {}
    for each in seen:
        latest[each.session.session] = each
    newest = sorted(latest.values(), key=lambda each: -each.session.at)[:MOST_PROOFS]
    return tuple(
        Proof(
            each.session.session,
            each.call.message,
            "",
            " ".join((*each.call.words, each.call.path)).strip() + (f" → {each.call.error}" if each.call.error else ""),
        )
        for each in newest
    )
