"""A session begun warm: the template chosen, by lot left out or not, its examples put before the first message."""

from collections.abc import Sequence

from whet.own.examples.templates import SHARES, Choice, Need, TemplateEffect, choose, missing_tools, standing
from whet.own.examples.warm_start import warm_start
from whet.sessions.transcripts import Message
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.recording import record_use
from whet.store.template_files import Draw, keep_draw, load, usable, worths
from whet.trials.draws import is_told

AUTO = "auto"


def chosen(home: Home, database: Database, wanted: str, need: Need, *, now: float) -> Choice:
    """The template of a name, or with `auto` the one that is measured or fits best; none is an answer."""
    if wanted != AUTO:
        return Choice(load(home.folder, wanted), "name", "chosen by name")
    return choose(usable(home.folder), known_worths(home, database), need, now=now)


def known_worths(home: Home, database: Database) -> tuple[TemplateEffect, ...]:
    """What was measured and still counts in this home."""
    known = worths(database)
    if not any(worth.worthless for worth in known):
        return known
    from whet.changes.writing import overruled_at  # noqa: PLC0415 - a session begins without it

    return standing(known, usable(home.folder), overruled_at(home, database))


def draw_template(database: Database, choice: Choice, *, draw_id: str, model: str, now: float) -> Draw | None:
    """Whether a session that is about to begin does so with the template that `auto` chose, written down.

    The same whenever it is asked. None where nothing is drawn: a template that was asked for by its name is used.
    """
    share = SHARES.get(choice.by)
    if choice.template is None or share is None:
        return None
    key = choice.template.key
    told = is_told(f"template/{key}", draw_id, share)
    return keep_draw(database, Draw(draw_id, key, choice.template.name, model, told, share, now))


def warmed(messages: Sequence[Message], choice: Choice) -> tuple[Message, ...]:
    """The messages after the template's examples; as they are where none was chosen."""
    return warm_start(choice.template, messages, words()) if choice.template else tuple(messages)


def count_use(database: Database, choice: Choice, *, session: str, now: float) -> None:
    """Count that the session began with the template; called when it is really begun."""
    if choice.template is not None:
        record_use(database, choice.template.key, session=session, now=now)


def beginning(choice: Choice, draw: Draw | None, need: Need) -> str:
    """How a session begins, in a line for the person; nothing where it is as they asked."""
    if choice.template is None:
        return f"The session starts without a template: {choice.reason}."
    name = choice.template.name
    if choice.by == "name":
        missing = ", ".join(missing_tools(choice.template, need))
        return f"The template {name} uses tools that this session does not have: {missing}." if missing else ""
    if draw is None or draw.told:
        return f"The session starts from the template {name}: {choice.reason}."
    return (
        f"The session starts without the template {name}: to measure its effect,"
        f" {100 * (1 - draw.share):.0f} % of sessions do. To start from it for sure, give `--warm {name}`."
    )
