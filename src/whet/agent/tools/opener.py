"""Opens ports in a network of its own, hands them to whoever is outside, and becomes the command. Run as a script.

It stands alone and loads little: `python -I -S opener.py DESCRIPTOR PORT,PORT COMMAND …`. The command has no other
network; what connects to these ports is served by the process at the other end of the descriptor.
"""

import os
import socket
import sys


def main(arguments: "list[str]") -> None:
    door = socket.socket(fileno=int(arguments[0]))
    listening = [_listener(int(port)) for port in arguments[1].split(",") if port]
    socket.send_fds(door, [b"open"], [each.fileno() for each in listening])
    for each in (door, *listening):
        each.close()
    os.execvp(arguments[2], arguments[2:])


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


if __name__ == "__main__":
    main(sys.argv[1:])
