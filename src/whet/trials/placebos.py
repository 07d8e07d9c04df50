"""Placebos: a patch of the same form and about the same length as another, with nothing to learn in it."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import msgspec
from msgspec.structs import replace

from whet.ledger.patches import Action, Form, Patch, PatchOrigin, PatchWriter
from whet.own.examples import templates
from whet.own.examples.templates import Example, Template
from whet.own.told import skills
from whet.sessions.tool_families import arguments_of
from whet.sessions.transcripts import ToolCall

LEAST_CHARACTERS = 20
DESCRIPTION_CHARACTERS = 100


def placebo_of(patch: Patch, filler: str) -> Patch | None:
    """The patch with other words in the place of its own; None where there is nothing to put in its place."""
    if patch.action is Action.REMOVE or patch.form is Form.JOB:
        return None
    match patch.form:
        case Form.TEMPLATE:
            text = templates.written(emptied(templates.read(patch.text, name=patch.name), filler))
        case Form.SKILL:
            text = _skill(patch.text, patch.name, filler)
        case _:
            text = of_length(filler, len(patch.text))
    example = of_length(filler, len(patch.example))[: len(patch.example)] if patch.example else ""
    return replace(patch, text=text, example=example, origin=PatchOrigin(PatchWriter.POLICY, said="placebo"), proofs=())


def emptied(template: Template, filler: str) -> Template:
    """The template with its calls in their shape: the same tools and names of arguments, and words of no meaning.

    What is left is what any examples show: that tools are called, and in which form.
    """
    words = _words(filler)
    asked = {example.intent: _like(example.intent, words) for example in template.examples}
    return replace(
        template, examples=tuple(_example(example, asked[example.intent], words) for example in template.examples)
    )


def of_length(filler: str, characters: int) -> str:
    """Whole sentences of the filler, about so many characters of them."""
    wanted = max(characters, LEAST_CHARACTERS)
    sentences = [f"{sentence.strip()}." for sentence in filler.split(".") if sentence.strip()]
    text = ""
    for sentence in cycle(sentences):
        longer = f"{text} {sentence}".strip()
        if text and abs(len(longer) - wanted) >= abs(len(text) - wanted):
            return text
        text = longer
    raise AssertionError("there is no filler")


def _skill(text: str, name: str, filler: str) -> str:
    """A skill of this name and length whose description and body say nothing."""
    description = of_length(filler, DESCRIPTION_CHARACTERS)
    return skills.compose(name, description, of_length(filler, len(text) - len(name) - len(description)))


def _example(example: Example, intent: str, words: Iterator[str]) -> Example:
    arguments = _emptied(arguments_of(ToolCall("", example.tool, example.arguments)), words)
    return Example(
        tool=example.tool,
        arguments=msgspec.json.encode(arguments).decode(),
        result=_like(example.result, words),
        intent=intent,
        is_whole=example.is_whole,
    )


def _like(text: str, words: Iterator[str]) -> str:
    return _phrase(words, len(text)) if text else ""


def _emptied(value: Any, words: Iterator[str]) -> Any:
    match value:
        case str():
            return _like(value, words)
        case dict():
            return {key: _emptied(inner, words) for key, inner in value.items()}
        case list() | tuple():
            return [_emptied(inner, words) for inner in value]
    return value


def _phrase(words: Iterator[str], characters: int) -> str:
    """The next words, about so many characters of them."""
    text = next(words)
    while len(text) + 4 <= characters:
        text = f"{text} {next(words)}"
    return text


def _words(filler: str) -> Iterator[str]:
    return cycle(filler.replace(".", "").replace(",", "").split())
