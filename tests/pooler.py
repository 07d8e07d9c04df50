"""PgBouncer in front of a test server, where the machine has it."""

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import psycopg.conninfo

from patience import until
from postgres_server import lesser_user

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
SETTINGS = """
[databases]
* = host={host} user={user}
[pgbouncer]
pool_mode = {mode}
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
unix_socket_dir =
max_client_conn = 300
default_pool_size = 100
server_round_robin = {round_robin}
"""


@contextlib.contextmanager
def pooled(server: str, folder: Path, mode: str, *, round_robin: int = 0) -> Iterator[str]:
    """The address of a pooler for a server's address. All of them use the default schema: it passes no options on."""
    assert PROGRAM is not None
    given = psycopg.conninfo.conninfo_to_dict(server)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = folder / f"pgbouncer-{mode}-{port}.ini"
    file.write_text(
        SETTINGS.format(host=given["host"], user=given["user"], mode=mode, port=port, round_robin=round_robin)
    )
    user = lesser_user()  # it refuses to run as root, as the server does
    with (
        file.open("rb") as settings,
        subprocess.Popen(
            [PROGRAM, "-q", "/dev/stdin"],  # the tests' folders are closed to other users
            stdin=settings,
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
        ) as process,
    ):
        url = f"postgresql://{given['user']}@127.0.0.1:{port}/{given.get('dbname', 'postgres')}"
        try:
            until(lambda: _answers(url))
            yield url
        finally:
            process.terminate()
            process.wait()


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError as error:
        if "refused" not in str(error):
            raise
        return False
    return True
