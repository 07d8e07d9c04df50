"""A grammar for replies with tool calls in plain text: under it a model can write words, or a valid action, or both."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from whet.sessions.definitions import Definition

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


def grammar_of(shown: Iterable[Definition], *, always: bool = False) -> str:
    """The grammar of a reply of a model that was shown these tools: an action or words, or `always` an action."""
    tools = tuple(shown)
    if not tools:
        return ""
    root = "action" if always else r'action | words ("\n" action)?'
    rules = [f"root ::= {root}", f"action ::= {' | '.join(_names(tools))}"]
    for index, tool in enumerate(tools):
        rules += _tool_rules(f"tool-{index}", tool)
    return "\n".join(rules) + ("" if always else WORDS) + VALUES


def _names(tools: tuple[Definition, ...]) -> Iterator[str]:
    return (f"tool-{index}" for index in range(len(tools)))


def _tool_rules(name: str, tool: Definition) -> Iterator[str]:
    head = f'{{"tool": {json.dumps(tool.name, ensure_ascii=False)}, "arguments": {{'
    yield f"{name} ::= {_literal(head)} {_fields(tool.parameters)} {_literal('}}')}"


def _fields(schema_text: str) -> str:
    """The arguments in the order of their schema, the needed ones first, each other one or not."""
    schema = json.loads(schema_text)
    properties: dict[str, Any] = schema.get("properties") or {}
    required = schema.get("required") or ()
    needed = [_field(name, properties[name]) for name in properties if name in required]
    others = [_field(name, properties[name]) for name in properties if name not in required]
    if needed:
        between = f" {_literal(', ')} "
        return between.join(needed) + "".join(f" ({_literal(', ')} {other})?" for other in others)
    return _some(others)


def _some(others: list[str]) -> str:
    """Any of the fields in their order, with a comma between those that are there."""
    choices = [
        first + "".join(f" ({_literal(', ')} {other})?" for other in others[index + 1 :])
        for index, first in enumerate(others)
    ]
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
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if " " <= character <= "~":
        return character
    return f"\\U{ord(character):08X}"
