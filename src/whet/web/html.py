"""HTML as a tree of values that is escaped when it is written: no text can become markup."""

import html
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias, cast

VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})
# Neither a foreign text nor a mistake of ours makes one of these.
FORBIDDEN = frozenset({"script", "style", "iframe", "object", "embed", "base"})
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9:-]*")
# What is not a character of XML, or makes the rest of a line run backwards.
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")

Child: TypeAlias = "Element | str | int | Iterable[Child] | None"
Attribute: TypeAlias = "str | int | float | bool | None"


class Element(NamedTuple):
    """One element: its name, its attributes and what is in it. Texts in it are plain texts."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: "tuple[Element | str, ...]"


def h(tag: str, *inside: "Child | Mapping[str, Attribute]") -> Element:
    """An element: its tag with its classes behind dots, its attributes where it has more, and what is in it.

    An attribute that is None or False is left out; a link leads to this page only.
    """
    name, _, classes = tag.partition(".")
    given: Mapping[str, Attribute] = {"class": classes.replace(".", " ") or None}
    if inside and isinstance(inside[0], Mapping):
        given, inside = {**given, **inside[0]}, inside[1:]
    if name in FORBIDDEN or not _NAME.fullmatch(name):
        raise ValueError(f"an element {name} is not for views")
    return Element(name, tuple(_attributes(given)), tuple(_flat(cast(Iterable[Child], inside))))


def render(node: Element | str) -> str:
    """The text of a tree, escaped."""
    pieces: list[str] = []
    _write(node, pieces)
    return "".join(pieces)


def mapped(node: Element, change: Callable[[str], str]) -> Element:
    """The tree with every text in it changed, labels and titles among them."""
    return Element(
        node.tag,
        tuple((name, change(value) if name in ("title", "aria-label") else value) for name, value in node.attributes),
        tuple(change(child) if isinstance(child, str) else mapped(child, change) for child in node.children),
    )


def words_of(node: Element | str) -> str:
    """The texts of a tree, one after the other."""
    return node if isinstance(node, str) else " ".join(map(words_of, node.children))


def clean(text: str) -> str:
    """A text with the code point in the place of each character that a page must not hold."""
    return _UNSHOWN.sub(lambda found: f"<U+{ord(found.group()):04X}>", text)


def _attributes(given: Mapping[str, Attribute]) -> Iterable[tuple[str, str]]:
    for name, value in given.items():
        if value is None or value is False:
            continue
        if name.startswith("on") or name == "style" or not _NAME.fullmatch(name):
            raise ValueError(f"an attribute {name} is not for views")
        text = name if value is True else f"{value:g}" if isinstance(value, float) else str(value)
        if name in ("href", "action", "src") and not re.match(r"/(?![/\\])|#", text):
            raise ValueError("a link leads to this page only")
        yield name, text


def _flat(children: Iterable[Child]) -> Iterable[Element | str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Element | str):
            yield child
        elif isinstance(child, int):
            yield str(child)
        else:
            yield from _flat(child)


def _write(node: Element | str, pieces: list[str]) -> None:
    if isinstance(node, str):
        pieces.append(html.escape(clean(node)))
        return
    attributes = "".join(f' {name}="{html.escape(clean(value))}"' for name, value in node.attributes)
    pieces.append(f"<{node.tag}{attributes}>")
    for child in node.children:
        _write(child, pieces)
    if node.tag not in VOID:
        pieces.append(f"</{node.tag}>")
