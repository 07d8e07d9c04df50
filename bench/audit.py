"""How well statements of instruction files are judged: what is flagged, to be read by a person, beside a simple rival.

Without sessions: `python bench/audit.py repositories FOLDER...` prints every statement that is flagged, and what the
rival flags (a path in code that is not there; a line that stands twice). With sessions: `python bench/audit.py sessions
FOLDER...` takes folders of recorded sessions, puts
the instruction files together from what the records show of them, and prints
what the sessions say of their statements. Judgements are a person's; the figures are in bench/RESULTS.md.

With a reader: `passes OUT FOLDER...` writes what a reader is asked about the CLAUDE.md and AGENTS.md of repositories, a
file for each pass, `NAME-1.md`; who reads writes the answer beside it, `NAME-1.answer`. `looks OUT FOLDER...` writes
what those answers ask to see, `NAME-1-again.md`, which is answered in `NAME-1-again.answer`. `answers OUT FOLDER...`
prints what is kept and dropped. `measure MARKS OUT FOLDER...` holds code, reader and rival against a judge's lines.
"""

import gzip
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import whet
from whet.evidence.intervals import wilson
from whet.improving.audit_reading import (
    AuditReading,
    ReadStatements,
    joined,
    looked_at,
    question_of,
    read_answer,
    reading_of,
)
from whet.improving.auditing import judged_by_sessions
from whet.lessons.statements.audit import Audit, AuditedStatement, InstructionFile, LastChange, StatementMark
from whet.lessons.statements.naming import split_statements
from whet.lessons.statements.records import CallsOnRecord, calls_of
from whet.sessions.tool_families import Family, family_of
from whet.telling.context.auditing import audit_folder
from whet.text.words import estimate
from whet.trouble.outcomes.purposes import path_of
from whet.trouble.outcomes.view import SessionView, gather

READER = "reader"
NAMES = ("CLAUDE.md", "AGENTS.md")
NUMBER = re.compile(r"^\s*(\d+)(?:→|\t)(.*)$")
SPAN = re.compile(r"`([^`\s]+)`")
SHOWN = 150


def rival(audit: Audit) -> Iterator[tuple[str, str]]:
    """What a simple check flags: a code span with a slash or an ending that is no file, and lines that stand twice."""
    root, seen = Path(audit.root), set[str]()
    for each in audit.statements:
        for span in SPAN.findall(each.statement.text):
            is_path = "/" in span or re.search(r"\.[a-z]{1,5}$", span)
            if is_path and not span.startswith(("http", "/", "~", "@")) and not (root / span.strip("./")).exists():
                yield each.statement.place, span
        line = " ".join(each.statement.text.split())
        if line in seen and len(line) > 20:
            yield each.statement.place, "stands twice"
        seen.add(line)


def show(audit: Audit) -> None:
    for each in audit.statements:
        for finding in each.findings:
            words = " ".join(each.statement.text.split())[:SHOWN]
            counted = f"{finding.seen}/{finding.came_up} " if finding.came_up else ""
            print(f"{finding.mark:13}{each.statement.file}:{finding.line}  {counted}{finding.why}  « {words}")


def repositories(folders: list[str]) -> None:
    for folder in folders:
        audit = audit_folder(Path(folder), is_dated=False)
        flagged = list(rival(audit))
        print(f"== {Path(folder).name}: {len(audit.statements)} statements, {audit.counts}; rival flags {len(flagged)}")
        show(audit)


def views(folder: Path) -> Iterator[tuple[str, SessionView]]:
    with tempfile.TemporaryDirectory() as scratch:
        for packed in sorted(folder.glob("*.jsonl.gz")):
            path = Path(scratch, packed.name.removesuffix(".gz"))
            path.write_bytes(gzip.decompress(packed.read_bytes()))
            for transcript in whet.read(path):
                if isinstance(transcript, whet.Transcript):
                    yield packed.name.partition(".")[0], gather(transcript)


def seen_lines(view: SessionView) -> Iterator[tuple[str, int, str, float]]:
    """The lines of instruction files as a session read them, each with its number."""
    for step in view.steps:
        path = path_of(step).replace("\\", "/")
        if step.worked and path.endswith(NAMES) and family_of(step.exchange.call) is Family.READ:
            at = view.transcript.messages[step.message].at or 0.0
            for found in filter(None, map(NUMBER.match, step.text.splitlines())):
                yield path, int(found[1]), found[2], at


def sessions(folders: list[str]) -> None:
    for folder in map(Path, folders):
        lines: dict[str, dict[int, tuple[float, str]]] = {}
        first: dict[str, float] = {}
        calls: list[CallsOnRecord] = []
        for name, view in views(folder):
            calls.append(calls_of(name, view))
            for path, number, line, at in seen_lines(view):
                first[line] = min(first.get(line, at), at)
                known = lines.setdefault(path, {})
                known[number] = max(known.get(number, (0.0, "")), (at, line))
        audit = Audit(str(folder), *_put_together(lines, first))
        audit = judged_by_sessions(audit, tuple(calls), now=0.0)
        counts = Counter(one.mark.value for each in audit.statements for one in each.findings)
        print(f"== {folder.name}: {len(calls)} sessions, {len(audit.statements)} statements, {dict(counts)}")
        show(audit)


