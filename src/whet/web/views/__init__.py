"""The views of the page: pure functions from what the store holds to HTML."""
