"""Tool calls in plain text, for models that have no calls of their own: one JSON action, read strictly.

A reply calls a tool when a line of it begins an action: `{"tool": NAME, "arguments": {…}}`, bare or in a markdown
fence. Words may stand before the action and are kept as words; after it nothing may stand, not even a second action.
JSON of any other form is an answer in words. An action that breaks a rule becomes a call of the name `UNREADABLE`,
which no tool has: it cannot be carried out, and its `fault` goes back to the model as the result.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Message, Role, ToolCall, joined
from whet.text.words import filled

UNREADABLE = "unreadable_call"
TOOL, ARGUMENTS = "tool", "arguments"
FORM = '{"tool": NAME, "arguments": {…}}'
ID_BYTES = 6

# Possessive, for a reply of nothing but blanks must not take quadratic time.
_BEGIN = re.compile(
    r'(?m)^(?P<fence>[ \t]*+```[a-z]*+[ \t]*+\n\s*+)?[ \t]*+(?P<action>\{\s*+"(?:tool|arguments)"\s*+:)'
)
_MAY_BEGIN = re.compile(r'(?m)^[ \t]*+(?:```[a-z]*+[ \t]*+\n?\s*+|`{0,2})(?:\{\s*+(?:"[a-z]{0,9}(?:"\s*+)?)?)?\Z')
_FENCE = "```"
_CONTROL_WORD = re.compile(r"<\|(?=[a-z0-9_]{1,32}\|>)")
_CLAUSE = re.compile(r".{20,}?(?=[.,;!?](?:\s|\Z))|.*")
# Values of JSON in the notation of llama.cpp (GBNF). Blanks are as the model is shown them, and bounded everywhere:
# a weak model that may write blanks for ever does.
VALUES = r"""
blank ::= [ \n\t]{0,8}
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" blank (string ":" blank value ("," blank string ":" blank value)*)? blank "}"
array ::= "[" blank (value ("," blank value)*)? blank "]"
string ::= "\"" character* "\""
character ::= [^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" escape)
escape ::= [0-9a-cA-CeEfF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}
number ::= integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
boolean ::= "true" | "false"
null ::= "null"
"""
# A line of words is any that does not begin as an action or the next line of one does: with a brace, a quotation mark
# and the first letter of a key. Anything else in braces, such as a line of code, is words.
WORDS = r"""
words ::= line ("\n" line)*
line ::= [ \t]{0,40} ([^{" \t\n] [^\n]* | quoted | "{" [ \t]{0,40} ([^" \t\n] [^\n]* | quoted)?)?
quoted ::= "\"" ([^ta\n] [^\n]*)?
"""
KINDS = ("string", "integer", "number", "boolean", "null", "object", "array")


class Parsed(NamedTuple):
    """What a reply says and what it calls. With a `fault`, its only call is `UNREADABLE` with the action as written."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    fault: str = ""


class _Wrong(ValueError):
    """Why an action is none, in words for the model."""


def described(shown: Iterable[Definition], frame: str, *, is_brief: bool = True) -> str:
    """What the system text gains: the tools, one line each, in the frame of the guidance; nothing without tools.

    In brief, for a small model, a line has the first clause of the description, and types only where they matter.
    """
    lines = "\n".join(_line(definition, is_brief=is_brief) for definition in shown)
    return filled(frame, {"body": lines}) if lines else ""


def parsed(reply: str, *, position: int) -> Parsed:
    """Words and call of a whole reply. `position` is the index that its message will have, so that ids differ."""
    found = _BEGIN.search(reply)
    if not found:
        return Parsed(reply)
    words, action = reply[: found.start()].rstrip(), reply[found.start("action") :]
    if found["fence"]:
        action = action.rstrip().removesuffix(_FENCE)
    action = action.rstrip()
    try:
        name, arguments = _read(action)
    except _Wrong as wrong:
        return Parsed(words, (ToolCall(_id(action, position), UNREADABLE, action),), str(wrong))
    return Parsed(words, (ToolCall(_id(action, position), name, arguments),))


def fault_of(call: ToolCall) -> str:
    """Why an unreadable call is one, in words for the model; empty for every other call."""
    if call.name != UNREADABLE:
        return ""
    try:
        _read(call.arguments)
    except _Wrong as wrong:
        return str(wrong)
    return f"Send one action of the form {FORM}."


def settled(reply: str) -> int:
    """How many characters of a reply that still comes are words for certain, and not the beginning of an action."""
    found = _BEGIN.search(reply) or _MAY_BEGIN.search(reply)
    return found.start() if found else len(reply)


def rendered(message: Message, frame: str) -> str:
    """A message as the text of one turn. Results stand in the frame of the guidance, in a turn of the user's role."""
    if message.role is not Role.TOOL:
        return joined((message.text, *(action_text(call) for call in message.calls)))
    return "\n\n".join(filled(frame, {"tool": each.tool, "body": plain(each.text)}) for each in message.results)


def action_text(call: ToolCall) -> str:
    """The action that a call was read from: with its arguments as they were written, so that caches still fit."""
    if call.name == UNREADABLE:
        return call.arguments
    return f'{{"tool": {json.dumps(call.name, ensure_ascii=False)}, "arguments": {call.arguments}}}'


def plain(text: str) -> str:
    """A text from elsewhere without words such as <|im_end|>, by which it could end its turn and begin another."""
    return _CONTROL_WORD.sub("< |", text)


def _id(action: str, position: int) -> str:
    digest = hashlib.blake2b(action.encode("utf-8", "replace"), digest_size=ID_BYTES, salt=position.to_bytes(16))
    return f"call_{digest.hexdigest()}"


def _read(action: str) -> tuple[str, str]:
    """Name and arguments of an action that keeps every rule."""
    fields = _object(action)
    unknown = [key for key in fields if key not in (TOOL, ARGUMENTS)]
    if unknown:
        raise _Wrong(f"The key {json.dumps(unknown[0])} does not belong in an action. Its form is {FORM}.")
    name, arguments = fields.get(TOOL), fields.get(ARGUMENTS)
    if not isinstance(name, str) or not name or name == UNREADABLE:
        raise _Wrong(f'"tool" has to be the name of a tool. The form of an action is {FORM}.')
    if not isinstance(arguments, dict):
        raise _Wrong(f'"arguments" has to be an object. The form of an action is {FORM}.')
    try:
        return name, bytes(msgspec.json.decode(action, type=dict[str, msgspec.Raw])[ARGUMENTS]).decode()  # as written
    except RecursionError:
        raise _Wrong("The action is nested too deeply.") from None


def _object(action: str) -> dict[str, Any]:
    try:
        value, end = _DECODER.raw_decode(action)
        # What cannot be encoded, such as half of a character, could not be stored either.
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise _Wrong("The action is nested too deeply.") from None
    except UnicodeEncodeError:
        raise _Wrong("The action holds a broken character.") from None
    except json.JSONDecodeError as error:
        raise _Wrong(f"The action is not valid JSON: {error.msg} at character {error.pos}.") from None
    if action[end:].strip():
        raise _Wrong("Nothing may stand after the action. Send one action alone, then wait for its result.")
    if not isinstance(value, dict):
        raise _Wrong(f"An action is an object of the form {FORM}.")
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _Wrong("A key stands twice in the action.")
    return fields


def _no_constant(name: str) -> None:
    raise _Wrong(f"{name} is no JSON value.")


def _line(definition: Definition, *, is_brief: bool) -> str:
    schema = json.loads(definition.parameters)
    needed, told = schema.get("required") or (), _brief if is_brief else _full
    taken = ", ".join(told(name, kind, name in needed) for name, kind in (schema.get("properties") or {}).items())
    about = " ".join(definition.description.split())
    clause = _CLAUSE.match(about) if is_brief else None
    return f"- {definition.name}({taken}): {clause[0] if clause else about}"


def _full(name: str, schema: object, is_needed: bool) -> str:
    about = schema.get("description", "") if isinstance(schema, dict) else ""
    return f"{name}{'' if is_needed else '?'}: {_type(schema)}{f' ({about})' if about else ''}"


def _brief(name: str, schema: object, is_needed: bool) -> str:
    """A name alone is a text; of what can be left out, the name says enough."""
    if not is_needed:
        return f"{name}?"
    kind = _type(schema)
    return name if kind == "string" else f"{name}: {kind}"


def _type(schema: object) -> str:
    if not isinstance(schema, dict):
        return "any"
    choices = schema.get("enum")
    if isinstance(choices, list):
        return "|".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    kind = schema.get("type")
    if isinstance(kind, list):
        return "|".join(map(str, kind))
    return str(kind) if kind else "any"


_DECODER = json.JSONDecoder(object_pairs_hook=_each_once, parse_constant=_no_constant)


def grammar_of(shown: Iterable[Definition], *, always: bool = False) -> str:
    """The grammar of a reply of a model that was shown these tools: an action or words, or `always` an action."""
    tools = tuple(shown)
    if not tools:
        return ""
    root = "action" if always else r'action | words ("\n" action)?'
    rules = [f"root ::= {root}", f"action ::= {' | '.join(f'tool-{index}' for index in range(len(tools)))}"]
    for index, tool in enumerate(tools):
        head = f'{{"tool": {json.dumps(tool.name, ensure_ascii=False)}, "arguments": {{'
        rules.append(f"tool-{index} ::= {_literal(head)} {_fields(tool.parameters)} {_literal('}}')}")
    return "\n".join(rules) + ("" if always else WORDS) + VALUES


def _fields(schema_text: str) -> str:
    """The arguments in the order of their schema, the needed ones first, each other one or not."""
    schema = json.loads(schema_text)
    properties: dict[str, Any] = schema.get("properties") or {}
    required = schema.get("required") or ()
    needed = [_field(name, properties[name]) for name in properties if name in required]
    others = [_field(name, properties[name]) for name in properties if name not in required]
    comma = _literal(", ")
    later = [f" ({comma} {other})?" for other in others]
    if needed:
        return f" {comma} ".join(needed) + "".join(later)
    # Any of the others, with a comma between those that are there.
    choices = [first + "".join(later[index:]) for index, first in enumerate(others, start=1)]
    return f"({' | '.join(choices)})?" if choices else '""'


def _field(name: str, schema: object) -> str:
    return f"{_literal(f'{json.dumps(name, ensure_ascii=False)}: ')} {_value(schema)}"


def _value(schema: object) -> str:
    """The rule for a value. What the schema says beyond type and choices is left to the tool's own check."""
    if not isinstance(schema, dict):
        return "value"
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list) and choices:
        return f"({' | '.join(_literal(json.dumps(choice, ensure_ascii=False)) for choice in choices)})"
    branches = schema.get("anyOf")
    if isinstance(branches, list) and branches:
        return f"({' | '.join(_value(branch) for branch in branches)})"
    kinds = schema.get("type")
    named = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind in KINDS]
    if named == ["integer"] and isinstance(schema.get("maximum"), int):
        return _whole(schema)
    if named == ["array"]:
        item = _value(schema.get("items"))
        return f'("[" blank ({item} ("," blank {item})*)? blank "]")'
    return f"({' | '.join(named)})" if named else "value"


def _whole(schema: dict[str, Any]) -> str:
    """A whole number up to its maximum, from 0 or 1 on: a weak model that may write digits for ever does."""
    most = str(schema["maximum"])
    fewer = [f"[1-9] [0-9]{{0,{len(most) - 2}}}"] if len(most) > 1 else []
    below = [f"[1-{int(most[0]) - 1}] [0-9]{{{len(most) - 1}}}"] if most[0] > "1" else []
    least = schema.get("minimum")
    zero = [] if isinstance(least, int) and least > 0 else ['"0"']
    return f"({' | '.join([*zero, *fewer, *below, _literal(most)])})"


def _literal(text: str) -> str:
    """A text as the grammar writes it: in quotes, with everything beyond plain letters escaped."""
    quoted = re.sub(r'(["\\])', r"\\\1", text)
    return '"' + re.sub("[^ -~]", lambda found: f"\\U{ord(found[0]):08X}", quoted) + '"'
