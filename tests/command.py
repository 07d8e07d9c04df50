"""The real `whet` command, run as a person runs it, in a home of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

COMMAND = Path(sys.executable).with_name("whet")
KEPT_VARIABLES = ("PATH", "COV", "LANG", "PYTHON")


class Done(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Whet = Callable[..., Done]


def runner(home: Path, person: Path) -> Whet:
    """A way to run `whet`: `stdin` is what is piped to it, `variables` are added to its environment."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT_VARIABLES)}

    def run(*arguments: str, stdin: str = "", variables: dict[str, str] | None = None) -> Done:
        done = subprocess.run(
            [COMMAND, *arguments],
            input=stdin.encode(),
            capture_output=True,
            env={**kept, "HOME": str(person), "WHET_HOME": str(home), **(variables or {})},
            cwd=person.parent,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
