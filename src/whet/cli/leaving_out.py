"""`whet try --without FILE:LINE`: what agents do with a file as it is, and without one statement of it."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from whet.errors import WhetError

if TYPE_CHECKING:
    from whet.ledger.patches import Patch
    from whet.proving.plan import WantedTrial

MARGIN_POINTS = 10.0


class WithoutStatement(NamedTuple):
    """A statement that a trial leaves out: the change, and the file as all attempts have it before."""

    patch: "Patch"
    path: str
    text: str
    margin: float

    def asked(self, wanted: "WantedTrial") -> "WantedTrial":
        """The trial with the file in every case's workspace, without a placebo, and with the margin."""
        from msgspec.structs import replace

        cases = tuple(replace(case, files={**case.files, self.path: self.text}) for case in wanted.cases)
        design = replace(wanted.design, placebo=False, margin=self.margin)
        return wanted._replace(cases=cases, design=design)


def is_place(text: str) -> bool:
    """Whether a word names a line of a file."""
    path, colon, line = text.rpartition(":")
    return bool(colon) and line.isdigit() and Path(path).is_file()


def left_out(place: str, *, points: float) -> WithoutStatement:
    """The statement at a line of a file that agents read, as a trial leaves it out."""
    from whet.agents.places import is_read_by_agents
    from whet.context.finding import repository_root
    from whet.ledger.origins import PatchOrigin, PatchWriter
    from whet.ledger.patches import Action, Form, Patch, digest
    from whet.sessions.trust import Trust
    from whet.statements.proposing import passage_without
    from whet.statements.splitting import split_statements
    from whet.store import files

    named, _, line = place.rpartition(":")
    real = Path(named).resolve()
    root = repository_root(real.parent) or real.parent
    path = str(real.relative_to(root.resolve()))
    if not is_read_by_agents(str(real)):
        raise WhetError(f"No agent reads {named} by its name.", advice="Name a file such as CLAUDE.md or AGENTS.md.")
    text = files.decoded(files.read(files.at(real)) or b"", real)
    found = next((each for each in split_statements(path, text) if each.line <= int(line) <= each.last), None)
    change = passage_without(found, text) if found else None
    if found is None or change is None:
        raise WhetError(f"No statement stands at line {line} of {named}.", advice="`whet audit --all` lists them.")
    said = f"{found.place}: {found.tokens} tokens"
    origin = PatchOrigin(PatchWriter.PERSON, said=said)
    name, before = change.name(str(real)), digest(change.before)
    patch = Patch(Form.STATEMENT, Action.CHANGE, name, change.after, origin=origin, before=before, trust=Trust.OPERATOR)
    return WithoutStatement(patch, path, text, points / 100)
