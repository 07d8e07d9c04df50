"""Data that ships with the package, and how it is read."""

from functools import cache
from importlib.resources import files

import msgspec

from whet.scores import Weights


@cache
def failure_weights() -> Weights:
    """The fitted weights of the failure score."""
    return msgspec.json.decode(files(__name__).joinpath("failure_score.json").read_bytes(), type=Weights)
