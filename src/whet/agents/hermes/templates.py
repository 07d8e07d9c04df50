"""Templates of the original forms: session templates and warm sessions, each one JSON file of Hermes' home.

Several versions of both were published, whose fields differ; so a field is known by any of its names. Every call was
called a success there and results may be another call's: their texts are not taken, only their shape, and what says
of itself that it failed is left out.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from whet.errors import WhetError
from whet.own.examples import templates
from whet.own.examples.candidates import shape
from whet.own.examples.templates import DESCRIPTION_CHARACTERS, MOST_TAGS, TAG, TOOL_NAME, Example, Template, name_fault
from whet.secrets.redactor import Redactor
from whet.sessions.activity import Activity, classify
from whet.sessions.lineage import pieces_of
from whet.sessions.transcripts import Exchange, ToolCall
from whet.text import fields
from whet.text.quoting import visible

FOLDERS = ("session-templates", "warm_sessions")
LISTS = ("examples", "tool_examples", "tool_call_examples", "tool_calls", "patterns", "tool_patterns")
TOOLS = ("tool_name", "tool", "name")
ARGUMENTS = ("arguments", "args", "parameters", "input")
RESULTS = ("result", "result_summary", "result_preview", "result_pattern", "output")
HINTS = ("context_hint", "hint", "user_message", "task_hint", "intent", "context")
SESSIONS = ("source_session_id", "session_id", "source_session")
ACTIVITIES = ("task_type", "type", "activity", "session_type")
ADDENDA = ("system_addendum", "system_prompt_addendum", "system_prompt_addition", "system_context")
INTENT_CHARACTERS = 240
NAME_CHARACTERS = 60
ADVICE = "It is left out."
_UNNAMED = re.compile(r"[^a-z0-9]+")


class HermesTemplate(NamedTuple):
    """A template, and why examples of its file were left out, each reason with how many."""

    template: Template
    left_out: dict[str, int]


def read(text: str, *, stem: str) -> HermesTemplate:
    """The template that a file of either form holds; raises WhetError where it holds none."""
    try:
        record = msgspec.json.decode(text.removeprefix("\ufeff"))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise WhetError(f"{stem} is not JSON.", advice=ADVICE) from error
    if not isinstance(record, dict):
        raise WhetError(f"{stem} is not a template.", advice=ADVICE)
    left_out: Counter[str] = Counter()
    session = fields.text(record, *SESSIONS)
    examples = tuple(_once(_examples(_listed(record), session, left_out), left_out))
    if not examples:
        raise WhetError(f"{stem} has no example that can be used{reasons_in_words(left_out)}.", advice=ADVICE)
    template = Template(
        name=_name(fields.text(record, "name"), stem),
        examples=examples,
        activity=_activity(fields.text(record, *ACTIVITIES).lower(), examples),
        description=_clean(fields.text(record, "description"))[:DESCRIPTION_CHARACTERS],
        tags=_tags(record),
        made="imported",
        created=fields.seconds(record.get("created_at")),
        addendum=_addendum(record, left_out),
    )
    return HermesTemplate(template, dict(left_out))


def reasons_in_words(left_out: Mapping[str, int]) -> str:
    """The reasons as the end of a sentence; nothing where there are none."""
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
    return f" ({reasons})" if reasons else ""


def _listed(record: dict[str, Any]) -> list[Any]:
    """The list of examples, which one version keeps in an object of its own: its seed."""
    lists = (fields.items(place, key) for place in _places(record) for key in LISTS)
    return next((found for found in lists if any(isinstance(each, dict) for each in found)), [])


def _places(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [record, *(value for value in record.values() if isinstance(value, dict))]


def _examples(listed: Iterable[object], session: str, left_out: Counter[str]) -> Iterator[Example]:
    for one in listed:
        made = _example(one, session) if isinstance(one, dict) else "of an unknown format"
        if isinstance(made, Example):
            yield made
        else:
            left_out[made] += 1


def _once(examples: Iterator[Example], left_out: Counter[str]) -> Iterator[Example]:
    seen: set[Example] = set()
    for example in examples:
        if example in seen:
            left_out["there twice"] += 1
        else:
            seen.add(example)
            yield example


def _example(record: dict[str, Any], session: str) -> Example | str:
    """An example, or why it is none."""
    tool = next((record[key] for key in TOOLS if isinstance(record.get(key), str)), "")
    arguments = next((value for key in ARGUMENTS if isinstance(value := _decoded(record.get(key)), dict)), None)
    if record.get("success") is False:
        return "failed"
    if arguments is None or not TOOL_NAME.fullmatch(tool):
        return "without a tool or arguments"
    written = msgspec.json.encode(arguments).decode()
    if len(written) > templates.ARGUMENT_CHARACTERS:
        return "too long"
    if Redactor().arguments(written) != written or visible(written) != written:
        return "with secrets or odd characters"
    answered = next((fields.json_text(record[key]) for key in RESULTS if record.get(key)), "")
    intent = _clean(fields.text(record, *HINTS))
    return Example(
        tool=tool,
        arguments=written,
        result=shape(answered, pieces_of(ToolCall("", tool, written))),
        intent=intent if len(intent) <= INTENT_CHARACTERS else "",
        session=fields.text(record, *SESSIONS) or session,
    )


def _decoded(value: object) -> object:
    """Arguments as an object, which some versions keep as its text."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _activity(word: str, examples: tuple[Example, ...]) -> Activity:
    """What the file says, or for a word that Whet does not have, such as terminal, what its calls are."""
    if word in tuple(Activity):
        return Activity(word)
    return classify(Exchange(ToolCall("", example.tool, example.arguments), 0) for example in examples)


def _name(name: str, stem: str) -> str:
    made = [_UNNAMED.sub("-", _plain(each)).strip("-")[:NAME_CHARACTERS].strip("-") for each in (name, stem)]
    found = next((each for each in made if not name_fault(each)), None)
    if found is None:
        raise WhetError(f"{(name or stem)[:80]!r} cannot be used as a template name.", advice=ADVICE)
    return found


def _plain(words: str) -> str:
    return unicodedata.normalize("NFKD", words.casefold()).encode("ascii", "ignore").decode()


def _addendum(record: dict[str, Any], left_out: Counter[str]) -> str:
    """What it adds to the system prompt, with its lines; a person reads it before it is told."""
    told = next((text for place in _places(record) if (text := fields.text(place, *ADDENDA).strip())), "")
    if len(told) > templates.ADDENDUM_CHARACTERS or visible(told) != told:
        left_out["addendum too long or with odd characters"] += 1
        return ""
    return Redactor().text(told)


def _tags(record: dict[str, Any]) -> tuple[str, ...]:
    listed = (tag for tag in fields.items(record, "tags") if isinstance(tag, str))
    plain = (_UNNAMED.sub("-", _plain(tag)).strip("-") for tag in listed)
    return tuple(dict.fromkeys(tag for tag in plain if TAG.fullmatch(tag)))[:MOST_TAGS]


def _clean(text: str) -> str:
    return Redactor().text(" ".join(visible(text).split()))
