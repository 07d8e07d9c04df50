"""The entry point. It loads only what the command at hand needs: click itself waits for a command."""

import codecs
import contextlib
import errno
import gc
import io
import os
import sys

from whet import __version__
from whet.cli.catalogue import overview

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# What a path that a person gave can be, wherever it is first looked at.
UNUSABLE = (errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ELOOP)
NAME_SHOWN = 200


def main() -> None:
    """Run the command line and exit with its code: 0 done, 1 failed, 2 misused, 130 interrupted."""
    gc.disable()  # until the command is loaded: nothing of that is garbage, and looking takes a tenth of a start
    arguments = sys.argv[1:]
    _open_streams()
    if arguments[:1] == ["hook"]:  # what the hooks of other agents call
        from whet.telling.hooks.entry import run

        sys.exit(run(arguments[1:], os.environ))
    code = _deliver(arguments)
    if "whet.store.ledger" in sys.modules:  # else the command can have changed no rule
        _refresh_hooks()
    if "whet.work.worker" in sys.modules:
        # A step that will not end must not keep the program: whoever comes next does it again.
        from whet.work.worker import leave

        leave(code)
    sys.exit(code)


def _open_streams() -> None:
    """What is written to a stream that the caller closed goes nowhere; what a terminal cannot show is no failure."""
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="replace")


def _deliver(arguments: list[str]) -> int:
    """Carry a command out, and see its output off."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _drop_output()
        return 0
    except OSError as error:
        if error.filename is None and error.errno in FULL:
            _drop_output()
            _complain(f"Error: The output cannot be written: {error.strerror}.")
        elif error.filename is not None and error.errno in UNUSABLE:
            _complain(f"Error: {str(error.filename)[:NAME_SHOWN]} cannot be used: {error.strerror}.")
        else:
            raise
        return 1


def _drop_output() -> None:
    """Keep Python from complaining at exit about what nobody takes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    if arguments in (["--help"], ["-h"]):
        sys.stdout.write(f"{overview()}\n")
        return 0
    if arguments == ["--version"]:
        sys.stdout.write(f"whet {__version__}\n")
        return 0
    import click

    from whet.cli.group import group
    from whet.errors import WhetError

    try:
        result = group.main(args=arguments, prog_name="whet", standalone_mode=False)
        if arguments[:1] not in ([], ["lessons"], ["status"]) and sys.stderr.isatty():
            mention_pending()
        sys.stdout.flush()  # here, where a reader that has left is no error
        return result if isinstance(result, int) else 0
    except WhetError as error:
        _complain(f"Error: {error.message}\n{error.advice}".rstrip())
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as stop:
        # A question that got no for an answer, or none at all, comes before anything is done.
        refused = isinstance(stop, click.Abort) and stop.__cause__ is None
        _complain("Nothing was done." if refused else "Interrupted.")
        return 130


def _complain(text: str) -> None:
    from whet.text.characters import safe

    sys.stderr.write(f"{safe(text)}\n")


def _refresh_hooks() -> None:
    """After a command that may have changed a rule: compile the rules anew, where there are hooks to tell them."""
    from whet.errors import WhetError
    from whet.store.home import find_home
    from whet.store.opening import opened
    from whet.telling.hooks.events import has_hooks

    try:
        home = find_home(os.environ)
        if not has_hooks(home.folder):
            return
        from whet.telling.hooks.compiling import refresh_compiled

        with opened(home) as database:
            refresh_compiled(home, database)
    except WhetError:
        return  # the command itself has said what is wrong with the store


def mention_pending() -> None:
    """Say how many changes wait for approval, where there are some."""
    import time

    from whet.changes.pending import waiting
    from whet.errors import WhetError
    from whet.store.home import find_home
    from whet.store.opening import opened
    from whet.text.words import many

    home = find_home(os.environ)
    if not (home.database_url or home.database_path.exists()):
        return
    with contextlib.suppress(WhetError), opened(home) as database:  # the command itself has said what is wrong
        if number := waiting(home, database, now=time.time()):
            sys.stderr.write(f"{many(number, 'change')} to approve or refuse: whet lessons --waiting\n")
