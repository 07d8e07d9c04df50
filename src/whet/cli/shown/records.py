"""Stored things as JSON records, the same in every command."""

from whet.sessions.exports import iso
from whet.store.rows import Session
from whet.targets.known_projects import short_name
from whet.targets.project_names import folder_of_project, name_of_project


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


def project_of_session(folder: str, project: str = "") -> str:
    """The name of the repository's folder that a session worked in; where that is not here, of its project."""
    return short_name(folder_of_project(folder) or project or name_of_project(folder)) if folder else ""
