"""A check-up of the home, its store and its machine: every check, whatever the others found."""

from collections.abc import Callable

from whet.errors import WhetError
from whet.upkeep.checkup import CheckupPlace, Rows, failed
from whet.upkeep.home_checks import check_files, check_rights, check_space
from whet.upkeep.machine_checks import check_hooks, check_provider, check_sandbox, check_versions, check_worker
from whet.upkeep.store_checks import check_engine, check_store

# Rights come first: opening the store closes a home that was open to others. What reads the whole store comes last.
CHECKS: tuple[tuple[str, Callable[[CheckupPlace], Rows]], ...] = (
    ("permissions", check_rights),
    ("disk", check_space),
    ("versions", check_versions),
    ("files", check_files),
    ("worker", check_worker),
    ("hooks", check_hooks),
    ("provider", check_provider),
    ("sandbox", check_sandbox),
    ("background work", check_engine),
    ("database", check_store),
)


def check_up(place: CheckupPlace) -> Rows:
    """How everything stands, row by row as it is found.

    What one check cannot do is its row, and keeps no other from looking.
    """
    for name, check in CHECKS:
        place.progress(name)
        yield from _rows(name, check, place)


def _rows(name: str, check: Callable[[CheckupPlace], Rows], place: CheckupPlace) -> Rows:
    try:
        yield from check(place)
    except WhetError as error:
        yield failed(name, error.message, error.advice)
    except OSError as error:
        where = f"{error.filename or place.home.folder}: {error.strerror or error}"
        yield failed(name, where, "Check the path, its permissions and the disk.")
