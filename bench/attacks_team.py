"""A hostile member of a team, who may write every row of its database, against the home of another.

An attempt gets through when a command of theirs runs there, a file of theirs is written there, or words of theirs
stand in a prompt there that nobody approved.
"""

from collections.abc import Callable, Iterator

from attack_sample import sampled
from hostile_engine import orders_in_anothers_queue, pickles, remembered_steps, schedules
from hostile_entries import entries_on_anothers_files, makers_claimed, rules_in_anothers_prompt
from hostile_jobs import runs_changed_in_place, runs_in_anothers_name
from hostile_sessions import attempts_ordered_by_another, sessions_to_be_continued, words_to_be_learned
from hostile_stage import Stage, stage
from postgres_server import serve
from team import ALICE, MALLORY

AREA = "A team's database"
Row = tuple[str, str, int, int]


def rows() -> Iterator[Row]:
    """Every route with its attempts, and how many got through."""
    with serve() as server:
        for number, (route, attack) in sampled(enumerate((*ROUTES, *SHARED))):
            with stage(server, f"attack_{number}", ALICE if number >= len(ROUTES) else MALLORY) as made:
                attempts, through = attack(made)
            yield AREA, f"{route}, under one role" if number >= len(ROUTES) else route, attempts, through


ROUTES: tuple[tuple[str, Callable[[Stage], tuple[int, int]]], ...] = (
    ("runs of jobs written in another home's name", runs_in_anothers_name),
    ("runs of another's jobs, changed in place", runs_changed_in_place),
    ("orders of every kind in another home's queues", orders_in_anothers_queue),
    ("steps that another's work is said to remember", remembered_steps),
    ("pickles in the engine's rows", pickles),
    ("schedules of the engine", schedules),
    ("entries of the ledger on another home's files", entries_on_anothers_files),
    ("rules for another home's prompt and targets", rules_in_anothers_prompt),
    ("entries in another member's name", makers_claimed),
    ("attempts, cases and changes for another's machine", attempts_ordered_by_another),
    ("sessions that another would continue", sessions_to_be_continued),
    ("sessions and analyses that another would learn from", words_to_be_learned),
)
# What is executed, or written to a home's files, is safe even from those who log in under the same name.
SHARED = ROUTES[:7]
