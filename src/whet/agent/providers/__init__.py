"""Providers: where a run's requests go, and how replies come back."""
