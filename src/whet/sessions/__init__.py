"""What happened: transcripts, calls, trust and lineage."""
