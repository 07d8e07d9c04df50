"""The frame around every view: navigation, filters and the head of the document."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from whet.text.words import many
from whet.web.html import Child, Element, h, render
from whet.web.site import NO_PROJECT, TROUBLE, VIEWS, PageLinks, PageView, ProjectNaming

HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark">'
)


SECONDS = "3"  # after which the page looks again while something runs
AS_IT_IS = ProjectNaming(str, str)
COUNTING = "New sessions are being analysed; the numbers update by themselves."


class Choices(NamedTuple):
    """What the filters offer: projects and agents, and how many sessions of temporary folders are hidden."""

    projects: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    hidden: int = 0


class FramedView(NamedTuple):
    """A view with what its frame says: how much waits, what was just done, and whether it will change."""

    view: PageView
    title: str
    body: Element
    menu: frozenset[str] = frozenset()  # the views that are not empty
    waiting: int = 0
    said: Child = None
    is_live: bool = False
    is_counting: bool = False  # sessions were added that no number counts yet


def framed(name: str, *body: Child) -> FramedView:
    """The view of this name, with what is in it."""
    view = next(each for each in (*VIEWS, TROUBLE) if each.name == name)
    return FramedView(view, view.title, h("div", *body))


def document(site: PageLinks, choices: Choices, shown: FramedView) -> str:
    """A view as a whole document of the server."""
    head = h("title", f"{shown.title} · Whet")
    static = f"{site.base}/static/page"
    links = f'<link rel="stylesheet" href="{static}.css"><script src="{static}.js" defer></script></head>'
    body = h(
        "body",
        {"data-live": SECONDS if shown.is_live else None},
        h("a.skip", {"href": "#main"}, "Skip to the content"),
        _header("Whet", (_tab(site, each, shown) for each in VIEWS if each.name in {*shown.menu, shown.view.above})),
        h(
            "main",
            {"id": "main", "tabindex": "-1"},
            h("div.said", {"role": "status"}, shown.said) if shown.said else None,
            _headed(shown),
            _filters(site, choices, shown.view) if shown.view.is_filtered else None,
            h("p.said", {"role": "status"}, COUNTING) if shown.is_counting else None,
            shown.body,
        ),
    )
    return f"{HEAD}{render(head)}{links}{render(body)}</html>\n"


def whole_file(parts: Sequence[FramedView], *, css: str, title: str, about: Child) -> str:
    """Views in one document that needs nothing else."""
    sections = [h("section.view", {"id": part.view.name}, _headed(part), part.body) for part in parts]
    links = _header(title, (h("a", {"href": f"#{part.view.name}"}, part.title) for part in parts))
    body = h("body", links, h("main", {"id": "main"}, h("p.question", about), sections))
    policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    return f"{HEAD}{policy}{render(h('title', title))}<style>{css}</style></head>{render(body)}</html>\n"


def _headed(shown: FramedView) -> Child:
    return h("h1", shown.title), h("p.question", shown.view.question)


def _header(title: str, tabs: Iterable[Element]) -> Element:
    return h("header", h("strong", title), h("nav", {"aria-label": "Views"}, h("ul", [h("li", tab) for tab in tabs])))


def _tab(site: PageLinks, view: PageView, shown: FramedView) -> Element:
    is_told = view.name == "lessons" and shown.waiting
    badge = h("span.badge", {"aria-label": f"{shown.waiting} wait"}, shown.waiting) if is_told else None
    current = "page" if view.name == shown.view.above else None
    return h("a", {"href": site.href(view.name), "aria-current": current}, view.title, badge)


def _filters(site: PageLinks, choices: Choices, view: PageView) -> Child:
    """What narrows a view, as far as there is anything to choose."""
    if not any(choices):
        return None
    hidden = f" ({many(choices.hidden, 'session')})" if choices.hidden else ""
    tick = h("input", {"type": "checkbox", "name": "temporary", "value": "1", "checked": site.filter.temporary})
    return h(
        "form.filters",
        {"method": "get", "action": f"{site.base}/{'' if view.name == 'overview' else view.name}"},
        _select("project", choices.projects, site.filter.project, site.projects),
        _select("agent", choices.agents, site.filter.agent),
        h("label.tick", tick, f" Temporary folders{hidden}"),
        h("button", {"type": "submit"}, "Filter"),
    )


def _select(name: str, offered: Iterable[str], chosen: str, naming: ProjectNaming = AS_IT_IS) -> Element:
    """A list to choose from; what is chosen is in it, also where nothing is there any more that it fits."""
    items = [h("option", {"value": ""}, "all")]
    for each in dict.fromkeys((*offered, *filter(None, [chosen]))):
        words, whole = ("no project",) * 2 if each == NO_PROJECT else (naming.short(each), naming.whole(each))
        items.append(h("option", {"value": each, "selected": each == chosen, "title": whole}, words))
    return h("label", f"{name.capitalize()} ", h("select", {"name": name}, items))
