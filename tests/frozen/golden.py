"""Golden files: what was said once, to be compared with what is said now."""

import difflib
import itertools
import os
from collections.abc import Mapping
from pathlib import Path

SHOWN_LINES = 40  # of each file that differs
GOLDEN = Path(__file__).parent / "golden"
REWRITE = bool(os.environ.get("WHET_REWRITE"))  # on purpose, by whoever then reads the difference


def hold(said: Mapping[str, str], own: Path, shared: Path | None = None) -> None:
    """Each text is the golden one of its name: the one in its own folder, else the shared one."""
    known = _texts(shared) if shared else {}
    if REWRITE:
        _keep({name: text for name, text in said.items() if text != known.get(name)}, own)
    golden = {**known, **_texts(own)}
    changed = [name for name in {**golden, **said} if golden.get(name) != said.get(name)]
    assert not changed, "\n".join(_difference(name, golden.get(name, ""), said.get(name, "")) for name in changed)


def _difference(name: str, golden: str, said: str) -> str:
    lines = difflib.unified_diff(golden.splitlines(), said.splitlines(), f"golden {name}", f"now {name}", "", "", 1, "")
    return "\n".join(itertools.islice(lines, SHOWN_LINES))


def _texts(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in files}


def _keep(texts: Mapping[str, str], folder: Path) -> None:
    for name in _texts(folder):
        (folder / name).unlink()
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
