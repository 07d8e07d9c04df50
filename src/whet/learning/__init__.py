"""From transcripts to better prompts, notes, skills and templates, each change proved before it is kept."""
