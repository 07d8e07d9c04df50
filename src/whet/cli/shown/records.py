"""Stored things as JSON records, the same in every command."""

from pathlib import Path, PureWindowsPath

from whet.context.finding import repository_root
from whet.sessions.exports import iso
from whet.store.rows import Session


def session_record(session: Session) -> dict[str, object]:
    return {
        "id": session.id,
        "source": session.source,
        "native_id": session.native_id,
        "parent": session.parent_id or None,
        "title": session.title,
        "model": session.model,
        "folder": session.folder,
        "branch": session.branch,
        "purpose": session.purpose,
        "ending": session.ending,
        "started": iso(session.started),
        "ended": iso(session.ended),
        "messages": session.message_count,
        "tokens": {
            "input": session.input_tokens,
            "output": session.output_tokens,
            "cached": session.cached_tokens,
        },
        "cost_dollars": session.cost_dollars,
        "path": session.path,
    }


def project_of_session(folder: str) -> str:
    """The repository that a session worked in, by the name of its root; where there is none here, the folder's name."""
    if not folder:
        return ""
    path = Path(folder)
    root = repository_root(path) if path.is_absolute() else None  # another system's folder is not beneath this one
    return root.name if root is not None else PureWindowsPath(folder).name or folder
