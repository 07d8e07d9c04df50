"""The files that agents read, as they are, with marks in the margin; each mark opens its evidence."""

from collections.abc import Iterable, Iterator

from whet.lessons.statements.audit import Audit
from whet.lessons.statements.statement import AuditedStatement, InstructionFile, StatementFinding
from whet.text.showing import shown
from whet.text.words import many, share
from whet.web.html import Child, Element, h
from whet.web.site import PageLinks, code, empty, section, tiles

MARKS = {
    "wrong": "wrong: names what is not there",
    "cause": "cause: calls that follow it fail",
    "broken": "broken: told and not followed",
    "doubled": "doubled: said twice",
    "known anyway": "known anyway: the repository says so",
    "never came up": "never came up in your sessions",
}


def files(site: PageLinks, audit: Audit | None, projects: Iterable[str]) -> Element:
    """One project's files; without a project, which ones there are to choose from."""
    if audit is None:
        there = tuple(projects)
        choose = "Choose a project: its files are read from this machine. "
        words = choose if there else "No project of your sessions has its folder on this machine. "
        return h(
            "div",
            {},
            empty(words, code("whet audit"), " shows the same in a project's folder."),
            _choices(site, there),
        )
    if not audit.files:
        return h(
            "div", {}, empty("No file that agents read: no CLAUDE.md, AGENTS.md or the like in ", code(audit.root), ".")
        )
    counts = [(number, MARKS.get(mark, mark)) for mark, number in audit.counts.items()]
    needless = share(audit.needless, audit.tokens) if audit.tokens else "–"
    tokens = ((f"{audit.tokens:,}", "tokens read at every start"), (needless, "of them needless"))
    how = h("p", {"class": "soft"}, "A marked line opens its evidence.")
    return h("div", {}, tiles(*counts, *tokens), how, *(_file(site, audit, each) for each in audit.files))


def _choices(site: PageLinks, projects: Iterable[str]) -> Element:
    links = (
        h("li", {}, site._replace(filter=site.filter._replace(project=name)).link(site.projects.whole(name), "files"))
        for name in projects
    )
    return h("ul", {}, *links)


def _file(site: PageLinks, audit: Audit, file: InstructionFile) -> Element:
    if file.fault or file.same_as:
        why = file.fault or f"the same as {file.same_as}"
        return section(shown(file.path), h("p", {"class": "empty"}, shown(why)))
    own = [each for each in audit.statements if each.statement.file == file.path]
    read_by = ", ".join(file.agents) + (", when it is needed" if file.is_on_demand else "")
    read_by += f", who follow a link of {shown(file.linked_by)}" if file.linked_by else ""
    tokens = sum(each.statement.tokens for each in own)
    head = h("p", {}, f"{many(len(own), 'statement')}, {tokens:,} tokens; read by {read_by}.", _copied(file))
    return section(shown(file.path), head, h("div", {"class": "file"}, *_lines(site, file, own)))


def _copied(file: InstructionFile) -> str:
    return f" {shown(file.copied.words).capitalize()}." if file.copied else ""


def _lines(site: PageLinks, file: InstructionFile, statements: list[AuditedStatement]) -> Iterator[Element]:
    """Every line once, in its order: those of a statement with a mark open its evidence."""
    lines = file.text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    place = 0
    for each in statements:
        first, last = each.statement.line - 1, each.statement.last
        yield from _plain(lines[place:first], place)
        text = _numbered(lines[first:last], first)
        if each.findings:
            marks = h("span", {"class": f"mark {each.findings[0].mark.name.lower()}"}, each.words)
            yield h(
                "details",
                {},
                h("summary", {}, marks, h("pre", {}, text)),
                *(_finding(site, one) for one in each.findings),
            )
        else:
            yield h("pre", {}, text)
        place = last
    yield from _plain(lines[place:], place)


def _plain(lines: list[str], place: int) -> Iterator[Element]:
    if lines:
        yield h("pre", {}, _numbered(lines, place))


def _numbered(lines: list[str], place: int) -> str:
    return "\n".join(f"{number:>4}  {shown(line)}" for number, line in enumerate(lines, place + 1))


def _finding(site: PageLinks, finding: StatementFinding) -> Element:
    words: list[Child] = [h("strong", {}, finding.mark.value), f": {shown(finding.why)}"]
    if finding.instead:
        words += [" → ", code(shown(finding.instead))]
    if finding.where and finding.where not in finding.why:
        words.append(f" ({shown(finding.where)})")
    if finding.came_up:
        words.append(f", in {finding.seen} of {many(finding.came_up, 'session')}")
    quotes = (
        h(
            "li",
            {},
            site.session(each.session, f"{each.session[:12]} #{each.message}", message=each.message),
            ": ",
            code(shown(each.quote)),
        )
        for each in finding.proofs
    )
    return h("div", {"class": "evidence"}, h("p", {}, *words), h("ul", {}, *quotes) if finding.proofs else None)
