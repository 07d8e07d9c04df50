"""Data that ships with the package, and how it is read."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec

from whet.runs.models import ModelTable

if TYPE_CHECKING:
    from whet.failures.score import Weights


@cache
def failure_weights() -> "Weights":
    """The fitted weights of the failure score."""
    from whet.failures.score import Weights  # noqa: PLC0415 - it loads all detectors, which few need

    return msgspec.json.decode(files(__name__).joinpath("failure_score.json").read_bytes(), type=Weights)


@cache
def models() -> ModelTable:
    """What is known of models: windows, tools, prices."""
    return msgspec.json.decode(files(__name__).joinpath("models.json").read_bytes(), type=ModelTable)
