"""The frame around every view: navigation, filters and the head of the document."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from whet.text.words import many
from whet.web.html import Child, Element, h, render
from whet.web.site import NO_PROJECT, TROUBLE, VIEWS, PageLinks, PageView

HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark">'
)


# Those that are about sessions. What waits, and what agents are told, is never hidden by a filter.
FILTERED = ("overview", "trouble", "lessons", "work", "sessions")


SECONDS = "3"  # after which the page looks again while something runs
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
    return FramedView(view, view.title, h("div", {}, *body))


def document(site: PageLinks, choices: Choices, shown: FramedView) -> str:
    """A view as a whole document of the server."""
    head = h("title", {}, f"{shown.title} · Whet")
    static = f"{site.base}/static/page"
    links = f'<link rel="stylesheet" href="{static}.css"><script src="{static}.js" defer></script></head>'
    body = h(
        "body",
        {"data-live": SECONDS if shown.is_live else None},
        h("a", {"class": "skip", "href": "#main"}, "Skip to the content"),
        _header(site, shown),
        h(
            "main",
            {"id": "main", "tabindex": "-1"},
            h("div", {"class": "said", "role": "status"}, shown.said) if shown.said else None,
            h("h1", {}, shown.title),
            h("p", {"class": "question"}, shown.view.question),
            _filters(site, choices, shown.view)
            if shown.view.name in FILTERED and shown.title == shown.view.title
            else None,
            h("p", {"class": "said", "role": "status"}, COUNTING) if shown.is_counting else None,
            shown.body,
        ),
    )
    return f"{HEAD}{render(head)}{links}{render(body)}</html>\n"


def whole_file(parts: Sequence[FramedView], *, css: str, title: str, about: Child) -> str:
    """Views in one document that needs nothing else."""
    sections = [
        h(
            "section",
            {"id": part.view.name, "class": "view"},
            h("h1", {}, part.title),
            h("p", {"class": "question"}, part.view.question),
            part.body,
        )
        for part in parts
    ]
    links = [h("li", {}, h("a", {"href": f"#{part.view.name}"}, part.title)) for part in parts]
    body = h(
        "body",
        {},
        h("header", {}, h("strong", {}, title), h("nav", {"aria-label": "Views"}, h("ul", {}, links))),
        h("main", {"id": "main"}, h("p", {"class": "question"}, about), sections),
    )
    policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    return f"{HEAD}{policy}{render(h('title', {}, title))}<style>{css}</style></head>{render(body)}</html>\n"


def _header(site: PageLinks, shown: FramedView) -> Element:
    tabs = [_tab(site, view, shown) for view in VIEWS if view.name in shown.menu | {_above(shown)}]
    return h(
        "header",
        {},
        h("strong", {}, "Whet"),
        h("nav", {"aria-label": "Views"}, h("ul", {}, tabs)),
    )


def _tab(site: PageLinks, view: PageView, shown: FramedView) -> Element:
    words: Child = view.title
    if view.name == "lessons" and shown.waiting:
        words = (view.title, h("span", {"class": "badge", "aria-label": f"{shown.waiting} wait"}, shown.waiting))
    current = "page" if view.name == _above(shown) else None
    return h("li", {}, h("a", {"href": site.href(view.name), "aria-current": current}, words))


def _above(shown: FramedView) -> str:
    """The view of the menu that this one belongs to."""
    return shown.view.under or shown.view.name


def _filters(site: PageLinks, choices: Choices, view: PageView) -> Child:
    """What narrows a view, as far as there is anything to choose."""
    chosen = site.filter
    if not (choices.projects or choices.agents or choices.hidden):
        return None
    hidden = f" ({many(choices.hidden, 'session')})" if choices.hidden else ""
    return h(
        "form",
        {"class": "filters", "method": "get", "action": f"{site.base}/{'' if view.name == 'overview' else view.name}"},
        _select("project", "Project", _projects(site, choices.projects), chosen.project),
        _select("agent", "Agent", {each: (each, each) for each in choices.agents}, chosen.agent),
        h(
            "label",
            {"class": "tick"},
            h("input", {"type": "checkbox", "name": "temporary", "value": "1", "checked": chosen.temporary}),
            f" Temporary folders{hidden}",
        ),
        h("button", {"type": "submit"}, "Filter"),
    )


def _projects(site: PageLinks, offered: Sequence[str]) -> dict[str, tuple[str, str]]:
    """What is shown of each project, in short and whole."""
    every = dict.fromkeys((*offered, *filter(None, [site.filter.project])))
    named = {each: (site.projects.short(each), site.projects.whole(each)) for each in every}
    return {each: ("no project", "no project") if each == NO_PROJECT else words for each, words in named.items()}


def _select(name: str, title: str, options: Mapping[str, tuple[str, str]], chosen: str) -> Element:
    offered = {**options, **({chosen: (chosen, chosen)} if chosen and chosen not in options else {})}
    items = [h("option", {"value": ""}, "all")]
    for option, (words, whole) in offered.items():
        items.append(h("option", {"value": option, "selected": option == chosen, "title": whole}, words))
    return h("label", {}, f"{title} ", h("select", {"name": name}, items))
