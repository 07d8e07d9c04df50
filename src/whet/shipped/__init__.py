"""What comes with Whet: texts and figures."""
