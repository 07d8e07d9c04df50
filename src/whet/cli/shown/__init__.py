"""How values are shown on a terminal."""
