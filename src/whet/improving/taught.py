"""What the sessions of the store teach, project by project: candidates with their evidence, and a draft of each."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from whet.context.finding import find_files
from whet.context.projects import project_of
from whet.ledger.patches import Patch
from whet.lessons.candidates import MOST, LessonCandidate, candidates
from whet.lessons.drafts import LessonDraft, drafts_of, patch_of_draft, standing
from whet.lessons.finding import Openings, pieces_of_session
from whet.lessons.pieces import LessonPiece, lifted
from whet.sessions.transcripts import Purpose
from whet.store.database import Database
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.rows import Session
from whet.store.sessions import is_believed, load
from whet.targets.project_names import name_of_project
from whet.values import Value

BEHIND = frozenset((Purpose.TRIAL, Purpose.REVIEW))
LARGE = 100  # sessions: a project of more gets twice as many candidates


class TaughtLesson(Value, frozen=True):
    """One candidate of a project with its draft. `stands_in` names the file that says it already.

    What several projects teach alike belongs to none of them, and names them all.
    """

    project: str
    candidate: LessonCandidate
    agents: tuple[str, ...]
    draft: LessonDraft | None = None
    stands_in: str = ""
    projects: tuple[str, ...] = ()

    @property
    def patch(self) -> Patch | None:
        """What is proposed; nothing where the project's own files say it already."""
        if self.draft is None or self.stands_in:
            return None
        return patch_of_draft(self.draft, self.candidate, self.project)


def place_of(lesson: TaughtLesson) -> str:
    """Where a lesson was learned, in words."""
    return f"{len(lesson.projects)} projects" if lesson.projects else lesson.project or "no project"


class _ProjectEvidence:
    """What is gathered of one project while its sessions stream by."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.pieces: list[LessonPiece] = []
        self.openings = Openings()
        self.agents: dict[str, str] = {}
        self.folder = ""

    def add(self, database: Database, session: Session, *, declared: tuple[str, ...]) -> None:
        transcript = load(database, session)
        self.openings.see(transcript)
        self.agents[transcript.id] = session.source
        pieces = pieces_of_session(transcript)
        self.pieces += map(lifted, pieces) if _is_declared(database, session, declared) else pieces
        self.folder = session.folder or self.folder

    def lessons(self) -> Iterator[TaughtLesson]:
        most = 2 * MOST if len(self.agents) > LARGE else MOST
        files = _files(self.folder)
        for candidate, draft in drafts_of(candidates(self.pieces, self.openings.copies, most=most)):
            agents = tuple(sorted({self.agents[piece.session] for piece in candidate.pieces}))
            line = standing(draft, files) if draft else None
            yield TaughtLesson(self.project, candidate, agents, draft, line.path if line else "")


def taught(
    database: Database, filters: Filters, *, project: str = "", declared: tuple[str, ...] = ()
) -> tuple[TaughtLesson, ...]:
    """What sessions teach, by project, the most promising first; of one project where a part of its name is given.

    In the folders that their owner declared, what commands print is believed as the agent is.
    """
    gathered: dict[str, _ProjectEvidence] = {}
    names: dict[str, str] = {}
    for session in reversed(list_sessions(database, filters, limit=count_sessions(database, filters))):
        if session.purpose in BEHIND:
            continue
        name = names.setdefault(session.folder, name_of_project(session.folder))
        if project in name:
            gathered.setdefault(name, _ProjectEvidence(name)).add(database, session, declared=declared)
    return tuple(lesson for each in gathered.values() for lesson in each.lessons())


def _is_declared(database: Database, session: Session, declared: tuple[str, ...]) -> bool:
    if not declared or not session.folder or not is_believed(database, session):
        return False
    return project_of(Path(session.folder), declared) is not None


def _files(folder: str) -> Iterable[tuple[str, str]]:
    """The files that the project has for agents, where it is on this machine."""
    if not folder or not Path(folder).is_dir():
        return ()
    return tuple((str(each.path), each.text) for each in find_files(Path(folder)))
