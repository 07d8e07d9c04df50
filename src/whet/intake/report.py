"""What an import did: counts, and everything that it left out with the reason."""

from dataclasses import dataclass, field

from whet.agents.formats.source import Skipped
from whet.errors import WhetError


@dataclass(slots=True)
class ImportReport:
    """Counts of one import, added to as it goes."""

    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    messages: int = 0
    redacted: int = 0
    never: int = 0  # sessions that the person never wants back
    files: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    sources: dict[str, int] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)  # where the sessions took place that were read

    def add(self, more: "ImportReport") -> None:
        """Count what else was done."""
        self.imported += more.imported
        self.updated += more.updated
        self.unchanged += more.unchanged
        self.messages += more.messages
        self.redacted += more.redacted
        self.never += more.never
        self.files += more.files
        self.skipped += more.skipped
        self.folders |= more.folders
        for source, count in more.sources.items():
            self.sources[source] = self.sources.get(source, 0) + count

    @property
    def sessions(self) -> int:
        return self.imported + self.updated + self.unchanged

    def as_json(self) -> dict[str, object]:
        return {
            "imported": self.imported,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "messages": self.messages,
            "redacted": self.redacted,
            "never": self.never,
            "files": self.files,
            "sources": self.sources,
            "skipped": [{"path": s.path, "line": s.line or None, "reason": s.reason} for s in self.skipped],
        }


class ImportStopped(WhetError):
    """An import that came to no good end: why, and what was kept of it before."""

    def __init__(self, error: WhetError, report: ImportReport) -> None:
        super().__init__(
            f"The import stopped: {error.message} {kept_so_far(report)}",
            advice=f"{error.advice} Importing again adds only what is missing.",
        )
        self.report = report


class ImportInterrupted(KeyboardInterrupt):
    """An import that a person stopped; what was read until then is kept."""

    def __init__(self, report: ImportReport) -> None:
        super().__init__()
        self.report = report


def kept_so_far(report: ImportReport) -> str:
    """What is stored of an import that did not end, in a sentence."""
    number = report.imported + report.updated
    if not number:
        return "Nothing was imported."
    return f"{number:,} session{' was' if number == 1 else 's were'} imported before that."
