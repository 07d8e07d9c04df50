"""Sessions as JSON records, and what lists and counts say about those that they leave out."""

from whet.sessions.exports import iso
from whet.store.rows import Session
from whet.targets.known_projects import short_name
from whet.targets.project_names import folder_of_project, name_of_project
from whet.text.words import many


def left_out(temporary: int, *, own_work: int = 0, how: str = "--temporary") -> str:
    """How many sessions are left out by default, and which option includes them; empty where none is."""
    found = ((temporary, "in temporary folders", how), (own_work, "of trials and reviews", "--all"))
    return " ".join(
        f"{many(number, 'session')} {which} {'is' if number == 1 else 'are'} left out ({option})."
        for number, which, option in found
        if number
    )


def among_them(copies: int) -> str:
    """That some of the sessions that were just listed only repeat others; empty where none does."""
    return f", {copies:,} of them only repeat{'s' if copies == 1 else ''} others" if copies else ""


def repeating(copies: int) -> str:
    """That more sessions than were just counted are stored, which only repeat others."""
    return f"{many(copies, 'more session')} only repeat{'s' if copies == 1 else ''} others: not counted again."


def none_found(hidden: str, *, is_narrowed: bool) -> str:
    """What to say where no session is left, and what to do."""
    if hidden:
        return f"No sessions match. {hidden}"
    return (
        "No sessions match: try fewer filters."
        if is_narrowed
        else "No sessions yet. To import them, run `whet import`."
    )


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
