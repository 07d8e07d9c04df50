"""What an import did: counts, and everything that it left out with the reason."""

from dataclasses import dataclass, field

from whet.importers.source import Skipped


@dataclass(slots=True)
class ImportReport:
    """Counts of one import, added to as it goes."""

    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    messages: int = 0
    redacted: int = 0
    files: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    sources: dict[str, int] = field(default_factory=dict)

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
            "files": self.files,
            "sources": self.sources,
            "skipped": [{"path": s.path, "line": s.line or None, "reason": s.reason} for s in self.skipped],
        }
