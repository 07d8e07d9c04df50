"""The files that agents read, as they are, with marks in the margin; each mark opens its evidence."""

import os
from collections.abc import Iterator
from pathlib import Path

from whet.improving.auditing import audit_with_sessions
from whet.lessons.statements.audit import Audit, AuditedStatement, InstructionFile, StatementFinding
from whet.telling.context.auditing import audit_folder
from whet.text.showing import shown
from whet.text.words import many, share
from whet.web.cache import PageRequest
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView, framed
from whet.web.site import PageLinks, code, empty, folded, section, tiles

MARKS = {
    "wrong": "wrong: names what is not there",
    "cause": "cause: calls that follow it fail",
    "broken": "broken: told and not followed",
    "doubled": "doubled: said twice",
    "never came up": "never came up in your sessions",
}


def show(ask: PageRequest) -> FramedView:
    """The files of the chosen project, or of the only one with a folder on this machine; else which there are."""
    site = ask.site
    folders = {fact.folder: ask.cache.project(fact.folder) for fact in ask.looked.everything if fact.folder}
    there = {folder: name for folder, name in folders.items() if name and os.path.isdir(folder)}
    projects = sorted(set(there.values()))
    project = site.filter.project or (projects[0] if len(projects) == 1 else "")
    folder = next((folder for folder, name in reversed(there.items()) if project and name == project), "")
    if not folder:
        choose = "Choose a project: its files are read from this machine. "
        words = choose if projects else "No project of your sessions has its folder on this machine. "
        same = empty(words, code("whet audit"), " shows the same in a project's folder.")
        sites = ((name, site._replace(filter=site.filter._replace(project=name))) for name in projects)
        links = (h("li", own.link(site.projects.whole(name), "files")) for name, own in sites)
        return framed("files", same, h("ul", *links))
    return framed("files", *files(site, audit_with_sessions(ask.database, audit_folder(Path(folder)), now=ask.now)))


def files(site: PageLinks, audit: Audit) -> Iterator[Child]:
    """One project's files, with the sums first."""
    if not audit.files:
        yield empty("No file that agents read: no CLAUDE.md, AGENTS.md or the like in ", code(audit.root), ".")
        return
    counts = [(number, MARKS.get(mark, mark)) for mark, number in audit.counts.items()]
    needless = share(audit.needless, audit.tokens) if audit.tokens else "–"
    yield tiles(*counts, (f"{audit.tokens:,}", "tokens read at every start"), (needless, "of them needless"))
    yield h("p.soft", "A marked line opens its evidence.")
    yield from (_file(site, audit, each) for each in audit.files)


def _file(site: PageLinks, audit: Audit, file: InstructionFile) -> Element:
    if file.fault or file.same_as:
        why = file.fault or f"the same as {file.same_as}"
        return section(shown(file.path), h("p.empty", shown(why)))
    own = [each for each in audit.statements if each.statement.file == file.path]
    read_by = ", ".join(file.agents) + (", when it is needed" if file.is_on_demand else "")
    tokens = sum(each.statement.tokens for each in own)
    copied = f" {shown(file.copied.words).capitalize()}." if file.copied else ""
    head = h("p", f"{many(len(own), 'statement')}, {tokens:,} tokens; read by {read_by}.", copied)
    return section(shown(file.path), head, h("div.file", *_lines(site, file, own)))


def _lines(site: PageLinks, file: InstructionFile, statements: list[AuditedStatement]) -> Iterator[Child]:
    """Every line once, in its order: those of a statement with a mark open its evidence."""
    lines = file.text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")

    def drawn(first: int, last: int) -> Element | None:
        numbered = (f"{number:>4}  {shown(line)}" for number, line in enumerate(lines[first:last], first + 1))
        return h("pre", "\n".join(numbered)) if first < last else None

    place = 0
    for each in statements:
        first, last = each.statement.line - 1, each.statement.last
        yield drawn(place, first)
        text = drawn(first, last)
        if each.findings:
            marks = h(f"span.mark {each.findings[0].mark.name.lower()}", each.words)
            yield folded((marks, text), *(_finding(site, one) for one in each.findings))
        else:
            yield text
        place = last
    yield drawn(place, len(lines))


def _finding(site: PageLinks, finding: StatementFinding) -> Element:
    words: list[Child] = [h("strong", finding.mark.value), f": {shown(finding.why)}"]
    if finding.instead:
        words += [" → ", code(shown(finding.instead))]
    if finding.where and finding.where not in finding.why:
        words.append(f" ({shown(finding.where)})")
    if finding.came_up:
        words.append(f", in {finding.seen} of {many(finding.came_up, 'session')}")
    places = ((each, f"{each.session[:12]} #{each.message}") for each in finding.proofs)
    quotes = (
        h("li", site.session(each.session, place, message=each.message), ": ", code(shown(each.quote)))
        for each, place in places
    )
    return h("div.evidence", h("p", *words), h("ul", *quotes) if finding.proofs else None)