def _put_together(
    lines: dict[str, dict[int, tuple[float, str]]], first: dict[str, float]
) -> tuple[tuple[InstructionFile, ...], tuple[AuditedStatement, ...]]:
    """The files as far as sessions read them, each line as it was read last; told since it was first seen."""
    files = [
        InstructionFile(
            path, "\n".join(known[n][1] if n in known else "" for n in range(1, max(known) + 1)), ("claude",)
        )
        for path, known in lines.items()
    ]
    statements = [
        AuditedStatement(each, (), LastChange(max(first.get(line, 0.0) for line in each.text.split("\n")), ""))
        for file in files
        for each in split_statements(file.path, file.text)
    ]
    return tuple(files), tuple(statements)


SUMMARY = "tokens"


def readings(folders: list[str]) -> Iterator[tuple[str, Audit, AuditReading]]:
    for folder in folders:
        audit = audit_folder(Path(folder), is_dated=False)
        files = [file for file in audit.files if Path(file.path).name in NAMES]
        yield Path(folder).name, audit, reading_of(audit, {}, files)


def passes(given: list[str]) -> None:
    out = Path(given[0])
    out.mkdir(parents=True, exist_ok=True)
    for name, _, reading in readings(given[1:]):
        for number in range(1, len(reading.passes) + 1):
            asked = question_of(reading, number)
            (out / "READER.md").write_text(asked.system, encoding="utf-8")
            (out / f"{name}-{number}.md").write_text(asked.order, encoding="utf-8")
            print(f"{name}-{number}.md: {len(reading.passes[number - 1].statements)} statements,", end=" ")
            print(f"about {estimate(asked.system + asked.order)} {SUMMARY}")


def answered(out: Path, name: str, number: int, again: str = "") -> str:
    path = out / f"{name}-{number}{again}.answer"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def looks(given: list[str]) -> None:
    out = Path(given[0])
    for name, _, reading in readings(given[1:]):
        for number in range(1, len(reading.passes) + 1):
            first = read_answer(answered(out, name, number), reading, READER)
            if order := looked_at(reading, first):
                (out / f"{name}-{number}-again.md").write_text(order, encoding="utf-8")
                print(f"{name}-{number}-again.md: {len(first.looks)} looks, about {estimate(order)} {SUMMARY}")


def kept_of(out: Path, name: str, reading: AuditReading) -> ReadStatements:
    """What the answers come to, as `read_files` puts them together."""
    found: list[ReadStatements] = []
    for number in range(1, len(reading.passes) + 1):
        first = read_answer(answered(out, name, number), reading, READER)
        again = answered(out, name, number, "-again")
        second = read_answer(again, reading, READER) if again else None
        found += [first._replace(dropped=()), second] if second else [first]
    return joined(found)


def answers(given: list[str]) -> None:
    out = Path(given[0])
    for name, _, reading in readings(given[1:]):
        kept = kept_of(out, name, reading)
        print(f"== {name}: {len(kept.findings)} kept, {len(kept.dropped)} dropped")
        for statement, finding in kept.findings:
            print(f"kept     {statement.file}:{finding.line} « {finding.named} » {finding.why} [{finding.where}]")
        for each in kept.dropped:
            print(f"dropped  {each.said} [{each.why}]")


Place = tuple[str, str, int]  # the repository, the file and the first line of a statement


def measure(given: list[str]) -> None:
    """Precision and recall by statement: a mark is right where the judge marked the same statement."""
    judged: set[Place] = set()
    clear: set[Place] = set()
    marks = [json.loads(line) for line in Path(given[0]).read_text(encoding="utf-8").splitlines() if line.strip()]
    who: dict[str, set[Place]] = {"code": set(), "reader": set(), "code and reader": set(), "rival": set()}
    every = 0
    for name, audit, reading in readings(given[2:]):
        place = {(each.file, line): each for each in reading.statements for line in range(each.line, each.last + 1)}
        every += len(reading.statements)
        for mark in marks:
            if mark["repo"] == name and "file" in mark:
                at = place.get((mark["file"], mark["line"]))
                found = (name, mark["file"], at.line if at else mark["line"])
                judged.add(found)
                clear |= {found} if mark.get("sure") == "clear" else set()
        shown = {(each.file, each.line) for each in reading.statements}
        code = {each.statement for each in audit.statements if each.marked(StatementMark.WRONG)}
        who["code"] |= {(name, each.file, each.line) for each in code if (each.file, each.line) in shown}
        kept = kept_of(Path(given[1]), name, reading)
        who["reader"] |= {(name, each.file, each.line) for each, _ in kept.findings}
        places = {at.rpartition(":")[::2] for at, _ in rival(audit)}
        who["rival"] |= {(name, file, int(line)) for file, line in places if (file, int(line)) in shown}
    who["code and reader"] = who["code"] | who["reader"]
    print(f"{every} statements; the judge marks {len(judged)}, {len(clear)} of them clearly wrong")
    for by, flagged in who.items():
        right = len(flagged & judged)
        print(
            f"{by:16} precision {right} of {len(flagged)} {_range(right, len(flagged))}"
            f"  recall {right} of {len(judged)} {_range(right, len(judged))}"
            f"  of the clear {len(flagged & clear)} of {len(clear)} {_range(len(flagged & clear), len(clear))}"
        )
    for by in ("code and reader",):
        for each in sorted(who[by] - judged):
            print("not marked by the judge:", *each)
        for each in sorted(judged - who[by]):
            print("missed:", *each)


def _range(part: int, whole: int) -> str:
    if not whole:
        return ""
    found = wilson(part, whole)
    return f"({found[0]:.2f} to {found[1]:.2f})"


if __name__ == "__main__":
    commands = (repositories, sessions, passes, looks, answers, measure)
    {each.__name__: each for each in commands}[sys.argv[1]](sys.argv[2:])
