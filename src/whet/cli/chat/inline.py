"""Emphasis, code and links within a line of markdown, styled while the line still streams."""

import re
from typing import NamedTuple

LONGEST_SPAN = 300
# Every repetition is bounded, so that no text, however hostile, costs more than its length.
SPAN = re.compile(
    rf"""
      (?P<ticks>`+)(?!`)(?P<code>.{{1,{LONGEST_SPAN}}}?)(?<!`)(?P=ticks)(?!`)
    | \*\*(?![\s*])(?P<bold>.{{1,{LONGEST_SPAN}}}?)(?<![\s])\*\*(?!\*)
    | \*(?![\s*])(?P<italic>[^*]{{1,{LONGEST_SPAN}}}?)(?<!\s)\*(?!\*)
    | _(?![\s_])(?P<under>[^_]{{1,{LONGEST_SPAN}}}?)(?<!\s)_(?!\w)
    | ~~(?![\s~])(?P<struck>.{{1,{LONGEST_SPAN}}}?)(?<!\s)~~
    | \[(?P<label>[^\[\]]{{1,{LONGEST_SPAN}}})\]\((?P<link>[^()\s]{{1,{LONGEST_SPAN}}})\)
    | \\(?P<escaped>[!-/:-@\[-`{{-~])
    """,
    re.VERBOSE,
)
OPENER = re.compile(r"[`*_~\[\\]")
LINK_SO_FAR = re.compile(r"\[[^\[\]]*(\](\([^()\s]*)?)?")
BOLD, DIM, ITALIC, UNDERLINED, STRUCK, CYAN = "1", "2", "3", "4", "9", "36"
STYLES = {"bold": BOLD, "italic": ITALIC, "under": ITALIC, "struck": STRUCK, "code": CYAN}


class StyledRun(NamedTuple):
    """Text in one style."""

    text: str
    style: str = ""


class Scanned(NamedTuple):
    """What is settled, and what must wait for more of the line."""

    runs: tuple[StyledRun, ...]
    held: str


def scan(text: str, *, final: bool, before: str = " ", style: str = "") -> Scanned:
    """Split a piece of a line into styled runs. A mark that may still be closed is held until the line is final."""
    runs: list[StyledRun] = []
    while text:
        found = OPENER.search(text)
        if found is None:
            runs.append(StyledRun(text, style))
            return Scanned(tuple(runs), "")
        if found.start():
            runs.append(StyledRun(text[: found.start()], style))
            before, text = text[found.start() - 1], text[found.start() :]
        span = None if text[0] == "_" and before.isalnum() else SPAN.match(text)
        if span and (final or span.end() < len(text)):
            runs += _styled(span, style)
            before, text = text[span.end() - 1], text[span.end() :]
        elif not final and (span or _may_open(text, before)) and len(text) <= LONGEST_SPAN:
            return Scanned(tuple(runs), text)
        else:
            length = len(text) - len(text.lstrip(text[0]))  # a row of marks stands or falls together
            runs.append(StyledRun(text[:length], style))
            before, text = text[0], text[length:]
    return Scanned(tuple(runs), "")


def _styled(span: re.Match[str], style: str) -> list[StyledRun]:
    if span["escaped"]:
        return [StyledRun(span["escaped"], style)]
    if span["link"]:
        label, link = span["label"], span["link"]
        shown = [StyledRun(label, joined(style, UNDERLINED))]
        return shown if label == link else [*shown, StyledRun(f" ({link})", joined(style, DIM))]
    kind = span.lastgroup or ""
    kind = "code" if span["code"] else kind
    if kind == "code":
        return [StyledRun(span["code"], joined(style, CYAN))]
    return list(scan(span[kind], final=True, style=joined(style, STYLES[kind])).runs)


def _may_open(text: str, before: str) -> bool:
    mark, after = text[0], text[1:2]
    if mark == "[":
        return bool(LINK_SO_FAR.fullmatch(text))
    if mark == "`":
        return True
    if mark == "_" and before.isalnum():
        return False
    if mark == "~":
        return text.startswith("~~") or not after
    return not after or not after.isspace()


def joined(one: str, other: str) -> str:
    return f"{one};{other}" if one and other else one or other
