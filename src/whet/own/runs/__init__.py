"""One order to a model: its values, its settings, its shape."""
