"""A watch over every connection that a program and its children ask for: what is not on this machine is refused."""

from pathlib import Path

# Python loads a module of this name at every start, so the programs that a command starts are watched too.
WATCHING = """
import os, sys

def away(event, given):
    if event == "socket.getaddrinfo":
        host = given[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = given[-1]
        host = address[0] if isinstance(address, tuple) else None
    else:
        return
    name = host.decode() if isinstance(host, bytes) else host
    if name and name != "localhost" and name != "::1" and not name.startswith("127."):
        with open({asked!r}, "a") as file:
            file.write(f"{{event}} {{name}}: {{' '.join(sys.argv)}}\\n")
        raise OSError(f"no network: {{name}}")

sys.addaudithook(away)
"""


class NetworkWatch:
    """What a program needs in its environment to be watched, and whom it then asked for."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._asked = folder / "asked"
        (folder / "sitecustomize.py").write_text(WATCHING.format(asked=str(self._asked)))
        self.variables = {"PYTHONPATH": str(folder)}

    @property
    def asked(self) -> list[str]:
        return self._asked.read_text().splitlines() if self._asked.exists() else []
