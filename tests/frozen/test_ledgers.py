"""Ledgers whose entries nothing rewrites: what is in force is what was in force when they were made."""

import json
from pathlib import Path

import msgspec
import pytest

from frozen.golden import GOLDEN, hold
from whet.ledger.entries import Entry
from whet.ledger.folding import fold

LEDGERS = Path(__file__).parent / "ledgers"


@pytest.mark.parametrize("name", ["of_one_person", "of_a_team"])
def test_a_kept_ledger_folds_to_the_same_state(name: str) -> None:
    entries = msgspec.json.decode((LEDGERS / f"{name}.json").read_bytes(), type=list[Entry])
    parts = json.loads(msgspec.json.encode(fold(entries), order="deterministic"))
    state = json.dumps({part: held for part, held in parts.items() if held}, indent=2, ensure_ascii=False) + "\n"
    hold({"state.json": state}, GOLDEN / f"ledger_{name}")
