"""Schemas and arguments of tools come from the signatures of plain functions."""

import json
from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from whet.agent.tools.toolbox import BadArguments, read_arguments, schema_of


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    status: Literal["open", "done"] = "open"


def sample(  # the arguments matter, not what is done with them
    _: object,
    *,
    title: Annotated[str, Meta(description="what it is called")],
    items: tuple[Item, ...] = (),  # noqa: ARG001
    count: Annotated[int, Meta(ge=1, le=9)] = 3,  # noqa: ARG001
    way: Literal["up", "down"] = "up",  # noqa: ARG001
) -> str:
    """Do it
    in one go."""
    return title


SCHEMA = schema_of(sample)


def test_a_schema_holds_the_keyword_parameters_and_the_docstring() -> None:
    assert SCHEMA.definition.name == "sample"
    assert SCHEMA.definition.description == "Do it in one go."
    parameters = json.loads(SCHEMA.definition.parameters)
    assert list(parameters["properties"]) == ["title", "items", "count", "way"]
    assert parameters["required"] == ["title"]
    assert "additionalProperties" not in parameters
    assert parameters["properties"]["way"] == {"type": "string", "enum": ["down", "up"], "default": "up"}
    assert parameters["properties"]["title"]["description"] == "what it is called"
    assert "$ref" not in SCHEMA.definition.parameters


def test_a_schema_has_the_same_bytes_each_time() -> None:
    assert schema_of(sample).definition == SCHEMA.definition


def test_defaults_stand_in_for_what_is_left_out() -> None:
    assert read_arguments(SCHEMA, '{"title": "a"}') == {"title": "a", "items": (), "count": 3, "way": "up"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{}", "title"),
        ('{"title": 1}', "$.title"),
        ('{"title": "a", "count": "3"}', "$.count"),
        ('{"title": "a", "count": 10}', "$.count"),
        ('{"title": "a", "way": "left"}', "way (down|up)"),
        ('{"title": "a", "other": 1}', "other"),
        ('{"title": "a", "items": [{"text": "b", "size": 1}]}', "size"),
        ("[]", "object"),
        ("null", "object"),
        ("", "not a JSON object"),
        ('{"title": "a"', "not a JSON object"),
        ('{"title": "a"} {}', "not a JSON object"),
        ('{"title": "\\ud800"}', "not a JSON object"),
        ('{"title": ' + "[" * 5_000, "$.title"),
    ],
)
def test_what_does_not_fit_is_told_in_one_line(arguments: str, said: str) -> None:
    with pytest.raises(BadArguments) as told:
        read_arguments(SCHEMA, arguments)
    assert said in str(told.value)
    assert "\n" not in str(told.value)


@given(st.text())
def test_no_text_is_taken_for_arguments_by_chance(text: str) -> None:
    with pytest.raises(BadArguments):
        read_arguments(SCHEMA, text)
