"""Where things stand on the page: its views, the filters in the address, and links between them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from whet.sessions.worktrees import is_temporary
from whet.store.session_facts import SessionFact
from whet.telling.targets.known_projects import short_name
from whet.text.showing import shown
from whet.text.words import cut, many
from whet.web.html import Child, Element, h

NO_PROJECT = "none"
MOST_DIGITS = 10
MESSAGES_SHOWN = 200  # of a session, on one page
PAGE = 100  # rows of a list
MADE_NAME = re.compile(r"learned-[0-9a-f]{10}")
WORDS_LETTERS = 60


class PageView(NamedTuple):
    """One view: the menu's view that it belongs to, its title, the question that it answers, whether filters narrow it.

    What waits, and what agents are told, is never hidden by a filter.
    """

    name: str
    title: str
    question: str
    is_filtered: bool = False
    under: str = ""

    @property
    def above(self) -> str:
        """The name of the view of the menu that this one belongs to."""
        return self.under or self.name


VIEWS = (
    PageView("overview", "Overview", "Where did the time go, and is it getting better?", True),
    PageView("lessons", "Lessons", "What must I decide, what was learned, and what are agents told?", True),
    PageView("files", "Files", "What do agents read, and what of it is wrong?"),
    PageView("sessions", "Sessions", "What did each session cost, and how much of it bought nothing?", True),
    PageView("trials", "Trials and live", "Can I believe it, and do sessions that are told it go better?"),
    PageView("work", "Work and cost", "What runs, what did it cost, and who spent it?", True),
)
TROUBLE = PageView("trouble", "Trouble", "Which stretches bought nothing, and why?", True, under="overview")
# A file has what can be read without the store; what waits for a decision is its owner's own business.
IN_FILE = ("overview", "trouble", "lessons", "trials", "work")


class PageFilter(NamedTuple):
    """Which sessions are looked at, as the address says it. Temporary folders are hidden unless they are asked for."""

    project: str = ""
    agent: str = ""
    temporary: bool = False

    def fits(self, fact: SessionFact, project: str) -> bool:
        return self.agent in ("", fact.source) and self.holds(fact.folder, project)

    def holds(self, folder: str, project: str) -> bool:
        """Whether sessions in this folder are among them, whatever their agent."""
        return self.project in ("", project or NO_PROJECT) and (self.temporary or not is_temporary(folder))

    @property
    def parameters(self) -> dict[str, str]:
        given = {"project": self.project, "agent": self.agent, "temporary": "1" if self.temporary else ""}
        return {name: value for name, value in given.items() if value}


class ProjectNaming(NamedTuple):
    """How people read the name of a project: whole, and in short."""

    whole: Callable[[str], str] = str
    short: Callable[[str], str] = short_name


class PageLinks(NamedTuple):
    """How views link and name things. Without a `form` mark nothing can be changed; a file has no other pages."""

    filter: PageFilter = PageFilter()
    form: str = ""
    is_file: bool = False
    base: str = ""  # what every address of the page begins with
    projects: ProjectNaming = ProjectNaming()

    def href(self, view: str, *, part: str = "", **narrowed: str) -> str:
        """The address of a view with the filters that hold; empty where it is not in the file."""
        if self.is_file:
            return f"#{view}" if view in IN_FILE and not part and not narrowed else ""
        path = "/" if view == "overview" else f"/{view}" + (f"/{quote(part, safe='')}" if part else "")
        path = f"{self.base}{path}"
        query = urlencode({**self.filter.parameters, **{name: text for name, text in narrowed.items() if text}})
        return f"{path}?{query}" if query else path

    @property
    def everywhere(self) -> "PageLinks":
        """The same without filters, for numbers that no filter narrows."""
        return self._replace(filter=PageFilter(temporary=True))

    def without_filters(self, view: str) -> Child:
        """A link to the same view of all sessions; nothing where no filter holds."""
        every = self._replace(filter=PageFilter())
        return every.link("Clear the filters", view) if self != every else None

    def counted(self, number: int, words: Child = "", **narrowed: str) -> Child:
        """A number that leads to its sessions; none has nothing behind it."""
        shown = words or f"{number:,}"
        return self.link(shown, "sessions", **narrowed) if number else shown

    def link(self, words: Child, view: str, *, part: str = "", label: str | None = None, **narrowed: str) -> Child:
        """Words that lead to a view; in a file, words alone where it has no such view."""
        href = self.href(view, part=part, **narrowed)
        return h("a", {"href": href, "aria-label": label}, words) if href else words

    def message(self, id: str, message: int) -> str:
        """The address of one message of a session; empty in a file."""
        start = message // MESSAGES_SHOWN * MESSAGES_SHOWN
        href = self.href("session", part=id, start=str(start or ""))
        return f"{href}#m{message}" if href else ""

    def session(self, id: str, words: Child, *, message: int | None = None) -> Child:
        """Words that lead to a session, or to one of its messages."""
        href = self.href("session", part=id) if message is None else self.message(id, message)
        return h("a", {"href": href}, words) if href else words


def static_text(name: str) -> str:
    """A file that comes with the page."""
    return files("whet.web").joinpath("static", name).read_text("utf-8")


def known_by(name: str, text: str) -> str:
    """What people know a rule by: its name, or its words where the name was made from them."""
    words = MADE_NAME.fullmatch(name) and " ".join(shown(text).split())
    return f"“{cut(words, WORDS_LETTERS)}”" if words else shown(name)


def moment(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def when(seconds: float | None) -> Element:
    """A moment on one line."""
    return h("span.when", moment(seconds))


Row = TypeVar("Row")


class Column(NamedTuple, Generic[Row]):
    """One column of a table of records: its heading, what stands in it, and by what it sorts, the most first."""

    heading: str
    cell: Callable[[Row], Child]
    is_number: bool = False
    sort: str = ""  # the name of the order in the address
    most: Callable[[Row], float] = lambda _: 0.0


def number(
    heading: str, cell: Callable[[Row], Child], sort: str = "", most: Callable[[Row], float] = lambda _: 0.0
) -> Column[Row]:
    """A column that stands on the right."""
    return Column(heading, cell, True, sort, most)


def table(
    rows: Iterable[Row],
    columns: Sequence[Column[Row]],
    *,
    caption: str,
    heading: Callable[[Column[Row]], Child] = lambda each: each.heading,
    sorted_by: Column[Row] | None = None,
) -> Element:
    """Records as a table that scrolls by itself on narrow screens."""

    def cell(tag: str, column: Column[Row], *inside: Child) -> Element:
        order = "descending" if tag == "th" and column is sorted_by else None
        scope = "col" if tag == "th" else None
        return h(f"{tag}.number" if column.is_number else tag, {"scope": scope, "aria-sort": order}, *inside)

    names = [cell("th", each, heading(each)) for each in columns]
    body = [h("tr", [cell("td", each, each.cell(row)) for each in columns]) for row in rows]
    inside = h("table", h("caption", caption), h("thead", h("tr", names)), h("tbody", body))
    return h("div.scroll", {"tabindex": "0", "role": "region", "aria-label": caption}, inside)


def listing(
    site: PageLinks,
    view: str,
    rows: Iterable[Row],
    columns: Sequence[Column[Row]],
    *,
    caption: str,
    asked: Mapping[str, str],
) -> Element:
    """Records in the order and from the place that the address asks for: headings sort, and a link leads on."""
    sorts = [each for each in columns if each.sort]
    chosen = next((each for each in sorts if each.sort == asked.get("sort")), sorts[0])

    def heading(each: Column[Row]) -> Child:
        if each is chosen or not each.sort:
            return f"{each.heading} ▾" if each is chosen else each.heading
        return site.link(
            each.heading, view, label=f"sort by {each.heading}", **{**asked, "sort": each.sort, "start": ""}
        )

    ordered = sorted(rows, key=chosen.most, reverse=True)
    start = number_of(asked.get("start", ""))
    more = site.link("More", view, **{**asked, "start": str(start + PAGE)}) if start + PAGE < len(ordered) else None
    shown = ordered[start : start + PAGE]
    return h("div", table(shown, columns, caption=caption, heading=heading, sorted_by=chosen), more)


def told(text: str) -> list[Child]:
    """Words with the commands in them set as such."""
    return [code(part) if place % 2 else part for place, part in enumerate(text.split("`"))]


def empty(*words: Child) -> Element:
    """What stands where there is nothing yet: what to do."""
    return h("p.empty", *words)


def no_sessions(site: PageLinks, view: str, hidden: int = 0) -> Element:
    """What stands where no session is counted: the next step, by why there is none."""
    if hidden and not site.filter.temporary:
        shown = site._replace(filter=site.filter._replace(temporary=True)).link("Show them", view)
        only = f"No sessions but {many(hidden, 'session')} in temporary folders."
        return empty(only) if site.is_file else empty(f"{only} ", shown, ".")
    if cleared := site.without_filters(view):
        return empty("No session matches. ", cleared, ".")
    return empty("No sessions yet. To import them, run ", code("whet import"), "; they appear here.")


def reading() -> Element:
    """What stands there while what sessions teach is not known yet."""
    return h("p.said", {"role": "status"}, "Reading your sessions; this takes a while.")


def number_of(text: str) -> int:
    """The number that an address gives; 0 for anything else."""
    return int(text) if text.isdecimal() and len(text) < MOST_DIGITS else 0


def code(text: str) -> Element:
    return h("code", text)


def tiles(*given: tuple[Child, Child]) -> Element:
    """Numbers, each with what it is the number of."""
    return h("div.tiles", [h("div.tile", h("strong", number), h("span", words)) for number, words in given])


def folded(words: Child, *inside: Child) -> Element:
    """What its words open."""
    return h("details", h("summary", words), *inside)


def section(title: str, *children: Child) -> Element:
    return h("section", h("h2", title), *children)


def dollars(amount: float | None) -> str:
    if amount is None:
        return "–"
    digits = 2 if amount >= 0.1 or not amount else 4
    return f"${amount:,.{digits}f}" if amount else "$0"
