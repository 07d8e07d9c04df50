"""In which of Whet's files a function is really called: `python -m reach FILE COMMAND …` runs a command and lists them.

A process of its own for each command: what another has already made and kept is not called again.
"""

import contextlib
import inspect
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import whet
from whet.cli.group import group

SOURCE = str(Path(whet.__file__).parent) + os.sep


class Calls:
    """The files in which a function was called, in every thread that began meanwhile too."""

    def __init__(self) -> None:
        self._seen: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self._seen.add(frame.f_code)

    def files(self) -> set[str]:
        """Below the package's folder. What has no name of its own, such as the body of a file, is no function."""
        own = (code for code in self._seen.copy() if code.co_filename.startswith(SOURCE))
        return {
            code.co_filename.removeprefix(SOURCE)
            for code in own
            if code.co_flags & inspect.CO_NEWLOCALS and not code.co_name.startswith("<")
        }


@contextlib.contextmanager
def counted() -> Iterator[Calls]:
    calls = Calls()
    threading.setprofile(calls)
    sys.setprofile(calls)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


if __name__ == "__main__":
    _, out, *arguments = sys.argv
    with counted() as calls:
        group.main(args=arguments, prog_name="whet", standalone_mode=False)
    Path(out).write_text(json.dumps(sorted(calls.files())))
    sys.stdout.flush()
    os._exit(0)  # the engine's threads need not be waited for
