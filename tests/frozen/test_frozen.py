"""What must not change unnoticed: every command's JSON, every file for agents, every hook's words, on both databases.

A change that is meant is written down with `WHET_REWRITE=1 pytest tests/frozen`, and read in the diff.
"""

import json
import subprocess
import sys
from pathlib import Path

from command import environment
from frozen.golden import GOLDEN, hold
from whet.store.home import Home

TESTS = Path(__file__).parents[1]
SAID, SAID_ON_POSTGRES = GOLDEN / "said", GOLDEN / "said_on_postgres"  # there, only what differs


def test_a_frozen_home_says_what_it_always_said(home: Home) -> None:
    said = said_by(home)
    if home.database_url:
        hold(said, SAID_ON_POSTGRES, shared=SAID)
    else:
        hold(said, SAID)


def said_by(home: Home) -> dict[str, str]:
    """All that a frozen home says, by the name of its golden file."""
    root = home.folder.parent
    (root / "person").mkdir()
    variables = {**environment(home.folder, root / "person"), "PYTHONPATH": str(TESTS), "TZ": "UTC"}
    if home.database_url:
        variables["WHET_DATABASE_URL"] = home.database_url
    done = subprocess.run(
        [sys.executable, "-m", "frozen.scene", str(root)],
        env=variables, cwd=root / "person", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found
