"""A process that serves the embedded model and waits to be killed; it prints the id of the process that serves."""

import os
import sys
from pathlib import Path
from threading import Event

from whet.agent.providers.local import LocalCodec, LocalProvider, ServeOrder
from whet.own.runs.models import Model

if __name__ == "__main__":
    server = LocalProvider(
        LocalCodec(Model("m"), controls=(), calls="free"), ServeOrder(str(Path(sys.argv[1])), "m", 512), os.environ
    )
    server.address(Event())
    sys.stdout.write(f"{server.process_id}\n")
    sys.stdout.flush()
    Event().wait()
