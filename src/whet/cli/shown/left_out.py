"""What lists and counts of sessions say about those that they leave out."""

from whet.cli.output import many


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
