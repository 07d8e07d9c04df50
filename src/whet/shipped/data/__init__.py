"""Data that ships with the package, and how it is read."""

from functools import cache
from pathlib import Path

import msgspec

from whet.own.runs.models import ModelTable, Prices, cost, model_of
from whet.sessions.transcripts import Usage

FOLDER = Path(__file__).parent


@cache
def secret_places() -> tuple[tuple[str, str], ...]:
    """Where programs keep keys and passwords: a path beneath a person's folder, an absolute one or one that a variable
    names, and the program."""
    lines = (FOLDER / "secret_places.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split("  ", 1) for line in lines if line and not line.startswith("#"))
    return tuple((place, program.strip()) for place, program in rows)


@cache
def models() -> ModelTable:
    """What is known of models: windows, tools, prices."""
    return msgspec.json.decode((FOLDER / "models.json").read_bytes(), type=ModelTable)


def list_price(usage: Usage, model: str) -> float | None:
    """What a model's tokens cost in dollars; None where nobody knows."""
    prices = _prices(model)
    return cost(usage, prices) if prices else None


@cache
def _prices(model: str) -> Prices | None:
    return model_of(model, models()).prices
