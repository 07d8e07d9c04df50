"""The files that agents read, shown to a reader: what it sees of them, what it claims, and what of that code finds."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.statements.audit import Audit, InstructionFile, Statement, StatementFinding
from whet.lessons.statements.naming import ThingKind, extension_of, split_statements, things_in
from whet.lessons.statements.reader_claims import (
    NOT_SAID,
    DroppedStatementClaim,
    StatementClaim,
    WantedLook,
    claim_in,
    copies_of,
    finding_of,
    is_about,
    statement_of,
    words_of,
)
from whet.own.runs.run import Spent, together
from whet.reading.answers import objects
from whet.reading.learn import ENDED, ReadingLimit, spent_on
from whet.reading.passes import ANSWER_TOKENS
from whet.reading.readers import LessonReader, ReaderQuestion
from whet.sessions.transcripts import Usage
from whet.shipped.guidance import READING
from whet.telling.context.auditing import repository_facts
from whet.telling.context.looking import DEFINED, NO_CODE, CodeHit, RepositoryText, near_paths
from whet.text.quoting import mark_for, quoted, shortened, visible
from whet.text.words import cut, estimate, folded

FILE_TOKENS = 12_000  # of files in one pass, with the notes
TREE_TOKENS, MANIFEST_TOKENS = 2_000, 1_500
LOOK_TOKENS, EACH_LOOK = 32_000, 4_000
MOST_LOOKS = 40
MOST_NAMES = 400  # in a pass, that are looked for
LONGEST_NAME = 60
HIT_LETTERS = 110
AGAIN_LETTERS = 80  # from which on a line that says where it was shown is shorter
_CODE = re.compile(r"(?<!`)`{1,2}(?!`)([^`\n]{2,200})`{1,2}")
_WORD = re.compile(r"[\w@./:+-]*\w")
_NAME = re.compile(r"[A-Za-z_@][\w.-]*\w")  # without the `::` of what it belongs to
_JOINED = re.compile(r"[a-z0-9][A-Z]|[\w.]_|[\w]-\w|\w\.\w|\d|@")  # no plain word is written so
_DEFINED = "|".join(DEFINED)
_PIN = re.compile(r"^\W*([\w@./-]*\w)\W.{0,60}?\d")  # a line that gives a version to a name
VERSIONS = ("package.json", "pyproject.toml", "composer.json", "Cargo.toml", "go.mod", ".nvmrc", "rust-toolchain.toml")


class FilesPass(NamedTuple):
    """One pass over files: the statements in it, and what is shown of them."""

    statements: tuple[Statement, ...]
    text: str


class AuditReading(NamedTuple):
    """What a reader is shown of a project: its repository in short, and the passes over the files that agents read."""

    code: RepositoryText
    statements: tuple[Statement, ...]  # of the files that are shown
    short: str
    passes: tuple[FilesPass, ...]
    own: Mapping[str, str]

    @property
    def usage(self) -> Usage:
        """About what it takes to read it: each pass twice, the second time with half of what may be asked for."""
        system = estimate(READING.text("statements", self.own, looks=str(MOST_LOOKS))) + estimate(self.short)
        shown = sum(2 * (system + estimate(each.text)) + LOOK_TOKENS // 2 for each in self.passes)
        return Usage(shown, 2 * ANSWER_TOKENS * len(self.passes))


class ReadStatements(NamedTuple):
    """What a reader said of one pass, or of all: findings by statement, and what was dropped."""

    reader: str = ""
    findings: tuple[tuple[Statement, StatementFinding], ...] = ()
    dropped: tuple[DroppedStatementClaim, ...] = ()
    looks: tuple[WantedLook, ...] = ()
    spent: Spent = Spent()
    stopped: str = ""  # why it ended before all was read

    @property
    def kept(self) -> int:
        """How many statements it says are wrong, with evidence that was found."""
        return len({statement for statement, _ in self.findings})


def reading_of(audit: Audit, own: Mapping[str, str], files: Iterable[InstructionFile] = ()) -> AuditReading:
    """What there is to read of an audit: the files of the project that agents read by name."""
    root = Path(audit.root)
    code = RepositoryText(root, repository_facts(root, with_past=False))
    # A repository shows nothing of a person's own files.
    named = (file for file in (tuple(files) or audit.files) if not file.path.startswith(("~", "/")))
    shown = [file for file in named if file.text and not file.same_as]
    statements = tuple(each for file in shown for each in split_statements(file.path, file.text))
    return AuditReading(code, statements, _short(code, statements), tuple(_passes(code, shown)), own)


def question_of(reading: AuditReading, number: int) -> ReaderQuestion:
    """The question of a pass; everything in it that others wrote stands between marks."""
    shown = reading.passes[number - 1]
    parts = {"the repository in short": visible(reading.short), "the files": visible(shown.text)}
    mark = mark_for(parts.values())
    body = "\n\n".join(quoted(name, text, mark=mark) for name, text in parts.items())
    order = READING.text(
        "files", reading.own, body=body, mark=mark, number=str(number), passes=str(len(reading.passes))
    )
    return ReaderQuestion(READING.text("statements", reading.own, looks=str(MOST_LOOKS)), order)


def read_answer(text: str, reading: AuditReading, reader: str) -> ReadStatements:
    """What an answer says, as far as its quotes and absences are found."""
    findings: list[tuple[Statement, StatementFinding]] = []
    dropped: list[DroppedStatementClaim] = []
    looks: list[WantedLook] = []
    hidden = frozenset(each.file for each in reading.statements)
    for line, value in objects(text):
        claim = claim_in(value)
        if isinstance(claim, WantedLook):
            looks.append(claim)
        elif isinstance(claim, str):
            dropped.append(DroppedStatementClaim(cut(line, 2 * HIT_LETTERS), claim))
        elif claim is not None:
            statement = statement_of(claim, reading.statements)
            why = _fault(claim, statement, reading.code, hidden)
            if statement is None or why:
                dropped.append(DroppedStatementClaim(f"{claim.place} “{claim.quote}”: {claim.why}", why))
                continue
            for each in copies_of(statement, reading.statements):
                findings.append((each, finding_of(claim, each, reader)))
    return ReadStatements(
        reader, tuple(dict.fromkeys(findings)), tuple(dropped), tuple(dict.fromkeys(looks))[:MOST_LOOKS]
    )


def _fault(claim: StatementClaim, statement: Statement | None, code: RepositoryText, hidden: frozenset[str]) -> str:
    """Why a claim cannot be used; empty where all that it rests on is found."""
    if statement is None:
        return NOT_SAID
    for each in claim.evidence:
        if not is_about(each, statement):
            return f"it shows nothing of this statement: {words_of(each)}"
        if why := code.fault(each, hidden):
            return why
    return ""


def looked_at(reading: AuditReading, first: ReadStatements) -> str:
    """The order of the second question of a pass: what was asked for and what could not be used; empty for neither."""
    parts: dict[str, str] = {}
    if first.dropped:
        parts["lines that could not be used"] = visible(
            "\n".join(f"- {each.said} — {each.why}" for each in first.dropped)
        )
    left = LOOK_TOKENS
    for look in first.looks:
        text = shortened(visible(reading.code.looked(look)), min(EACH_LOOK, left)).text
        left -= estimate(text)
        if left <= 0:
            break
        parts[" ".join(filter(None, (look.file, look.words and f"“{look.words}”")))] = text
    mark = mark_for(parts.values())
    body = "\n\n".join(quoted(name, text, mark=mark) for name, text in parts.items())
    return READING.text("looked", reading.own, body=body, mark=mark) if parts else ""


def read_files(
    reading: AuditReading,
    reader: LessonReader,
    *,
    limit: ReadingLimit,
    interrupt: Event,
    observe: Callable[[int], None] = lambda _: None,
) -> ReadStatements:
    """Ask a reader pass by pass, each once more with what it wants to see; what it said until it ends is kept."""
    found: list[ReadStatements] = []
    for number in range(1, len(reading.passes) + 1):
        if not limit.has_room(together([each.spent for each in found])):
            return joined(found, ENDED)
        observe(number)
        question = question_of(reading, number)
        answer = reader.ask(question, interrupt=interrupt, dollars=limit.dollars)
        first = read_answer(answer.text, reading, reader.name)
        found.append(first._replace(spent=spent_on(reader, answer)))
        again = "" if answer.why else looked_at(reading, first)
        if again and not limit.has_room(together([each.spent for each in found])):
            return joined(found, ENDED)
        if again:
            more = question._replace(order=f"{question.order}\n\n{answer.text}\n\n{again}")
            answer = reader.ask(more, interrupt=interrupt, dollars=limit.dollars)
            second = read_answer(answer.text, reading, reader.name)
            if not answer.why:  # what it put right is dropped no more
                found[-1] = found[-1]._replace(dropped=())
            found.append(second._replace(spent=spent_on(reader, answer)))
        if answer.why:
            return joined(found, answer.why)
    return joined(found)


def joined(found: Sequence[ReadStatements], stopped: str = "") -> ReadStatements:
    """What was said in several answers, together."""
    return ReadStatements(
        found[0].reader if found else "",
        tuple(dict.fromkeys(one for each in found for one in each.findings)),
        tuple(one for each in found for one in each.dropped),
        spent=together([each.spent for each in found]),
        stopped=stopped,
    )


def with_findings(audit: Audit, read: ReadStatements) -> Audit:
    """The audit with the marks of a reader, of each line one, beside those of code."""
    by_place: dict[str, list[StatementFinding]] = {}
    for statement, finding in read.findings:
        by_place.setdefault(statement.place, []).append(finding)
    audited = tuple(
        replace(each, findings=(*each.findings, *by_place.get(each.statement.place, ()))) for each in audit.statements
    )
    return replace(audit, statements=audited)


def _passes(code: RepositoryText, files: Sequence[InstructionFile]) -> Iterator[FilesPass]:
    """The files, as much in a pass as there is room for; what another file says in the same words is shown once."""
    shown: dict[str, str] = {}
    statements: list[Statement] = []
    texts: list[str] = []
    left = FILE_TOKENS
    for file in files:
        texts.append(f"# {file.path}")
        for part in _parts(code, split_statements(file.path, file.text), shown):
            if statements and estimate(part.text) > left:
                yield FilesPass(tuple(statements), "\n".join(texts))
                statements, texts, left = [], [f"# {file.path}"], FILE_TOKENS
            statements += part.statements
            texts.append(part.text)
            left -= estimate(part.text)
    if statements:
        yield FilesPass(tuple(statements), "\n".join(texts))


def _parts(code: RepositoryText, statements: Sequence[Statement], shown: dict[str, str]) -> Iterator[FilesPass]:
    """The statements of a file as they are shown, with notes; a row of those that were shown is one line."""
    notes = _notes(code, [each for each in statements if folded(each.text) not in shown])
    known = {each: shown.setdefault(folded(each.text), each.place) for each in statements}
    heading = ""
    for is_again, group in groupby(statements, lambda each: not known[each].startswith(f"{each.file}:")):
        same = list(group)
        if is_again and sum(len(each.text) for each in same) > AGAIN_LETTERS:
            text = f"{same[0].line}-{same[-1].last}| (the same as {known[same[0]]} and so on)"
            yield FilesPass(tuple(same), text)
            continue
        for each in same:
            above = [f"## {each.heading}"] if each.heading and each.heading != heading else []
            heading = each.heading
            yield FilesPass((each,), "\n".join((*above, *_numbered(each), *notes.get(each, ()))))


def _numbered(statement: Statement) -> list[str]:
    return [
        f"{number}| {line}" for number, line in enumerate(statement.text.split("\n"), statement.line) if line.strip()
    ]


def _notes(code: RepositoryText, statements: Sequence[Statement]) -> dict[Statement, list[str]]:
    """What a program found of the names in each statement, a line each; each name of a file once."""
    named = {each: [*dict.fromkeys(_names(each, code.repository.extensions))] for each in statements}
    asked = [*dict.fromkeys(name for names in named.values() for name in names)][:MOST_NAMES]
    hits = code.hits(asked)
    own = {each.file for each in statements}
    told: set[str] = set()
    notes: dict[Statement, list[str]] = {}
    for statement, names in named.items():
        notes[statement] = [*_path_notes(statement, code, told)]
        for name in names:
            if name in hits and name not in told:
                told.add(name)
                note = _name_note(name, [each for each in hits[name] if each.path not in own], code)
                notes[statement] += [note] if note else []
    return notes


def _path_notes(statement: Statement, code: RepositoryText, told: set[str]) -> Iterator[str]:
    for thing in things_in(statement):
        is_path = "/" in thing.text or extension_of(thing.text) in code.repository.extensions
        if thing.kind is ThingKind.PATH and is_path and thing.text not in told:
            told.add(thing.text)
            if not code.repository.finds(thing.text, statement.file.rpartition("/")[0]):
                near = ", ".join(near_paths(thing.text, code.repository))
                yield f"  · {thing.text}: no such path{near and f'; there is {near}'}"


def _names(statement: Statement, extensions: frozenset[str]) -> Iterator[str]:
    """The names in code of a statement: its words that are no plain words."""
    body = statement.text.split("\n")[1:-1] if statement.text.lstrip().startswith(("```", "~~~")) else None
    pieces = body if body is not None else _CODE.findall(statement.text)
    for piece in pieces:
        for word in _WORD.findall(piece):
            for name in _NAME.findall(word.rsplit("/", 1)[-1]):
                own = name if extension_of(name) in extensions else name.rsplit(".", 1)[-1]  # of a member, its own
                if 3 <= len(own) <= LONGEST_NAME and (body is None or _JOINED.search(own)):
                    yield own


def _name_note(name: str, hits: list[CodeHit], code: RepositoryText) -> str:
    """Where a name stands, its definition first; nothing for what a path is called."""
    if any(path.rsplit("/", 1)[-1] == name or f"/{name}/" in f"/{path}" for path in code.repository.files):
        return ""
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    hits = [each for each in hits if whole.search(each.text)]
    if not hits:
        return f"  · {name}: nothing has this name"
    in_code = [each for each in hits if not each.path.lower().endswith(NO_CODE)]
    if not in_code:
        return f"  · {name}: in documents alone, {hits[0].path}:{hits[0].line}"
    if not _JOINED.search(name):
        return ""  # a plain word may stand anywhere
    form = re.compile(_DEFINED.replace("NAME", re.escape(name)))
    best = next((each for each in in_code if form.search(each.text[:400])), in_code[0])
    more = f" (+{len(in_code) - 1})" if len(in_code) > 1 else ""
    return f"  · {name}: {best.path}:{best.line} {cut(best.text.strip(), HIT_LETTERS)}{more}"


def _short(code: RepositoryText, statements: Sequence[Statement]) -> str:
    """The repository in short: its tree, the scripts of its manifests, and the versions of what statements name."""
    said = " ".join(each.text for each in statements).lower()
    tree = shortened("\n".join(_tree(code)), TREE_TOKENS).text
    scripts = [
        f"{each.path} {name}: {cut(' '.join(body.split()), HIT_LETTERS)}"
        for each in code.repository.manifests
        for name, body in each.scripts
    ]
    pins = list(_pins(code, said))
    rest = shortened("\n".join((*scripts, *dict.fromkeys(pins))), MANIFEST_TOKENS).text
    return "\n\n".join(filter(None, (tree, rest)))


def _pins(code: RepositoryText, said: str) -> Iterator[str]:
    """The lines of manifests that give a version to what statements name."""
    for path in sorted(code.repository.files, key=lambda each: (each.count("/"), each)):
        is_one = path.rsplit("/", 1)[-1] in VERSIONS and "node_modules/" not in path
        for line in (code.text(path) or "").splitlines() if is_one else ():
            found = _PIN.match(line[: 2 * HIT_LETTERS])
            if found and found[1].rsplit("/", 1)[-1].lower() in said:
                yield f"{path} {cut(line.strip(), HIT_LETTERS)}"


def _tree(code: RepositoryText) -> Iterator[str]:
    """The root, then each folder that lies right in it, with what lies in them."""
    yield from code.listing("")
    folders = sorted(each for each in code.repository.folders if each.count("/") <= 1)
    for folder in folders:
        yield f"{folder}: {cut(', '.join(code.listing(folder)), 4 * HIT_LETTERS)}"
