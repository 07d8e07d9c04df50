"""How an extra is added to this very Whet: by the way in which it was installed, for it is on no package index."""

import json
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from whet.errors import WhetError

# Each extra, and a package that comes with it.
EXTRAS = {"web": "uvicorn", "work": "dbos", "local": "xllamacpp", "mcp": "mcp", "postgres": "psycopg"}
FOR_SETUP = ("mcp", "work")  # what `whet setup` can use


def is_there(extra: str) -> bool:
    """Whether this Whet has an extra."""
    return find_spec(EXTRAS[extra]) is not None


def require(extra: str, what: str) -> None:
    """Raise WhetError where this Whet lacks what something needs."""
    if not is_there(extra):
        raise WhetError(f"{what} need a library that is not installed.", advice=f"Run `{how_to_add(extra)}`.")


def how_to_add(*extras: str) -> str:
    """The command that adds extras."""
    origin, is_editable = _origin()
    present = [name for name in EXTRAS if is_there(name)]
    return command_for(extras, origin, prefix=sys.prefix, present=present, is_editable=is_editable)


def command_for(
    extras: Sequence[str], origin: str, *, prefix: str, present: Sequence[str], is_editable: bool = False
) -> str:
    """The command for a Whet from this folder or address, installed beneath a prefix by whoever owns that.

    Those that install a program anew are told what it has already.
    """
    wanted = ",".join(sorted({*extras, *present}))
    if "/uv/tools/" in prefix:
        return f"uv tool install --force {_named(origin, wanted)}"
    if "/pipx/venvs/" in prefix:
        return f"pipx install --force {_named(origin, wanted)}"
    return f"pip install {'-e ' if is_editable else ''}{_named(origin, ','.join(sorted(extras)))}"


def _named(origin: str, extras: str) -> str:
    if not origin:
        return f"'.[{extras}]' in a clone of Whet"
    is_folder = origin.startswith("/")
    return shlex.quote(f"{origin}[{extras}]" if is_folder else f"whet[{extras}] @ {origin}")


def _origin() -> tuple[str, bool]:
    """The folder or address that this Whet came from, and whether it is edited there; empty where nobody noted it."""
    try:
        noted: Any = json.loads(distribution("whet").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "", False
    address = urlsplit(noted.get("url", ""))
    if "vcs_info" in noted:
        return f"{noted['vcs_info']['vcs']}+{noted['url']}", False
    path = Path(unquote(address.path))
    if address.scheme == "file" and not path.exists():
        return "", False  # the clone is gone
    if "dir_info" in noted:
        return str(path), bool(noted["dir_info"].get("editable"))
    return str(noted.get("url", "")), False
