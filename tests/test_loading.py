"""A start loads what it needs and no more: commands that read the store leave the importers alone."""

import os
import subprocess
import sys
from pathlib import Path

from command import COMMAND, KEPT_VARIABLES, Whet

# What counts coverage loads much itself, and is none of ours.
KEPT = {name: value for name, value in os.environ.items() if name.startswith(KEPT_VARIABLES) and name[:3] != "COV"}


def loaded(*arguments: str, home: Path) -> set[str]:
    """The modules that a Python program loads, as Python itself reports them."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        env={**KEPT, "HOME": str(home), "WHET_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


def test_commands_that_read_the_store_load_no_importer(whet: Whet, examples: Path, tmp_path: Path) -> None:
    assert whet("import", str(examples / "openai")).code == 0
    for command in ("lessons", "sessions", "rules", "report", "stats", "signals"):
        found = loaded(str(COMMAND), command, home=tmp_path / "home")
        assert "whet.store.opening" in found
        assert not [name for name in found if name.startswith(("whet.importers", "whet.intake"))], command
