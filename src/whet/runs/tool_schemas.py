"""Tools as plain functions: the schema that a model sees and the arguments that are taken, both from the signature."""

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import msgspec

from whet.sessions.definitions import Definition
from whet.values import Value

# What a schema says to people and generators of code, and not to a model.
LEFT_OUT = ("title", "$defs")


class Schema(Value, frozen=True):
    """What a tool takes: its definition for the model, and the type that its arguments are read into."""

    definition: Definition
    arguments: type[msgspec.Struct]


class Unfit(Exception):
    """Arguments that a tool does not take; the message tells the model why, in one line."""


def schema_of(function: Callable[..., object], *, name: str = "") -> Schema:
    """The schema of a function: its keyword-only parameters are the arguments, its docstring the description."""
    name = name or function.__name__
    hints = get_type_hints(function, include_extras=True)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        hint = hints[parameter.name]
        has_default = parameter.default is not inspect.Parameter.empty
        fields.append((parameter.name, hint, parameter.default) if has_default else (parameter.name, hint))
    arguments = msgspec.defstruct(name, fields, frozen=True, forbid_unknown_fields=True, kw_only=True)
    description = inspect.cleandoc(function.__doc__ or "").replace("\n", " ")
    return Schema(Definition(name, description, _parameters(arguments)), arguments)


def read_arguments(schema: Schema, text: str) -> dict[str, object]:
    """The arguments of a call, checked against the schema; raises Unfit. What is no JSON object is never guessed at."""
    try:
        found = msgspec.json.decode(text, type=schema.arguments)
    except msgspec.ValidationError as error:
        raise Unfit(f"Wrong arguments for {schema.definition.name}: {error}. It takes {_taken(schema)}.") from error
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise Unfit(f"The arguments of {schema.definition.name} are not a JSON object: {error}.") from error
    return {field.name: getattr(found, field.name) for field in msgspec.structs.fields(schema.arguments)}


def _taken(schema: Schema) -> str:
    """The names of the arguments, with the words of those that take only some."""
    properties = msgspec.json.decode(schema.definition.parameters)["properties"]
    return ", ".join(
        f"{name} ({'|'.join(each['enum'])})" if "enum" in each else name for name, each in properties.items()
    )


def _parameters(arguments: type[msgspec.Struct]) -> str:
    _, components = msgspec.json.schema_components([arguments], ref_template="{name}")
    plain = _inlined(components[arguments.__name__], components)
    return msgspec.json.encode(plain).decode()


def _inlined(schema: Any, components: dict[str, Any]) -> Any:
    """The schema without references and titles: some endpoints read neither."""
    if isinstance(schema, list):
        return [_inlined(each, components) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(components[schema["$ref"]], components)
    plain = {key: _inlined(value, components) for key, value in schema.items() if key not in LEFT_OUT}
    if isinstance(schema.get("properties"), dict):  # whose keys are names of arguments, whatever they are called
        plain["properties"] = {name: _inlined(each, components) for name, each in schema["properties"].items()}
    return {"type": "string", **plain} if "enum" in plain and "type" not in plain else plain
