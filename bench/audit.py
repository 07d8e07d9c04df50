"""How well statements of instruction files are judged: what is flagged, to be read by a person, beside a simple rival.

Without sessions: `python bench/audit.py repositories FOLDER...` prints every statement that is flagged, and what the
rival flags (a path in code that is not there; a line that stands twice). With sessions: `python bench/audit.py sessions
FOLDER...` takes folders of recorded sessions, puts
the instruction files together from what the records show of them, and prints
what the sessions say of their statements. Judgements are a person's; the figures are in bench/RESULTS.md.
"""

import gzip
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import whet
from whet.context.auditing import audit_folder
from whet.improving.auditing import judged_by_sessions
from whet.outcomes.purposes import path_of
from whet.outcomes.view import SessionView, gather
from whet.sessions.tool_families import Family, family_of
from whet.statements.audit import Audit
from whet.statements.records import CallsOnRecord, calls_of
from whet.statements.splitting import split_statements
from whet.statements.statement import AuditedStatement, InstructionFile, LastChange

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


if __name__ == "__main__":
    {"repositories": repositories, "sessions": sessions}[sys.argv[1]](sys.argv[2:])
