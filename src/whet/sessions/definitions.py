"""A tool as its model knows it."""

from whet.values import Value


class Definition(Value, frozen=True):
    """A tool as its model knows it. `parameters` is the JSON text of its schema."""

    name: str
    description: str = ""
    parameters: str = "{}"
