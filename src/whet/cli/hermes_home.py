"""Hermes' home at the command line."""

import os
from pathlib import Path

from whet.ledger.origins import PatchOrigin, PatchWriter

FROM_HERMES = PatchOrigin(PatchWriter.IMPORT, "hermes", said="imported from Hermes")


def hermes_home(folder: Path | None = None) -> Path:
    """The folder that was named, else the one that the environment names, else the usual one."""
    named = folder or os.environ.get("HERMES_HOME") or "~/.hermes"
    return Path(os.path.expanduser(named)).absolute()
