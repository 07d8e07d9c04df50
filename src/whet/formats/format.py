"""What a format of record is: a name, where its files lie, how to know one, how to read one."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from whet.formats.source import Source
from whet.sessions.transcripts import Transcript


class Format(NamedTuple):
    """One format of record. `places` are globs beneath the person's home folder, of files that hold sessions.

    `variable` names the environment variable that puts another folder in the place of the first one of each glob.
    `beside` names files that lie in the folder where the person worked, of agents that have no place of their own.
    """

    name: str
    title: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source], Iterator[Transcript]]
    places: tuple[str, ...] = ()
    variable: str = ""
    beside: tuple[str, ...] = ()
